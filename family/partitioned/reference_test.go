package partitioned

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// TestReference runs the paper's algorithm with both kinds of functions and holds the outcome against its promise: fills
// fall, choices are different functions, all bits of all keys and no others are set, and the rate is far below that of a
// standard filter; then against the search of this package, which must be better.
func TestReference(t *testing.T) {
	const n, m, g, h, k = 1000, 8000, 25, 256, 6
	hs := filtertest.Hashes(n, 4)
	keys := make([][]byte, n)
	for i, x := range hs {
		keys[i] = binary.LittleEndian.AppendUint64(nil, x.Lo)
	}
	r := Reference{Keys: n, Groups: g, Functions: h, K: k, Bits: ReferenceBits(m, g, k, h)}
	if r.Bits != m-g*k*8 {
		t.Fatalf("%d bits are left", r.Bits)
	}
	for name, functions := range map[string]func() (func(int) int, func(int, int) uint64){
		"random": func() (func(int) int, func(int, int) uint64) { return RandomFunctions(hs, g, r.Bits) },
		"crc":    func() (func(int) int, func(int, int) uint64) { return CRCFunctions(keys, g, r.Bits) },
	} {
		r.Group, r.Bit = functions()
		c, err := r.Search(t.Context(), 20)
		if err != nil {
			t.Fatal(err)
		}
		set := make([]bool, r.Bits)
		for key := range n {
			chosen := c.Functions[r.Group(key)]
			if len(chosen) != k || len(slices.Compact(slices.Sorted(slices.Values(chosen)))) != k {
				t.Fatalf("%s: group %d chose %v", name, r.Group(key), chosen)
			}
			for _, j := range chosen {
				set[r.Bit(key, j)] = true
			}
		}
		if !slices.Equal(set, c.Set) {
			t.Errorf("%s: the bits are not those of the keys", name)
		}
		for i := 1; i < len(c.Fills); i++ {
			if c.Fills[i] > c.Fills[i-1] {
				t.Errorf("%s: the fill rises from %g to %g", name, c.Fills[i-1], c.Fills[i])
			}
		}
		greedy := math.Pow(c.Fills[len(c.Fills)-1], k)
		ours := build(t, Config{Effort: filter.Effort{Level: filter.Default}}, hs).posterior()
		t.Logf("%s: %d passes, fills %.4f, rate %.4f; the search has %.4f", name, len(c.Fills)-1, c.Fills, greedy, ours)
		if greedy > 0.017 || ours > greedy {
			t.Errorf("%s: rate %g, the search has %g", name, greedy, ours)
		}
	}
}

// TestPublished reproduces the first row of Table 2 with the paper's parameters, 0.0098, and sets its time beside ours.
func TestPublished(t *testing.T) {
	if !*long {
		t.Skip("takes minutes: give -long")
	}
	const n, m, g, h, k = 10_000, 80_000, 250, 16384, 6
	hs := filtertest.Hashes(n, 1)
	r := Reference{Keys: n, Groups: g, Functions: h, K: k, Bits: ReferenceBits(m, g, k, h)}
	r.Group, r.Bit = RandomFunctions(hs, g, r.Bits)
	start := time.Now()
	c, err := r.Search(t.Context(), 100)
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(start)
	rate := math.Pow(c.Fills[len(c.Fills)-1], k)
	start = time.Now()
	ours := build(t, Config{Size: filter.Sizing{BitsPerKey: 8}}, hs)
	t.Logf("paper: rate %.4f after %d passes, %v; here %.4f, %v (%.0f times as fast)", rate, len(c.Fills)-1, took,
		ours.posterior(), time.Since(start), float64(took)/float64(time.Since(start)))
	if math.Abs(rate/0.0098-1) > 0.03 {
		t.Errorf("rate %.4f, published 0.0098", rate)
	}
}

// TestCRC holds the hash functions against a value worked out with other arithmetic and the polynomial bit by bit.
func TestCRC(t *testing.T) {
	if h := rsHash([]byte("ab")); h != 2162651057 {
		t.Errorf("RS(ab) = %d", h)
	}
	_, bit := CRCFunctions([][]byte{[]byte("key")}, 7, 1<<32)
	all := binary.LittleEndian.AppendUint32([]byte("key"), crcR1+crcR2)
	if got, want := bit(0, 0), uint64(crcOf(all)); got != want {
		t.Errorf("h_1(key) = %d, want %d", got, want)
	}
}

// crcOf is CRC-32 bit by bit, as its polynomial defines it.
func crcOf(b []byte) uint32 {
	c := ^uint32(0)
	for _, x := range b {
		c ^= uint32(x)
		for range 8 {
			c = c>>1 ^ 0xEDB88320&-(c&1)
		}
	}
	return ^c
}
