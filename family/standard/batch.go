package standard

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
)

// batch is how many keys go together: enough misses to fill a core's queue (10 to 48 of them), few enough that the
// lines still lie in the first-level cache when they are read.
const batch = 32

// first is how many probes of every key are prefetched at once. At half fill two leave a quarter of the absent keys.
const first = 2

// inCache is the number of words, 512 KiB, of a filter that a second-level cache holds: nothing to wait for.
const inCache = 1 << 16

// HasMany sets dst[i] to Has(hs[i]). It asks for the first lines of a batch of keys before it looks at any of them,
// then for all other lines of those that may still be present. dst must be as long as hs.
func (f *Filter) HasMany(dst []bool, hs []filter.Hash) {
	dst = dst[:len(hs)]
	if len(f.words) < inCache {
		for i, h := range hs {
			dst[i] = f.Has(h)
		}
		return
	}
	var at [batch * first]uint64
	var rest [MaxK]uint64
	var maybe [batch]int
	head := min(first, f.k)
	for start := 0; start < len(hs); start += batch {
		group := hs[start:min(start+batch, len(hs))]
		out := dst[start:][:len(group)]
		for i, h := range group {
			p := probes{h.Lo, h.Hi}
			for j := range head {
				at[i*first+j] = p.next(f.m)
			}
			if head < first {
				at[i*first+1] = at[i*first]
			}
		}
		f.prefetch(at[:len(group)*first])
		n := 0
		for i := range group {
			a, b := at[i*first], at[i*first+1]
			hit := f.words[a/64] >> (a % 64) & (f.words[b/64] >> (b % 64)) & 1
			out[i] = hit == 1
			maybe[n] = i
			n += int(hit)
		}
		if f.k <= first {
			continue
		}
		for _, i := range maybe[:n] {
			p := after(group[i])
			for j := range f.k - first {
				rest[j] = p.next(f.m)
			}
			f.prefetch(rest[:f.k-first])
		}
		for _, i := range maybe[:n] {
			p := after(group[i])
			for range f.k - first {
				if a := p.next(f.m); f.words[a/64]>>(a%64)&1 == 0 {
					out[i] = false
					break
				}
			}
		}
	}
}

// after returns the probes that follow the first ones.
func after(h filter.Hash) probes {
	return probes{h.Lo + first*stepLo&(1<<64-1), h.Hi + first*stepHi&(1<<64-1)}
}

// prefetch asks for the lines of bit positions.
func (f *Filter) prefetch(at []uint64) {
	var words [batch * first]uint64
	w := words[:len(at)]
	for i, a := range at {
		w[i] = a / 64
	}
	bitvec.Prefetch(f.words, w)
}
