package ribbon

import "math/bits"

// row is an equation of a segment of width 64: the XOR of the slots of c is result. The lowest bit of c is that of the
// slot whose row it is. It is set in every row that is not empty.
type row struct{ c, result uint64 }

// broad is a row of a segment of width 128. d has the coefficients after those of c.
type broad struct{ c, d, result uint64 }

// insert adds an equation, whose coefficients begin at a slot, and returns its row and 0. If the coefficients follow
// from other equations, it returns none and the bits of the result that contradict these.
func insert(rows []row, at, c, result uint64) (pivot uint32, rest uint64) {
	for {
		r := &rows[at]
		if r.c == 0 {
			*r = row{c, result}
			return uint32(at), 0
		}
		result ^= r.result
		if c ^= r.c; c == 0 {
			return none, result
		}
		n := bits.TrailingZeros64(c)
		c >>= n & 63
		at += uint64(n)
	}
}

// insertBroad is insert for width 128.
func insertBroad(rows []broad, at, c, d, result uint64) (pivot uint32, rest uint64) {
	for {
		r := &rows[at]
		if r.c == 0 {
			*r = broad{c, d, result}
			return uint32(at), 0
		}
		c, d, result = c^r.c, d^r.d, result^r.result
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

// substituteOne computes a column of 64 slots and returns them, from the slots x behind them.
func substituteOne(rows *[64]row, x uint64, column int) uint64 {
	for i := 63; i >= 0; i-- {
		r := &rows[i]
		x = x<<1 | parity(r.c>>1&x) ^ r.result>>(column&63)&1
	}
	return x
}

// substituteFour computes four columns, the first of which is column.
func substituteFour(rows *[64]row, x *[4]uint64, column int) {
	x0, x1, x2, x3 := x[0], x[1], x[2], x[3]
	for i := 63; i >= 0; i-- {
		c, v := rows[i].c>>1, rows[i].result>>(column&63)
		x0 = x0<<1 | (uint64(bits.OnesCount64(c&x0))^v)&1
		x1 = x1<<1 | (uint64(bits.OnesCount64(c&x1))^v>>1)&1
		x2 = x2<<1 | (uint64(bits.OnesCount64(c&x2))^v>>2)&1
		x3 = x3<<1 | (uint64(bits.OnesCount64(c&x3))^v>>3)&1
	}
	x[0], x[1], x[2], x[3] = x0, x1, x2, x3
}

// substituteBroad computes n columns of a segment of width 128, from the slots x behind them and the slots y behind x.
func substituteBroad(rows *[64]broad, x, y *[4]uint64, column, n int) {
	for k := range n {
		x0, y0 := x[k], y[k]
		for i := 63; i >= 0; i-- {
			r := &rows[i]
			c, d := r.c>>1|r.d<<63, r.d>>1
			bit := parity(c&x0^d&y0) ^ r.result>>((column+k)&63)&1
			x0, y0 = x0<<1|bit, y0<<1|x0>>63
		}
		x[k], y[k] = x0, y0
	}
}
