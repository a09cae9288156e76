package rankindexed

import (
	"fmt"
	"slices"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
)

// Grow doubles the filter: it then has twice as many buckets, and its remainders are one bit shorter. Until Grow
// returns, the old and the new filter are in memory, three times the old size. The error wraps filter.ErrFull if the
// filter has no doubling left, and filter.ErrTooLarge if the new filter does not fit into memory; the filter is then
// unchanged.
func (f *Filter) Grow() error {
	twice, err := f.allocTwice(newFilter)
	if err != nil {
		return err
	}

	var s splitter
	for b := range f.buckets {
		if err := s.splitBucket(&f.arrays, b, &twice.arrays); err != nil {
			return err
		}
	}

	twice.tally = f.tally
	*f = *twice
	return nil
}

// allocTwice returns an empty filter of twice the size, made by alloc. It returns the errors of Grow and of alloc.
func (f *arrays) allocTwice(alloc func(Geometry) (*Filter, error)) (*Filter, error) {
	if f.g.Growth == 0 {
		return nil, fmt.Errorf("a filter for %d keys has no doubling left: %w", f.g.Capacity, filter.ErrFull)
	}
	g := f.g
	g.Growth-- // the first bit of each remainder becomes the last bit of the bucket's number
	g.Capacity *= 2
	g.Buckets *= 2
	for i := range g.Pools {
		g.Pools[i] *= 2
	}
	return alloc(g)
}

// splitter keeps the lists of cells that splitBucket uses, for reuse. Loops over random bits do not branch on the bits,
// because the processor would mispredict half of the branches.
type splitter struct {
	lister
	next  []int32    // by cell, the next one of its chain that goes to the same bucket, or none
	first [2][]int32 // by chain, its first cell that goes to the lower or the upper bucket, or none
	order []int32    // the cells of one of these buckets, in order
}

// lister lists the cells of a bucket.
type lister struct {
	cells  []uint64
	chains []uint16 // by cell, its chain; there may be more
}

// none stands for no cell. It is negative, so that exists can test the sign.
const none = -1

// exists returns 0 for none, and else 1.
func exists(c int32) uint64 { return uint64(^c) >> 31 & 1 }

// splitBucket copies the cells of bucket b to the two buckets, still empty, that replace it in a filter of twice the
// size. The first bit of a cell selects the bucket. The cells of a chain stay in their order.
//
// It does not fail if the pools have two free records for each extension of the bucket, since neither of the new
// buckets has more cells than the old one.
func (s *splitter) splitBucket(from *arrays, b uint64, to *arrays) error {
	u := from.bucket(b)
	s.linkCells(&u)
	for half := range uint64(2) {
		if err := s.writeBucket(to, 2*b+half, s.first[half]); err != nil {
			return err
		}
	}
	return nil
}

// listCells lists the cells of a bucket in the order of storage: the first cells of all chains, in the order of the
// chains; then the second cells, in the same order; and so on.
func (s *lister) listCells(u *bucket) {
	f, used := u.f, u.usedCells()
	s.cells = slices.Grow(s.cells[:0], int(used))[:used]
	s.chains = slices.Grow(s.chains[:0], int(used+f.chains)+1)[:used+f.chains+1]
	own := &u.parts[0]
	end := uint64(0)
	for chain := range f.chains {
		s.chains[end] = uint16(chain) // overwritten by the next chain unless this one has a cell
		end += bitvec.Bit(own.words, own.index+chain) & 1
	}

	for c := range used {
		bit := uint64(0)
		if c < f.own {
			s.cells[c] = bitvec.Field(own.words, own.cells+c*uint64(f.width), f.width)
			bit = bitvec.Bit(own.words, own.index+f.chains+c) & 1
		} else {
			s.cells[c] = u.cellValue(c)
			if u.indexBit(f.chains + c) {
				bit = 1
			}
		}
		s.chains[end] = s.chains[c]
		end += bit
	}
}

// linkCells links the cells of a bucket by the new bucket that each cell goes to.
func (s *splitter) linkCells(u *bucket) {
	s.listCells(u)
	f, used := u.f, len(s.cells)
	s.next = slices.Grow(s.next[:0], used)[:used]
	for half := range s.first {
		s.first[half] = slices.Grow(s.first[half][:0], int(f.chains))[:f.chains]
		for chain := range s.first[half] {
			s.first[half][chain] = none
		}
	}

	top := f.width - 1
	for c := int32(used) - 1; c >= 0; c-- { // from the last cell, so that each list is in the order of its chain
		first := &s.first[s.cells[c]>>top&1][s.chains[c]]
		s.next[c], *first = *first, c
	}
}

// writeBucket fills an empty bucket with the chains that begin at these cells.
func (s *splitter) writeBucket(to *arrays, b uint64, first []int32) error {
	s.order = slices.Grow(s.order[:0], len(s.cells)+len(first)+1)[:len(s.cells)+len(first)+1]
	u := to.bucket(b)
	own := &u.parts[0]
	used := uint64(0)
	for chain, c := range first {
		s.order[used] = c
		used += exists(c)
		at := own.index + uint64(chain)
		own.words[at/64] |= exists(c) << (at % 64)
	}

	mask := uint64(1)<<to.width - 1 // drops the bit that has selected the bucket
	for i := uint64(0); i < used; i++ {
		if i == u.allCells() {
			if err := u.lengthen(true); err != nil {
				return to.describeFull(err)
			}
		}
		c := s.order[i]
		next := s.next[c]
		s.order[used] = next
		used += exists(next)
		if i < to.own {
			bitvec.SetField(own.words, own.cells+i*uint64(to.width), to.width, s.cells[c]&mask)
			at := own.index + to.chains + i
			own.words[at/64] |= exists(next) << (at % 64)
			continue
		}
		u.setCell(i, s.cells[c]&mask)
		if next != none {
			u.flipBit(to.chains + i)
		}
	}
	return nil
}
