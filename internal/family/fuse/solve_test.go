package fuse

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/FastFilter/xorfilter"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
)

// TestLibrarySlots compares the slots of filters with the slots of the library, for all numbers of keys from 1 to 300,
// some of which need many seeds, and for larger ones, with keys in any order and with keys that repeat. Without keys
// our filter has no slots.
func TestLibrarySlots(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 1))
	t.Logf("seed %d", seed)
	sizes := []int{1 << 10, 10_000, 65_537, 300_000}
	if !testing.Short() {
		sizes = append(sizes, 1_000_000, 1_000_001)
	}
	for n := range 300 {
		sizes = append(sizes, n+1)
	}
	for range 100 {
		sizes = append(sizes, 1+rng.IntN(5000))
	}
	for i, n := range sizes {
		keys := make([]uint64, n)
		for i := range keys {
			keys[i] = rng.Uint64()
		}
		given := slices.Clone(keys)
		if n > 0 && i%3 == 0 { // some keys twice, one very often
			for range rng.IntN(n + 1) {
				given = append(given, keys[rng.IntN(n)])
			}
			for range rng.IntN(200) {
				given = append(given, keys[0])
			}
		}
		rng.Shuffle(len(given), func(i, j int) { given[i], given[j] = given[j], given[i] })
		slices.Sort(keys)
		switch width := 1 + rng.UintN(MaxWidth); {
		case width <= 8:
			sameSlots[uint8](t, given, keys, width)
		case width <= 16:
			sameSlots[uint16](t, given, keys, width)
		default:
			sameSlots[uint32](t, given, keys, width)
		}
	}
}

// sameSlots builds our filter of the given keys, which may repeat, and the library's filter of the distinct keys, and
// compares the slots.
func sameSlots[T xorfilter.Unsigned](t *testing.T, given, distinct []uint64, width uint) {
	t.Helper()
	hs := make([]filter.Hash, len(given))
	for i, k := range given {
		hs[i].Lo = k
	}
	f := build(t, fmt.Sprintf("fuse(width=%d)", width), hs)
	lib, err := xorfilter.NewBinaryFuse[T](distinct)
	if err != nil {
		t.Fatal(err)
	}
	if f.seed != lib.Seed || f.segment != uint64(lib.SegmentLength) || f.segments != uint64(lib.SegmentCount) {
		t.Fatalf("%d keys: %v, the library has seed %d, %d segments of %d", len(distinct), f.builtSpec(), lib.Seed,
			lib.SegmentCount, lib.SegmentLength)
	}
	for i := range f.slotCount() {
		want := uint64(lib.Fingerprints[i]) & f.low
		if got := bitvec.Load57(f.words, i*uint64(width)) & f.low; got != want {
			t.Fatalf("%d keys, width %d: slot %d is %#x, the library has %#x", len(distinct), width, i, got, want)
		}
	}
	if f.keys != uint64(len(distinct)) {
		t.Errorf("%d keys, want %d", f.keys, len(distinct))
	}
}

// BenchmarkBuild compares a build from hashes with the library.
func BenchmarkBuild(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000, 10_000_000} {
		if n > 1_000_000 && testing.Short() {
			continue
		}
		keys := make([]uint64, n)
		hs := make([]filter.Hash, n)
		for i := range keys {
			keys[i] = rand.Uint64()
			hs[i].Lo = keys[i]
		}
		perKey := func(b *testing.B) { b.ReportMetric(float64(b.Elapsed())/float64(b.N*n), "ns/key") }
		b.Run(fmt.Sprintf("keys=%d/ours", n), func(b *testing.B) {
			for range b.N {
				build(b, "fuse(width=8)", hs)
			}
			perKey(b)
		})
		b.Run(fmt.Sprintf("keys=%d/library", n), func(b *testing.B) {
			for range b.N {
				if _, err := xorfilter.NewBinaryFuse[uint8](slices.Clone(keys)); err != nil {
					b.Fatal(err)
				}
			}
			perKey(b)
		})
	}
}

// TestCrowded puts more keys into one slot than a solver can count. An attacker who knows the first seed can choose
// such keys. The next seed must be used, as in the library.
func TestCrowded(t *testing.T) {
	// unmix is the inverse of locator.mix, each step of which is a bijection.
	unmix := func(x, seed uint64) uint64 {
		x ^= x >> 33
		x *= 0x9cb4b2f8129337db // inverse of 0xc4ceb9fe1a85ec53 modulo 2^64
		x ^= x >> 33
		x *= 0x4f74430c22a54005 // inverse of 0xff51afd7ed558ccd
		x ^= x >> 33
		return x - seed
	}
	first := build(t, "fuse(width=8)", []filter.Hash{{Lo: 1}}).seed
	if l := (locator{seed: first}); unmix(l.mixKey(12345), first) != 12345 {
		t.Fatal("unmix is not the inverse of mix")
	}
	for _, crowd := range []int{63, 64, 65, 66, 128, 129} {
		keys := make([]uint64, 0, 1000+crowd)
		for i := range crowd {
			keys = append(keys, unmix(uint64(i)*0x9e3779b97f4a7c15>>20, first)) // all in slot 0
		}
		for range 1000 {
			keys = append(keys, rand.Uint64())
		}
		slices.Sort(keys)
		sameSlots[uint8](t, keys, keys, 8)
	}
}
