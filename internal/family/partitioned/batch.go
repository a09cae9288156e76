package partitioned

import (
	"math/bits"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/probe"
)

// HasMany sets dst[i] to Has(hs[i]). It prefetches the shifts and the first slots of a batch of keys before it tests
// them, then all other slots of the keys that may still be present. It panics if dst and hs differ in length.
func (f *Filter) HasMany(dst []bool, hs []filter.Hash) {
	family.CheckBatch(dst, hs)
	dst = dst[:len(hs)] // for the compiler: no bounds checks below
	// testFirst reads three shifts of five bits each; in the caches the passes cost more than they save.
	if len(f.bitmap) < probe.InCache || f.width != maxWidth || f.k <= together {
		for i, h := range hs {
			dst[i] = f.Has(h)
		}
		return
	}
	f.hasMany(dst, hs)
}

func (f *Filter) hasMany(dst []bool, hs []filter.Hash) {
	var p pending
	for start := 0; start < len(hs); start += probe.BatchSize {
		group := hs[start:min(start+probe.BatchSize, len(hs))]
		out := dst[start:][:len(group)]
		n := f.testFirst(&p, out, group)
		f.testRest(&p, out, group, n)
	}
}

// pending is the state of a batch between its passes.
type pending struct {
	side  [probe.BatchSize]uint64            // first bit of the shifts of a key's group
	start [probe.BatchSize]uint64            // first bit of its shard
	at    [probe.BatchSize * together]uint64 // bits of its first slots, before the shift
	next  [probe.BatchSize]uint64            // x of the slot after them
	maybe [probe.BatchSize]int               // keys whose first slots are all set
	rest  [maxK]uint64
}

// testFirst tests the first slots of a batch of keys. It lists the keys that may be present in p.maybe and returns
// their number.
func (f *Filter) testFirst(p *pending, out []bool, group []filter.Hash) (n int) {
	for i, h := range group {
		shard, rest := bits.Mul64(h.Hi, f.geometry.shards)
		j, _ := bits.Mul64(rest, f.groups)
		p.side[i] = (shard*f.groups + j) * f.side
		p.start[i] = shard * f.bits
		x, by := h.Lo, probe.Mixer(h)
		for l := range together {
			p.at[i*together+l] = p.start[i] + probe.Position(x, f.reach)
			x = probe.Mix(x, by)
		}
		p.next[i] = x
	}

	bitvec.PrefetchBits(f.shifts, p.side[:len(group)])
	bitvec.PrefetchBits(f.bitmap, p.at[:len(group)*together])
	for i := range group {
		s := bitvec.Load57(f.shifts, p.side[i]) // three shifts have 15 bits
		at := p.at[i*together:][:together]
		hit := bitvec.Load32(f.bitmap, at[0], s&31) & bitvec.Load32(f.bitmap, at[1], s>>5&31) &
			bitvec.Load32(f.bitmap, at[2], s>>10&31) & 1
		out[i] = hit == 1
		p.maybe[n] = i // overwritten by the next key unless it is a hit: no branch, which would be mispredicted
		n += int(hit)
	}
	return n
}

// testRest prefetches the other slots of the n keys in p.maybe, then answers for them.
func (f *Filter) testRest(p *pending, out []bool, group []filter.Hash, n int) {
	for _, i := range p.maybe[:n] {
		x, by := p.next[i], probe.Mixer(group[i])
		rest := p.rest[:f.k-together]
		for l := range rest {
			rest[l] = p.start[i] + probe.Position(x, f.reach)
			x = probe.Mix(x, by)
		}
		bitvec.PrefetchBits(f.bitmap, rest)
	}

	for _, i := range p.maybe[:n] {
		out[i] = f.Has(group[i])
	}
}
