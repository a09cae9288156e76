package ribbon

import (
	"math/bits"

	"github.com/bloomery/bloomery/filter"
)

// row is an equation of a segment: the XOR of slots, beginning at the one whose row it is, is result. An empty row has
// no coefficients. c has its lowest bit set in a row that is not empty.
type row struct {
	c, d   uint64
	result uint64
}

// solver solves the segments of layers, one after the other.
type solver struct {
	rows   []row
	pivots []uint32 // of the keys of a bucket, in the order of insertion: their rows
	bumped []filter.Hash
}

// none is the pivot of a key whose equation follows from others.
const none = 1<<32 - 1

// job is a segment of a layer and its keys.
type job struct {
	*layer
	segment   uint64
	keys      []filter.Hash // with Hi times the factor of the layer, in order
	valueBits uint
	back      uint64 // the inverse of the factor
	classes   []uint8
	words     []uint64 // of all layers
}

// solve writes the classes and the words of a segment, and returns the keys that it has bumped, with their own Hi.
// The result is valid until the next call.
func (s *solver) solve(j *job) []filter.Hash {
	first := j.segment << segmentBits
	starts := min(j.starts-first, segmentStart)
	slots := int(starts + j.width)
	if cap(s.rows) < slots {
		s.rows = make([]row, segmentStart+128)
	}
	s.rows = s.rows[:slots]
	clear(s.rows)
	s.bumped = s.bumped[:0]
	for lo := 0; lo < len(j.keys); {
		bucket := startOf(j, lo) >> j.shift
		hi := lo + 1
		for hi < len(j.keys) && startOf(j, hi)>>j.shift == bucket {
			hi++
		}
		s.bucket(j, bucket, lo, hi)
		lo = hi
	}
	s.substitute(j)
	return s.bumped
}

// startOf returns the start of a key of a job.
func startOf(j *job, i int) uint64 {
	hi, _ := bits.Mul64(j.keys[i].Hi, j.starts)
	return hi
}

// bucket inserts the equations of keys [lo, hi), those of a bucket, from the last start to the first one. If one of
// them contradicts the others, it and those that come after it are bumped, and those before it that have the same class.
func (s *solver) bucket(j *job, bucket uint64, lo, hi int) {
	base := j.segment << segmentBits
	within := uint64(1)<<j.shift - 1
	s.pivots = s.pivots[:0]
	for i := hi - 1; i >= lo; i-- {
		start := startOf(j, i)
		k := keyOf(filter.Hash{Hi: j.keys[i].Hi * j.back, Lo: j.keys[i].Lo}, j.valueBits)
		c, d := j.coefficients(k)
		result := k.print()<<j.valueBits | j.keys[i].Lo&(1<<j.valueBits-1)
		columns := j.columns
		if j.isWide(j.slot(start)) {
			columns++
		}
		pivot, ok := s.insert(start-base, c, d, result, 1<<columns-1)
		if ok {
			s.pivots = append(s.pivots, pivot)
			continue
		}
		class := 1
		for start&within >= j.limits[class] {
			class++
		}
		j.classes[bucket] = uint8(class)
		end := i + 1 // the keys up to end are bumped
		for end < hi && startOf(j, end)&within < j.limits[class] {
			if p := s.pivots[len(s.pivots)-1]; p != none {
				s.rows[p] = row{}
			}
			s.pivots = s.pivots[:len(s.pivots)-1]
			end++
		}
		for _, h := range j.keys[lo:end] {
			s.bumped = append(s.bumped, filter.Hash{Hi: h.Hi * j.back, Lo: h.Lo})
		}
		return
	}
}

// insert adds an equation, whose coefficients begin at slot at, and returns its row, or none if it follows from others.
// It returns false if it contradicts them in one of the bits of mask.
func (s *solver) insert(at, c, d, result, mask uint64) (pivot uint32, ok bool) {
	for {
		r := &s.rows[at]
		if r.c == 0 {
			*r = row{c, d, result}
			return uint32(at), true
		}
		c, d, result = c^r.c, d^r.d, result^r.result
		switch {
		case c != 0:
			n := bits.TrailingZeros64(c)
			c, d = c>>n|d<<(64-n), d>>n
			at += uint64(n)
		case d != 0:
			n := bits.TrailingZeros64(d)
			c, d = d>>n, 0
			at += 64 + uint64(n)
		default:
			return none, result&mask == 0
		}
	}
}

// substitute computes the slots from the rows, from the last one to the first, and writes those of each block. A slot
// without a row is 0.
func (s *solver) substitute(j *job) {
	base := j.slot(j.segment<<segmentBits) / 64
	columns := j.columns
	if j.wide > 0 {
		columns++
	}
	// Bit i of near is slot at+1+i of a column, where at is the slot to compute; far has those after near.
	var near, far [65]uint64
	for b := len(s.rows)/64 - 1; b >= 0; b-- {
		rows := s.rows[64*b : 64*b+64]
		for col := range columns {
			x, y := near[col], far[col]
			for i := 63; i >= 0; i-- {
				r := &rows[i]
				c, d := r.c>>1|r.d<<63, r.d>>1
				bit := uint64(bits.OnesCount64(c&x^d&y))&1 ^ r.result>>col&1
				x, y = x<<1|bit, y<<1|x>>63
			}
			near[col], far[col] = x, y
		}
		block := base + uint64(b)
		n := j.columns
		if block < j.wide {
			n++
		}
		copy(j.words[j.begin(block):], near[:n])
	}
}
