package hashes

import (
	"slices"
	"sync"
	"unsafe"
)

// BlockSize is the size of a block of a List in bytes.
const BlockSize = 1 << 20

// few is the smallest part of a whole block, 1/few, that a short block needs to be kept.
const few = 16

// List is a list of values in blocks of a Pool. The zero List with a Pool is empty.
type List[T any] struct {
	Pool   *Pool[T]
	Blocks [][]T  // all blocks are full, except the last one
	n      uint64 // number of values
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

// Pool keeps unused blocks for reuse until the garbage collector takes them, so that building many filters makes little
// garbage. The zero Pool is empty. It is safe for concurrent use.
type Pool[T any] struct{ blocks sync.Pool }

// Len returns the number of values that a block has room for.
func (*Pool[T]) Len() int { return BlockSize / int(unsafe.Sizeof(*new(T))) }

// Grow returns block, which may be nil, with room for n more values. The first block of a list grows by doubling, so
// that short lists take little memory; others have room for Len values. Grow relies on append for more than Len values.
func (p *Pool[T]) Grow(block []T, n int, first bool) []T {
	n += len(block)
	if n <= cap(block) || n > p.Len() {
		return block
	}

	room := p.Len()
	if first {
		room = min(room, max(n, 2*cap(block)))
	}

	used, _ := p.blocks.Get().(*[]T)
	if used == nil || cap(*used) < room {
		used = new(make([]T, 0, room))
	}
	return append(*used, block...)
}

// Put keeps an unused block, unless it is much shorter or longer than a whole block.
func (p *Pool[T]) Put(block []T) {
	if n := p.Len(); n/few <= cap(block) && cap(block) <= 2*n {
		block = block[:0]
		p.blocks.Put(&block)
	}
}
