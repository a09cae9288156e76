package rankindexed

import (
	"math"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/kernel"
	"github.com/bloomery/bloomery/internal/probe"
)

// Cells is the table of a filter with values, in which no two cells of a chain have the same remainder. It is for a
// package that keeps its own state in the value of each cell. Operations on different buckets may run at the same time;
// operations on the same bucket, except HasTorn, need a lock. Cells keeps no counts of keys or cells.
type Cells struct{ arrays }

// CellsConfig lists the requirements for PlanCells.
type CellsConfig struct {
	Keys      float64 // distinct keys in the table, averaged over time
	Most      uint64  // largest number of distinct keys in the table
	FPR       float64 // with Keys
	Overflow  float64 // the probability that a key finds no room
	Extended  float64 // largest share of the buckets that have an extension; 0 for any
	ValueBits int     // 1 to MaxValueBits
	// Loads divides the buckets into equal shares and returns the mean load of each share at its fullest, relative to
	// Keys per bucket. The number of keys of a bucket is Poisson distributed.
	Loads func(buckets uint64) []float64
}

// PlanCells returns the smallest geometry that meets the requirements. Keys with equal fingerprints share a cell: x =
// keys/fingerprints keys per fingerprint use 1-exp(-x) cells per fingerprint, and this is also the false-positive rate.
func PlanCells(c CellsConfig) (Geometry, error) {
	distinct := c.FPR / -math.Log1p(-c.FPR)
	spread := func(buckets uint64) []float64 {
		loads := c.Loads(buckets)
		for i := range loads {
			loads[i] *= distinct
		}
		return loads
	}

	n := uint64(math.Ceil(max(c.Keys, 1)))
	o := order{
		form: Geometry{Capacity: n, ValueBits: c.ValueBits}, fpr: c.FPR, overflow: c.Overflow,
		words: lines, index: lineBits, lambda: longChain, spread: spread, most: max(c.Most, n), extended: c.Extended,
	}

	if g, ok := o.search(math.Inf(1)); ok {
		return g, nil
	}
	return Geometry{}, family.Invalid("fpr", c.FPR, "no remainder of at most %d bits reaches it", MaxRemainder)
}

// NewCells returns an empty table. The error wraps filter.ErrConfig if the geometry has no values, counters, growth or
// buckets too large for Sweep, and filter.ErrTooLarge if the memory does not suffice.
func NewCells(g Geometry) (*Cells, error) {
	if err := g.checkCells(); err != nil {
		return nil, err
	}
	f, err := newFilter(g)
	if err != nil {
		return nil, err
	}
	return &Cells{f.arrays}, nil
}

// checkCells returns an error unless a Cells can have the geometry.
func (g Geometry) checkCells() error {
	switch bits := g.Cells[0] + g.Cells[1] + g.Cells[2]; {
	case g.Counting || g.Growth != 0 || g.ValueBits == 0:
		return family.Invalid("value_bits", g.ValueBits, "want values, no counters and no growth")
	case bits > 64*sweepCells || g.Chains+bits > 64*sweepIndex || bits*g.cellBits() > 64*(sweepWords-1):
		return family.Invalid("cells", bits, "too many in a bucket")
	}
	return nil
}

// Bucket returns the number of the bucket of the key with hash h.
func (f *Cells) Bucket(h filter.Hash) uint64 { return probe.Position(h.Hi, f.buckets) }

// HasTorn is Has for a caller that does not hold the lock of the bucket. The caller must check afterwards whether
// another goroutine has changed the bucket meanwhile; if so, the answer is undefined. If sure is true, the answer needs
// no lock.
func (f *Cells) HasTorn(h filter.Hash) (has, sure bool) {
	end := f.walk.Has(h.Hi, h.Lo)
	return end == kernel.ChainCell, end != kernel.ChainBeyond
}

// Tears reports whether HasTorn may be called.
func (f *Cells) Tears() bool { return f.walk.Tears() }

// Put gives the key with hash h a cell with a value unless an equal cell exists, and reports whether an equal cell
// existed. With replace, Put stores the new value in the existing cell. The error is filter.ErrFull if the table has no
// room for a cell; the table is then unchanged. Put does not allocate.
func (f *Cells) Put(h filter.Hash, value uint64, replace bool) (present bool, err error) {
	base, remainder, at, c, old, end := f.walk.Follow(h.Hi, h.Lo)
	cell := remainder<<f.payload | value
	if end == kernel.ChainCell && old>>f.payload == remainder {
		if replace && old != cell {
			f.setCell(base, c, cell)
		}
		return true, nil
	}

	// The common case: the bucket itself has room, and the walk has already found the place of the cell.
	if f.hasNoExtension(base) && f.walk.Used(base) < f.own {
		f.openNear(base, at, c, cell, old, end == kernel.ChainCell)
		return false, nil
	}

	u := f.bucket(f.Bucket(h))
	if end == kernel.ChainBeyond {
		if c, ok := u.findCell(at, remainder); ok {
			if replace {
				u.setCell(c, cell)
			}
			return true, nil
		}
	}

	if err := u.makeRoom(); err != nil {
		return false, err
	}

	f.insertAt(&u, at, cell)
	return false, nil
}

// Used returns the number of cells in use of bucket b.
func (f *Cells) Used(b uint64) uint64 {
	u := f.bucket(b)
	return u.usedCells()
}

// CountValues adds to counts[v], for each v, the number of cells of bucket b with the value v. It panics if counts has
// fewer elements than values.
func (f *Cells) CountValues(b uint64, counts []uint64) {
	u := f.bucket(b)
	for c := range u.usedCells() {
		counts[u.cellValue(c)&(1<<f.payload-1)]++
	}
}

// Clear removes all cells of bucket b.
func (f *Cells) Clear(b uint64) {
	u := f.bucket(b)
	for u.n > 1 { // before the clear, which would lose the pointers to the extensions
		u.shorten()
	}
	clear(f.table[b*f.words:][:f.words])
}

// Prefetch requests the indexes of the buckets of at most probe.BatchSize keys from memory.
func (f *Cells) Prefetch(hs []filter.Hash) {
	if len(f.table) >= probe.InCache {
		f.prefetch(hs)
	}
}

// PrefetchAll requests all words of a bucket, but not of its extensions, from memory.
func (f *Cells) PrefetchAll(b uint64) {
	var room [16]uint64 // cache lines; a larger bucket is prefetched in part
	at := room[:min(len(room), int(f.words+7)/8)]
	for i := range at {
		at[i] = b*f.words + 8*uint64(i)
	}
	bitvec.Prefetch(f.table, at)
}

// Geometry returns the sizes of the table's parts.
func (f *Cells) Geometry() Geometry { return f.g }

// Cells returns the number of cells, extensions included.
func (f *Cells) Cells() uint64 { return f.g.allCells() }

// Rate returns the false-positive rate while this number of distinct cells is in use.
func (f *Cells) Rate(cells uint64) float64 { return min(1, float64(cells)/f.g.fingerprints()) }

// Extensions returns the number of extensions in use, of both levels.
func (f *Cells) Extensions() uint64 { return f.pools[1].recordsInUse() + f.pools[2].recordsInUse() }

// Bytes returns the memory of the arrays.
func (f *Cells) Bytes() uint64 {
	n := uint64(len(f.table))
	for _, p := range f.pools[1:] {
		n += uint64(len(p.words) + len(p.taken))
	}
	return 8 * n
}
