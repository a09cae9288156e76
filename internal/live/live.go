// Package live follows a file that is replaced: it opens the new file, swaps its value in, and releases the old value
// after the last use. Live of the root and of package exact stand on it.
//
// Passing says which errors of opening a file are worth another attempt, and a Failure when to make it. Followed files,
// shards and exact sets use the same rule: an error of the system passes, damage stays until the file is replaced.
//
//	follow, Reload ──► check: same file? pause over? ──► Open ──► current ──► old value: Release after the last use
package live

import (
	"context"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// Value is what a file holds. Err returns why it cannot answer, or nil.
type Value interface{ Err() error }

// Config says what a File follows.
type Config[T Value] struct {
	Path     func() string                    // returns the path of the file to check, which may change
	Open     func(context.Context) (T, error) // opens the value in the file
	Release  func(T)                          // frees a value after its last use; may be nil
	Closed   T                                // the value after Close; its Err is the error of Reload and Err
	Interval time.Duration                    // between two checks, more than 0
	Update   func(context.Context)            // if not nil, runs until its context ends, at Close
}

// File is the value of a file that may be replaced by rename. Start it before use. All methods are safe for concurrent
// use.
//
// If the new file cannot be opened, the current value stays. After an error that may pass, another attempt follows when
// package retry says so; after damage, when the file changes.
type File[T Value] struct {
	config  Config[T]
	current atomic.Pointer[Generation[T]]
	failed  atomic.Pointer[Failure] // of the last attempt to open the file, or nil
	reports atomic.Pointer[error]   // of the updater
	swaps   atomic.Uint64

	reload sync.Mutex // held while a file is opened
	seen   fs.FileInfo
	closed bool
	stop   context.CancelFunc
	done   sync.WaitGroup
}

// Start opens the file, unless ctx ends first, and follows it until Close. After an error nothing is followed.
func (f *File[T]) Start(ctx context.Context, c Config[T]) error {
	f.config = c
	if err := f.Reload(ctx); err != nil {
		return err
	}
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

// StartClosed makes a File that was not started a closed one with that value.
func (f *File[T]) StartClosed(closed T) {
	f.reload.Lock()
	defer f.reload.Unlock()
	if !f.Started() {
		f.config.Closed, f.closed, f.stop = closed, true, func() {}
		f.swap(closed)
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
			_ = f.check(ctx, false) // Err returns the error
			timer.Reset(f.failed.Load().Wait(time.Now(), f.config.Interval))
		}
	}
}

// Reload checks the file now and swaps its value in if the file has changed, or if the last attempt failed with an
// error that may pass. If the file cannot be opened, Reload returns the error, as Err does until a Reload succeeds. If
// ctx ends first, it returns its cause and nothing has changed.
func (f *File[T]) Reload(ctx context.Context) error { return f.check(ctx, true) }

// check is Reload. If now is false, it does not open an unchanged file before the pause after a failure is over.
func (f *File[T]) check(ctx context.Context, now bool) error {
	f.reload.Lock()
	defer f.reload.Unlock()
	if f.closed {
		return f.config.Closed.Err()
	}
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
			before = nil // another file
		}
		f.failed.Store(After(before, err, time.Now()))
		return err
	}
	f.failed.Store(nil)
	if old := f.swap(value); old != nil {
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

// Close stops following the file, waits for Update and all uses, and releases the value. It returns the error that the
// value had; a second Close returns nil.
func (f *File[T]) Close() error {
	f.stop()
	f.done.Wait()
	f.reload.Lock()
	defer f.reload.Unlock()
	if f.closed {
		return nil
	}
	f.closed = true
	f.failed.Store(nil)
	old := f.swap(f.config.Closed)
	err := old.Value.Err()
	old.retire()
	<-old.gone
	return err
}
