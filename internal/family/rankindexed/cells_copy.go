package rankindexed

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// A Copy is a copy of a Cells that is being made, bucket by bucket, while others change the table.
type Copy struct {
	from     *Cells
	snapshot snapshot
}

// StartCopy begins a copy. copying is called for each bucket when it is copied, once, by the goroutine that has its
// lock: that which calls Copy.Bucket, or one that calls Put. Finish ends the copy; until then no other one may begin.
// With an earlier copy of f, whose table nobody uses any more, it takes its memory. The error wraps filter.ErrTooLarge
// if the copy has no room in memory.
func (f *Cells) StartCopy(earlier *Copy, copying func(b uint64)) (*Copy, error) {
	c := earlier
	if c == nil {
		to, err := newFilter(f.g)
		if err != nil {
			return nil, err
		}
		c = &Copy{f, snapshot{from: &f.arrays, to: to, copied: make([]bool, f.buckets)}}
	}
	// Each bucket replaces all its words; extensions are only copied to where they are in use.
	for _, p := range c.snapshot.to.pools[1:] {
		clear(p.words)
		clear(p.taken)
		p.used, p.low = 0, 0
	}
	clear(c.snapshot.copied)
	c.snapshot.to.used, c.snapshot.to.keys, c.snapshot.copying = 0, 0, copying
	f.copyTo(&c.snapshot)
	return c, nil
}

// Bucket copies bucket b, whose lock the caller has, unless that was done before.
func (c *Copy) Bucket(b uint64) { c.snapshot.bucket(b) }

// Finish returns the copy, for which all buckets must have been copied.
func (c *Copy) Finish() *Cells {
	c.from.copyTo(nil)
	return &Cells{c.snapshot.to.arrays}
}

// Encode returns the stored form of the table: that of a Filter with values. The words are those of the table.
func (f *Cells) Encode() family.Encoded {
	keys := uint64(0)
	for b := range f.buckets {
		keys += f.Used(b)
	}
	sections := [][]uint64{f.table, f.pools[1].words, f.pools[2].words}
	return family.Encoded{Spec: f.g.Spec(), Keys: keys, Sections: sections}
}

// StoredCells returns the geometry of a stored table with that Spec, and the number of words of each section. Errors
// are those of NewCells.
func StoredCells(s filter.Spec) (Geometry, []uint64, error) {
	g, _, trimmed, err := geometry(s)
	if err == nil && trimmed {
		err = family.Invalid("trimmed", s, "not in this form")
	}
	if err == nil {
		err = g.checkCells()
	}
	if err != nil {
		return Geometry{}, nil, err
	}
	return g, g.sections(), nil
}

// DecodeCells returns the table of a stored form and keeps its words. It checks everything, as Decode does.
func DecodeCells(e family.Encoded) (*Cells, error) {
	if _, _, err := StoredCells(e.Spec); err != nil {
		return nil, err
	}
	f, err := Decode(e)
	if err != nil {
		return nil, err
	}
	return &Cells{f.arrays}, nil
}
