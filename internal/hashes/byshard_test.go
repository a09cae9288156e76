package hashes

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/bloomery/bloomery/filter"
)

// TestByShard checks that the hashes of each shard are returned in order for any memory limit, and that no file
// remains.
func TestByShard(t *testing.T) {
	hs := randomHashes(10_000, 1)
	for _, shards := range []int{1, 3, 5000} {
		for _, limit := range []int{1, 100, 10_000, 1 << 20} {
			if shards == 5000 && limit == 1 {
				continue // takes too long
			}
			dir := t.TempDir()
			s := NewByShard(shards, 0, dir)
			s.limit = limit
			for part := range slices.Chunk(hs, 777) {
				check(t, s.Add(part))
			}
			if spilled := s.file != nil; spilled != (limit <= len(hs)) {
				t.Errorf("limit %d: a file: %v", limit, spilled)
			}
			for i := range min(shards, 50) {
				var got []filter.Hash
				err := s.Each(t.Context(), i, func(hs []filter.Hash) error { got = append(got, hs...); return nil })
				if want := ofShard(hs, i, shards); err != nil || !slices.Equal(got, want) || s.Count(i) != uint64(len(want)) {
					t.Fatalf("%d shards, limit %d: shard %d differs: %v", shards, limit, i, err)
				}
			}
			stop := errors.New("stop")
			if err := s.Each(t.Context(), 0, func([]filter.Hash) error { return stop }); !errors.Is(err, stop) {
				t.Errorf("error %v of f", err)
			}
			if err := errors.Join(s.Close(), s.Close()); err != nil {
				t.Error(err)
			}
			if s.Add(hs[:1]) == nil {
				t.Error("Add after Close")
			}
			if left, _ := os.ReadDir(dir); len(left) > 0 {
				t.Errorf("%d files left", len(left))
			}
		}
	}
}

// TestPairs checks that a ByShard returns both entries of each hash one after the other, in the shard of the hash, from
// memory and from its file.
func TestPairs(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const shards, n = 5, 3 * BlockSize / hashSize
	s := NewByShard(shards, 1, t.TempDir()) // keeps as little as possible in memory, and writes several groups
	defer s.Close()
	want := map[filter.Hash]uint64{}
	for range n / 300 {
		hs, values := make([]filter.Hash, 300), make([]uint64, 300)
		for i := range hs {
			hs[i], values[i] = filter.Hash{Hi: r.Uint64(), Lo: r.Uint64()}, r.Uint64()
			want[hs[i]] = values[i]
		}
		check(t, s.AddPairs(hs, values))
	}
	keys, all := len(want), uint64(0)
	for at := range shards {
		var first filter.Hash
		open := false
		all += s.Count(at)
		err := s.Each(t.Context(), at, func(hs []filter.Hash) error {
			for _, h := range hs {
				if open {
					if v, ok := want[first]; !ok || v != h.Lo || h.Hi != first.Hi || Route(first, shards) != at {
						return fmt.Errorf("shard %d: %v after %v", at, h, first)
					}
					delete(want, first)
				}
				first, open = h, !open
			}
			return nil
		})
		if err != nil || open {
			t.Fatalf("%v, half a pair: %t", err, open)
		}
	}
	if len(want) > 0 || all != uint64(2*keys) {
		t.Errorf("%d of %d keys are missing, %d entries", len(want), keys, all)
	}
}

// countedHashes returns n hashes, counted from a number.
func countedHashes(from, n int) []filter.Hash {
	hs := make([]filter.Hash, n)
	for i := range hs {
		hs[i] = filter.Hash{Hi: uint64(from + i), Lo: ^uint64(from + i)}
	}
	return hs
}

// wantHashes checks that s holds countedHashes(0, n).
func wantHashes(t *testing.T, s *ByShard, n int) {
	t.Helper()
	i := 0
	err := s.Each(t.Context(), 0, func(hs []filter.Hash) error {
		for _, h := range hs {
			if (h != filter.Hash{Hi: uint64(i), Lo: ^uint64(i)}) {
				t.Fatalf("hash %d is %v", i, h)
			}
			i++
		}
		return nil
	})
	if err != nil || i != n || s.Count(0) != uint64(n) {
		t.Fatalf("%d hashes, Count %d, %v; want %d", i, s.Count(0), err, n)
	}
}

// oneShard returns a ByShard of one shard that keeps limit hashes in memory, or its default if limit is 0.
func oneShard(limit int, dir string) *ByShard {
	s := NewByShard(1, 0, dir)
	if limit > 0 {
		s.limit = limit
	}
	return s
}

func TestOneShard(t *testing.T) {
	for _, tt := range []struct {
		name   string
		limit  int
		total  int
		spills bool
	}{
		{"default", 0, 10000, false},
		{"empty", 10, 0, false},
		{"in memory", 10, 9, false},
		{"just spilled", 10, 10, true},
		{"spilled", 10, 1234, true},
		{"one hash", 1, 100, true},
		{"several blocks", 3 << 16, 4<<16 + 5, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			s := oneShard(tt.limit, dir)
			for at, step := 0, 1; at < tt.total; at, step = at+step, step*2+1 {
				step = min(step, tt.total-at)
				check(t, s.Add(countedHashes(at, step)))
				if tt.total < 2000 {
					wantHashes(t, s, at+step)
				}
			}
			wantHashes(t, s, tt.total)
			wantHashes(t, s, tt.total) // again
			if got := s.file != nil; got != tt.spills {
				t.Errorf("spilled: %v, want %v", got, tt.spills)
			}
			if runtime.GOOS != "windows" { // on Windows an open file keeps its name
				wantFiles(t, dir, 0)
			}
			if err := errors.Join(s.Close(), s.Close()); err != nil {
				t.Error(err)
			}
			wantFiles(t, dir, 0)
			if err := s.Add(countedHashes(0, 1)); err != errClosed {
				t.Errorf("Add after Close: %v", err)
			}
		})
	}
}

func TestAddConcurrently(t *testing.T) {
	s := oneShard(60, t.TempDir())
	defer s.Close()
	const adders, each = 4, 1000
	var wg sync.WaitGroup
	for i := range adders {
		wg.Go(func() {
			for k := range each / 10 {
				if err := s.Add(countedHashes(i*each+k*10, 10)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	seen := map[uint64]int{}
	s.Each(t.Context(), 0, func(hs []filter.Hash) error {
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

func TestByShardErrors(t *testing.T) {
	s := oneShard(1, filepath.Join(t.TempDir(), "missing"))
	err := s.Add(countedHashes(0, 10))
	wantError(t, err, "choose another directory")
	if again := s.Add(countedHashes(0, 1)); again != err {
		t.Errorf("second Add: %v", again)
	}
	if each := s.Each(t.Context(), 0, nil); each != err {
		t.Errorf("Each: %v", each)
	}

	s = oneShard(1, t.TempDir())
	check(t, s.Add(countedHashes(0, 10)))
	stop := errors.New("stop")
	if err := s.Each(t.Context(), 0, func([]filter.Hash) error { return stop }); err != stop {
		t.Errorf("Each: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	err = s.Each(ctx, 0, func([]filter.Hash) error { calls++; cancel(); return nil })
	if err != context.Canceled || calls != 1 {
		t.Errorf("Each: %v after %d calls", err, calls)
	}
	s.file.Close()
	wantError(t, s.Each(t.Context(), 0, func([]filter.Hash) error { return nil }), "reading keys back")
	wantError(t, s.Add(countedHashes(10, 1)), "disk full")
}

// TestMemoryIsUsedAgain checks that a ByShard may reuse the memory of a closed one, but not while the closed one is
// still being read.
func TestMemoryIsUsedAgain(t *testing.T) {
	const n = 2*BlockSize/hashSize + BlockSize/hashSize/2
	fill := func(limit, from int) *ByShard {
		s := oneShard(limit, t.TempDir())
		check(t, s.Add(countedHashes(from, n)))
		return s
	}
	for _, limit := range []int{0, 2 * BlockSize / hashSize, BlockSize / hashSize} { // one in memory, two with a file
		for range 4 {
			s := fill(limit, 0)
			wantHashes(t, s, n)
			i := 0
			err := s.Each(t.Context(), 0, func(hs []filter.Hash) error {
				if i == 0 {
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

func TestCheckShards(t *testing.T) {
	for _, c := range []struct {
		shards int
		keys   uint64
		ok     bool
	}{
		{1, 0, true}, {4096, 0, true}, {4097, 1000, false}, {1 << 20, 1000, false}, {5000, 5000, true}, {5001, 5000, false},
		{1 << 20, 1 << 40, true},
	} {
		if err := CheckShards(c.shards, c.keys); (err == nil) != c.ok || err != nil && !errors.Is(err, filter.ErrConfig) {
			t.Errorf("%d shards, %d keys: %v", c.shards, c.keys, err)
		}
	}
}

// TestBuffer checks that hashes are returned by shard and in order, with any number of shards, before and after reset.
func TestBuffer(t *testing.T) {
	for _, shards := range []int{1, 2, 16, 1000, 50_000} {
		b := newBuffer(shards, 20_000)
		for round := range uint64(2) {
			hs := randomHashes(20_000, round)
			b.addHashes(hs[:1])
			b.addHashes(hs[1:13_000])
			b.addHashes(hs[13_000:])
			if b.n != len(hs) {
				t.Fatalf("%d hashes", b.n)
			}
			want := make([][]filter.Hash, shards)
			for _, h := range hs {
				s := Route(h, shards)
				want[s] = append(want[s], h)
			}
			for s := range shards {
				var got []filter.Hash
				_ = b.eachHash(s, func(hs []filter.Hash) error { got = append(got, hs...); return nil })
				if !slices.Equal(got, want[s]) || b.countOf(s) != len(got) {
					t.Fatalf("%d shards: shard %d differs", shards, s)
				}
			}
			b.reset()
		}
	}
}
