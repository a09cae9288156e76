package standard

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/probe"
)

// batch is how many keys go together: enough misses to fill a core's queue (10 to 48 of them), few enough that the
// lines still lie in the first-level cache when they are read.
const batch = 32

// first is how many probes of every key are prefetched at once. At half fill two leave a quarter of the absent keys.
const first = 2

// maxAhead is how many further probes are prefetched at once, of as many keys as they are enough for.
const maxAhead = 256

// inCache is the number of words, 2 MiB, up to which the caches answer so fast that batches gain less than they cost.
const inCache = 1 << 18

// HasMany sets dst[i] to Has(hs[i]). It asks for the first lines of a batch of keys before it looks at any of them,
// then for all other lines of those that may still be present. dst must be as long as hs.
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
	var p pending
	for start := 0; start < len(hs); start += batch {
		group := hs[start:min(start+batch, len(hs))]
		out := dst[start:][:len(group)]
		n := f.begin(&p, out, group)
		if f.k <= first {
			continue
		}
		for step := maxAhead / (f.k - first); n > 0; n -= min(n, step) {
			f.finish(&p, out, group, p.maybe[max(0, n-step):n])
		}
	}
}

// pending is what a batch keeps between its passes.
type pending struct {
	at    [batch * first]uint64 // positions of the first probes
	next  [batch]uint64         // x of the probe after them
	maybe [batch]int            // which keys have all first probes set
	rest  [maxAhead]uint64      // positions of all other probes, for those keys
}

// begin tests the first probes of a group of keys and returns how many of them p.maybe names.
func (f *Filter) begin(p *pending, out []bool, group []filter.Hash) (n int) {
	for i, h := range group {
		x, y := h.Lo, h.Lo
		if f.k > 1 {
			y = probe.Mix(x, probe.Mixer(h))
		}
		p.at[i*first], p.at[i*first+1] = probe.Position(x, f.m), probe.Position(y, f.m)
		p.next[i] = probe.Mix(y, probe.Mixer(h))
	}
	bitvec.PrefetchBits(f.words, p.at[:len(group)*first])
	for i := range group {
		hit := bitvec.Bit(f.words, p.at[i*first]) & bitvec.Bit(f.words, p.at[i*first+1]) & 1
		out[i] = hit == 1
		p.maybe[n] = i
		n += int(hit)
	}
	return n
}

// finish tests all other probes of some keys of a group.
func (f *Filter) finish(p *pending, out []bool, group []filter.Hash, keys []int) {
	k := f.k - first
	for j, i := range keys {
		x, by := p.next[i], probe.Mixer(group[i])
		at := p.rest[j*k:][:k]
		for l := range at {
			at[l] = probe.Position(x, f.m)
			x = probe.Mix(x, by)
		}
	}
	bitvec.PrefetchBits(f.words, p.rest[:len(keys)*k])
	for j, i := range keys {
		all := uint64(1)
		for _, at := range p.rest[j*k:][:k] {
			all &= bitvec.Bit(f.words, at)
		}
		out[i] = all != 0
	}
}
