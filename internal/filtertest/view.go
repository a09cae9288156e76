package filtertest

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// viewMargin is the number of bytes behind the bits in use that a query of a view may read.
const viewMargin = 8

// View tests the View of a family: the queries of a stored filter from the bytes of its sections. has answers from the
// sections, of which each has the number of bytes that used says and viewMargin more, with random content. It must
// answer as the filter does, for its keys and for others, at every alignment, and must not allocate.
func View(t *testing.T, f interface {
	family.Filter
	Encode() family.Encoded
}, keys []filter.Hash, used []uint64, has func(sections [][]byte, h filter.Hash) bool) {
	t.Helper()
	e := f.Encode()
	hs := append(Hashes(20_000, 71), keys...)
	for i := range 1000 {
		edge := [...]uint64{0, 1, 1 << 63, math.MaxUint64, math.MaxUint32}
		hs[i].Hi = edge[i%5]
		if i%2 == 0 {
			hs[i].Lo = edge[i/2%5]
		}
	}
	present := 0
	for skip := range 9 {
		sections := make([][]byte, len(used))
		for i, n := range used {
			if bytes := 8 * uint64(len(e.Sections[i])); n > bytes {
				t.Fatalf("section %d uses %d bytes of %d", i, n, bytes)
			}
			b := make([]byte, skip)
			for _, w := range e.Sections[i] {
				b = binary.LittleEndian.AppendUint64(b, w)
			}
			b = b[: skip+int(n) : skip+int(n)]
			for range viewMargin {
				b = append(b, 0xA5)
			}
			sections[i] = b[skip:]
		}
		for _, h := range hs {
			want := f.Has(h)
			if got := has(sections, h); got != want {
				t.Fatalf("%v, %d bytes off, hash %x: %v, want %v", e.Spec, skip, h, got, want)
			}
			if want {
				present++
			}
		}
		if n := testing.AllocsPerRun(100, func() { has(sections, hs[0]) }); n != 0 {
			t.Fatalf("%v: %v allocations a query", e.Spec, n)
		}
	}
	if present < 9*len(keys) {
		t.Fatalf("%v: %d of %d keys are present", e.Spec, present, 9*len(keys))
	}
}
