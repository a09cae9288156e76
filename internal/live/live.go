// Package live follows a file that is replaced: it opens the new file, swaps its value in, and releases the old value
// after the last use. The Live types of the root package and of package exact are based on it.
//
// Passing reports whether an error of opening a file is transient, and a Failure has the time of the next attempt.
// Followed files, shards and exact sets use the same rule: errors of the system are transient, damage stays until the
// file is replaced.
//
//	follow, Reload ──► check: same file? pause over? ──► Open ──► current ──► old value: Release after the last use
package live

import (
	"context"
	"io/fs"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bloomery/bloomery/filter"
)

// Value is the content of a file. Err returns the reason that it cannot answer, or nil.
type Value interface{ Err() error }

// Config is the options of a File.
type Config[T Value] struct {
	Path     func() string                    // returns the path of the file to check, which may change
	Open     func(context.Context) (T, error) // opens the value in the file
	Release  func(T)                          // frees a value after its last use; may be nil
	Closed   T                                // the value after Close; its Err is the error of Reload and Err
	Interval time.Duration                    // the time between two checks, more than 0
	Update   func(context.Context)            // if not nil, runs until its context ends; Close ends it
}

// File is the value of a file that may be replaced by rename. Start it before use. All methods are safe for concurrent
// use.
//
// If the new file cannot be opened, the current value stays. After a transient error, the next attempt follows at the
// time in its Failure; after damage, when the file changes.
type File[T Value] struct {
	config  Config[T]
	current atomic.Pointer[Generation[T]]
	failed  atomic.Pointer[Failure] // the failure of the last attempt to open the file, or nil
	reports atomic.Pointer[error]   // the error of the last Report
	swaps   atomic.Uint64           // the number of values that replaced another one

	reload sync.Mutex  // held while a file is opened; protects seen and closed
	seen   fs.FileInfo // the file at the last attempt, or nil
	closed bool        // Close was called
	stop   context.CancelFunc
	done   sync.WaitGroup
}

// Start opens the file, unless ctx ends first, and follows it until Close. After an error it follows nothing.
func (f *File[T]) Start(ctx context.Context, c Config[T]) error {
	f.config = c
	if err := f.Reload(ctx); err != nil {
		return err
	}
	// ctx is for the opening alone. The goroutines run until Close.
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	f.stop = cancel
	f.done.Go(func() { f.follow(ctx) })
	if c.Update != nil {
		f.done.Go(func() { c.Update(ctx) })
	}
	return nil
}

// Started reports whether Start or StartClosed has returned without an error.
func (f *File[T]) Started() bool { return f.current.Load() != nil }

// StartClosed turns a File that was not started into a closed one with that value.
func (f *File[T]) StartClosed(closed T) {
	f.reload.Lock()
	defer f.reload.Unlock()
	if !f.Started() {
		f.config.Closed, f.closed, f.stop = closed, true, func() {}
		f.swapIn(closed)
	}
}

func (f *File[T]) follow(ctx context.Context) {
	timer := time.NewTimer(f.config.Interval)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			_ = f.reloadIfNeeded(ctx, false) // Err returns the error
			timer.Reset(f.failed.Load().Wait(time.Now(), f.config.Interval))
		}
	}
}

// Reload checks the file now and swaps its value in if the file has changed, or if the last attempt failed with a
// transient error. If the file cannot be opened, Reload returns the error, as Err does until a Reload succeeds. If ctx
// ends first, Reload returns its cause and changes nothing.
func (f *File[T]) Reload(ctx context.Context) error { return f.reloadIfNeeded(ctx, true) }

// reloadIfNeeded is Reload. If now is false, it does not open an unchanged file before the pause after a failure is
// over.
func (f *File[T]) reloadIfNeeded(ctx context.Context, now bool) error {
	f.reload.Lock()
	defer f.reload.Unlock()
	if f.closed {
		return f.config.Closed.Err()
	}

	// Stat comes before Open: if the file is replaced between the two, the next check sees a change and opens it again.
	st, err := os.Stat(f.config.Path())
	same := err == nil && f.seen != nil && os.SameFile(st, f.seen) && st.Size() == f.seen.Size() &&
		st.ModTime().Equal(f.seen.ModTime())
	before := f.failed.Load()
	if same && (before == nil || before.Final() || !now && !before.Due(time.Now())) {
		return before.Cause()
	}

	var value T
	if err == nil {
		value, err = f.config.Open(ctx)
	}
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}

	f.seen = st // nil if there is no file, so that a new one is opened
	if err != nil {
		if st != nil && !same {
			before = nil // another file: the pauses begin with the shortest one again
		}
		f.failed.Store(After(before, err, time.Now()))
		return err
	}

	f.failed.Store(nil)
	if old := f.swapIn(value); old != nil {
		f.swaps.Add(1)
		old.retire()
	}
	return nil
}

// Report makes Err return err, unless the file itself has an error, until the next Report. nil clears it.
func (f *File[T]) Report(err error) { f.reports.Store(&err) }

// Swaps returns how many times a new file was swapped in.
func (f *File[T]) Swaps() uint64 { return f.swaps.Load() }

// Err returns the first of these that is not nil: the error of the last Reload, of the current value, and of the last
// Report. After Close it returns the error of Config.Closed.
func (f *File[T]) Err() (err error) {
	if err := f.failed.Load().Cause(); err != nil {
		return err
	}
	f.View(func(value T) { err = value.Err() })
	if err != nil {
		return err
	}
	if reported := f.reports.Load(); reported != nil {
		return *reported
	}
	return nil
}

// Close stops following the file, waits for Update and all uses, and releases the value. It returns the error of the
// value; a second Close returns nil.
func (f *File[T]) Close() error {
	// Update and follow end before the lock is taken, since both may hold it in Reload.
	f.stop()
	f.done.Wait()
	f.reload.Lock()
	defer f.reload.Unlock()
	if f.closed {
		return nil
	}

	f.closed = true
	f.failed.Store(nil)
	old := f.swapIn(f.config.Closed)
	err := old.Value.Err()
	old.retire()
	<-old.gone
	return err
}

// Generation is the value of one file. It is released after the last use.
type Generation[T Value] struct {
	Value T
	uses
}

// uses counts the running uses of a generation. It is not generic, because the compiler inlines Release only then.
type uses struct {
	counters [stripes]Use
	free     func()        // releases the value, or nil
	gone     chan struct{} // closed when the value has been replaced and all its uses have ended
	once     sync.Once
	old      atomic.Bool
}

// stripes is the number of counters of a generation. Several avoid contention between cores.
const stripes = 16

// Use is one of the counters of a generation.
type Use struct {
	n atomic.Int64
	_ [56]byte // so that two counters do not share a cache line
}

// swapIn makes value the current one and returns the previous generation, or nil.
func (f *File[T]) swapIn(value T) (old *Generation[T]) {
	g := &Generation[T]{Value: value, uses: uses{gone: make(chan struct{})}}
	if release := f.config.Release; release != nil {
		g.free = func() { release(value) }
	}
	return f.current.Swap(g)
}

// Current returns the value without a use: it may be released at any time, unless Config.Release is nil.
func (f *File[T]) Current() T { return f.current.Load().Value }

// Acquire returns the current generation and a Use. The value is not released until the caller passes the Use to
// Release.
func (f *File[T]) Acquire() (*Generation[T], *Use) {
	for {
		g := f.current.Load()
		u := &g.counters[rand.Uint32()%stripes]
		u.n.Add(1)
		if f.current.Load() == g {
			return g, u
		}
		g.Release(u) // replaced in the meantime, and perhaps released
	}
}

// View calls do with the current value, which is not released until do returns.
func (f *File[T]) View(do func(value T)) {
	g, u := f.Acquire()
	defer g.Release(u)
	do(g.Value)
}

// Release ends a use. The last use of a replaced generation releases the value.
func (s *uses) Release(u *Use) {
	u.n.Add(-1)
	if s.old.Load() {
		s.settle()
	}
}

// retire releases the value as soon as it has no use.
func (s *uses) retire() {
	s.old.Store(true)
	s.settle()
}

// settle releases the value if it has no use. retire calls it after it has set old, and so does every later Release;
// the last of these calls finds all counters at 0. A use that begins later sees that the generation was replaced before
// it uses the value.
func (s *uses) settle() {
	for i := range s.counters {
		if s.counters[i].n.Load() != 0 {
			return
		}
	}
	s.once.Do(func() {
		if s.free != nil {
			s.free()
		}
		close(s.gone)
	})
}

// ExactOptions are the options of package exact for opening and following the file of a set. exact has functions for
// the options of users. Package publish also sets Described and Update, so the type cannot be private to exact. The
// zero value has the defaults.
type ExactOptions struct {
	Secret   *filter.Secret // secret of a set with a keyed hash
	MaxBytes uint64         // limit of the file; 0: the limit of the function
	Interval time.Duration  // between two checks of the file; 0: exact.DefaultInterval

	// Described is true if the caller needs only the Info of the set: a set with a keyed hash then needs no secret, and
	// its answers are undefined.
	Described bool
	// Update, if not nil, runs in its own goroutine. It replaces the file from time to time, for example by a download,
	// calls Reload, and passes its errors to Report. Close ends its context and waits for it, so it must return soon
	// after its context ends.
	Update func(ctx context.Context, f Follower)
}

// Follower is the part of a File that the code that replaces the file needs.
type Follower interface {
	Reload(ctx context.Context) error // checks the file now and swaps it in if it has changed
	Report(error)                     // makes Err return an error, unless the file itself has one; nil clears it
}
