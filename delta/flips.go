package delta

import (
	"math/bits"
)

// scan calls give with the positions of the bits that differ, in ascending order, until it returns false.
func (p *pair) scan(give func(bit uint64) bool) {
	for at := 0; at < len(p.old); at += 8 {
		for w := p.differ(at); w != 0; w &= w - 1 {
			if !give(8*uint64(at) + uint64(bits.TrailingZeros64(w))) {
				return
			}
		}
	}
}

// each is scan, or reads the list if there is one.
func (p *pair) each(give func(bit uint64) bool) {
	if len(p.at) == 0 {
		p.scan(give)
		return
	}
	for _, bit := range p.at {
		if !give(bit) {
			return
		}
	}
}

// putGaps is the trial of mode gaps: the list of the bits that differ.
func (p *pair) putGaps(w *bitWriter, most uint64) bool {
	w.number(p.flips)
	l := newList(8*uint64(len(p.new)), p.flips)
	p.each(func(bit uint64) bool {
		l.put(w, bit)
		return w.bits() < most
	})
	return l.left == 0
}

// getGaps inverts the bits of a list.
func getGaps(r *bitReader, b []byte) {
	l := begin(r, 8*uint64(len(b)))
	for l.left > 0 && r.err == nil {
		invert(b, l.get(r))
	}
}

func invert(b []byte, bit uint64) { b[bit/8] ^= 1 << (bit % 8) }

// Blocks have 2^leastBlock to 2^mostBlock bits, in 4 bits.
const (
	leastBlock = 6
	mostBlock  = 12
)

// putBlocks returns the trial of mode blocks with blocks of 2^log bits: log - leastBlock in 4 bits, the center of the
// numbers of bits in 6 and their Rice parameter in 3, and the list of the blocks that differ. After each of them follow
// the number of its bits that differ, and the list of these.
func (p *pair) putBlocks(log uint) func(w *bitWriter, most uint64) bool {
	return func(w *bitWriter, most uint64) bool {
		c := p.counts(log)
		w.field(uint64(log-leastBlock), 4)
		w.field(c.center, 6)
		w.field(uint64(c.rice), 3)
		size := 8 * uint64(len(p.new))
		w.number(c.blocks)
		l := newList((size+1<<log-1)>>log, c.blocks)
		var in []uint64 // the bits of a block that differ
		put := func() {
			block := in[0] >> log
			l.put(w, block)
			n := uint64(len(in))
			rice(w, fold(n, c.center), c.rice)
			first := block << log
			inner := newList(min(1<<log, size-first), n)
			for _, bit := range in {
				inner.put(w, bit-first)
			}
			in = in[:0]
		}
		p.each(func(bit uint64) bool {
			if len(in) > 0 && in[0]>>log != bit>>log {
				put()
			}
			in = append(in, bit)
			return w.bits() < most
		})
		if w.bits() >= most {
			return false
		}
		put()
		return true
	}
}

// getBlocks inverts the bits of blocks.
func getBlocks(r *bitReader, b []byte) {
	log := leastBlock + uint(r.field(4))
	center, k := r.field(6), uint(r.field(3))
	size := 8 * uint64(len(b))
	l := begin(r, (size+1<<log-1)>>log)
	for l.left > 0 && r.err == nil {
		first := l.get(r) << log
		room := min(1<<log, size-first)
		n := unfold(unrice(r, k), center)
		if n > room || r.err != nil {
			r.fail(errNumber)
			return
		}
		for inner := newList(room, n); inner.left > 0 && r.err == nil; {
			invert(b, first+inner.get(r))
		}
	}
}

// fold maps a number from 1 on to one from 0 on, those next to the center first: center, center-1, center+1,
// center-2, ...; without those below 1.
func fold(n, center uint64) uint64 {
	switch {
	case n >= 2*center:
		return n - 1
	case n > center:
		return 2 * (n - center)
	}
	return 2*(center-n) - min(1, center-n)
}

// unfold is the inverse of fold.
func unfold(z, center uint64) uint64 {
	switch {
	case z >= 2*center-min(1, center):
		return z + 1
	case z%2 == 0:
		return center + z/2
	}
	return center - (z+1)/2
}

// numbers are the numbers of bits that differ in blocks.
type numbers struct {
	blocks uint64 // those with such a bit
	center uint64
	rice   uint
}

// counts returns the number of blocks that differ, and the best code of the numbers of bits.
func (p *pair) counts(log uint) (c numbers) {
	seen := make([]uint64, 1<<log+1)
	last, n := uint64(0), 0
	p.each(func(bit uint64) bool {
		if bit>>log != last && n > 0 {
			seen[n]++
			n = 0
		}
		last = bit >> log
		n++
		return true
	})
	seen[n]++
	for _, s := range seen {
		c.blocks += s
	}
	for len(seen) > 1 && seen[len(seen)-1] == 0 {
		seen = seen[:len(seen)-1]
	}
	least := ^uint64(0)
	for center := range uint64(1 << 6) {
		for k := range uint(1 << 3) {
			cost := uint64(0)
			for n, s := range seen[1:] {
				cost += s * (fold(uint64(n)+1, center)>>k + 1 + uint64(k))
			}
			if cost < least {
				least, c.center, c.rice = cost, center, k
			}
		}
	}
	return c
}
