package container

import "context"

type batchKey struct{}

// Batch returns a context in which WriteAtomic and WriteFile do not sync the folder, and do not look for the temporary
// files of killed writers: for many files of one folder, which another file names at last. Before writing that file the
// caller calls SyncFolder, and RemoveAbandoned at some time.
func Batch(ctx context.Context) context.Context { return context.WithValue(ctx, batchKey{}, true) }

type directKey struct{}

// Direct returns a context in which WriteAtomic and WriteFile replace a symbolic link itself, not its target: in a
// folder where others can make links.
func Direct(ctx context.Context) context.Context { return context.WithValue(ctx, directKey{}, true) }

func isDirect(ctx context.Context) bool { return ctx.Value(directKey{}) != nil }

func inBatch(ctx context.Context) bool { return ctx.Value(batchKey{}) != nil }
