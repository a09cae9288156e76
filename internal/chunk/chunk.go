// Package chunk has the blocks of lists that are gathered in memory and dropped at the end of a build. Later builds use
// them again, so that building many filters leaves little to the garbage collector.
package chunk

import (
	"sync"
	"unsafe"
)

// Size is the size of a block in bytes.
const Size = 1 << 20

// few is the share of a block up to which the first one of a list grows from nothing, so that short lists take little
// memory.
const few = 16

// Pool keeps blocks that are not used any more, until the garbage collector takes them. The zero Pool is empty. It is
// safe for concurrent use.
type Pool[T any] struct{ blocks sync.Pool }

// Len returns the number of values that a block has room for.
func (*Pool[T]) Len() int { return Size / int(unsafe.Sizeof(*new(T))) }

// Grow returns block, which may be nil, with room for n more values. It leaves that to append for a few values in the
// first block of a list, and for more than Len values.
func (p *Pool[T]) Grow(block []T, n int, first bool) []T {
	n += len(block)
	if n <= cap(block) || n > p.Len() {
		return block
	}
	used, _ := p.blocks.Get().(*[]T)
	if used == nil {
		if first && n <= p.Len()/few {
			return block
		}
		used = new(make([]T, 0, p.Len()))
	}
	return append(*used, block...)
}

// Put keeps a block that nothing reads any more, unless it is shorter or much longer than a whole one.
func (p *Pool[T]) Put(block []T) {
	if n := p.Len(); n <= cap(block) && cap(block) <= 2*n {
		block = block[:0]
		p.blocks.Put(&block)
	}
}
