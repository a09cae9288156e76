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

type notSharedKey struct{}

// NotShared returns a context in which only the owner may write to a file that WriteAtomic creates, whatever the umask.
func NotShared(ctx context.Context) context.Context {
	return context.WithValue(ctx, notSharedKey{}, true)
}

// newMode returns the permissions of a new file, before the umask.
func newMode(ctx context.Context) fs.FileMode {
	if ctx.Value(notSharedKey{}) != nil {
		return 0o644
	}
	return 0o666
}

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
