package settest_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
	"github.com/bloomery/bloomery/internal/settest"
)

// TestFiles opens a file of every family in all ways, changes the Set, and checks that the file is unchanged.
func TestFiles(t *testing.T) {
	for _, f := range families.All() {
		c := bloomery.Config{Spec: f.Name + "(bytes=1200000)"} // more than 1 MiB, so that it is mapped
		keys := make([]uint64, 20_000)
		switch {
		case f.Name == "fuse": // fuse has at most 32 bits per slot
			c.Spec, keys = "fuse(width=32)", make([]uint64, 270_000)
		case f.Can.Has(family.CanSpill) && !f.Can.Has(family.CanSearch): // they use 32 to 92 bits per key
			keys = make([]uint64, 300_000)
		case f.Can.Has(family.CanSearch):
			c.Spec, keys = f.Name+"(bits_per_key=32,passes=1)", make([]uint64, 300_000)
		}
		for i := range keys {
			keys[i] = uint64(i)
		}
		s := settest.Build(t, keys, c)
		path := settest.Save(t, s)
		file := settest.Must(os.ReadFile(path))
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

// TestFromBytesShares checks that FromBytes does not copy the filter on little-endian machines.
func TestFromBytesShares(t *testing.T) {
	if !bitvec.LittleEndian {
		t.Skip("this machine is big-endian: words must be turned round")
	}
	file := settest.Must(settest.Build(t, settest.Words(100_000), bloomery.Config{Spec: "standard"}).MarshalBinary())
	aligned := make([]uint64, len(file)/8)
	b := bitvec.Bytes(aligned)
	copy(b, file)
	if n := testing.AllocsPerRun(5, func() {
		settest.Must(bloomery.FromBytes(b))
	}); n > 60 {
		t.Errorf("%v allocations", n)
	}
	s := settest.Must(bloomery.FromBytes(b))
	for i := range b[4096:] { // sets all bits; a Set that shares b sees this
		b[4096+i] = 0xff
	}
	if !s.ContainsString("absent") && !s.ContainsString("absent too") {
		t.Error("the set does not read the bytes")
	}
}

// TestLimits checks that a file that is larger than the limit is refused.
func TestLimits(t *testing.T) {
	s := settest.Build(t, settest.Words(10_000), bloomery.Config{})
	path := settest.Save(t, s)
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
		"an empty file": second(bloomery.Read(strings.NewReader(""))),
		"a text":        second(bloomery.Read(strings.NewReader("a line\n"))),
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

// TestChangedInPlace overwrites and truncates a mapped file. Answers may be wrong, but there must be no crash and no
// false negative for an unreadable page, and Err must return the error.
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
		settest.Large(t, path, 0)
		s := settest.Must(bloomery.Open(t.Context(), path))
		mem := settest.Must(bloomery.Open(t.Context(), path, bloomery.InMemory()))
		if err := s.Err(); err != nil {
			t.Fatalf("%s: before the change: %v", what, err)
		}
		settest.Check(t, change())
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
		if err := s.Err(); what != "touched" && err != nil && !errors.Is(err, filter.ErrFile) {
			t.Errorf("%s: %v", what, err)
		}
		if err := errors.Join(mem.Err(), mem.Close(), s.Close()); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestTruncatedBatches truncates mapped files. Every batch of integers or strings must answer yes for all keys, and Err
// must return the error.
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
		built := settest.Must(bloomery.Build(ctx, keys, bloomery.Config{Spec: spec, Keys: 1_200_000}))
		settest.Check(t, built.Save(ctx, path))
		ask := func(what string, ask func(s *bloomery.Set, dst []bool)) {
			s := settest.Must(bloomery.Open(ctx, path))
			defer s.Close()
			file := settest.Must(os.ReadFile(path))
			settest.Check(t, os.Truncate(path, 0))
			dst := make([]bool, 600)
			ask(s, dst)
			if slices.Contains(dst, false) || !errors.Is(s.Err(), filter.ErrFile) {
				t.Errorf("%s, %s: a false no, or no error: %v", spec, what, s.Err())
			}
			settest.Check(t, os.WriteFile(path, file, 0o600))
		}
		ask("integers", func(s *bloomery.Set, dst []bool) {
			bloomery.Keyed[uint64](s).ContainsMany(dst, make([]uint64, len(dst)))
		})
		ask("strings", func(s *bloomery.Set, dst []bool) {
			bloomery.Keyed[string](s).ContainsMany(dst, settest.Names("key", len(dst)))
		})
	}
}

// TestErr checks that Err detects a change in place without a query.
func TestErr(t *testing.T) {
	if runtime.GOOS == "js" || runtime.GOOS == "windows" || !bitvec.LittleEndian {
		t.Skip("files are read into memory on this system: a later change cannot disturb a Set")
	}
	path := filepath.Join(t.TempDir(), "f.bloom")
	settest.Large(t, path, 0)
	s := settest.Must(bloomery.Open(t.Context(), path))
	defer s.Close()
	settest.Large(t, path, 1) // by rename
	if err := s.Err(); err != nil || !bloomery.Keyed[uint64](s).Contains(0) {
		t.Errorf("replaced by rename: %v", err)
	}
	s = settest.Must(bloomery.Open(t.Context(), path))
	defer s.Close()
	settest.Check(t, os.Truncate(path, 100))
	if err := s.Err(); !errors.Is(err, filter.ErrFile) || !strings.Contains(err.Error(), path) {
		t.Errorf("truncated: %v", err)
	}
	if !bloomery.Keyed[uint64](s).Contains(1 << 40) { // the page of the key is gone, so the answer is yes
		t.Error("a false no")
	}
}

// TestChangedErrors overwrites the file of a mapped Set with another valid filter. Every method that reads the whole
// filter and can return an error must return one and write nothing.
func TestChangedErrors(t *testing.T) {
	if runtime.GOOS == "js" || runtime.GOOS == "windows" || !bitvec.LittleEndian {
		t.Skip("files are read into memory on this system: a later change cannot disturb a Set")
	}
	dir := t.TempDir()
	path, next, output := filepath.Join(dir, "f.bloom"), filepath.Join(dir, "next.bloom"), filepath.Join(dir, "out.bloom")
	settest.Large(t, next, 5)
	later := settest.Must(os.ReadFile(next))
	same := settest.Must(bloomery.Open(t.Context(), next, bloomery.InMemory()))
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
		settest.Large(t, path, 0)
		s := settest.Must(bloomery.Open(t.Context(), path))
		settest.Check(t, os.WriteFile(path, later, 0o600))
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
	settest.Large(t, path, 0)
	l := settest.Must(bloomery.OpenLive(t.Context(), path, bloomery.WithInterval(time.Hour)))
	settest.Check(t, os.WriteFile(path, later, 0o600))
	if err := l.Err(); !errors.Is(err, filter.ErrFile) {
		t.Errorf("Live: %v", err)
	}
	// Reload opens the file again. The new file is valid.
	if err := l.Reload(t.Context()); err != nil || l.Err() != nil {
		t.Errorf("Live: %v, %v", err, l.Err())
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// TestLock changes a file under a lock. Others must wait for the lock, and changes without the lock must be detected.
func TestLock(t *testing.T) {
	path := settest.Save(t, settest.Build(t, settest.Words(10), bloomery.Config{Spec: "standard(capacity=100)"}))
	l, err := bloomery.Lock(t.Context(), path)
	settest.Check(t, err)
	settest.Check(t, errors.Join(l.AddString("new"), l.Commit(t.Context()), l.Close(), l.Close()))
	l, err = bloomery.Lock(t.Context(), path)
	if err != nil || !l.ContainsString("new") {
		t.Fatalf("%v", err)
	}
	defer l.Close()
	settest.Check(t, os.Chtimes(path, time.Time{}, time.Unix(1, 0)))
	if err := l.Commit(t.Context()); !errors.Is(err, filter.ErrChanged) {
		t.Errorf("a change by others: %v", err)
	}
	if _, err := bloomery.Lock(t.Context(), filepath.Dir(path)); err == nil {
		t.Error("a folder was locked")
	}
}

// TestFileInfo reads the Info of a file in both forms. Later changes of the Set must not affect it.
func TestFileInfo(t *testing.T) {
	set := settest.Must(bloomery.New(bloomery.Config{Spec: "rankindexed", Keys: 1000}))
	if set.FileInfo() != (bloomery.FileInfo{}) {
		t.Errorf("of no file: %+v", set.FileInfo())
	}
	small := settest.Must(set.Trimmed())
	for trimmed, s := range map[bool]*bloomery.Set{false: set, true: small} {
		path := filepath.Join(t.TempDir(), "f.bloom")
		settest.Check(t, s.Save(t.Context(), path))
		n := uint64(settest.Must(s.WriteTo(io.Discard)))
		got := settest.Must(bloomery.Open(t.Context(), path))
		settest.Check(t, got.AddString("a key"))
		if want := (bloomery.FileInfo{Bytes: n, Version: 1, Trimmed: trimmed}); got.FileInfo() != want {
			t.Errorf("%+v, want %+v", got.FileInfo(), want)
		}
		settest.Check(t, got.Close())
	}
}

// TestTrimmedTooLarge checks that a trimmed file is refused if its filter would need more memory than a file of its
// size may.
func TestTrimmedTooLarge(t *testing.T) {
	const spec = "rankindexed(buckets=100000,capacity=1000,cells=180,chains=1,remainder=6)"
	set := settest.Must(bloomery.New(bloomery.Config{Spec: spec}))
	if _, err := set.Trimmed(); !errors.Is(err, filter.ErrTooLarge) {
		t.Errorf("%v", err)
	}
}

// TestFileBytes compares About.FileBytes of each family with the sizes of files.
func TestFileBytes(t *testing.T) {
	for _, f := range families.All() {
		for _, form := range f.Forms {
			for _, n := range []int{1, 100, 3000} {
				b, err := f.NewBuilder(form.Spec.With("fpr", 0.01), uint64(n))
				settest.Check(t, err)
				hs := filtertest.Hashes(n, 1)
				if v, ok := b.(family.ValueBuilder); ok && family.Given(form.Spec, "value_bits") {
					err = v.AddValues(hs, make([]uint64, n))
				} else {
					err = b.AddMany(hs)
				}
				settest.Check(t, err)
				made := settest.Must(b.Build(t.Context()))
				e := made.(family.Encoder).Encode()
				bytes := settest.Must(container.Len(&container.File{Family: f.ID, Encoded: e}))
				if more := int(bytes - (made.Info().Bits+7)/8); more < int(f.FileBytes)-128 || more > int(f.FileBytes)+160 {
					t.Errorf("%s, %d keys: %d bytes besides the filter, the family says %d", form.Spec, n, more, f.FileBytes)
				}
			}
		}
	}
}
