package bloomery_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
)

func entries(t testing.TB, dir string) (names []string) {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		names = append(names, e.Name())
	}
	return names
}

// save writes a set to a new file.
func save(t testing.TB, s *bloomery.Set) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f.bloom")
	if err := s.Save(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestFiles opens every family in all ways, changes what was opened, and finds the file as it was.
func TestFiles(t *testing.T) {
	for _, f := range families.All() {
		c := bloomery.Config{Spec: f.Name + "(bytes=1200000)"} // more than 1 MiB, so that it is mapped
		keys := make([]uint64, 20_000)
		switch {
		case f.Name == "fuse": // has at most 32 bits a slot
			c.Spec, keys = "fuse(width=32)", make([]uint64, 270_000)
		case f.Can.Has(family.CanSpill) && !f.Can.Has(family.CanSearch): // they use 32 to 92 bits a key
			keys = make([]uint64, 300_000)
		case f.Can.Has(family.CanSearch):
			c.Spec, keys = f.Name+"(bits_per_key=32,passes=1)", make([]uint64, 300_000)
		}
		for i := range keys {
			keys[i] = uint64(i)
		}
		s := build(t, keys, c)
		path := save(t, s)
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		own := bytes.Clone(file)
		for what, open := range map[string]func() (*bloomery.Set, error){
			"Open":      func() (*bloomery.Set, error) { return bloomery.Open(t.Context(), path) },
			"InMemory":  func() (*bloomery.Set, error) { return bloomery.Open(t.Context(), path, bloomery.InMemory()) },
			"Read":      func() (*bloomery.Set, error) { return bloomery.Read(bytes.NewReader(file)) },
			"FromBytes": func() (*bloomery.Set, error) { return bloomery.FromBytes(own) },
			"FromBytes, odd": func() (*bloomery.Set, error) {
				return bloomery.FromBytes(append(make([]byte, 1, len(file)+1), file...)[1:])
			},
			"Lock": func() (*bloomery.Set, error) { return lock(t, path) },
		} {
			got, err := open()
			if err != nil {
				t.Fatalf("%s: %s: %v", f.Name, what, err)
			}
			ints := bloomery.Keyed[uint64](got)
			if !got.Equal(s) || !s.Equal(got) || !ints.Contains(7) || got.Err() != nil || got.Info().Keys != s.Info().Keys {
				t.Errorf("%s: %s gives another set", f.Name, what)
			}
			if f.Can.Has(family.CanAdd) {
				if err := got.AddString("new"); err != nil || !got.ContainsString("new") || got.Equal(s) || !ints.Contains(7) {
					t.Errorf("%s: %s: Add: %v", f.Name, what, err)
				}
			}
			if err := got.Close(); err != nil {
				t.Errorf("%s: %s: Close: %v", f.Name, what, err)
			}
		}
		if !bytes.Equal(own, file) {
			t.Errorf("%s: a change of the set wrote to the bytes", f.Name)
		}
		if after, _ := os.ReadFile(path); !bytes.Equal(after, file) {
			t.Errorf("%s: a change of the set wrote to the file", f.Name)
		}
	}
}

func lock(t testing.TB, path string) (*bloomery.Set, error) {
	l, err := bloomery.Lock(t.Context(), path)
	if err != nil {
		return nil, err
	}
	return l.Set, l.Close()
}

// TestFromBytesShares finds no copy of the filter where the machine allows it.
func TestFromBytesShares(t *testing.T) {
	if !bitvec.LittleEndian {
		t.Skip("this machine is big-endian: words must be turned round")
	}
	file, err := build(t, words(100_000), bloomery.Config{Spec: "standard"}).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	aligned := make([]uint64, len(file)/8)
	b := bitvec.Bytes(aligned)
	copy(b, file)
	if n := testing.AllocsPerRun(5, func() {
		if _, err := bloomery.FromBytes(b); err != nil {
			t.Fatal(err)
		}
	}); n > 60 {
		t.Errorf("%v allocations", n)
	}
	s, err := bloomery.FromBytes(b)
	if err != nil {
		t.Fatal(err)
	}
	for i := range b[4096:] { // all bits set: the set sees it
		b[4096+i] = 0xff
	}
	if !s.ContainsString("absent") && !s.ContainsString("absent too") {
		t.Error("the set does not read the bytes")
	}
}

// TestLimits refuses what is larger than it may be.
func TestLimits(t *testing.T) {
	s := build(t, words(10_000), bloomery.Config{})
	path := save(t, s)
	file, _ := s.MarshalBinary()
	for what, err := range map[string]error{
		"Open":      second(bloomery.Open(t.Context(), path, bloomery.WithMaxBytes(1000))),
		"Read":      second(bloomery.Read(bytes.NewReader(file), bloomery.WithMaxBytes(1000))),
		"FromBytes": second(bloomery.FromBytes(file, bloomery.WithMaxBytes(1000))),
	} {
		if !errors.Is(err, filter.ErrTooLarge) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, err := range map[string]error{
		"an empty file": second(bloomery.Read(strings.NewReader(""))), "a text": second(bloomery.Read(strings.NewReader("a line\n"))),
		"half a header": second(bloomery.Read(bytes.NewReader(file[:40]))),
	} {
		want := filter.ErrMagic
		if what != "a text" {
			want = io.ErrUnexpectedEOF
		}
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", what, err, want)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// large makes a file that is mapped: more than 1 MiB.
func large(t testing.TB, path string, from uint64) {
	t.Helper()
	s, err := bloomery.New(bloomery.Config{Spec: "standard(k=7,m=16777216)"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint64(1000) {
		if err := bloomery.Keyed[uint64](s).Add(from + i); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Save(t.Context(), path); err != nil {
		t.Fatal(err)
	}
}

// TestChangedInPlace overwrites and truncates a mapped file: answers may be wrong, never a crash or a false no of a
// page that cannot be read, and Err says so.
func TestChangedInPlace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.bloom")
	for what, change := range map[string]func() error{
		"truncated": func() error { return os.Truncate(path, 0) },
		"cut":       func() error { return os.Truncate(path, 5000) },
		"touched":   func() error { return os.Chtimes(path, time.Time{}, time.Unix(1, 0)) },
		"overwritten": func() error {
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteAt(make([]byte, 1<<20), 0)
			return errors.Join(err, f.Close())
		},
	} {
		large(t, path, 0)
		s, err := bloomery.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		mem, err := bloomery.Open(t.Context(), path, bloomery.InMemory())
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Err(); err != nil {
			t.Fatalf("%s: before the change: %v", what, err)
		}
		if err := change(); err != nil {
			t.Fatal(err)
		}
		dst := make([]bool, 1000)
		keys := make([]uint64, 1000)
		for i := range keys {
			keys[i] = uint64(i)
			if !bloomery.Keyed[uint64](s).Contains(uint64(i)) && what != "overwritten" && what != "cut" {
				t.Fatalf("%s: a false no", what)
			}
			if !bloomery.Keyed[uint64](mem).Contains(uint64(i)) {
				t.Fatalf("%s: in memory: key %d is lost", what, i)
			}
		}
		bloomery.Keyed[uint64](s).ContainsMany(dst, keys)
		_ = s.Info()
		_, _ = s.Clone()
		_, _ = s.WriteTo(io.Discard)
		_ = bloomery.Keyed[uint64](s).Add(5)
		if err := s.Err(); what != "touched" && bloomery.FilterOf(s) != nil && err != nil && !errors.Is(err, filter.ErrFile) {
			t.Errorf("%s: %v", what, err)
		}
		if err := errors.Join(mem.Err(), mem.Close(), s.Close()); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestTruncatedBatches truncates mapped files: each batch of integers or strings answers yes for all keys, and Err says
// so.
func TestTruncatedBatches(t *testing.T) {
	if runtime.GOOS == "js" || runtime.GOOS == "windows" || !bitvec.LittleEndian {
		t.Skip("files are read into memory on this system: a later change cannot disturb a Set")
	}
	for _, spec := range []string{"fuse(width=8)", "fuse(width=16)", "blocked", "blocked(layout=split)", "standard"} {
		path := filepath.Join(t.TempDir(), "f.bloom")
		keys := func(yield func(uint64) bool) {
			for i := range uint64(1_200_000) {
				if !yield(i) {
					return
				}
			}
		}
		ctx := t.Context()
		built, err := bloomery.Build(ctx, keys, bloomery.Config{Spec: spec, Keys: 1_200_000})
		if err != nil {
			t.Fatal(err)
		}
		if err := built.Save(ctx, path); err != nil {
			t.Fatal(err)
		}
		ask := func(what string, ask func(s *bloomery.Set, dst []bool)) {
			s, err := bloomery.Open(ctx, path)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			file, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(path, 0); err != nil {
				t.Fatal(err)
			}
			dst := make([]bool, 600)
			ask(s, dst)
			if slices.Contains(dst, false) || !errors.Is(s.Err(), filter.ErrFile) {
				t.Errorf("%s, %s: a false no, or no error: %v", spec, what, s.Err())
			}
			if err := os.WriteFile(path, file, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		ask("integers", func(s *bloomery.Set, dst []bool) {
			bloomery.Keyed[uint64](s).ContainsMany(dst, make([]uint64, len(dst)))
		})
		ask("strings", func(s *bloomery.Set, dst []bool) {
			bloomery.Keyed[string](s).ContainsMany(dst, names("key", len(dst)))
		})
	}
}

// TestErr notices a change in place without a query.
func TestErr(t *testing.T) {
	if runtime.GOOS == "js" || runtime.GOOS == "windows" || !bitvec.LittleEndian {
		t.Skip("files are read into memory on this system: a later change cannot disturb a Set")
	}
	path := filepath.Join(t.TempDir(), "f.bloom")
	large(t, path, 0)
	s, err := bloomery.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	large(t, path, 1) // by rename
	if err := s.Err(); err != nil || !bloomery.Keyed[uint64](s).Contains(0) {
		t.Errorf("replaced by rename: %v", err)
	}
	s, err = bloomery.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := os.Truncate(path, 100); err != nil {
		t.Fatal(err)
	}
	if err := s.Err(); !errors.Is(err, filter.ErrFile) || !strings.Contains(err.Error(), path) {
		t.Errorf("truncated: %v", err)
	}
	if !bloomery.Keyed[uint64](s).Contains(1 << 40) { // its page is gone: yes, not a crash
		t.Error("a false no")
	}
}

// TestChangedErrors overwrites the file of a mapped Set with another valid filter. Whatever reads the whole filter and
// can return an error returns one, and nothing is written.
func TestChangedErrors(t *testing.T) {
	if runtime.GOOS == "js" || runtime.GOOS == "windows" || !bitvec.LittleEndian {
		t.Skip("files are read into memory on this system: a later change cannot disturb a Set")
	}
	dir := t.TempDir()
	path, next, output := filepath.Join(dir, "f.bloom"), filepath.Join(dir, "next.bloom"), filepath.Join(dir, "out.bloom")
	large(t, next, 5)
	later, err := os.ReadFile(next)
	if err != nil {
		t.Fatal(err)
	}
	same, err := bloomery.Open(t.Context(), next, bloomery.InMemory())
	if err != nil {
		t.Fatal(err)
	}
	for what, use := range map[string]func(s *bloomery.Set) error{
		"Add":              func(s *bloomery.Set) error { return bloomery.Keyed[uint64](s).Add(7) },
		"Clone":            func(s *bloomery.Set) error { _, err := s.Clone(); return err },
		"Merge":            func(s *bloomery.Set) error { return s.Merge(same) },
		"Merge with it":    func(s *bloomery.Set) error { return same.Merge(s) },
		"Intersect":        func(s *bloomery.Set) error { return s.Intersect(same) },
		"WriteTo":          func(s *bloomery.Set) error { _, err := s.WriteTo(io.Discard); return err },
		"MarshalBinary":    func(s *bloomery.Set) error { _, err := s.MarshalBinary(); return err },
		"Save":             func(s *bloomery.Set) error { return s.Save(t.Context(), output) },
		"EstimateInterval": func(s *bloomery.Set) error { _, err := s.EstimateInterval(); return err },
		"EstimateOverlap":  func(s *bloomery.Set) error { _, err := s.EstimateOverlap(same); return err },
		"with EstimateOverlap": func(s *bloomery.Set) error {
			_, err := same.EstimateOverlap(s)
			return err
		},
		"Info": func(s *bloomery.Set) error { s.Info(); return s.Err() },
	} {
		large(t, path, 0)
		s, err := bloomery.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, later, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := use(s); !errors.Is(err, filter.ErrFile) {
			t.Errorf("%s: %v", what, err)
		}
		if err := s.Err(); !errors.Is(err, filter.ErrFile) {
			t.Errorf("%s: Err returns %v", what, err)
		}
		if names, _ := filepath.Glob(output + "*"); len(names) != 0 {
			t.Errorf("%s: %v was written", what, names)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	large(t, path, 0)
	l, err := bloomery.OpenLive(t.Context(), path, bloomery.WithInterval(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, later, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := l.Err(); !errors.Is(err, filter.ErrFile) {
		t.Errorf("Live: %v", err)
	}
	// The next look at the file opens it again: it is valid.
	if err := l.Reload(t.Context()); err != nil || l.Err() != nil {
		t.Errorf("Live: %v, %v", err, l.Err())
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// TestLive swaps files under queries.
func TestLive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.bloom")
	large(t, path, 0)
	l, err := bloomery.OpenLive(t.Context(), path, bloomery.WithInterval(time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	var stop atomic.Bool
	var queries atomic.Int64
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			dst := make([]bool, 2)
			for !stop.Load() {
				runtime.Gosched() // on js nothing interrupts a goroutine
				// Key 999 is in every generation from 0 to 999.
				if !l.HasUint64(999) {
					t.Error("a key is lost")
					return
				}
				l.View(func(s *bloomery.Set) {
					bloomery.Keyed[[]byte](s).ContainsMany(dst, [][]byte{{231, 3, 0, 0, 0, 0, 0, 0}, nil})
				})
				if !dst[0] {
					t.Error("a batch lost a key")
					return
				}
				queries.Add(1)
			}
		})
	}
	for i := range uint64(20) {
		large(t, path, i+1)
		if err := l.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		if l.HasUint64(i+1000) != true {
			t.Fatalf("generation %d was not swapped in", i+1)
		}
	}
	if l.Swaps() < 20 || l.Err() != nil || l.Info().Keys != 1000 {
		t.Errorf("%d swaps, %v, %v", l.Swaps(), l.Err(), l)
	}
	// A damaged file is not swapped in; the next good one is.
	if err := os.WriteFile(path+".new", []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	err = l.Reload(t.Context())
	if !errors.Is(err, filter.ErrMagic) || !errors.Is(l.Err(), filter.ErrMagic) || !l.HasUint64(999) {
		t.Errorf("damaged: %v, %v", err, l.Err())
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := l.Reload(t.Context()); !errors.Is(err, os.ErrNotExist) || !l.HasUint64(999) {
		t.Errorf("removed: %v", err)
	}
	large(t, path, 500)
	for end := time.Now().Add(time.Minute); !l.HasUint64(1499) && time.Now().Before(end); { // by the ticker
		time.Sleep(time.Millisecond)
	}
	if err := l.Err(); err != nil || !l.HasUint64(1499) {
		t.Errorf("came back: %v", err)
	}
	stop.Store(true)
	wg.Wait()
	if queries.Load() == 0 {
		t.Error("no query ran")
	}
	if err := errors.Join(l.Close(), l.Close()); err != nil {
		t.Error(err)
	}
	if !l.HasUint64(1<<40) || l.Err() == nil || l.Reload(t.Context()) == nil {
		t.Error("a closed Live says that a key is absent, or has no error")
	}
}

// TestLiveCloseWaits has a query run while Close is called.
func TestLiveCloseWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.bloom")
	large(t, path, 0)
	l, err := bloomery.OpenLive(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	inside, leave, closed := make(chan bool), make(chan bool), make(chan error)
	go l.View(func(s *bloomery.Set) {
		inside <- true
		<-leave
		if !bloomery.Keyed[uint64](s).Contains(1) {
			t.Error("the set was closed under a query")
		}
	})
	<-inside
	go func() { closed <- l.Close() }()
	select {
	case <-closed:
		t.Fatal("Close did not wait")
	case <-time.After(30 * time.Millisecond):
	}
	close(leave)
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

// TestLock changes a file under a lock, which others wait for, and notices changes without it.
func TestLock(t *testing.T) {
	path := save(t, build(t, words(10), bloomery.Config{Spec: "standard(capacity=100)"}))
	l, err := bloomery.Lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(l.AddString("new"), l.Commit(t.Context()), l.Close(), l.Close()); err != nil {
		t.Fatal(err)
	}
	l, err = bloomery.Lock(t.Context(), path)
	if err != nil || !l.ContainsString("new") {
		t.Fatalf("%v", err)
	}
	defer l.Close()
	if err := os.Chtimes(path, time.Time{}, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if err := l.Commit(t.Context()); !errors.Is(err, filter.ErrChanged) {
		t.Errorf("a change by others: %v", err)
	}
	if _, err := bloomery.Lock(t.Context(), filepath.Dir(path)); err == nil {
		t.Error("a folder was locked")
	}
}
