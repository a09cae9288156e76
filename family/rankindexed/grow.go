package rankindexed

import (
	"fmt"

	"github.com/bloomery/bloomery/filter"
)

// Grow doubles the filter: it has twice as many buckets then, and remainders of one bit less. Until Grow returns, the old and
// the new filter are in memory, three times the old size. The error wraps filter.ErrFull if the filter has no doubling left,
// and filter.ErrTooLarge if the new one has no room in memory; the filter is then unchanged.
func (f *Filter) Grow() error {
	twice, err := f.twice(newFilter)
	if err != nil {
		return err
	}
	var s splitter
	for b := range f.buckets {
		if err := s.split(&f.arrays, b, &twice.arrays); err != nil {
			return err
		}
	}
	twice.tally = f.tally
	*f = *twice
	return nil
}

// twice returns an empty filter of twice the size, made by alloc. Errors are those of Grow and of alloc.
func (f *arrays) twice(alloc func(Geometry) (*Filter, error)) (*Filter, error) {
	if f.g.Growth == 0 {
		return nil, fmt.Errorf("a filter for %d keys has no doubling left: %w", f.g.Capacity, filter.ErrFull)
	}
	g := f.g
	g.Growth--
	g.Capacity *= 2
	g.Buckets *= 2
	for i := range g.Pools {
		g.Pools[i] *= 2
	}
	return alloc(g)
}

// splitter holds the lists of cells that split works on, for reuse.
type splitter struct {
	cells  []uint64
	chains []uint16   // by cell, its chain
	next   []int32    // by cell, the next one of its chain that goes to the same bucket, or none
	first  [2][]int32 // by chain, its first cell that goes to the lower or to the upper bucket, or none
	order  []int32    // the cells of one of them, in order
}

const none = -1

// split copies the cells of bucket b to the two buckets, still empty, that replace it in a filter of twice the size. The first
// bit of a cell selects the bucket. The cells of a chain stay in their order.
//
// It does not fail if the pools have two free records for each extension of the bucket: neither of the new buckets has more
// cells than the old one.
func (s *splitter) split(from *arrays, b uint64, to *arrays) error {
	u := from.bucket(b)
	s.read(&u)
	for half := range uint64(2) {
		if err := s.write(to, 2*b+half, s.first[half]); err != nil {
			return err
		}
	}
	return nil
}

// read lists the cells of a bucket. Their numbers are in the order of a queue: the first cells of all chains, in the order
// of the chains; then the second ones; and so on.
func (s *splitter) read(u *bucket) {
	used := u.used()
	s.cells, s.chains = s.cells[:0], s.chains[:0]
	for chain := range u.f.chains {
		if u.bit(chain) {
			s.chains = append(s.chains, uint16(chain))
		}
	}
	for c := range used {
		s.cells = append(s.cells, u.cell(c))
		if u.bit(u.f.chains + c) {
			s.chains = append(s.chains, s.chains[c])
		}
	}
	s.next = append(s.next[:0], make([]int32, used)...)
	for half := range s.first {
		s.first[half] = s.first[half][:0]
		for range u.f.chains {
			s.first[half] = append(s.first[half], none)
		}
	}
	top := u.f.width - 1
	for c := int32(used) - 1; c >= 0; c-- {
		first := &s.first[s.cells[c]>>top][s.chains[c]]
		s.next[c], *first = *first, c
	}
}

// write fills an empty bucket with the chains that begin at these cells.
func (s *splitter) write(to *arrays, b uint64, first []int32) error {
	s.order = s.order[:0]
	for _, c := range first {
		if c != none {
			s.order = append(s.order, c)
		}
	}
	for i := 0; i < len(s.order); i++ {
		if c := s.next[s.order[i]]; c != none {
			s.order = append(s.order, c)
		}
	}
	u := to.bucket(b)
	for u.room() < uint64(len(s.order)) {
		if err := u.lengthen(true); err != nil {
			return err
		}
	}
	for chain, c := range first {
		if c != none {
			u.flip(uint64(chain))
		}
	}
	mask := uint64(1)<<to.width - 1
	for i, c := range s.order {
		u.setCell(uint64(i), s.cells[c]&mask)
		if s.next[c] != none {
			u.flip(to.chains + uint64(i))
		}
	}
	return nil
}
