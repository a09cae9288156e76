package publish

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/untrusted"
	"github.com/bloomery/bloomery/publish/transport"
)

// WithForeign makes a Follower accept a folder that other users may write, and state, lock and part files and a
// followed link that belong to other users. These users can then stop its updates and make it accept an older release
// again. They cannot make it install anything except a published release. State, lock and part files that are links are
// never followed.
//
// Without it the error wraps ErrForeign. A folder is accepted if its owner is this user or root (or anyone, if this
// user is root), and if only the owner may write it. The group with the same number as the owner may also write it, and
// so may anyone in a folder with the sticky bit, such as /tmp. State, lock and part files and a link must belong to
// this user or root. The followed file may have any owner. On systems without Unix owners, all files are accepted.
func WithForeign() FollowOption { return func(o *followOptions) { o.guard.off = true } }

// guard refuses files and folders that another user of this machine could change.
type guard struct {
	off   bool                                            // accept files of all users: WithForeign
	owner func(path string, st fs.FileInfo) (owner, bool) // false on systems without owners
	user  int                                             // the user id of this process
}

type owner struct{ uid, gid, links int }

// folder returns an error wrapping ErrForeign if other users may replace the files of a folder. With strict, the folder
// must belong to root if this user is root, because anybody can create a folder in a sticky folder.
func (g guard) folder(dir string, strict bool) error {
	st, err := os.Stat(dir)
	if err != nil {
		return err
	}

	by, stranger := g.stranger(dir, st)
	switch {
	// In a sticky folder, such as /tmp, other users cannot rename or remove a file of this user.
	case g.off || st.Mode()&fs.ModeSticky != 0:
		return nil
	case stranger && (strict || g.user != 0):
		return fmt.Errorf("folder %s: %w: it belongs to user %d", dir, ErrForeign, by)
	case g.shared(dir, st):
		return fmt.Errorf("folder %s: %w: its permissions are %v", dir, ErrForeign, st.Mode())
	}
	return nil
}

// stranger returns the owner of a file, and reports whether the owner is neither this user nor root.
func (g guard) stranger(path string, st fs.FileInfo) (uid int, is bool) {
	by, ok := g.owner(path, st)
	return by.uid, ok && by.uid != g.user && by.uid != 0
}

// shared reports whether users other than its owner may write a file or folder. A group with the same number as the
// owner does not count: most systems give each user such a private group.
func (g guard) shared(path string, st fs.FileInfo) bool {
	by, ok := g.owner(path, st)
	return ok && (st.Mode()&0o002 != 0 || st.Mode()&0o020 != 0 && by.gid != by.uid)
}

// trusts returns an error wrapping ErrForeign if a file belongs to another user.
func (g guard) trusts(path string, st fs.FileInfo) error {
	if by, is := g.stranger(path, st); is && !g.off {
		return fmt.Errorf("%s: %w: it belongs to user %d", path, ErrForeign, by)
	}
	return nil
}

// noLink returns an error wrapping ErrForeign if the path is a link.
func (g guard) noLink(path string) error {
	if st, err := os.Lstat(path); err == nil && st.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("%s: %w: it is a link", path, ErrForeign)
	}
	return nil
}

// openTrusted opens a regular file that belongs to this user or root. It does not follow links.
func (g guard) openTrusted(path string, flag int) (*os.File, fs.FileInfo, error) {
	if err := g.noLink(path); err != nil {
		return nil, nil, err
	}

	f, st, err := untrusted.OpenFile(path, flag|untrusted.NoFollow, 0)
	if err != nil {
		return nil, nil, err
	}
	if err := g.trusts(path, st); err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, st, nil
}

// follows returns the path of the followed file, or of the target of its link. The error wraps ErrForeign if other
// users may change the link, its folder or the folder of the target. If the followed file is a folder, other users must
// not be able to write it either.
func (g guard) follows(file string) (target string, err error) {
	if err := g.folder(filepath.Dir(file), false); err != nil {
		return "", err
	}

	target = file
	st, err := os.Lstat(file)
	if err == nil && st.Mode()&fs.ModeSymlink != 0 {
		if err := g.trusts(file, st); err != nil {
			return "", err
		}
		if target, err = filepath.EvalSymlinks(file); errors.Is(err, fs.ErrNotExist) {
			return file, nil // the link itself is replaced
		}
		if err == nil {
			err = g.folder(filepath.Dir(target), false)
		}
		if err == nil {
			st, err = os.Lstat(target)
		}
	}
	if err == nil && st.IsDir() {
		if st, err = os.Stat(filepath.Dir(target)); err == nil {
			err = g.folder(target, st.Mode()&fs.ModeSticky != 0)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return target, err
}

// remove removes a file, or a folder with its content unless the folder belongs to another user.
func (g guard) remove(path string) error {
	st, err := os.Lstat(path)
	if err == nil && st.IsDir() && g.trusts(path, st) == nil {
		return os.RemoveAll(path)
	}
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// newMode returns the permissions of a new file or folder: private, unless the guard is off and other users may share
// the file.
func (g guard) newMode(mode, private fs.FileMode) fs.FileMode {
	if g.off {
		return mode
	}
	return private
}

// lockTarget takes the lock of the file against other followers, including those that use another name of the file.
// After patience, the error wraps transport.ErrStalled.
func (f *Follower) lockTarget(ctx context.Context, target string) (unlock func(), err error) {
	path := target + lockSuffix
	waiting, cancel := context.WithTimeoutCause(ctx, f.patience(), fmt.Errorf("%s: %w: another follower has held "+
		"the lock for %v; if it loads a large release, wait for it", path, transport.ErrStalled, f.patience()))
	defer cancel()

	select {
	// Polls of this Follower queue here, because they share its fields, such as target and sums.
	case f.polls <- struct{}{}:
	case <-waiting.Done():
		return nil, context.Cause(waiting)
	}
	if f.target != target {
		f.target = target // polls hold the lock, so no other poll reads it now
	}

	g := f.options.guard
	var file *os.File
	if err = g.noLink(path); err == nil {
		trusts := func(st fs.FileInfo) error { return g.trusts(path, st) }
		file, _, err = container.LockFile(waiting, path, trusts, nil)
	}
	if err != nil {
		<-f.polls
		if waiting.Err() != nil {
			err = context.Cause(waiting)
		}
		return nil, err
	}
	return func() {
		_ = container.Unlock(file)
		<-f.polls
	}, nil
}

// patience is the time for which a poll waits for a lock, and for which a server may send less than the least rate.
func (f *Follower) patience() time.Duration {
	return 2 * cmp.Or(max(f.options.transport.Stall, 0), transport.DefaultStall)
}
