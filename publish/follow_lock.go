package publish

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/bloomery/bloomery/internal/flock"
	"github.com/bloomery/bloomery/publish/transport"
)

// lock takes the lock of the file against other followers of it. After patience the error wraps transport.ErrStalled.
func (f *Follower) lock(ctx context.Context) (unlock func(), err error) {
	path := f.file + lockSuffix
	waiting, cancel := context.WithTimeoutCause(ctx, f.patience(), fmt.Errorf("%s: %w: another follower has held "+
		"the lock for %v; if it loads a large release, wait for it", path, transport.ErrStalled, f.patience()))
	defer cancel()
	select {
	case f.polls <- struct{}{}:
	case <-waiting.Done():
		return nil, context.Cause(waiting)
	}
	file, err := f.lockFile(waiting, path)
	if err != nil {
		<-f.polls
		if waiting.Err() != nil {
			err = context.Cause(waiting)
		}
		return nil, err
	}
	return func() {
		_ = flock.Unlock(file)
		<-f.polls
	}, nil
}

// lockFile makes the lock file and locks it. Nobody but its owner may open it: who can open a file can lock it.
func (f *Follower) lockFile(ctx context.Context, path string) (*os.File, error) {
	g := f.options.guard
	l, st, err := g.open(path, os.O_RDONLY|os.O_CREATE, g.perm(0o666, 0o600))
	if err != nil {
		return nil, err
	}
	if by, ok := g.owner(path, st); ok && by.uid == g.user && by.links == 1 && !g.off && st.Mode().Perm()&0o077 != 0 {
		_ = l.Chmod(0o600) // an older version let others read it
	}
	_ = l.Close()
	file, st, err := flock.Lock(ctx, path, nil)
	if err != nil {
		return nil, err
	}
	if err := g.trusts(path, st); err != nil {
		_ = flock.Unlock(file)
		return nil, err
	}
	return file, nil
}

// patience is the time for which a poll waits for a lock, and for which a server may send less than the least rate.
func (f *Follower) patience() time.Duration {
	if stall := f.options.transport.Stall; stall > 0 {
		return 2 * stall
	}
	return 2 * transport.DefaultStall
}
