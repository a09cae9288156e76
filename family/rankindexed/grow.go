package rankindexed

import (
	"fmt"
	"slices"

	"github.com/bloomery/bloomery/filter"
)

// Grow doubles the filter: twice as many buckets, one bit of remainder less. The first bit of each remainder says in which
// of two buckets its cell comes. Until it returns there are two filters in memory. It returns an error wrapping
// filter.ErrFull, and changes nothing, if the Config left no more doublings.
func (f *Filter) Grow() error {
	if f.g.Growth == 0 {
		return fmt.Errorf("a filter for %d keys that has no doubling left: %w", f.g.Capacity, filter.ErrFull)
	}
	g := f.g
	g.Growth--
	g.Capacity *= 2
	g.Buckets *= 2
	for i := range g.Pools {
		g.Pools[i] *= 2
	}
	twice, err := newFilter(g)
	if err != nil {
		return err
	}
	for b := range f.buckets {
		if err := f.split(b, twice); err != nil {
			return err
		}
	}
	twice.keys = f.keys
	*f = *twice
	return nil
}

// split puts the cells of bucket b into the two buckets of a filter of twice the size that take its place. The cells of a
// chain come in their order, the last first, for insert puts each before those like it.
func (f *Filter) split(b uint64, twice *Filter) error {
	u := f.bucket(b)
	first := f.width - 1 // the bit of a cell that says which
	var cells []uint64
	for chain := range f.chains {
		cells = cells[:0]
		for at := chain; u.bit(at); {
			c := u.rank(at)
			cells = append(cells, u.cell(c))
			at = f.chains + c
		}
		for _, cell := range slices.Backward(cells) {
			to := twice.bucket(2*b + cell>>first)
			if err := twice.insert(&to, chain, cell&(1<<first-1)); err != nil {
				return err
			}
		}
	}
	return nil
}
