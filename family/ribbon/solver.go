package ribbon

import (
	"math/bits"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/probe"
)

// solver solves the segments of layers, one after the other. It keeps its memory for the next one.
type solver struct {
	rows   []row    // of a layer of width 64
	broad  []broad  // of a layer of width 128
	starts []uint32 // of the keys of a bucket, from the first start of the segment on
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

// empty returns n empty rows, in the memory of rows if it has room for them.
func empty[R row | broad](rows []R, n uint64) []R {
	if n > uint64(cap(rows)) {
		return make([]R, n)
	}
	rows = rows[:n]
	clear(rows)
	return rows
}

// solve writes the classes and the words of a segment, and returns the keys that it has bumped, with their own Hi.
// The result is valid until the next call.
func (s *solver) solve(j *job) []filter.Hash {
	base := j.segment << segmentBits
	slots := min(j.layer.starts-base, segmentStart) + j.width
	if j.width == 64 {
		s.rows = empty(s.rows, slots)
	} else {
		s.broad = empty(s.broad, slots)
	}
	s.bumped, s.starts = s.bumped[:0], s.starts[:0]
	lo, bucket := 0, base>>j.shift
	for i, h := range j.keys {
		start := probe.Position(h.Hi, j.layer.starts)
		if of := start >> j.shift; of != bucket {
			s.bucket(j, bucket, j.keys[lo:i])
			lo, bucket, s.starts = i, of, s.starts[:0]
		}
		s.starts = append(s.starts, uint32(start-base))
	}
	s.bucket(j, bucket, j.keys[lo:])
	s.substitute(j, slots/64)
	return s.bumped
}

// bucket inserts the equations of the keys of a bucket, from the last start to the first one. If one of them
// contradicts the others, it and those that come after it are bumped, and those before it that have the same class.
func (s *solver) bucket(j *job, bucket uint64, keys []filter.Hash) {
	within := uint32(1)<<j.shift - 1
	s.pivots = s.pivots[:0]
	for i := len(keys) - 1; i >= 0; i-- {
		start := uint64(s.starts[i])
		k := keyOf(filter.Hash{Hi: keys[i].Hi * j.back, Lo: keys[i].Lo}, j.valueBits)
		c, d := j.coefficients(k)
		result := k.print()<<j.valueBits | keys[i].Lo&(1<<j.valueBits-1)
		var pivot uint32
		var rest uint64 // what contradicts the other equations
		if j.width == 64 {
			pivot, rest = insert(s.rows, start, c, result)
		} else {
			pivot, rest = insertBroad(s.broad, start, c, d, result)
		}
		if rest == 0 || pivot == none && rest&j.mask(start) == 0 {
			s.pivots = append(s.pivots, pivot)
			continue
		}
		class := 1
		for uint64(s.starts[i]&within) >= j.limits[class] {
			class++
		}
		j.classes[bucket] = uint8(class)
		end := i + 1 // the keys up to end are bumped
		for end < len(keys) && uint64(s.starts[end]&within) < j.limits[class] {
			s.remove(j, s.pivots[len(keys)-1-end])
			end++
		}
		for _, h := range keys[:end] {
			s.bumped = append(s.bumped, filter.Hash{Hi: h.Hi * j.back, Lo: h.Lo})
		}
		return
	}
}

// mask returns the columns of a key with that start in the segment.
func (j *job) mask(start uint64) uint64 {
	columns := j.columns
	if j.isWide(j.slot(j.segment<<segmentBits + start)) {
		columns++
	}
	return 1<<columns - 1
}

// remove makes a row empty.
func (s *solver) remove(j *job, pivot uint32) {
	switch {
	case pivot == none:
	case j.width == 64:
		s.rows[pivot] = row{}
	default:
		s.broad[pivot] = broad{}
	}
}

// substitute computes the slots from the rows, from the last one to the first, and writes those of each block. A slot
// without a row is 0.
func (s *solver) substitute(j *job, blocks uint64) {
	base := j.slot(j.segment<<segmentBits) / 64
	columns := int(j.columns)
	if j.wide > 0 {
		columns++
	}
	// Bit i of near is slot at+1+i of a column, where at is the slot to compute; far has those after near. Columns are
	// computed by four: the last ones of them may not exist.
	var near, far [2*MaxBits + 4]uint64
	for b := blocks; b > 0; {
		b--
		for col := 0; col < columns; col += 4 {
			x, y := (*[4]uint64)(near[col:]), (*[4]uint64)(far[col:])
			switch {
			case j.width == 128:
				substituteBroad((*[64]broad)(s.broad[64*b:]), x, y, col, min(columns-col, 4))
			case columns-col == 1:
				x[0] = substituteOne((*[64]row)(s.rows[64*b:]), x[0], col)
			default:
				substituteFour((*[64]row)(s.rows[64*b:]), x, col)
			}
		}
		block := base + b
		n := j.columns
		if block < j.wide {
			n++
		}
		copy(j.words[j.begin(block):], near[:n])
	}
}

// parity returns 1 if an odd number of bits of v is set, else 0.
func parity(v uint64) uint64 { return uint64(bits.OnesCount64(v)) & 1 }
