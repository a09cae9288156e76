package anneal

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

var geometries = []Geometry{
	{Bits: 300, K: 3, Width: 5},
	{Bits: 352, K: 3, Width: 5, Words: true},
	{Bits: 32, K: 2, Width: 5, Words: true},
	{Bits: 32, K: 2, Width: 5},
	{Bits: 90, K: 4, Width: 3},
	{Bits: 96, K: 4, Width: 3, Words: true},
	{Bits: 50, K: 2},
	{Bits: 70, K: 1, Choices: 11},
}

// base returns the number of base positions. With Words it is Bits. Otherwise the last base position plus the largest
// shift is the last bit.
func (s Geometry) base() uint64 {
	if s.Words {
		return s.Bits
	}
	return s.Bits - uint64(s.shiftCount()-1)
}

// fresh returns a state with random base positions.
func fresh(geometry Geometry, groups, perGroup int, seed uint64) *State {
	r := rand.New(rand.NewPCG(seed, 1))
	sizes := make([]uint32, groups)
	for j := range sizes {
		sizes[j] = r.Uint32N(uint32(2*perGroup + 1))
	}
	s := new(State)
	s.Reset(geometry, sizes)
	for j := range sizes {
		for i := range s.Positions(j) {
			u := r.Uint32N(uint32(geometry.base()))
			if geometry.Words {
				u = Twice(u)
			}
			s.Positions(j)[i] = u
		}
	}
	return s
}

// owners returns the number of pairs that set each bit, from the positions and shifts alone.
func owners(s *State) []int {
	n := make([]int, s.Bits)
	for j := range len(s.starts) - 1 {
		for l := range s.K {
			for _, u := range s.slotPositions(j, l) {
				shift := uint32(s.Shifts[j*s.K+l])
				if s.Words {
					n[u/64*32+(u+shift)%32]++
				} else {
					n[u+shift]++
				}
			}
		}
	}
	return n
}

// check checks every cell, including duplicates, against the count.
func check(t *testing.T, s *State) {
	t.Helper()
	var ones uint64
	words := make([]uint64, s.Bits/64+2)
	s.Store(words, 3)
	for b, n := range owners(s) {
		c := s.cells[b]
		if s.Words {
			c = s.cells[b/32*64+b%32]
		}
		if n > maxOwners && c>>3 != maxOwners || n < maxOwners && c != cellOf(n) && c>>3 != maxOwners {
			t.Fatalf("bit %d has %d owners, cell %d", b, n, c)
		}
		if s.Words && s.cells[b/32*64+32+b%32] != c {
			t.Fatalf("bit %d is %d, and %d the second time", b, c, s.cells[b/32*64+32+b%32])
		}
		set := words[(b+3)/64]>>((b+3)%64)&1 == 1
		if n > 0 && !set || set != (c != 0) {
			t.Fatalf("bit %d of %d owners: stored %v", b, n, set)
		}
		if set {
			ones++
		}
	}
	if ones != s.Ones() {
		t.Fatalf("%d ones of %d", s.Ones(), ones)
	}
}

// TestState runs passes of all amplitudes, in bitmaps from nearly empty to so full that cells saturate.
func TestState(t *testing.T) {
	for i, geometry := range geometries {
		for _, perGroup := range []int{1, 5, 20, 60} {
			t.Run(fmt.Sprintf("%d/%d", i, perGroup), func(t *testing.T) {
				s := fresh(geometry, 6, perGroup, uint64(perGroup))
				var rnd Random
				s.First(&rnd)
				check(t, s)
				for noise := range maxNoise + 1 {
					s.Pass(noise, &rnd)
					check(t, s)
				}
				shifts := append([]uint8(nil), s.Shifts...)
				clear(s.cells)
				copy(s.Shifts, shifts)
				s.Fill(&rnd)
				check(t, s)
				clear(s.cells)
				for i := range s.Shifts {
					if copy(s.Shifts[i:], shifts[i:i+1]); i%3 == 0 {
						s.Shifts[i] = Open
					}
				}
				s.Fill(&rnd)
				check(t, s)
			})
		}
	}
}

// TestPlain compares the vector form of a selection with the plain form, which supports groups of any size.
func TestPlain(t *testing.T) {
	for i, geometry := range geometries {
		s := fresh(geometry, 8, 20, 7)
		var rnd Random
		s.First(&rnd)
		for range 50 {
			for j := range 8 {
				for l := range s.K {
					pos := s.slotPositions(j, l)
					if len(pos) > maxSize {
						continue
					}
					var start [4]uint64
					for c := range s.shiftCount() {
						start[c/8] |= bytesBelow(maxNoise+1, rnd.Next()) & 255 << (c % 8 * 8)
					}
					s.mapCells(pos, s.Shifts[j*s.K+l], &less)
					if got, want := s.bestShifts(pos, &start), s.bestShiftsPlain(pos, &start); got != want {
						t.Fatalf("geometry %d, %d keys: %#x, want %#x", i, len(pos), got, want)
					}
					s.Shifts[j*s.K+l] = randomBit(s.bestShiftsPlain(pos, &start), rnd.Next())
					s.mapCells(pos, s.Shifts[j*s.K+l], &more)
				}
			}
		}
	}
}

// TestNoise checks that noise is uniform below its amplitude and falls to the end.
func TestNoise(t *testing.T) {
	var rnd Random
	for n := range uint64(maxNoise + 2) {
		var sum, top uint64
		for range 4000 {
			for w, i := bytesBelow(n, rnd.Next()), 0; i < 8; i++ {
				v := w >> (8 * i) & 255
				sum += v
				top = max(top, v)
			}
		}
		if n = max(n, 1); top != n-1 || math.Abs(float64(sum)/32000-float64(n-1)/2) > 0.5 {
			t.Errorf("noise below %d is at most %d, %.2f in the mean", n, top, float64(sum)/32000)
		}
	}
	for _, passes := range []int{2, 20, 100, 1000} {
		last := maxNoise
		for p := range passes + 1 {
			n := Geometry{}.noise(float64(p)/float64(passes), passes)
			if n < 0 || n > last {
				t.Errorf("pass %d of %d: %d after %d", p, passes, n, last)
			}
			last = n
		}
		if last != 0 {
			t.Errorf("noise %d at the end", last)
		}
	}
}

// TestReset checks that a reused state gives the same results as a new one.
func TestReset(t *testing.T) {
	used := fresh(geometries[0], 9, 30, 1)
	var rnd Random
	used.First(&rnd)
	want := fresh(geometries[1], 5, 10, 2)
	sizes := make([]uint32, 5)
	for j := range sizes {
		sizes[j] = uint32(want.Size(j))
	}
	used.Reset(geometries[1], sizes)
	copy(used.pos, want.pos)
	for _, s := range []*State{used, want} {
		rnd := Random(1)
		s.First(&rnd)
		s.Pass(9, &rnd)
		check(t, s)
	}
	if string(used.Shifts) != string(want.Shifts) || string(used.cells) != string(want.cells) {
		t.Error("a state that was used before gives another result")
	}
}

// BenchmarkPass measures the time per key and pass at 8 bits per key.
func BenchmarkPass(b *testing.B) {
	for _, n := range []int{1 << 13, 1 << 15, 1 << 16} {
		b.Run(fmt.Sprintf("op=pass/keys=%d", n), func(b *testing.B) {
			s := fresh(Geometry{Bits: uint64(n) * 27 / 4, K: 7, Width: 5}, n/13, 13, 1)
			var rnd Random
			s.First(&rnd)
			for b.Loop() {
				s.Pass(8, &rnd)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(s.starts[len(s.starts)-1]), "ns/key")
		})
	}
}
