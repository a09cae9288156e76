package live

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// value is the content of a file.
type value struct {
	text     string
	released atomic.Int64
	err      error
}

func (v *value) Err() error { return v.err }

var errClosed = errors.New("closed")

// followed is a file that a File follows, with all values that were opened.
type followed struct {
	File[*value]
	t    *testing.T
	path atomic.Pointer[string]
	fail atomic.Pointer[error] // the error of the next attempts to open the file

	mu     sync.Mutex
	values []*value
	opens  int
}

func start(t *testing.T, interval time.Duration, update func(context.Context)) *followed {
	t.Helper()
	f := &followed{t: t}
	path := filepath.Join(t.TempDir(), "f")
	f.path.Store(&path)
	c := Config[*value]{
		Path:     func() string { return *f.path.Load() },
		Open:     f.open,
		Release:  func(v *value) { v.released.Add(1) },
		Closed:   &value{text: "closed", err: errClosed},
		Interval: interval,
		Update:   update,
	}
	if err := f.Start(t.Context(), c); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("no file: %v", err)
	}
	f.write("0")
	if err := f.Start(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *followed) open(context.Context) (*value, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.opens++
	if err := f.fail.Load(); err != nil {
		return nil, *err
	}
	b, err := os.ReadFile(*f.path.Load())
	v := &value{text: string(b)}
	f.values = append(f.values, v)
	return v, err
}

// write replaces the file by rename.
func (f *followed) write(text string) {
	f.t.Helper()
	path := *f.path.Load()
	if err := errors.Join(os.WriteFile(path+".new", []byte(text), 0o600), os.Rename(path+".new", path)); err != nil {
		f.t.Fatal(err)
	}
}

func (f *followed) eventually(what string, ok func() bool) {
	f.t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			f.t.Fatalf("%s: not within a minute", what)
		}
	}
}

// TestUses replaces a file while its values are in use. No value may be released during a use, and each must be
// released once, the last one by Close.
func TestUses(t *testing.T) {
	f := start(t, time.Hour, nil)
	var stop atomic.Bool
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for !stop.Load() {
				g, u := f.Acquire()
				if g.Value.released.Load() > 0 {
					t.Error("a value was released under a use")
				}
				g.Release(u)
				f.View(func(v *value) {
					time.Sleep(time.Microsecond)
					if v.released.Load() > 0 {
						t.Error("a value was released under View")
					}
				})
			}
		})
	}
	const files = 200
	for range files {
		f.write("next")
		if err := f.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if f.Swaps() != files || f.Current() != f.values[files] {
		t.Errorf("%d swaps", f.Swaps())
	}
	for range 50_000 { // faster than files can be replaced
		f.swapIn(new(value)).retire()
	}
	stop.Store(true)
	group.Wait()
	for i, v := range f.values[:files] {
		if v.released.Load() != 1 {
			t.Fatalf("value %d was released %d times", i, v.released.Load())
		}
	}
	g, u := f.Acquire()
	closed := make(chan error)
	go func() { closed <- f.Close() }()
	select {
	case <-closed:
		t.Fatal("Close did not wait for a use")
	case <-time.After(20 * time.Millisecond):
	}
	if g.Value.released.Load() > 0 {
		t.Error("Close released a value under a use")
	}
	g.Release(u)
	if err := <-closed; err != nil || g.Value.released.Load() != 1 {
		t.Errorf("%v, released %d times", err, g.Value.released.Load())
	}
}

// TestErr checks that errors of the file come before errors of the value, and these before reports. Close must end
// Update and return the error of the value. After it, the closed value remains.
func TestErr(t *testing.T) {
	updating := make(chan bool)
	f := start(t, time.Hour, func(ctx context.Context) {
		<-ctx.Done()
		close(updating)
	})
	reported, own := errors.New("reported"), errors.New("value")
	f.Report(reported)
	if err := f.Err(); err != reported {
		t.Error(err)
	}
	f.Current().err = own
	if err := f.Err(); err != own {
		t.Error(err)
	}
	before := f.Current()
	if err := os.Remove(*f.path.Load()); err != nil {
		t.Fatal(err)
	}
	if err := f.Reload(t.Context()); !errors.Is(err, os.ErrNotExist) || f.Err() != err || f.Current() != before {
		t.Errorf("%v, %v", err, f.Err())
	}
	if err := f.Close(); err != own {
		t.Errorf("Close: %v", err)
	}
	<-updating
	for range 2 {
		if f.Reload(t.Context()) != errClosed || f.Err() != errClosed || f.Current().text != "closed" {
			t.Errorf("after Close: %v, %v, %s", f.Reload(t.Context()), f.Err(), f.Current().text)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestAttempts checks that after a transient error the same file is opened again, and after damage only a new file,
// even if it is at another path.
func TestAttempts(t *testing.T) {
	f := start(t, time.Millisecond, nil)
	defer f.Close()
	var passing, damage error = syscall.EMFILE, io.ErrUnexpectedEOF
	f.fail.Store(&passing)
	f.write("1")
	f.eventually("the error", func() bool { return f.Err() == passing })
	f.fail.Store(nil)
	f.eventually("the same file", func() bool { return f.Err() == nil && f.Current().text == "1" })
	f.fail.Store(&damage)
	f.write("2")
	f.eventually("damage", func() bool { return f.Err() == damage })
	f.mu.Lock()
	before := f.opens
	f.mu.Unlock()
	f.fail.Store(nil)
	time.Sleep(10 * time.Millisecond)
	if err := f.Reload(t.Context()); err != damage || f.opens != before {
		t.Errorf("%v, %d attempts with a damaged file", err, f.opens-before)
	}
	next := filepath.Join(t.TempDir(), "next")
	f.path.Store(&next)
	f.write("3")
	f.eventually("another path", func() bool { return f.Err() == nil && f.Current().text == "3" })
}
