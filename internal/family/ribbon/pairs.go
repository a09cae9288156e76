package ribbon

import "math/bits"

// insertAll adds equations, at least two, in any order, and reports whether they agree with those that are there: if
// the coefficients of one follow from others, its result must have their bits of mask. If not, it stops. It writes the
// rows of the equations to pivots, which must be as long as es, and returns the number of these.
//
// It takes steps of two equations in turn: neither waits for the rows that the other one reads.
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
