package ribbon

import "math/bits"

// rows is the equations of a segment: the XOR of the slots of c, and of d after them, is result. The lowest bit of c[i]
// is that of slot i. It is set in every row that is not empty. d is for width 128.
type rows struct{ c, d, result []uint64 }

// insert adds an equation, whose coefficients begin at a slot, and returns its row and 0. If the coefficients follow
// from other equations, it returns none and the bits of the result that contradict these.
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
		c >>= n & 63
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

// substituteOne computes a column of 64 slots and returns them, from the slots x behind them.
func substituteOne(c, result *[64]uint64, x uint64, column int) uint64 {
	for i := 63; i >= 0; i-- {
		x = x<<1 | parity(c[i]>>1&x) ^ result[i]>>(column&63)&1
	}
	return x
}

// substituteFour computes four columns, the first of which is column.
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
