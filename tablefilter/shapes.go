package tablefilter

import "sync/atomic"

// table holds the shapes that queries have met: making one takes longer than a query and allocates. A store has few. It
// is a hash table of fixed size, so that blocks with made-up tails do not make it grow.
type table [tableSize]atomic.Pointer[shape]

const (
	tableSize = 256
	probes    = 8 // places where a shape may be
)

var shapes table

// get returns the shape of a tail, or nil if no filter has this tail.
func (t *table) get(tail uint64) *shape {
	first := tail * 0x9E3779B97F4A7C15 >> 56
	for i := range uint64(probes) {
		if s := t[(first+i)%tableSize].Load(); s == nil {
			break
		} else if s.tail == tail {
			return s
		}
	}
	return t.add(first, tail)
}

// add makes a shape and stores it in the first free place, or in place of another one.
func (t *table) add(first, tail uint64) *shape {
	s := newShape(tail)
	if s == nil {
		return nil
	}
	for i := range uint64(probes) {
		if t[(first+i)%tableSize].CompareAndSwap(nil, s) {
			return s
		}
	}
	t[first].Store(s)
	return s
}
