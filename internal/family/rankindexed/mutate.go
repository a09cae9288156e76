package rankindexed

import (
	"errors"
	"fmt"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/kernel"
)

// Add adds the key with hash h. In the counting form this increments the count of the key; in the other forms each Add
// of a key takes a cell and needs its own Remove. A filter with Growth doubles when the cells in use reach its
// capacity. Any other filter accepts keys beyond its capacity, at a rising rate, until the bucket of a key is full and
// no extension is left: then the error wraps filter.ErrFull, and the filter is unchanged. Add does not allocate, except
// to grow.
func (f *Filter) Add(h filter.Hash) error {
	return f.growing(func() error { return f.addHash(h, &f.tally) })
}

// errGrow means that the filter must double before it takes another cell. This package does not return it to callers.
var errGrow = errors.New("the capacity is reached")

// growing runs do, and doubles the filter when do returns errGrow. A bucket that is full before the filter reaches its
// capacity contains one key many times; doubling would not help, so growing returns the ErrFull of do.
func (f *Filter) growing(do func() error) error {
	for {
		err := do()
		if err != errGrow {
			return err
		}
		if err := f.Grow(); err != nil {
			return err
		}
	}
}

// mustGrow reports whether the filter must double before it takes a further cell.
func (f *arrays) mustGrow(n *tally) bool {
	return f.g.Growth > 0 && n.used >= f.g.Capacity
}

// addHash is Add, except that it returns errGrow if the filter must double.
func (f *arrays) addHash(h filter.Hash, n *tally) error {
	if done := f.addNear(h, n); done {
		return nil
	}

	b, chain, remainder := f.walk.Locate(h.Hi, h.Lo)
	u := f.bucket(b)
	if f.g.Counting {
		if c, ok := u.findCell(chain, remainder); ok {
			if cell := u.cellValue(c); cell&(1<<counterBits-1) < 1<<counterBits-1 {
				u.setCell(c, cell+1)
				n.keys++
				return nil
			}
		}
	}
	return f.insert(&u, chain, remainder<<f.payload, n)
}

// AddValue adds the key with hash h and its value. The error wraps filter.ErrConfig if the value has more than
// ValueBits bits, filter.ErrFull as for Add, and filter.ErrUnsupported if the filter has no values; the filter is then
// unchanged.
func (f *Filter) AddValue(h filter.Hash, value uint64) error {
	return f.growing(func() error { return f.addValue(h, value, &f.tally) })
}

// addValue is AddValue, except that it returns errGrow if the filter must double.
func (f *arrays) addValue(h filter.Hash, value uint64, n *tally) error {
	if err := f.checkValue(value); err != nil {
		return err
	}
	b, chain, remainder := f.walk.Locate(h.Hi, h.Lo)
	u := f.bucket(b)
	return f.insert(&u, chain, remainder<<f.payload|value, n)
}

// Put sets the value of the key with hash h. Keys with the same fingerprint have one cell each but cannot be
// distinguished: Put changes, and Get reads, the cell of the key that was added last. The error wraps
// filter.ErrNotFound if the key is absent, filter.ErrConfig or filter.ErrUnsupported as for AddValue; the filter is
// then unchanged.
func (f *arrays) Put(h filter.Hash, value uint64) error {
	if err := f.checkValue(value); err != nil {
		return err
	}
	b, chain, remainder := f.walk.Locate(h.Hi, h.Lo)
	u := f.bucket(b)
	c, ok := u.findCell(chain, remainder)
	if !ok {
		return filter.ErrNotFound
	}
	u.setCell(c, remainder<<f.payload|value)
	return nil
}

// Upsert sets the value of the key with hash h if Has(h) is true, and else adds the key and the value. It returns the
// errors of AddValue.
func (f *Filter) Upsert(h filter.Hash, value uint64) error {
	return f.growing(func() error { return f.upsert(h, value, &f.tally) })
}

// upsert is Upsert, except that it returns errGrow if the filter must double.
func (f *arrays) upsert(h filter.Hash, value uint64, n *tally) error {
	if err := f.Put(h, value); err != filter.ErrNotFound {
		return err
	}
	return f.addValue(h, value, n)
}

// checkValue returns an error if the value has too many bits for a cell.
func (f *arrays) checkValue(value uint64) error {
	if f.g.ValueBits == 0 {
		return fmt.Errorf("this filter has no values, make one with value_bits: %w", filter.ErrUnsupported)
	}
	if value>>f.payload != 0 {
		return family.Invalid("value", value,
			"want at most %d, the largest value of %d bits", uint64(1)<<f.payload-1, f.payload)
	}
	return nil
}

// insert adds a cell to a chain, before the cells with the same remainder, or returns errGrow.
func (f *arrays) insert(u *bucket, chain, cell uint64, n *tally) error {
	if f.mustGrow(n) { // first: makeRoom would take an extension in vain
		return errGrow
	}
	if err := u.makeRoom(); err != nil {
		return f.describeFull(err)
	}
	f.insertAt(u, chain, cell)
	n.keys++
	n.used++
	return nil
}

// makeRoom extends the bucket if all of its cells are in use. It returns the errors of pool.takeRecord.
func (u *bucket) makeRoom() error {
	if u.usedCells() < u.allCells() {
		return nil
	}
	return u.lengthen(false)
}

// insertAt is insert for a bucket with room. It starts at bit at of the index: the bit of the chain, or a later bit of
// the chain after cells with smaller remainders.
func (f *arrays) insertAt(u *bucket, at, cell uint64) {
	used := u.usedCells()
	c := u.rankOf(at)
	for remainder, placed := cell>>f.payload, false; u.indexBit(at); c = u.rankOf(at) {
		old := u.cellValue(c)
		if placed = placed || remainder <= old>>f.payload; placed {
			u.setCell(c, cell) // the new cell replaces this one, which replaces the next
			cell = old
		}
		at = f.chains + c
	}

	u.flipBit(at)
	u.insert(c, cell, used+1)
}

// Remove undoes one Add of the key with hash h. It returns an error wrapping filter.ErrNotFound and changes nothing if
// no cell holds the key's remainder. Removing a key that was never added but has the fingerprint of another key
// succeeds and makes that other key absent: remove only what was added. Remove does not allocate.
func (f *Filter) Remove(h filter.Hash) error { return f.removeHash(h, &f.tally) }

// removeHash is Remove.
func (f *arrays) removeHash(h filter.Hash, n *tally) error {
	if near, err := f.removeNear(h, n); near {
		return err
	}

	b, chain, remainder := f.walk.Locate(h.Hi, h.Lo)
	u := f.bucket(b)
	c, ok := u.findCell(chain, remainder)
	if !ok {
		return filter.ErrNotFound
	}

	n.keys--
	if f.g.Counting {
		if cell := u.cellValue(c); cell&(1<<counterBits-1) > 0 {
			u.setCell(c, cell-1)
			return nil
		}
	}

	n.used-- // the cell stands for this one addition only
	f.takeOut(&u, chain, c)
	return nil
}

// findCell returns the first cell with this remainder of a chain. It starts at bit at of the index: the bit of the
// chain, or a later bit of the chain.
func (u *bucket) findCell(at, remainder uint64) (c uint64, ok bool) {
	for ; u.indexBit(at); at = u.f.chains + c {
		c = u.rankOf(at)
		if r := u.cellValue(c) >> u.f.payload; r >= remainder {
			return c, r == remainder
		}
	}
	return 0, false
}

// takeOut takes cell c out of its chain: the later cells of the chain move up, and the last cell of the chain is
// removed.
func (f *arrays) takeOut(u *bucket, chain, c uint64) {
	used := u.usedCells()
	at := chain // the bit that stands for c
	for u.rankOf(at) != c {
		at = f.chains + u.rankOf(at)
	}

	for next := f.chains + c; u.indexBit(next); next = f.chains + c {
		behind := u.rankOf(next)
		u.setCell(c, u.cellValue(behind))
		at, c = next, behind
	}

	u.flipBit(at) // the bit that stood for the last cell; its own bit of the higher index is 0
	u.remove(c, used)
	if u.n > 1 && u.parts[u.n-1].ones == 0 && used-1 <= u.allCells()-u.parts[u.n-1].room {
		u.shorten()
	}
}

// The operations below are fast versions for buckets without extensions, which most buckets are. base is the first word
// of the bucket.

// hasNoExtension reports whether a bucket has no extension.
func (f *arrays) hasNoExtension(base uint64) bool {
	return f.table[base+f.span/64]&f.low|f.table[base+f.last]&f.high == 0
}

// setCell overwrites cell c.
func (f *arrays) setCell(base, c, v uint64) {
	bitvec.SetField(f.table, 64*base+f.cells+c*uint64(f.width), f.width, v)
}

// addNear is addHash for a bucket without extensions. It returns false and changes nothing if the bucket has or needs
// an extension, or the filter must grow.
func (f *arrays) addNear(h filter.Hash, n *tally) bool {
	base, remainder, at, c, old, end := f.walk.Follow(h.Hi, h.Lo)
	if !f.hasNoExtension(base) {
		return false
	}

	const top = 1<<counterBits - 1
	if f.g.Counting && end == kernel.ChainCell && old>>f.payload == remainder && old&top < top {
		f.setCell(base, c, old+1)
		n.keys++
		return true
	}

	if f.walk.Used(base) == f.own || f.mustGrow(n) {
		return false
	}

	f.openNear(base, at, c, remainder<<f.payload, old, end == kernel.ChainCell)
	n.keys++
	n.used++
	return true
}

// openNear inserts a cell where a walk ended, at bit at of the index. If more is true, the walk ended at cell c of the
// chain, whose content is old, and the new cell is inserted before cell c.
func (f *arrays) openNear(base, at, c, cell, old uint64, more bool) {
	for more { // the new cell replaces this one, which replaces the next
		f.setCell(base, c, cell)
		cell = old
		at = f.chains + c
		c = f.walk.Rank(base, at)
		if more = bitvec.Bit(f.table, 64*base+at)&1 != 0; more {
			old = f.walk.Cell(base, c)
		}
	}
	f.walk.Open(base, at, c, cell)
}

// removeNear is removeHash for a bucket without extensions. It returns false and changes nothing if the bucket has one.
func (f *arrays) removeNear(h filter.Hash, n *tally) (near bool, err error) {
	base, remainder, at, c, cell, end := f.walk.Follow(h.Hi, h.Lo)
	if !f.hasNoExtension(base) {
		return false, nil
	}

	if end != kernel.ChainCell || cell>>f.payload != remainder {
		return true, filter.ErrNotFound
	}

	if f.g.Counting && cell&(1<<counterBits-1) > 0 {
		f.setCell(base, c, cell-1)
		n.keys--
		return true, nil
	}

	for next := f.chains + c; bitvec.Bit(f.table, 64*base+next)&1 != 0; next = f.chains + c {
		behind := f.walk.Rank(base, next)
		f.setCell(base, c, f.walk.Cell(base, behind))
		at, c = next, behind
	}

	f.walk.Close(base, at, c)
	n.keys--
	n.used--
	return true, nil
}
