package container

import (
	"context"
	"io/fs"
	"os"
)

type noLinksKey struct{}

// NoLinks returns a context in which WriteAtomic and WriteFile replace a symbolic link at their path, not its target:
// for folders in which others may put links.
func NoLinks(ctx context.Context) context.Context { return context.WithValue(ctx, noLinksKey{}, true) }

func noLinks(ctx context.Context) bool { return ctx.Value(noLinksKey{}) != nil }

// statOld describes the file that a write to path replaces. The error wraps fs.ErrNotExist if there is none.
func statOld(ctx context.Context, path string) (fs.FileInfo, error) {
	if !noLinks(ctx) {
		return os.Stat(path)
	}
	old, err := os.Lstat(path)
	if err == nil && old.Mode()&fs.ModeSymlink != 0 {
		return nil, fs.ErrNotExist // the new file has nothing of what the link names
	}
	return old, err
}
