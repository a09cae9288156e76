package hashes

import "slices"

// List is a list of values in blocks of a Pool. The zero List with a Pool is empty.
type List[T any] struct {
	Pool   *Pool[T]
	Blocks [][]T // all are full, except the last one
	n      uint64
}

// Len returns the number of values.
func (l *List[T]) Len() uint64 { return l.n }

// Next returns room for up to n values, at least one, to append to the list: fill it before the next call.
func (l *List[T]) Next(n int) []T {
	last := len(l.Blocks) - 1
	if last < 0 || len(l.Blocks[last]) == l.Pool.Len() {
		l.Blocks = append(l.Blocks, nil)
		last++
	}
	block := l.Blocks[last]
	n = min(n, l.Pool.Len()-len(block))
	block = slices.Grow(l.Pool.Grow(block, n, last == 0), n)
	room := block[len(block) : len(block)+n]
	l.Blocks[last] = block[:len(block)+n]
	l.n += uint64(n)
	return room
}

// Free empties the list.
func (l *List[T]) Free() {
	for _, b := range l.Blocks {
		l.Pool.Put(b)
	}
	l.Blocks, l.n = nil, 0
}
