package rankindexed

import (
	"slices"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/probe"
)

// filler fills the empty buckets of a filter, each with all of its keys at once. An insertion moves half of a bucket on
// average; filling a bucket moves nothing, so its time per key does not depend on the size of the bucket.
type filler struct {
	f *Filter
	splitter
}

// fillBuckets adds keys, which must be in the order of their buckets, to buckets that are still empty. values are the
// values of the keys, or nil. The result is the same as after one Add or AddValue per key. The error wraps
// filter.ErrFull.
func (l *filler) fillBuckets(hs []filter.Hash, values []uint64) error {
	for len(hs) > 0 {
		b := probe.Position(hs[0].Hi, l.f.buckets)
		n := 1
		for n < len(hs) && probe.Position(hs[n].Hi, l.f.buckets) == b {
			n++
		}

		var bucketValues []uint64
		if values != nil {
			bucketValues, values = values[:n], values[n:]
		}
		if err := l.fillBucket(b, hs[:n], bucketValues); err != nil {
			return err
		}
		hs = hs[n:]
	}
	return nil
}

// fillBucket is fillBuckets for the keys of bucket b.
func (l *filler) fillBucket(b uint64, hs []filter.Hash, values []uint64) error {
	f := l.f
	if room := f.g.Cells[0] + f.g.Cells[1] + f.g.Cells[2]; len(hs) > room { // first: long chains take quadratic time
		return f.describeFull(filter.ErrFull)
	}

	l.cells, l.next = slices.Grow(l.cells[:0], len(hs)), slices.Grow(l.next[:0], len(hs))[:len(hs)]
	first := slices.Grow(l.first[0][:0], int(f.chains))[:f.chains]
	for chain := range first {
		first[chain] = none
	}

	for i, h := range hs {
		_, chain, remainder := f.walk.Locate(h.Hi, h.Lo)
		cell := remainder << f.payload
		if values != nil {
			cell |= values[i]
		}
		l.cells = append(l.cells, cell)

		at := &first[chain]
		for *at != none && l.cells[*at]>>f.payload < remainder { // before cells with the same remainder, as in insert
			at = &l.next[*at]
		}
		l.next[i], *at = *at, int32(i)
	}

	l.first[0] = first // for reuse
	f.keys += uint64(len(hs))
	f.used += uint64(len(hs))
	return l.writeBucket(&f.arrays, b, first)
}
