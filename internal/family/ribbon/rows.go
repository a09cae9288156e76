package ribbon

import (
	"math/bits"
)

// rows are the equations of a segment: the XOR of the slots whose bits are set in c, and in d after them, is result.
// The lowest bit of c[i] is the bit of slot i. This bit is set in every row that is not empty. d is for width 128.
type rows struct{ c, d, result []uint64 }

// insert adds an equation, whose coefficients begin at a slot, and returns its row and 0. If the coefficients are a
// combination of those in other rows, it returns none and the bits of the result that contradict these rows.
func (r *rows) insert(at, c, result uint64) (pivot uint32, rest uint64) {
	for {
		if r.c[at] == 0 {
			r.c[at], r.result[at] = c, result
			return uint32(at), 0
		}
		result ^= r.result[at]
		if c ^= r.c[at]; c == 0 {
			return none, result
		}
		n := bits.TrailingZeros64(c)
		c >>= n & 63 // the mask spares the compiler a comparison
		at += uint64(n)
	}
}

// insertBroad is insert for width 128.
func (r *rows) insertBroad(at, c, d, result uint64) (pivot uint32, rest uint64) {
	for {
		if r.c[at] == 0 {
			r.c[at], r.d[at], r.result[at] = c, d, result
			return uint32(at), 0
		}
		c, d, result = c^r.c[at], d^r.d[at], result^r.result[at]
		if c == 0 {
			if d == 0 {
				return none, result
			}
			c, d, at = d, 0, at+64
		}
		n := bits.TrailingZeros64(c)
		c, d = c>>(n&63)|d<<1<<(63-n&63), d>>(n&63)
		at += uint64(n)
	}
}

// remove makes a row empty.
func (r *rows) remove(at uint32) {
	r.c[at], r.result[at] = 0, 0
	if len(r.d) > 0 {
		r.d[at] = 0
	}
}

// substituteOne computes a column of 64 slots from the 64 slots x after them, and returns it.
func substituteOne(c, result *[64]uint64, x uint64, column int) uint64 {
	for i := 63; i >= 0; i-- {
		x = x<<1 | parity(c[i]>>1&x) ^ result[i]>>(column&63)&1
	}
	return x
}

// substituteFour computes four columns from column on.
func substituteFour(cs, result *[64]uint64, x *[4]uint64, column int) {
	x0, x1, x2, x3 := x[0], x[1], x[2], x[3]
	for i := 63; i >= 0; i-- {
		c, v := cs[i]>>1, result[i]>>(column&63)
		x0 = x0<<1 | (uint64(bits.OnesCount64(c&x0))^v)&1
		x1 = x1<<1 | (uint64(bits.OnesCount64(c&x1))^v>>1)&1
		x2 = x2<<1 | (uint64(bits.OnesCount64(c&x2))^v>>2)&1
		x3 = x3<<1 | (uint64(bits.OnesCount64(c&x3))^v>>3)&1
	}
	x[0], x[1], x[2], x[3] = x0, x1, x2, x3
}

// substituteBroad computes n columns of a segment of width 128, from the slots x behind them and the slots y behind x.
func substituteBroad(cs, ds, result *[64]uint64, x, y *[4]uint64, column, n int) {
	for k := range n {
		x0, y0 := x[k], y[k]
		for i := 63; i >= 0; i-- {
			c, d := cs[i]>>1|ds[i]<<63, ds[i]>>1
			bit := parity(c&x0^d&y0) ^ result[i]>>((column+k)&63)&1
			x0, y0 = x0<<1|bit, y0<<1|x0>>63
		}
		x[k], y[k] = x0, y0
	}
}

// insertAll adds at least two equations in any order and reports whether they agree with the rows: if the coefficients
// of an equation are a combination of rows, the bits of its result in mask must be the same combination. It stops at
// the first equation that does not agree. It writes the rows of the equations to pivots, which must be as long as es,
// and returns the number of these rows.
//
// It processes two equations in turn, so that neither waits for the rows that the other one reads.
func (r *rows) insertAll(es []equation, pivots []uint32, mask uint64) (n int, ok bool) {
	cs := r.c
	results := r.result[:len(cs)]
	at, c, result := es[0].start, es[0].c, es[0].result
	at1, c1, result1 := es[1].start, es[1].c, es[1].result
	es = es[2:]
	for {
		if x := cs[at]; x != 0 {
			result ^= results[at]
			if c ^= x; c != 0 {
				k := bits.TrailingZeros64(c)
				c >>= k & 63
				at += uint64(k)
				at, c, result, at1, c1, result1 = at1, c1, result1, at, c, result
				continue
			}
			if result&mask != 0 {
				return n, false
			}
		} else {
			cs[at], results[at] = c, result
			pivots[n] = uint32(at)
			n++
		}
		if len(es) == 0 {
			at, rest := r.insert(at1, c1, result1)
			if at != none {
				pivots[n] = at
				n++
			}
			return n, rest&mask == 0
		}
		at, c, result = es[0].start, es[0].c, es[0].result
		es = es[1:]
	}
}

// insertAllBroad is insertAll for width 128.
func (r *rows) insertAllBroad(es []equation, pivots []uint32, mask uint64) (n int, ok bool) {
	cs := r.c
	ds, results := r.d[:len(cs)], r.result[:len(cs)]
	at, c, d, result := es[0].start, es[0].c, es[0].d, es[0].result
	at1, c1, d1, result1 := es[1].start, es[1].c, es[1].d, es[1].result
	es = es[2:]
	for {
		if x := cs[at]; x != 0 {
			result ^= results[at]
			d ^= ds[at]
			c ^= x
			if c == 0 {
				c, d, at = d, 0, at+64
			}
			if c != 0 {
				k := bits.TrailingZeros64(c)
				c, d = c>>(k&63)|d<<1<<(63-k&63), d>>(k&63)
				at += uint64(k)
				at, c, d, result, at1, c1, d1, result1 = at1, c1, d1, result1, at, c, d, result
				continue
			}
			if result&mask != 0 {
				return n, false
			}
		} else {
			cs[at], ds[at], results[at] = c, d, result
			pivots[n] = uint32(at)
			n++
		}
		if len(es) == 0 {
			at, rest := r.insertBroad(at1, c1, d1, result1)
			if at != none {
				pivots[n] = at
				n++
			}
			return n, rest&mask == 0
		}
		at, c, d, result = es[0].start, es[0].c, es[0].d, es[0].result
		es = es[1:]
	}
}
