package rankindexed

import (
	"fmt"

	"github.com/bloomery/bloomery/filter"
)

// Add puts a key into the set. In the counting form it counts once more; in the others each Add of a key takes a cell and
// wants its own Remove. Past the capacity it goes on, at a rate that rises, until a bucket is full and its pool empty:
// then the error wraps filter.ErrFull and the filter is as it was. A filter with Growth doubles when it has as many cells in
// use as its capacity.
func (f *Filter) Add(h filter.Hash) error {
	return f.growing(func() error { return f.add(h) })
}

// growing does what may take a cell, and has the filter grow before, if its capacity is reached. A bucket that is full before
// that has one key again and again, which doubling would not help.
func (f *Filter) growing(do func() error) error {
	if f.g.Growth > 0 && f.used >= f.g.Capacity {
		if err := f.Grow(); err != nil {
			return err
		}
	}
	return do()
}

// add is Add in a filter that does not grow.
func (f *Filter) add(h filter.Hash) error {
	if done := f.addNear(h); done {
		return nil
	}
	b, chain, remainder := f.walk.Locate(h.Hi, h.Lo)
	u := f.bucket(b)
	if f.g.Counting {
		if c, ok := u.find(chain, remainder); ok {
			if cell := u.cell(c); cell&(1<<counterBits-1) < 1<<counterBits-1 {
				u.setCell(c, cell+1)
				f.keys++
				return nil
			}
		}
	}
	return f.insert(&u, chain, remainder<<f.payload)
}

// Put sets the value of the key, which it adds if no key with its chain and remainder is there. Two keys that look alike
// share a cell if both came by Put, and Remove of one makes both absent: where that must not be, use Add, which always takes
// a cell, and Put only what was added. Put changes, and Get reads, the first of such cells. The error wraps filter.ErrConfig for a value of more than ValueBits,
// filter.ErrFull as that of Add does, and errors.ErrUnsupported in a filter without values.
func (f *Filter) Put(h filter.Hash, value uint64) error {
	return f.growing(func() error { return f.put(h, value) })
}

// put is Put in a filter that does not grow.
func (f *Filter) put(h filter.Hash, value uint64) error {
	if f.g.ValueBits == 0 {
		return fmt.Errorf("this filter has no values, make one with value_bits: %w", filter.ErrUnsupported)
	}
	if value>>f.payload != 0 {
		return &filter.ConfigError{Field: "value", Value: value, Reason: fmt.Sprintf("want at most %d, which %d bits hold", uint64(1)<<f.payload-1, f.payload)}
	}
	b, chain, remainder := f.walk.Locate(h.Hi, h.Lo)
	u := f.bucket(b)
	if c, ok := u.find(chain, remainder); ok {
		u.setCell(c, remainder<<f.payload|value)
		return nil
	}
	return f.insert(&u, chain, remainder<<f.payload|value)
}

// insert adds a cell to a chain, before those of its remainder.
func (f *Filter) insert(u *bucket, chain, cell uint64) error {
	used := u.used()
	if used == u.room() && !u.lengthen() {
		return fmt.Errorf("no room in the bucket of a key, in a filter for %d: %w", f.g.Capacity, filter.ErrFull)
	}
	at := chain
	c := u.rank(at)
	for remainder, placed := cell>>f.payload, false; u.bit(at); c = u.rank(at) {
		old := u.cell(c)
		if placed = placed || remainder <= old>>f.payload; placed {
			u.setCell(c, cell) // it takes the place of this one, which takes that of the next
			cell = old
		}
		at = f.chains + c
	}
	u.flip(at)
	u.insert(c, cell, used+1)
	f.keys++
	f.used++
	return nil
}

// Remove undoes one Add of the key. It returns an error wrapping filter.ErrNotFound and changes nothing if no cell holds the
// key's remainder. Removing a key that was never added but has the chain and remainder of one that was succeeds and makes
// that other key absent: remove only what was added.
func (f *Filter) Remove(h filter.Hash) error {
	if near, err := f.removeNear(h); near {
		return err
	}
	b, chain, remainder := f.walk.Locate(h.Hi, h.Lo)
	u := f.bucket(b)
	c, ok := u.find(chain, remainder)
	if !ok {
		return filter.ErrNotFound
	}
	if f.g.Counting {
		if cell := u.cell(c); cell&(1<<counterBits-1) > 0 {
			u.setCell(c, cell-1)
			f.keys--
			return nil
		}
	}
	f.remove(&u, chain, c)
	return nil
}

// find returns the first cell of a chain that has a remainder.
func (u *bucket) find(chain, remainder uint64) (c uint64, ok bool) {
	for at := chain; u.bit(at); at = u.f.chains + c {
		c = u.rank(at)
		if r := u.cell(c) >> u.f.payload; r >= remainder {
			return c, r == remainder
		}
	}
	return 0, false
}

// remove takes cell c out of its chain: the ones behind it move up, and the place of the last is closed.
func (f *Filter) remove(u *bucket, chain, c uint64) {
	used := u.used()
	at := chain // of the bit that stands for c
	for u.rank(at) != c {
		at = f.chains + u.rank(at)
	}
	for next := f.chains + c; u.bit(next); next = f.chains + c {
		behind := u.rank(next)
		u.setCell(c, u.cell(behind))
		at, c = next, behind
	}
	u.flip(at)
	u.remove(c, used)
	if u.n > 1 && u.parts[u.n-1].ones == 0 && used-1 <= u.room()-u.parts[u.n-1].room {
		u.shorten()
	}
	f.keys--
	f.used--
}
