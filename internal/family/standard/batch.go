package standard

import (
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/probe"
)

// first is the number of probes of every key that are prefetched at once. If half of the bits are set, a quarter of the
// absent keys pass two probes.
const first = 2

// maxAhead is the largest number of further probes that are prefetched at once. It bounds the number of keys whose
// other probes testRest tests together.
const maxAhead = 256

// HasMany sets dst[i] to Has(hs[i]) for every i. It prefetches the first lines of a batch of keys before it reads any
// of them, then all other lines of the keys that may still be present. dst must be as long as hs.
func (f *Filter) HasMany(dst []bool, hs []filter.Hash) {
	family.CheckBatch(dst, hs)
	dst = dst[:len(hs)] // for the compiler: no bounds checks below
	if k := f.kernel(); k.HasMany(dst, hs) {
		return
	}

	// Without a prefetch instruction the queries of a loop overlap more than groups do.
	if len(f.Words) < probe.InCache || !bitvec.Prefetches {
		for i, h := range hs {
			dst[i] = f.Has(h)
		}
		return
	}

	f.hasMany(dst, hs)
}

// hasMany tests the keys in groups, as a spread of one filter does, but does not prefetch the next group.
func (f *Filter) hasMany(dst []bool, hs []filter.Hash) {
	s := spread{k: f.K, places: []place{f.placeOf()}}
	var p pending
	var at [probe.BatchSize]uint32
	for start := 0; start < len(hs); start += probe.BatchSize {
		group := hs[start:min(start+probe.BatchSize, len(hs))]
		s.prefetchGroup(&p, group, at[:])
		s.testGroup(&p, dst[start:][:len(group)], group)
	}
}

// addMany adds keys and does not count them.
func (f *Filter) addMany(hs []filter.Hash) {
	if k := f.kernel(); k.AddMany(hs) {
		return
	}
	if len(f.Words) >= probe.InCache && bitvec.Prefetches {
		f.addAhead(hs, false)
		return
	}

	words, m, k := f.Words, f.M, f.K // without prefetching, a plain loop is faster than the ring of addAhead
	for _, h := range hs {
		x, by := h.Lo, h.Hi
		for range k {
			at := probe.Position(x, m)
			words[at/64] |= 1 << (at % 64)
			x = probe.Next(x, by)
		}
	}
}

// addAhead adds keys and does not count them. If shared is true, other goroutines may do the same. It prefetches the
// words of a key four keys ahead.
func (f *Filter) addAhead(hs []filter.Hash, shared bool) {
	const ahead = 4
	var ring [ahead][MaxK]uint64 // the positions of the next keys
	for i := range len(hs) + ahead {
		at := ring[i%ahead][:f.K]
		if i >= ahead {
			for _, bit := range at {
				w := &f.Words[bit/64]
				if !shared {
					*w |= 1 << (bit % 64)
				} else if atomic.LoadUint64(w)>>(bit%64)&1 == 0 { // else a write would take the line
					atomic.OrUint64(w, 1<<(bit%64))
				}
			}
		}

		if i < len(hs) {
			probe.Positions(at, hs[i].Lo, hs[i].Hi, f.M)
			if bitvec.Prefetches {
				bitvec.PrefetchBits(f.Words, at)
			}
		}
	}
}

// HasManyCold is HasMany with prefetching in a filter of any size.
func (f *Filter) HasManyCold(dst []bool, hs []filter.Hash) {
	family.CheckBatch(dst, hs)
	f.hasMany(dst[:len(hs)], hs)
}

// Prefetch prefetches the lines of the first two probes of the keys.
func (f *Filter) Prefetch(hs []filter.Hash) {
	for group := range slices.Chunk(hs, probe.BatchSize) {
		f.prefetch(group)
	}
}

// prefetch is Prefetch of at most probe.BatchSize keys.
func (f *Filter) prefetch(hs []filter.Hash) {
	var at [probe.BatchSize * first]uint64
	for i, h := range hs {
		y := probe.Next(h.Lo, h.Hi)
		at[i*first], at[i*first+1] = probe.Position(h.Lo, f.M), probe.Position(y, f.M)
	}
	bitvec.PrefetchBits(f.Words, at[:len(hs)*first])
}

// spread implements family.Spread for filters of the same k. Its memory is 16 bytes per filter.
type spread struct {
	k      int
	places []place
}

// place is the location of the bits of a filter.
type place struct {
	first unsafe.Pointer // address of the words
	m     uint64
}

// Spread implements family.Spreader. It returns nil on machines where bitvec has no prefetch instruction.
func (f *Filter) Spread(filters int) family.Spread {
	if !bitvec.Prefetches {
		return nil
	}
	return &spread{k: f.K, places: make([]place, filters)}
}

// SetFilter makes f filter i if it is a filter of the same k.
func (s *spread) SetFilter(i int, f family.Filter) bool {
	o, ok := f.(*Filter)
	if !ok || o.K != s.k || o.M == 0 {
		s.places[i] = place{}
		return false
	}
	s.places[i] = o.placeOf()
	return true
}

func (f *Filter) placeOf() place {
	return place{first: unsafe.Pointer(unsafe.SliceData(f.Words)), m: f.M}
}

// pending is the state of a batch between its passes.
type pending struct {
	at     [probe.BatchSize * first]uint64 // positions of the first probes
	next   [probe.BatchSize]uint64         // x of the probe after them
	maybe  [probe.BatchSize]int            // the keys whose first probes are all set
	rest   [maxAhead]uint64                // positions of all other probes of those keys
	places [probe.BatchSize]place
	ask    [maxAhead]uint64 // bits to prefetch; see bitvec.PrefetchBitsAt
}

// HasManySpread is like Filter.HasMany, but prefetches the first probes of each batch before it tests the previous
// batch, which hides some of the time for finding the shards.
func (s *spread) HasManySpread(dst []bool, hs []filter.Hash, at []uint32) {
	family.CheckBatch(dst, hs)
	at = at[:len(hs)]
	var both [2]pending // of this batch and the next one
	s.prefetchGroup(&both[0], hs[:min(probe.BatchSize, len(hs))], at)
	for i := 0; len(hs) > 0; i++ {
		p, size := &both[i%2], min(probe.BatchSize, len(hs))
		group, out := hs[:size], dst[:size]
		dst, hs, at = dst[size:], hs[size:], at[size:]
		s.prefetchGroup(&both[(i+1)%2], hs[:min(probe.BatchSize, len(hs))], at)
		s.testGroup(p, out, group)
	}
}

// prefetchGroup prefetches the first probes of a group of keys.
func (s *spread) prefetchGroup(p *pending, group []filter.Hash, at []uint32) {
	for i, h := range group {
		place := s.places[at[i]]
		p.places[i] = place
		x, y := h.Lo, h.Lo
		if s.k > 1 { // with one probe, the second one repeats it
			y = probe.Next(x, h.Hi)
		}
		a, b, base := probe.Position(x, place.m), probe.Position(y, place.m), bitvec.BitAddress(place.first)
		p.at[i*first], p.at[i*first+1] = a, b
		p.ask[i*first], p.ask[i*first+1] = base+a, base+b
		p.next[i] = probe.Next(y, h.Hi)
	}

	bitvec.PrefetchBitsAt(p.ask[:len(group)*first])
}

// testGroup tests a group of keys after prefetchGroup: the first probes of all keys, then all other probes of the keys
// that pass.
func (s *spread) testGroup(p *pending, out []bool, group []filter.Hash) {
	n := 0
	for i := range out {
		words := p.places[i].first
		hit := bitvec.BitAt(words, p.at[i*first]) & bitvec.BitAt(words, p.at[i*first+1]) & 1
		out[i] = hit == 1
		p.maybe[n] = i // overwritten by the next key unless it is a hit: no branch, which would be mispredicted
		n += int(hit)
	}

	if s.k <= first {
		return
	}

	for step := maxAhead / (s.k - first); n > 0; n -= min(n, step) {
		s.testRest(p, out, group, p.maybe[max(0, n-step):n])
	}
}

// testRest tests all other probes of some keys of a group.
func (s *spread) testRest(p *pending, out []bool, group []filter.Hash, keys []int) {
	k := s.k - first
	for j, i := range keys {
		x, by := p.next[i], group[i].Hi
		place := p.places[i]
		base := bitvec.BitAddress(place.first)
		at, ask := p.rest[j*k:][:k], p.ask[j*k:][:k]
		for l := range at {
			at[l] = probe.Position(x, place.m)
			ask[l] = base + at[l]
			x = probe.Next(x, by)
		}
	}

	bitvec.PrefetchBitsAt(p.ask[:len(keys)*k])
	for j, i := range keys {
		all := uint64(1)
		words := p.places[i].first
		for _, at := range p.rest[j*k:][:k] {
			all &= bitvec.BitAt(words, at)
		}
		out[i] = all != 0
	}
}
