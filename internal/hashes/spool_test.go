package hashes

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/bloomery/bloomery/filter"
)

// countedHashes returns n hashes, counted from a number.
func countedHashes(from, n int) []filter.Hash {
	hs := make([]filter.Hash, n)
	for i := range hs {
		hs[i] = filter.Hash{Hi: uint64(from + i), Lo: ^uint64(from + i)}
	}
	return hs
}

// wantHashes checks that s holds countedHashes(0, n).
func wantHashes(t *testing.T, s *Spool, n int) {
	t.Helper()
	i := 0
	err := s.Each(t.Context(), func(hs []filter.Hash) error {
		for _, h := range hs {
			if (h != filter.Hash{Hi: uint64(i), Lo: ^uint64(i)}) {
				t.Fatalf("hash %d is %v", i, h)
			}
			i++
		}
		return nil
	})
	if err != nil || i != n || s.Len() != uint64(n) {
		t.Fatalf("%d hashes, Len %d, %v; want %d", i, s.Len(), err, n)
	}
}

func files(t *testing.T, dir string) int {
	t.Helper()
	names, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}

func TestSpool(t *testing.T) {
	for _, tt := range []struct {
		name   string
		limit  int64 // bytes
		total  int
		spills bool
	}{
		{"default", 0, 10000, false},
		{"empty", 160, 0, false},
		{"in memory", 160, 19, false}, // a chunk of ten and a tail
		{"just spilled", 160, 20, true},
		{"spilled", 160, 1234, true},
		{"one hash", 1, 100, true},
		{"several chunks", 3 << 20, 4<<16 + 5, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			s := NewSpool(tt.limit, dir)
			for at, step := 0, 1; at < tt.total; at, step = at+step, step*2+1 {
				step = min(step, tt.total-at)
				if err := s.Add(countedHashes(at, step)); err != nil {
					t.Fatal(err)
				}
				if tt.total < 2000 {
					wantHashes(t, s, at+step)
				}
			}
			wantHashes(t, s, tt.total)
			wantHashes(t, s, tt.total) // again
			if got := s.file != nil; got != tt.spills {
				t.Errorf("spilled: %v, want %v", got, tt.spills)
			}
			if n := files(t, dir); runtime.GOOS != "windows" && n != 0 {
				t.Errorf("%d files have a name", n)
			}
			if err := errors.Join(s.Close(), s.Close()); err != nil {
				t.Error(err)
			}
			if n := files(t, dir); n != 0 {
				t.Errorf("%d files after Close", n)
			}
			if err := s.Add(countedHashes(0, 1)); err != errSpoolClosed {
				t.Errorf("Add after Close: %v", err)
			}
		})
	}
}

// TestSpoolAddWithinEach checks that Each visits only hashes that were added before it was called.
func TestSpoolAddWithinEach(t *testing.T) {
	s := NewSpool(160, t.TempDir())
	defer s.Close()
	if err := s.Add(countedHashes(0, 35)); err != nil {
		t.Fatal(err)
	}
	i := 0
	err := s.Each(t.Context(), func(hs []filter.Hash) error {
		for _, h := range hs {
			if h.Hi != uint64(i) {
				t.Fatalf("hash %d is %v", i, h)
			}
			i++
		}
		return s.Add(countedHashes(int(s.Len()), 10))
	})
	if err != nil || i != 35 {
		t.Errorf("%d hashes, %v", i, err)
	}
	wantHashes(t, s, 75) // four batches
}

func TestSpoolConcurrent(t *testing.T) {
	s := NewSpool(1000, t.TempDir())
	defer s.Close()
	const adders, each = 4, 1000
	var wg sync.WaitGroup
	for i := range adders {
		wg.Go(func() {
			for k := range each / 10 {
				if err := s.Add(countedHashes(i*each+k*10, 10)); err != nil {
					t.Error(err)
				}
				if k%50 == 0 {
					if err := s.Each(t.Context(), func([]filter.Hash) error { return nil }); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	seen := map[uint64]int{}
	s.Each(t.Context(), func(hs []filter.Hash) error {
		for _, h := range hs {
			seen[h.Hi]++
		}
		return nil
	})
	for i := range adders * each {
		if seen[uint64(i)] != 1 {
			t.Fatalf("hash %d is there %d times", i, seen[uint64(i)])
		}
	}
}

func TestSpoolErrors(t *testing.T) {
	s := NewSpool(16, filepath.Join(t.TempDir(), "missing"))
	err := s.Add(countedHashes(0, 10))
	wantError(t, err, "temporary file for keys")
	if again := s.Add(countedHashes(0, 1)); again != err {
		t.Errorf("second Add: %v", again)
	}
	if each := s.Each(t.Context(), nil); each != err {
		t.Errorf("Each: %v", each)
	}

	s = NewSpool(16, t.TempDir())
	if err := s.Add(countedHashes(0, 10)); err != nil {
		t.Fatal(err)
	}
	stop := errors.New("stop")
	if err := s.Each(t.Context(), func([]filter.Hash) error { return stop }); err != stop {
		t.Errorf("Each: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	err = s.Each(ctx, func([]filter.Hash) error { calls++; cancel(); return nil })
	if err != context.Canceled || calls != 1 {
		t.Errorf("Each: %v after %d calls", err, calls)
	}
	s.file.Close()
	wantError(t, s.Each(t.Context(), func([]filter.Hash) error { return nil }), "reading keys back")
	wantError(t, s.Add(countedHashes(10, 1)), "disk full")
}

// TestSpoolUsesBlocksAgain: a Spool may use the blocks of one that was closed, but not those that are still read.
func TestSpoolUsesBlocksAgain(t *testing.T) {
	const n = 2*BlockSize/hashSize + BlockSize/hashSize/2
	fill := func(limit int64, from int) *Spool {
		s := NewSpool(limit, t.TempDir())
		if err := s.Add(countedHashes(from, n)); err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, limit := range []int64{0, 2 * BlockSize, BlockSize} { // in memory, the tail behind it, a file
		for range 4 {
			s := fill(limit, 0)
			wantHashes(t, s, n)
			i := 0
			err := s.Each(t.Context(), func(hs []filter.Hash) error {
				if i == 0 {
					if err := s.Add(countedHashes(n, n)); err != nil { // the tail that is read later becomes a block
						return err
					}
					if limit == 0 {
						if err := s.Close(); err != nil {
							return err
						}
					}
					defer fill(limit, 7*n).Close()
				}
				for _, h := range hs {
					if h.Hi != uint64(i) {
						t.Fatalf("limit %d: hash %d is %v", limit, i, h)
					}
					i++
				}
				return nil
			})
			if err != nil || i != n {
				t.Errorf("limit %d: %d hashes, %v", limit, i, err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
