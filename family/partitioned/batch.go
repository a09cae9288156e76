package partitioned

import (
	"math/bits"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
)

// batch is how many keys go together; see the standard family.
const batch = 32

// inCache is the number of words, 2 MiB, up to which the caches answer so fast that batches gain nothing.
const inCache = 1 << 18

// HasMany sets dst[i] to Has(hs[i]), having asked for the shifts and the first slots of a batch of keys before it looks
// at any of them. dst must be as long as hs.
func (f *Filter) HasMany(dst []bool, hs []filter.Hash) {
	dst = dst[:len(hs)]
	if len(f.bitmap) < inCache {
		for i, h := range hs {
			dst[i] = f.Has(h)
		}
		return
	}
	var side [batch]uint64
	var at [batch * together]uint64
	base := f.base()
	for start := 0; start < len(hs); start += batch {
		group := hs[start:min(start+batch, len(hs))]
		for i, h := range group {
			shard, rest := bits.Mul64(h.Hi, f.geometry.shards)
			j, _ := bits.Mul64(rest, f.groups)
			side[i] = (shard*f.groups + j) * uint64(f.k*f.width)
			x, by := h.Lo, mixer(h)
			for l := range together {
				at[i*together+l] = shard*f.bits + position(x, base)
				x = mix(x, by)
			}
		}
		bitvec.PrefetchBits(f.shifts, side[:len(group)])
		bitvec.PrefetchBits(f.bitmap, at[:len(group)*together])
		for i, h := range group {
			dst[start+i] = f.Has(h)
		}
	}
}
