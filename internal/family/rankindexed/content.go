package rankindexed

import (
	"fmt"
	"slices"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
)

var _ family.ChainTable = (*Filter)(nil)

// ChainShape returns the sizes of the filter.
func (f *Filter) ChainShape() family.ChainShape {
	s := family.ChainShape{Buckets: f.buckets, Chains: f.chains, Width: f.width, Payload: f.payload}
	for level := range levels {
		s.Room[level], s.Records[level] = uint64(f.g.Cells[level]), f.g.Pools[level]
	}
	s.Records[0] = f.buckets
	return s
}

// CellsOf returns the number of cells in use of bucket b.
func (f *Filter) CellsOf(b uint64) uint64 {
	u := f.bucket(b)
	return u.used()
}

// Extension returns the number of the extension of bucket b of level 1 or 2, the second or third level of the format.
func (f *Filter) Extension(b uint64, level int) (number uint64, ok bool) {
	u := f.bucket(b)
	return u.parts[level].record, level < u.n
}

// BucketReader returns a function that reads the cells of a bucket in the order of their chains.
func (f *Filter) BucketReader() func(b uint64, to *family.ChainBucket) {
	var l lister
	ends := make([]uint16, f.chains)
	return func(b uint64, to *family.ChainBucket) {
		u := f.bucket(b)
		l.read(&u)
		used := len(l.cells)
		to.Lengths = slices.Grow(to.Lengths[:0], int(f.chains))[:f.chains]
		clear(to.Lengths)
		for _, chain := range l.chains[:used] {
			to.Lengths[chain]++
		}
		at := uint16(0)
		for chain, n := range to.Lengths {
			ends[chain] = at
			at += n
		}
		to.Cells = slices.Grow(to.Cells[:0], used)[:used]
		to.Numbers = slices.Grow(to.Numbers[:0], used)[:used]
		for c, chain := range l.chains[:used] {
			to.Cells[ends[chain]], to.Numbers[ends[chain]] = l.cells[c], uint16(c)
			ends[chain]++
		}
	}
}

// SameShape returns an empty filter of the same geometry.
func (f *Filter) SameShape() (family.ChainTable, error) {
	n, err := newFilter(f.g)
	if err != nil {
		return nil, err
	}
	return n, nil
}

// BucketWriter returns a function that fills an empty bucket.
func (f *Filter) BucketWriter() func(b uint64, from *family.ChainBucket, extensions [levels]uint64) error {
	var open []run
	return func(b uint64, from *family.ChainBucket, extensions [levels]uint64) error {
		u := f.bucket(b)
		used := uint64(len(from.Cells))
		for u.room() < used {
			if u.n == levels || f.g.Pools[u.n] == 0 || !f.pools[u.n].claim(extensions[u.n]) {
				return fmt.Errorf("bucket %d: %w", b, filter.ErrFull)
			}
			words, at := u.pointerAt(u.n)
			bitvec.SetField(words, at, uint(f.g.pointer(u.n)), extensions[u.n]+1)
			u.extend(extensions[u.n])
			u.n++
		}
		open = u.writeChains(from, open[:0])
		f.used += used
		f.keys += u.keys()
		return nil
	}
}

// run is cells [at, end) of a list: the cells of a chain that are still to be written.
type run struct{ at, end uint64 }

// writeChains writes the cells of an empty bucket with room for them. It returns the memory of open, for reuse.
func (u *bucket) writeChains(from *family.ChainBucket, open []run) []run {
	at := uint64(0)
	for chain, n := range from.Lengths {
		if n > 0 {
			u.flip(uint64(chain))
			open = append(open, run{at, at + uint64(n)})
		}
		at += uint64(n)
	}

	left := open
	for c := uint64(0); len(left) > 0; {
		more := left[:0]
		for _, r := range left {
			u.setCell(c, from.Cells[r.at])
			if r.at++; r.at < r.end {
				u.flip(u.f.chains + c)
				more = append(more, r)
			}
			c++
		}
		left = more
	}
	return open
}

// Stored returns the result of Encode of the filter or of its trimmed form.
func (f *Filter) Stored(trimmed bool) family.Encoded {
	if trimmed {
		return Trimmed{f}.Encode()
	}
	return f.Encode()
}
