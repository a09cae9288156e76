package counting

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/probe"
)

// batch is the number of keys that are tested together; see package standard.
const batch = 32

// first is the number of probes of every key that are prefetched at once. At half fill three probes leave an eighth of
// the absent keys.
const first = 3

// inCache is a number of words, 2 MiB. Smaller filters are tested key by key: the caches answer so fast that batches
// gain nothing.
const inCache = 1 << 18

// HasMany sets dst[i] to Has(hs[i]) for every i. It prefetches the first lines of a batch of keys before it reads any
// of them. dst must be as long as hs.
func (f *Filter) HasMany(dst []bool, hs []filter.Hash) {
	filter.CheckBatch(dst, hs)
	dst = dst[:len(hs)] // for the compiler: no bounds checks below
	if len(f.words) < inCache {
		for i, h := range hs {
			dst[i] = f.Has(h)
		}
		return
	}
	f.hasMany(dst, hs)
}

func (f *Filter) hasMany(dst []bool, hs []filter.Hash) {
	var room [batch * first]uint64
	for from := 0; from < len(hs); from += batch {
		to := min(from+batch, len(hs))
		bits := room[:0]
		for _, h := range hs[from:to] {
			x, by := h.Lo, probe.Mixer(h)
			for range min(first, f.k) {
				bits = append(bits, probe.Position(x, f.m)*width)
				x = probe.Mix(x, by)
			}
		}
		bitvec.PrefetchBits(f.words, bits)
		for i := from; i < to; i++ {
			dst[i] = f.Has(hs[i])
		}
	}
}

// prefetch prefetches the words of the first probes of at most batch keys.
func (f *Filter) prefetch(room *[batch * first]uint64, hs []filter.Hash) {
	bits := room[:0]
	for _, h := range hs {
		x, by := h.Lo, probe.Mixer(h)
		for range min(first, f.k) {
			bits = append(bits, probe.Position(x, f.m)*width)
			x = probe.Mix(x, by)
		}
	}
	bitvec.PrefetchBits(f.words, bits)
}
