package patch

import "iter"

// list codes count numbers in ascending order, without repetition, each below a bound. Each number is coded as the gap
// to the previous one. The parameter of the Golomb code follows from the count and the range of the remaining numbers,
// so it is not stored. A number takes about 0.03 bits more than the optimum.
type list struct {
	next  uint64 // least value of the next number
	bound uint64 // all numbers are below it
	left  uint64 // how many numbers remain
}

// maxBound is the largest bound of a list: products with 9 are exact as float64.
const maxBound = 1 << 48

// newList returns a list of count numbers below bound; count is at most bound.
func newList(bound, count uint64) list { return list{bound: bound, left: count} }

// gapCode returns the number of values that the next gap can have, the parameter of its code, which is about ln 2 times
// the mean gap, and the largest quotient.
func (l *list) gapCode() (room, m, most uint64) {
	room = l.bound - l.next - l.left + 1
	m = room
	if l.left > 1 {
		// 9/13 approximates ln 2 in integers, since the writer and readers in other languages must compute the same m.
		m = max(1, 9*room/(13*l.left))
	}
	return room, m, (room - 1) / m
}

// putNumber appends the next number.
func (l *list) putNumber(w *bitWriter, v uint64) {
	room, m, most := l.gapCode()
	gap := v - l.next
	q := gap / m
	w.unary(q, most)
	w.below(gap-q*m, min(m, room-q*m))
	l.next, l.left = v+1, l.left-1
}

// getNumber reads the next number. The result is below the bound for any bits.
func (l *list) getNumber(r *bitReader) uint64 {
	room, m, most := l.gapCode()
	q := r.unary(most)
	v := l.next + q*m + r.below(min(m, room-q*m))
	l.next, l.left = v+1, l.left-1
	return v
}

// putList appends numbers in ascending order, each below bound, without their count.
func (w *bitWriter) putList(bound uint64, numbers []uint64) {
	l := newList(bound, uint64(len(numbers)))
	for _, v := range numbers {
		l.putNumber(w, v)
	}
}

// allNumbers reads all numbers, up to an error.
func (l list) allNumbers(r *bitReader) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for l.left > 0 && r.err == nil && yield(l.getNumber(r)) {
		}
	}
}

// readList reads the count of a list of numbers below bound. The numbers follow.
func readList(r *bitReader, bound uint64) list {
	if bound > maxBound {
		r.fail(errNumber)
	}
	return newList(bound, r.numberUpTo(bound))
}

// putRice appends v by a Rice code: ⌊v / 2^k⌋ as set bits and a clear one, then k bits.
func putRice(w *bitWriter, v uint64, k uint) {
	w.unary(v>>k, maxNumber)
	w.field(v, k)
}

// unrice reads the output of rice.
func unrice(r *bitReader, k uint) uint64 {
	q := r.unary(maxNumber)
	return q<<k | r.field(k)
}
