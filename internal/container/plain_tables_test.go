package container

import (
	"math/bits"

	"github.com/bloomery/bloomery/filter"
)

// Families of fingerprints and remainders; see plain.

// fuseSlots returns three numbers of slots, then the fingerprint.
func fuseSlots(p *plain, _ []byte, h filter.Hash) []uint64 {
	segment := p.number("segment")
	x := h.Lo + p.number("seed")
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	x ^= x >> 33
	first := part(x, p.number("segments")*segment)
	return []uint64{
		first,
		(first + segment) ^ x>>18%segment,
		(first + 2*segment) ^ x%segment,
		(x ^ x>>32) % (1 << p.number("width")),
	}
}

func fuseAnswer(p *plain, at []uint64) answer {
	if p.number("segments") == 0 {
		return answer{}
	}
	width := p.number("width")
	slot := func(i int) uint64 { return p.field(0, at[i]*width, width) }
	return answer{has: slot(0)^slot(1)^slot(2) == at[3]}
}

// rankindexedPlace returns the number of the bucket, the number of the chain, and the remainder.
func rankindexedPlace(p *plain, _ []byte, h filter.Hash) []uint64 {
	growth, remainder := p.number("growth"), p.number("remainder")
	bucket, high := share(h.Hi, p.number("buckets"))
	chain, low := share(h.Lo, p.number("chains"))
	return []uint64{bucket, chain, high>>(64-growth)<<remainder | low>>(64-remainder)}
}

// rankindexedAnswer follows a chain until a cell has a larger remainder. The value is the value of the first cell with
// the remainder.
func rankindexedAnswer(p *plain, at []uint64) answer {
	b := rankindexedBucket(p, at[0])
	a := answer{counts: true, values: p.number("value_bits") > 0}
	payload := 2*p.number("counting") + p.number("value_bits")
	next := at[1]
	for next < uint64(len(b.index)) && b.index[next] == 1 {
		rank := uint64(0)
		for _, bit := range b.index[:next] {
			rank += bit
		}
		cell := b.cells[rank]
		if cell>>payload > at[2] {
			break
		}
		low := cell % (1 << payload)
		if cell>>payload == at[2] {
			if a.values && !a.has {
				a.hasValue, a.value = true, low
			}
			a.has = true
			a.count++
			if p.number("counting") == 1 {
				a.count += low
			}
		}
		next = p.number("chains") + rank
	}
	return a
}

// plainBucket is a bucket of rankindexed with its extensions. It contains all bits of its index, then its cells.
type plainBucket struct{ index, cells []uint64 }

// take appends n bits of a section from bit at on to the index, and returns the index of the bit after them.
func (b *plainBucket) take(p *plain, section int, at, n uint64) uint64 {
	for i := range n {
		b.index = append(b.index, p.bit(section, at+i))
	}
	return at + n
}

// takeCells is take for n cells of width bits.
func (b *plainBucket) takeCells(p *plain, section int, at, n, width uint64) uint64 {
	for i := range n {
		b.cells = append(b.cells, p.field(section, at+i*width, width))
	}
	return at + n*width
}

func rankindexedBucket(p *plain, number uint64) (b plainBucket) {
	chains := p.number("chains")
	width := p.number("growth") + p.number("remainder") + 2*p.number("counting") + p.number("value_bits")
	if p.text("trimmed") != "" { // read all buckets before this one
		for at := uint64(0); ; number-- {
			b = plainBucket{}
			at = b.take(p, 0, at, chains)
			for cell := 0; cell < sum(b.index); cell++ {
				at = b.take(p, 0, at, 1)
			}
			if at = b.takeCells(p, 0, at, uint64(sum(b.index)), width); number == 0 {
				return b
			}
		}
	}
	cells := [3]uint64{p.number("cells"), p.number("cells2"), p.number("cells3")}
	pointers := [3]uint64{} // bits of the pointer to the next level
	for level, pool := range [2]uint64{p.number("pool2"), p.number("pool3")} {
		if pool > 0 {
			pointers[level] = uint64(bits.Len64(pool)) + p.number("growth")
		}
	}
	for level, first := 0, chains; ; level, first = level+1, 0 {
		words := (first + pointers[level] + cells[level]*(1+width) + 63) / 64
		at := 64 * number * words
		var pointer uint64
		if level > 0 { // the pointer comes first
			pointer, at = p.field(level, at, pointers[level]), at+pointers[level]
		}
		at = b.take(p, level, at, first+cells[level])
		if level == 0 {
			pointer, at = p.field(level, at, pointers[level]), at+pointers[level]
		}
		b.takeCells(p, level, at, cells[level], width)
		if pointer == 0 {
			return b
		}
		number = pointer - 1
	}
}

func sum(bits []uint64) (n int) {
	for _, bit := range bits {
		n += int(bit)
	}
	return n
}
