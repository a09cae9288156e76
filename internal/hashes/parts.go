package hashes

import (
	"context"
	"iter"
	"sort"

	"github.com/bloomery/bloomery/filter"
)

// Part is the hashes of a part. It is safe for concurrent use and stays valid, also after Close.
type Part struct {
	Number uint64 // what the function of Parts returned for the hashes
	array  *array
	lo, hi int
}

// Len returns the number of hashes, at least one.
func (p *Part) Len() int { return p.hi - p.lo }

// Pieces returns the hashes in order, in slices of the memory of the Sorted. They must not be changed.
func (p *Part) Pieces() iter.Seq[[]filter.Hash] { return p.array.pieces(p.lo, p.hi) }

// Parts is Each without copies: f is called once for each part, and may hand it to other goroutines.
func (k *Sorted) Parts(ctx context.Context, part func(filter.Hash) uint64, f func(Part) error) error {
	a, r, err := k.content()
	if err != nil {
		return err
	}
	give := func(p Part) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return f(p)
	}
	if r.any() {
		return r.each(ctx, k.limit, part, func(part uint64, hs []filter.Hash) error {
			return give(Part{part, &array{few: hs, n: len(hs)}, 0, len(hs)})
		})
	}
	for lo, hi := 0, 0; lo < a.n; lo = hi {
		p := part(*a.at(lo))
		last := lo // the last hash that is known to be of this part
		step := 1
		for ; last+step < a.n && part(*a.at(last + step)) == p; step *= 2 {
			last += step
		}
		// The part ends behind last, and before last+step if that is another one.
		more := min(last+step, a.n) - last - 1
		hi = last + 1 + sort.Search(more, func(i int) bool { return part(*a.at(last + 1 + i)) != p })
		if err := give(Part{p, &a, lo, hi}); err != nil {
			return err
		}
	}
	return nil
}
