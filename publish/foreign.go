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

// WithForeign makes a Follower accept a folder that others may write, and state, lock and part files and a followed
// link that belong to others. These others can then stop its updates and make it accept an older release again. They
// still cannot make it install anything but a published release. State, lock and part files that are links are never
// followed.
//
// Without it the error wraps ErrForeign. A folder is accepted if only its owner may write it, and the owner is this
// user or root; also with the group of the same number as the owner, with the sticky bit, as /tmp, and, if this user is
// root, with any owner. The other files must belong to this user or root. The followed file may have any owner. On
// systems whose files have no Unix owners, all are accepted.
func WithForeign() FollowOption { return func(o *followOptions) { o.guard.off = true } }

// guard refuses what another user of this machine could change.
type guard struct {
	off   bool
	owner func(path string, st fs.FileInfo) (owner, bool) // not ok: files have no owner here
	user  int
}

type owner struct{ uid, gid, links int }

// folder returns an error wrapping ErrForeign if others may replace the files of a folder. strict allows no other owner
// for root: in a sticky folder, anybody can make a folder.
func (g guard) folder(dir string, strict bool) error {
	st, err := os.Stat(dir)
	if err != nil {
		return err
	}
	by, stranger := g.stranger(dir, st)
	switch {
	case g.off || st.Mode()&fs.ModeSticky != 0:
		return nil
	case stranger && (strict || g.user != 0):
		return fmt.Errorf("folder %s: %w: it belongs to user %d", dir, ErrForeign, by)
	case g.shared(dir, st):
		return fmt.Errorf("folder %s: %w: its permissions are %v", dir, ErrForeign, st.Mode())
	}
	return nil
}

// stranger returns the owner of a file, and reports whether that is neither this user nor root.
func (g guard) stranger(path string, st fs.FileInfo) (uid int, is bool) {
	by, ok := g.owner(path, st)
	return by.uid, ok && by.uid != g.user && by.uid != 0
}

// shared reports whether others than its owner may write a file or folder. A group of the same number as the owner is
// the one that most systems give to each user.
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

// noLink returns an error wrapping ErrForeign if a path names a link.
func (g guard) noLink(path string) error {
	if st, err := os.Lstat(path); err == nil && st.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("%s: %w: it is a link", path, ErrForeign)
	}
	return nil
}

// open opens a regular file that belongs to this user or root. It follows no link.
func (g guard) open(path string, flag int) (*os.File, fs.FileInfo, error) {
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

// follows returns the path of the followed file, or of the target of its link. The error wraps ErrForeign if others may
// change the link, its folder or the folder of the target. A folder that is followed must itself not be open to others.
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

// remove removes a file, or a folder with all that is in it unless it belongs to another user.
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

// perm returns the permissions of a new file or folder that others must not write, or with private must not open.
func (g guard) perm(mode, private fs.FileMode) fs.FileMode {
	if g.off {
		return mode
	}
	return private
}

// lock takes the lock of the file against other followers of it, by whatever name they know it. After patience, the
// error wraps transport.ErrStalled.
func (f *Follower) lock(ctx context.Context, target string) (unlock func(), err error) {
	path := target + lockSuffix
	waiting, cancel := context.WithTimeoutCause(ctx, f.patience(), fmt.Errorf("%s: %w: another follower has held "+
		"the lock for %v; if it loads a large release, wait for it", path, transport.ErrStalled, f.patience()))
	defer cancel()
	select {
	case f.polls <- struct{}{}:
	case <-waiting.Done():
		return nil, context.Cause(waiting)
	}
	if f.target != target {
		f.target = target // under the lock of polls
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
