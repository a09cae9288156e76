package exact

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/retry"
)

// DefaultInterval is the interval at which a Live checks its file.
const DefaultInterval = time.Second

// Live is a Set that follows its file. When the file is replaced by rename, as Save does, Live reads and verifies the
// new file and swaps it in. Running queries finish on the old one. All methods are safe for concurrent use.
//
// If the new file cannot be opened, Live keeps the current Set, and Err returns the error. After an error that may
// pass, such as too many open files, Live tries again: first after 100 ms, then after twice as long each time, at most
// 30 s, and never less often than it checks the file if the interval is shorter. After damage, or with the wrong
// secret, it tries again when the file changes.
type Live struct {
	path    string
	options LiveOptions
	current atomic.Pointer[Set]
	failed  atomic.Pointer[retry.Failure] // of the last attempt to open the file, or nil
	reports atomic.Pointer[error]         // of the updater

	reload sync.Mutex // held while a file is opened
	seen   fs.FileInfo
	stop   context.CancelFunc
	done   sync.WaitGroup
}

// LiveOptions are the options of OpenLive.
type LiveOptions struct {
	Secret   *[filter.SecretSize]byte // of a set with a keyed hash
	Interval time.Duration            // between two checks of the file; DefaultInterval if 0
	// Update, if not nil, runs in a goroutine of its own. It replaces the file from time to time, for example by a
	// download, calls Reload, and passes its errors to Report. It must return soon after its context ends, at Close,
	// which waits for it and which it must not call.
	Update func(ctx context.Context, l *Live)

	opening func(path string) error // nil except in tests: returns an error of the system
}

// OpenLive opens the set in a file and follows the file. Close it when done. Errors are those of Open.
func OpenLive(path string, o LiveOptions) (*Live, error) {
	if o.Interval <= 0 {
		o.Interval = DefaultInterval
	}
	l := &Live{path: path, options: o}
	if err := l.Reload(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	l.stop = cancel
	l.done.Go(func() { l.follow(ctx) })
	if o.Update != nil {
		l.done.Go(func() { o.Update(ctx, l) })
	}
	return l, nil
}

func (l *Live) follow(ctx context.Context) {
	timer := time.NewTimer(l.options.Interval)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			_ = l.check(false) // Err returns the error
			timer.Reset(l.failed.Load().Wait(time.Now(), l.options.Interval))
		}
	}
}

// Reload checks the file now and swaps it in if it has changed, or if the last attempt failed with an error that may
// pass. If the file cannot be opened, Reload returns the error and keeps the current Set; Err returns the same error
// until a Reload succeeds.
func (l *Live) Reload() error { return l.check(true) }

// check is Reload. If now is false, it does not open an unchanged file before the pause after a failure is over.
func (l *Live) check(now bool) error {
	l.reload.Lock()
	defer l.reload.Unlock()
	if s := l.current.Load(); s != nil && s.fault != nil {
		return s.fault
	}
	st, err := os.Stat(l.path)
	same := err == nil && l.seen != nil && os.SameFile(st, l.seen) && st.Size() == l.seen.Size() &&
		st.ModTime().Equal(l.seen.ModTime())
	before := l.failed.Load()
	if same && (before == nil || before.Final() || !now && !before.Due(time.Now())) {
		return before.Cause()
	}
	l.seen = st // nil if there is no file, so that a new one is opened
	var s *Set
	if err == nil {
		s, err = l.open()
	}
	if err != nil {
		if st != nil && !same {
			before = nil // another file
		}
		l.failed.Store(retry.After(before, err, time.Now()))
		return err
	}
	l.failed.Store(nil)
	l.current.Store(s)
	return nil
}

// open opens the file.
func (l *Live) open() (*Set, error) {
	if l.options.opening != nil {
		if err := l.options.opening(l.path); err != nil {
			return nil, err
		}
	}
	return Open(l.path, l.options.Secret)
}

// Set returns the current Set, for several queries of the same file. A Set that was returned stays valid when the file
// is replaced, and after Close.
func (l *Live) Set() *Set { return l.current.Load() }

// Contains is Set.Contains on the current file. After Close it returns true, and Err an error.
func (l *Live) Contains(key []byte) bool { return l.Set().Contains(key) }

// ContainsIn is Set.ContainsIn on the current file. After Close it returns true, and Err an error.
func (l *Live) ContainsIn(partition, key []byte) bool { return l.Set().ContainsIn(partition, key) }

// Report makes Err return err, unless the file itself has an error, until the next Report. nil clears it.
func (l *Live) Report(err error) { l.reports.Store(&err) }

// Err returns the error of the last Reload, or that of the last Report, or nil. After Close it returns an error.
func (l *Live) Err() error {
	if err := l.Set().Err(); err != nil {
		return err
	}
	if err := l.failed.Load().Cause(); err != nil {
		return err
	}
	if reported := l.reports.Load(); reported != nil {
		return *reported
	}
	return nil
}

var errClosed = errors.New("exact: the Live set is closed")

// Close stops following the file. Later queries cannot know their answer: Contains is true, and Err returns an error.
// The error is nil.
func (l *Live) Close() error {
	l.stop()
	l.done.Wait()
	l.reload.Lock()
	defer l.reload.Unlock()
	l.current.Store(&Set{fault: errClosed})
	return nil
}
