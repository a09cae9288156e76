package partitioned

import (
	"math/bits"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/probe"
)

// batch is how many keys go together; see the standard family.
const batch = 32

// inCache is the number of words, 2 MiB, up to which the caches answer so fast that batches gain nothing.
const inCache = 1 << 18

// HasMany sets dst[i] to Has(hs[i]). It asks for the shifts and the first slots of a batch of keys before it looks at any of
// them, then for all other slots of those that may still be present. dst must be as long as hs.
func (f *Filter) HasMany(dst []bool, hs []filter.Hash) {
	filter.CheckBatch(dst, hs)
	dst = dst[:len(hs)] // for the compiler: no bounds checks below
	if len(f.bitmap) < inCache || f.width != maxWidth || f.k <= together {
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
		f.finish(&p, out, group, n)
	}
}

// pending is what a batch keeps between its passes.
type pending struct {
	side  [batch]uint64            // where the shifts of a key's group begin
	start [batch]uint64            // where the bitmap of its shard begins
	at    [batch * together]uint64 // what its first slots read
	next  [batch]uint64            // what the base position of the slot after them comes from
	maybe [batch]int               // the keys whose first slots are all set
	rest  [maxK]uint64
}

// begin tests the first slots of a group of keys and returns how many of them p.maybe names.
func (f *Filter) begin(p *pending, out []bool, group []filter.Hash) (n int) {
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
		s := bitvec.Load57(f.shifts, p.side[i])
		at := p.at[i*together:][:together]
		hit := bitvec.Load32(f.bitmap, at[0], s&31) & bitvec.Load32(f.bitmap, at[1], s>>5&31) & bitvec.Load32(f.bitmap, at[2], s>>10&31) & 1
		out[i] = hit == 1
		p.maybe[n] = i
		n += int(hit)
	}
	return n
}

// finish asks for the other slots of the keys that p.maybe names, and then answers for them.
func (f *Filter) finish(p *pending, out []bool, group []filter.Hash, n int) {
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
