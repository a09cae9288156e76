package filter

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
)

// allHashers returns a hasher of every hash function.
func allHashers(t *testing.T) []Hasher {
	hs := []Hasher{NewHasher(7), NewKeyedHasher(testSecret)}
	for id := XXH64; id <= Uint64; id++ {
		h, err := ForeignHasher(id)
		if err != nil {
			t.Fatal(err)
		}
		hs = append(hs, h)
	}
	return hs
}

// TestSumAllocates checks that Sum allocates nothing: keys on the stack do not escape, and strings are not copied.
func TestSumAllocates(t *testing.T) {
	for _, h := range allHashers(t) {
		n := uint64(0)
		none := func(what string, f func()) {
			t.Helper()
			if got := testing.AllocsPerRun(100, f); got != 0 {
				t.Errorf("%s: %s allocates %v times", h, what, got)
			}
		}
		none("5 bytes", func() {
			var key [5]byte
			n++
			key[0] = byte(n)
			sink = h.Sum(key[:])
		})
		none("16 bytes", func() {
			var key [16]byte
			n++
			binary.LittleEndian.PutUint64(key[:], n)
			sink = h.Sum(key[:])
		})
		none("100 bytes", func() {
			var key [100]byte
			n++
			binary.LittleEndian.PutUint64(key[:], n)
			sink = h.Sum(key[:])
		})
		none("an integer", func() { n++; sink = h.SumUint64(n) })
		for _, size := range []int{0, 5, 40, 200, 1000} {
			key := strings.Repeat("k", size)
			none(fmt.Sprintf("a string of %d bytes", size), func() { sink = h.SumString(key) })
		}
		none("KeyCheck", func() { n += h.KeyCheck() })
	}
}

// TestSumString checks that strings hash like their bytes, at every length at which a hash function changes its
// algorithm.
func TestSumString(t *testing.T) {
	text := strings.Repeat("the quick brown fox ", 30)
	for _, h := range allHashers(t) {
		for n := range len(text) {
			if got, want := h.SumString(text[:n]), h.Sum([]byte(text[:n])); got != want {
				t.Fatalf("%s, %d bytes: %x, want %x", h, n, got, want)
			}
		}
		if h.SumString("") != h.Sum(nil) {
			t.Errorf("%s: the empty string is not the empty key", h)
		}
	}
}
