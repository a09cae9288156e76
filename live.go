package bloomery

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/retry"
	"github.com/bloomery/bloomery/shard"
)

// DefaultInterval is the interval at which a Live checks its file.
const DefaultInterval = time.Second

// Live is a Set that follows its file. When the file is replaced by rename, as Save does, Live opens and verifies the
// new file and swaps it in. Of a sharded set it follows the manifest. Running queries finish on the old one. All
// methods are safe for concurrent use.
//
// If the new file cannot be opened, Live keeps the current Set, and Err returns the error. After an error that may pass,
// such as too many open files, Live tries again: first after 100 ms, then after twice as long each time, at most 30 s,
// and never less often than it checks the file if the interval is shorter. After damage, or with the wrong secret, it
// tries again when the file changes.
type Live struct {
	path    string
	options options
	current atomic.Pointer[generation]
	failed  atomic.Pointer[retry.Failure] // of the last attempt to open the file, or nil
	reports atomic.Pointer[error]         // of the updater
	swaps   atomic.Uint64

	reload sync.Mutex // held while a file is opened
	seen   fs.FileInfo
	stop   context.CancelFunc
	done   sync.WaitGroup
}

// generation is one file of a Live. Its Set is closed after the last use.
type generation struct {
	set  *Set
	uses [useStripes]use
	gone chan struct{} // closed when it has been replaced and all its queries have returned
	once sync.Once
	old  atomic.Bool
}

// useStripes is the number of counters of running queries of a generation. Several avoid contention between cores.
const useStripes = 16

type use struct {
	n atomic.Int64
	_ [56]byte // so that two counters do not share a cache line
}

// OpenLive opens the Set in a file and follows the file: it checks it every DefaultInterval; see WithInterval. Close it
// when done. Options and errors are those of Open.
func OpenLive(path string, o ...Option) (*Live, error) {
	l := &Live{path: path, options: optionsOf(0, o)}
	l.options.Regular = true
	if l.options.Concurrent {
		const reason = "a Live set is replaced by its file: it takes no keys"
		return nil, &filter.ConfigError{Field: "concurrent", Value: true, Reason: reason}
	}
	if err := l.Reload(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	l.stop = cancel
	l.done.Go(func() { l.follow(ctx) })
	if update := l.options.update; update != nil {
		l.done.Go(func() { update(ctx, l) })
	}
	return l, nil
}

// WithInterval sets the interval at which a Live checks its file. Default: DefaultInterval.
func WithInterval(d time.Duration) Option {
	return func(o *options) { o.interval = d }
}

// WithUpdater makes OpenLive call update in a goroutine of its own. update replaces the file from time to time, for
// example by a download, calls Reload, and passes its errors to Report. It must return soon after its context ends, at
// Close, which waits for it and which it must not call.
func WithUpdater(update func(ctx context.Context, l *Live)) Option {
	return func(o *options) { o.update = update }
}

// Report makes Err return err, unless the file itself has an error, until the next Report. nil clears it.
func (l *Live) Report(err error) { l.reports.Store(&err) }

func (l *Live) follow(ctx context.Context) {
	interval := l.options.interval
	if interval <= 0 {
		interval = DefaultInterval
	}
	timer := time.NewTimer(interval)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			_ = l.check(false) // Err returns the error
			timer.Reset(l.failed.Load().Wait(time.Now(), interval))
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
	if l.stop != nil && l.current.Load() == nil {
		return errClosed
	}
	st, err := os.Stat(l.file())
	same := err == nil && l.seen != nil && os.SameFile(st, l.seen) && st.Size() == l.seen.Size() &&
		st.ModTime().Equal(l.seen.ModTime())
	before := l.failed.Load()
	if same && (before == nil || before.Final() || !now && !before.Due(time.Now())) {
		return before.Cause()
	}
	l.seen = st // nil if there is no file, so that a new one is opened
	var set *Set
	if err == nil {
		set, err = openFile(l.path, l.options)
	}
	if err != nil {
		if st != nil && !same {
			before = nil // another file
		}
		l.failed.Store(retry.After(before, err, time.Now()))
		return err
	}
	l.failed.Store(nil)
	old := l.current.Swap(&generation{set: set, gone: make(chan struct{})})
	if old != nil {
		l.swaps.Add(1)
		old.retire()
	}
	return nil
}

// file returns the path of the file to follow: that of the manifest if the path is a folder.
func (l *Live) file() string {
	if dir, ok := ShardedDir(l.path); ok {
		return filepath.Join(dir, shard.ManifestName)
	}
	return l.path
}

var errClosed = errors.New("bloomery: the Live set is closed")

// acquire returns the current generation and the counter that release decrements, or nil after Close.
func (l *Live) acquire() (*generation, *use) {
	for {
		g := l.current.Load()
		if g == nil {
			return nil, nil
		}
		u := &g.uses[rand.Uint32()%useStripes]
		u.n.Add(1)
		if l.current.Load() == g {
			return g, u
		}
		g.release(u) // replaced in the meantime, and perhaps closed
	}
}

// release ends a use. The last one of a generation that was replaced closes its Set.
func (g *generation) release(u *use) {
	u.n.Add(-1)
	if g.old.Load() {
		g.settle()
	}
}

// retire closes the Set as soon as no query uses it.
func (g *generation) retire() {
	g.old.Store(true)
	g.settle()
}

// settle closes the Set if no query uses it. It is called after old is set, by retire and by every release from then
// on; the last of these finds all counters at 0. A query that counts itself later sees that the generation was
// replaced, before it touches the Set.
func (g *generation) settle() {
	for i := range g.uses {
		if g.uses[i].n.Load() != 0 {
			return
		}
	}
	g.once.Do(func() {
		_ = g.set.Close()
		close(g.gone)
	})
}

// View calls f with the current Set, which stays open until f returns. f must not keep, change or close it. After Close
// f gets a closed Set.
func (l *Live) View(f func(s *Set)) {
	g, u := l.acquire()
	if g == nil {
		f(newClosed(errClosed))
		return
	}
	defer g.release(u)
	f(g.set)
}

// Contains is Set.Contains on the current file. After Close it returns true, and Err an error.
func (l *Live) Contains(key []byte) bool {
	g, u := l.acquire()
	if g == nil {
		return true
	}
	defer g.release(u)
	return g.set.Contains(key)
}

// ContainsString is Contains for a string.
func (l *Live) ContainsString(key string) bool {
	g, u := l.acquire()
	if g == nil {
		return true
	}
	defer g.release(u)
	return g.set.ContainsString(key)
}

// ContainsUint64 is Contains for the eight bytes of key, little endian.
func (l *Live) ContainsUint64(key uint64) bool {
	g, u := l.acquire()
	if g == nil {
		return true
	}
	defer g.release(u)
	return g.set.ContainsUint64(key)
}

// ContainsMany is Set.ContainsMany. All results are from the same file.
func (l *Live) ContainsMany(dst []bool, keys [][]byte) {
	l.View(func(s *Set) { s.ContainsMany(dst, keys) })
}

// Count is Set.Count on the current file.
func (l *Live) Count(key []byte) (n uint64, saturated bool, err error) {
	l.View(func(s *Set) { n, saturated, err = s.Count(key) })
	return n, saturated, err
}

// Get is Set.Get on the current file.
func (l *Live) Get(key []byte) (value uint64, ok bool, err error) {
	l.View(func(s *Set) { value, ok, err = s.Get(key) })
	return value, ok, err
}

// Info is Set.Info of the current file.
func (l *Live) Info() (i filter.Info) {
	l.View(func(s *Set) { i = s.Info() })
	return i
}

// Swaps returns how many times a new file was swapped in.
func (l *Live) Swaps() uint64 { return l.swaps.Load() }

// Err returns the error of the last Reload, or an error if the current file was changed in place (see Set.Err), or the
// error of the last Report, or nil. After Close it returns an error.
func (l *Live) Err() (err error) {
	if l.current.Load() == nil {
		return errClosed
	}
	if err := l.failed.Load().Cause(); err != nil {
		return err
	}
	l.View(func(s *Set) { err = s.Err() })
	if err != nil {
		return err
	}
	if reported := l.reports.Load(); reported != nil {
		return *reported
	}
	return nil
}

// Close stops following the file, waits for running queries, and closes the Set. Later queries cannot
// know their answer: Contains is true, and Err returns an error.
func (l *Live) Close() error {
	l.stop()
	l.done.Wait()
	l.reload.Lock()
	defer l.reload.Unlock()
	g := l.current.Swap(nil)
	if g == nil {
		return nil
	}
	err := g.set.Err()
	g.retire()
	<-g.gone
	return err
}

// String describes the current set, without its secret.
func (l *Live) String() (s string) {
	l.View(func(set *Set) { s = fmt.Sprintf("bloomery.Live(%s, %v)", l.path, set) })
	return s
}
