package patch

import (
	"encoding/binary"
	"math/bits"
)

// bitWriter appends bits to bytes, beginning at the lowest bit of each byte.
type bitWriter struct {
	b   []byte
	acc uint64 // bits that are not in b yet
	n   uint   // their number, below 8
}

// field appends the lowest width bits of v, width at most 64.
func (w *bitWriter) field(v uint64, width uint) {
	if width > 32 {
		w.field(v&(1<<32-1), 32)
		v, width = v>>32, width-32
	}
	w.acc |= v & (1<<width - 1) << w.n
	for w.n += width; w.n >= 8; w.n -= 8 {
		w.b = append(w.b, byte(w.acc))
		w.acc >>= 8
	}
}

func (w *bitWriter) flag(set bool) {
	if set {
		w.field(1, 1)
	} else {
		w.field(0, 1)
	}
}

// bitLen returns the number of bits so far.
func (w *bitWriter) bitLen() uint64 { return 8*uint64(len(w.b)) + uint64(w.n) }

// appendBits appends all bits of another bitWriter.
func (w *bitWriter) appendBits(o *bitWriter) {
	for _, b := range o.b {
		w.field(uint64(b), 8)
	}
	w.field(o.acc, o.n)
}

// finish returns all bytes, the last one filled with zeros.
func (w *bitWriter) finish() []byte {
	w.field(0, -w.n&7)
	return w.b
}

// raw appends b from the next whole byte on.
func (w *bitWriter) raw(b []byte) { w.b = append(w.finish(), b...) }

// putPart appends the length of b and b.
func (w *bitWriter) putPart(b []byte) {
	w.number(uint64(len(b)))
	w.raw(b)
}

// text appends the length of s and s, not aligned.
func (w *bitWriter) text(s string) {
	w.number(uint64(len(s)))
	for _, c := range []byte(s) {
		w.field(uint64(c), 8)
	}
}

// number appends a number below maxNumber, in groups of seven bits, the lowest first, each followed by a bit that is
// set if another group follows.
func (w *bitWriter) number(v uint64) {
	for ; v >= 1<<7; v >>= 7 {
		w.field(v&(1<<7-1)|1<<7, 8)
	}
	w.field(v, 8)
}

// signed appends a number between -maxNumber/2 and maxNumber/2: 2v, or -2v-1 if it is negative.
func (w *bitWriter) signed(v int64) { w.number(uint64(v<<1 ^ v>>63)) }

// unary appends v set bits and, if v is less than most, a clear one.
func (w *bitWriter) unary(v, most uint64) {
	for ; v >= 32; v, most = v-32, most-32 {
		w.field(1<<32-1, 32)
	}
	w.field(1<<v-1, uint(v))
	if v < most {
		w.field(0, 1)
	}
}

// below appends v, which is less than n, in ⌊log2 n⌋ or one more bits: the lowest numbers have the shorter form.
func (w *bitWriter) below(v, n uint64) {
	width := uint(bits.Len64(n)) - 1
	if short := 2<<width - n; v < short {
		w.field(v, width)
	} else {
		w.field((v+short)>>1, width)
		w.field((v+short)&1, 1)
	}
}

// maxNumber bounds all numbers, so that they are also exact as float64.
const maxNumber = 1 << 53

// bitReader reads the output of a bitWriter. After an error it returns zeros; callers that loop must check err.
type bitReader struct {
	b   []byte
	at  uint64 // position of the next bit
	err error
}

// fail keeps the first error.
func (r *bitReader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *bitReader) remaining() uint64 { return 8*uint64(len(r.b)) - r.at }

// field reads width bits, at most 64.
func (r *bitReader) field(width uint) uint64 {
	if width > 32 {
		low := r.field(32)
		return low | r.field(width-32)<<32
	}
	if uint64(width) > r.remaining() || r.err != nil {
		r.fail(errShort)
		return 0
	}
	v := r.loadWord() >> (r.at % 8) & (1<<width - 1)
	r.at += uint64(width)
	return v
}

func (r *bitReader) flag() bool { return r.field(1) == 1 }

// loadWord returns 64 bits from the byte that contains the next bit, with zeros behind the end.
func (r *bitReader) loadWord() uint64 {
	at := r.at / 8
	if at+8 <= uint64(len(r.b)) {
		return binary.LittleEndian.Uint64(r.b[at:])
	}
	var last [8]byte
	copy(last[:], r.b[at:])
	return binary.LittleEndian.Uint64(last[:])
}

// number reads a number below maxNumber.
func (r *bitReader) number() (v uint64) {
	for shift := uint(0); ; shift += 7 {
		group := r.field(8)
		v |= group & (1<<7 - 1) << shift
		if v >= maxNumber || shift > 49 {
			r.fail(errNumber)
		}
		if r.err != nil {
			return 0
		}
		if group>>7 == 0 {
			return v
		}
	}
}

// numberUpTo reads a number of at most most.
func (r *bitReader) numberUpTo(most uint64) uint64 {
	v := r.number()
	if v > most {
		r.fail(errNumber)
		return 0
	}
	return v
}

func (r *bitReader) signed() int64 {
	v := r.number()
	return int64(v>>1) ^ -int64(v&1)
}

// unary reads a number of at most most.
func (r *bitReader) unary(most uint64) (v uint64) {
	for v < most && r.err == nil {
		// A load has at least 57 bits behind the position in its first byte, so 56 set bits are certain.
		ones := uint64(bits.TrailingZeros64(^(r.loadWord() >> (r.at % 8))))
		ones = min(ones, 56, most-v, r.remaining())
		r.at += ones
		if v += ones; v < most && ones < 56 {
			r.field(1) // the clear bit, or the end
			return v
		}
	}
	return v
}

// below reads a number less than n, which must not be 0.
func (r *bitReader) below(n uint64) uint64 {
	width := uint(bits.Len64(n)) - 1
	short := 2<<width - n
	v := r.field(width)
	if v >= short {
		v = v<<1 + r.field(1) - short
	}
	return v
}

// bytes returns the next n bytes, from the next whole byte on, which share the memory of the delta. The bits before
// them must be clear.
func (r *bitReader) bytes(n uint64) []byte {
	if r.field(uint(-r.at&7)) != 0 {
		r.fail(errNumber)
	}
	if n > r.remaining()/8 {
		r.fail(errShort)
	}
	if r.err != nil {
		return nil
	}

	b := r.b[r.at/8:][:n]
	r.at += 8 * n
	return b
}

// text reads a text of at most most bytes.
func (r *bitReader) text(most uint64) string {
	b := make([]byte, r.numberUpTo(most))
	for i := range b {
		b[i] = byte(r.field(8))
	}
	return string(b)
}

// checkEnd returns an error unless all bits were read. Only the padding of the last byte may remain, and it must be
// clear.
func (r *bitReader) checkEnd() error {
	if r.err == nil && (r.remaining() >= 8 || r.field(uint(r.remaining())) != 0) {
		r.fail(errBehind)
	}
	return r.err
}
