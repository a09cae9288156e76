package exact

import (
	"context"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bloomery/bloomery/filter"
)

// DefaultInterval is the interval at which a Live checks its file.
const DefaultInterval = time.Second

// Live is a Set that follows its file. When the file is replaced by rename, as Save does, Live reads and verifies the
// new file and swaps it in. Running queries finish on the old one. All methods are safe for concurrent use.
//
// If the new file is damaged, needs another secret or is missing, Live keeps the current Set, Err returns the error,
// and Live tries again when the file changes.
type Live struct {
	path    string
	options LiveOptions
	current atomic.Pointer[Set]
	failed  atomic.Pointer[error] // of Reload
	reports atomic.Pointer[error] // of the updater

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
	tick := time.NewTicker(l.options.Interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			_ = l.Reload() // Err returns the error
		}
	}
}

// Reload checks the file now and swaps it in if it has changed. If the file cannot be opened, Reload returns the error
// and keeps the current Set; Err returns the same error until a Reload succeeds.
func (l *Live) Reload() error {
	l.reload.Lock()
	defer l.reload.Unlock()
	now, err := os.Stat(l.path)
	if err == nil && l.seen != nil && os.SameFile(now, l.seen) && now.Size() == l.seen.Size() &&
		now.ModTime().Equal(l.seen.ModTime()) {
		return value(&l.failed)
	}
	l.seen = now // nil if there is no file, so that a new one is opened
	var s *Set
	if err == nil {
		s, err = Open(l.path, l.options.Secret)
	}
	l.failed.Store(&err)
	if err == nil {
		l.current.Store(s)
	}
	return err
}

// Set returns the current Set, for several queries of the same file. It stays valid when the file is replaced.
func (l *Live) Set() *Set { return l.current.Load() }

// Contains is Set.Contains on the current file.
func (l *Live) Contains(key []byte) bool { return l.Set().Contains(key) }

// ContainsIn is Set.ContainsIn on the current file.
func (l *Live) ContainsIn(partition, key []byte) bool { return l.Set().ContainsIn(partition, key) }

// Report makes Err return err, unless the file itself has an error, until the next Report. nil clears it.
func (l *Live) Report(err error) { l.reports.Store(&err) }

// Err returns the error of the last Reload, or that of the last Report, or nil.
func (l *Live) Err() error {
	if err := value(&l.failed); err != nil {
		return err
	}
	return value(&l.reports)
}

func value(p *atomic.Pointer[error]) error {
	if err := p.Load(); err != nil {
		return *err
	}
	return nil
}

// Close stops following the file. Queries go on with the last Set. The error is nil.
func (l *Live) Close() error {
	l.stop()
	l.done.Wait()
	return nil
}
