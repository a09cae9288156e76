package standard

import (
	"unsafe"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/probe"
)

// spread implements family.Spread for filters of the same k. It has what differs between them in 16 bytes a filter.
type spread struct {
	k      int
	places []place
}

// place is where the bits of a filter are.
type place struct {
	first unsafe.Pointer // to the words
	m     uint64
}

// Spread implements family.Spreader. It returns nil on machines where bitvec has no prefetch instruction.
func (f *Filter) Spread(filters int) family.Spread {
	if !bitvec.Prefetches {
		return nil
	}
	return &spread{k: f.k, places: make([]place, filters)}
}

// SetFilter makes f filter i if it is a filter of the same k.
func (s *spread) SetFilter(i int, f family.Filter) bool {
	o, ok := f.(*Filter)
	if !ok || o.k != s.k || o.m == 0 {
		s.places[i] = place{}
		return false
	}
	s.places[i] = place{first: unsafe.Pointer(unsafe.SliceData(o.words)), m: o.m}
	return true
}

// HasManySpread is as Filter.HasMany. It prefetches the first probes of a batch before it tests the batch before it,
// which makes up for some of the time that it takes to find the shards.
func (s *spread) HasManySpread(dst []bool, hs []filter.Hash, at []uint32) {
	family.CheckBatch(dst, hs)
	at = at[:len(hs)]
	var both [2]spreadPending // of this batch and the next one
	s.ask(&both[0], hs[:min(probe.BatchSize, len(hs))], at)
	for i := 0; len(hs) > 0; i++ {
		p, size := &both[i%2], min(probe.BatchSize, len(hs))
		group, out := hs[:size], dst[:size]
		dst, hs, at = dst[size:], hs[size:], at[size:]
		s.ask(&both[(i+1)%2], hs[:min(probe.BatchSize, len(hs))], at)
		n := s.begin(p, out)
		if s.k <= first {
			continue
		}
		for step := maxAhead / (s.k - first); n > 0; n -= min(n, step) {
			s.finish(p, out, group, p.maybe[max(0, n-step):n])
		}
	}
}

// spreadPending is the state of a batch between its passes.
type spreadPending struct {
	pending
	places [probe.BatchSize]place
	ask    [maxAhead]uint64 // what to prefetch; see bitvec.PrefetchBitsAt
}

// ask prefetches the first probes of a group of keys.
func (s *spread) ask(p *spreadPending, group []filter.Hash, at []uint32) {
	for i, h := range group {
		place := s.places[at[i]]
		p.places[i] = place
		x, y := h.Lo, h.Lo
		if s.k > 1 {
			y = probe.Next(x, h.Hi)
		}
		a, b, base := probe.Position(x, place.m), probe.Position(y, place.m), bitvec.BitAddress(place.first)
		p.at[i*first], p.at[i*first+1] = a, b
		p.ask[i*first], p.ask[i*first+1] = base+a, base+b
		p.next[i] = probe.Next(y, h.Hi)
	}
	bitvec.PrefetchBitsAt(p.ask[:len(group)*first])
}

// begin tests the first probes, as Filter.begin.
func (s *spread) begin(p *spreadPending, out []bool) (n int) {
	for i := range out {
		words := p.places[i].first
		hit := bitvec.BitAt(words, p.at[i*first]) & bitvec.BitAt(words, p.at[i*first+1]) & 1
		out[i] = hit == 1
		p.maybe[n] = i
		n += int(hit)
	}
	return n
}

// finish is Filter.finish.
func (s *spread) finish(p *spreadPending, out []bool, group []filter.Hash, keys []int) {
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
