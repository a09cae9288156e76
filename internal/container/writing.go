package container

import (
	"context"
	"io/fs"
	"os"
)

// writing says how WriteAtomic and WriteFile write. Contexts carry it.
type writing struct {
	batch, noLinks bool
	mode           fs.FileMode // of a new file, before the umask
	like           string
	warn           func(error)
}

type writingKey struct{}

func writingOf(ctx context.Context) writing {
	w, ok := ctx.Value(writingKey{}).(writing)
	if !ok {
		w.mode = 0o666
	}
	return w
}

func with(ctx context.Context, set func(*writing)) context.Context {
	w := writingOf(ctx)
	set(&w)
	return context.WithValue(ctx, writingKey{}, w)
}

// Batch returns a context in which WriteAtomic and WriteFile do not sync the folder, and do not look for the temporary
// files of killed writers: for many files of one folder, which another file names at last. Before writing that file the
// caller calls SyncFolder, and RemoveAbandoned at some time.
func Batch(ctx context.Context) context.Context {
	return with(ctx, func(w *writing) { w.batch = true })
}

// NoLinks returns a context in which WriteAtomic and WriteFile replace a symbolic link at their path, not its target:
// for folders in which others may put links.
func NoLinks(ctx context.Context) context.Context {
	return with(ctx, func(w *writing) { w.noLinks = true })
}

// NewMode returns a context in which a file that WriteAtomic creates has at most these permissions, whatever the umask.
func NewMode(ctx context.Context, mode fs.FileMode) context.Context {
	return with(ctx, func(w *writing) { w.mode = mode })
}

// Like returns a context in which a file that WriteAtomic creates has owner, permissions and attributes of the file at
// path, if there is one, as if it replaced that.
func Like(ctx context.Context, path string) context.Context {
	return with(ctx, func(w *writing) { w.like = path })
}

// WithWarnings returns a context in which writers of files call warn with what did not prevent the writing, such as an
// error wrapping filter.ErrOwner. Without it they are silent.
func WithWarnings(ctx context.Context, warn func(error)) context.Context {
	return with(ctx, func(w *writing) { w.warn = warn })
}

// statOld describes the file that a write to path replaces. The error wraps fs.ErrNotExist if there is none.
func (w writing) statOld(path string) (fs.FileInfo, error) {
	if !w.noLinks {
		return os.Stat(path)
	}
	old, err := os.Lstat(path)
	if err == nil && old.Mode()&fs.ModeSymlink != 0 {
		return nil, fs.ErrNotExist // the new file has nothing of what the link names
	}
	return old, err
}
