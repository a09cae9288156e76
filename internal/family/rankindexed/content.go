package rankindexed

import (
	"fmt"
	"slices"

	"github.com/bloomery/bloomery/filter"
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
	return u.usedCells()
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
		l.listCells(&u)
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
	return family.As[family.ChainTable](newFilter(f.g))
}

// BucketWriter returns a function that fills an empty bucket.
func (f *Filter) BucketWriter() func(b uint64, from *family.ChainBucket, extensions [levels]uint64) error {
	var s splitter
	return func(b uint64, from *family.ChainBucket, extensions [levels]uint64) error {
		u := f.bucket(b)
		used := uint64(len(from.Cells))
		for u.allCells() < used {
			if u.n == levels || f.g.Pools[u.n] == 0 || !f.pools[u.n].claimRecord(extensions[u.n]) {
				return fmt.Errorf("bucket %d: %w", b, filter.ErrFull)
			}
			u.attach(extensions[u.n])
		}

		if err := s.writeBucket(&f.arrays, b, s.linkChains(from)); err != nil {
			return err
		}
		u = f.bucket(b)
		f.used += used
		f.keys += u.countKeys()
		return nil
	}
}

// linkChains links the cells of a bucket that all go to one bucket, and returns the first cell of each chain.
func (s *splitter) linkChains(from *family.ChainBucket) []int32 {
	s.cells = from.Cells
	s.next = slices.Grow(s.next[:0], len(s.cells))
	first := s.first[0][:0]
	for _, n := range from.Lengths {
		if n == 0 {
			first = append(first, none)
			continue
		}
		at := int32(len(s.next))
		first = append(first, at)
		for c := range int32(n - 1) {
			s.next = append(s.next, at+c+1)
		}
		s.next = append(s.next, none)
	}
	s.first[0] = first
	return first
}

// Stored encodes the filter or its trimmed form.
func (f *Filter) Stored(trimmed bool) family.Encoded {
	if trimmed {
		return Trimmed{f}.Encode()
	}
	return f.Encode()
}
