package ribbon

import (
	"context"
	"math/bits"
	"slices"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/hashes"
	"github.com/bloomery/bloomery/internal/parallel"
	"github.com/bloomery/bloomery/internal/probe"
)

// solver solves the segments of layers one after the other and reuses its memory.
type solver struct {
	rows      rows          // rows of the segment
	keys      []filter.Hash // keys of a bucket, with Hi times the factor of the layer, in order
	equations []equation    // equations of keys
	pivots    []uint32      // rows of the group that is inserted
	bumped    []filter.Hash
}

// equation is the equation of a key.
type equation struct {
	start        uint64 // start, counted from the first start of the segment
	c, d, result uint64 // the XOR of the slots of c and d is result
}

// none is the pivot of a key whose coefficients are a combination of those in rows, so that it needs no row.
const none = 1<<32 - 1

// job is a segment of a layer and its keys.
type job struct {
	*layer
	segment   uint64
	part      hashes.Part
	valueBits uint
	back      uint64 // the inverse of the factor
	classes   []uint8
	words     []uint64 // words of all layers
}

// emptied returns n empty rows, in the memory of rows if they fit.
func emptied(rows []uint64, n uint64) []uint64 {
	if n > uint64(cap(rows)) {
		return make([]uint64, n)
	}
	rows = rows[:n]
	clear(rows)
	return rows
}

// solveSegment writes the classes and the words of a segment, and returns the keys that it has bumped, with their own
// Hi. The result is valid until the next call.
func (s *solver) solveSegment(j *job) []filter.Hash {
	base := j.segment << segmentBits
	slots := min(j.layer.starts-base, segmentStart) + j.width
	s.rows.c, s.rows.result = emptied(s.rows.c, slots), emptied(s.rows.result, slots)
	if j.width == 128 {
		s.rows.d = emptied(s.rows.d, slots)
	} else {
		s.rows.d = s.rows.d[:0]
	}

	s.bumped = s.bumped[:0]
	bucket := base >> j.shift
	keys := s.keys[:0]
	for hs := range j.part.Pieces() {
		for _, h := range hs {
			if of := probe.Position(h.Hi, j.layer.starts) >> j.shift; of != bucket {
				s.insertBucket(j, bucket, keys)
				keys, bucket = keys[:0], of
			}
			keys = append(keys, h)
		}
	}

	s.insertBucket(j, bucket, keys)
	s.keys = keys
	s.substitute(j, slots/64)
	return s.bumped
}

// insertBucket inserts the equations of the keys of a bucket. The thresholds of the classes divide the keys into
// groups; the group with the highest offsets comes first. If the equations of a group contradict others, the keys of
// this group and of all lower groups are bumped.
func (s *solver) insertBucket(j *job, bucket uint64, keys []filter.Hash) {
	base := j.segment << segmentBits
	s.equations = s.equations[:0]
	for _, h := range keys {
		k := keyOf(filter.Hash{Hi: h.Hi * j.back, Lo: h.Lo}, j.valueBits)
		c, d := j.coefficients(k)
		s.equations = append(s.equations, equation{
			probe.Position(h.Hi, j.layer.starts) - base, c, d, k.fingerprint()<<j.valueBits | h.Lo&(1<<j.valueBits-1),
		})
	}

	within := uint64(1)<<j.shift - 1
	begin := len(keys)
	for class := 3; class > 0; class-- {
		end := begin
		for begin > 0 && s.equations[begin-1].start&within >= j.limits[class-1] {
			begin--
		}
		if s.insertGroup(j, bucket, s.equations[begin:end]) {
			continue
		}
		for _, pivot := range s.pivots { // the rows of other groups do not depend on these
			s.rows.remove(pivot)
		}
		j.classes[bucket] = uint8(class)
		for _, h := range keys[:end] {
			s.bumped = append(s.bumped, filter.Hash{Hi: h.Hi * j.back, Lo: h.Lo})
		}
		return
	}
}

// insertGroup inserts the equations of a group of a bucket and reports whether they agree with the others.
func (s *solver) insertGroup(j *job, bucket uint64, es []equation) bool {
	s.pivots = s.pivots[:0]
	if len(es) > 1 && j.anyOrder(bucket) {
		s.pivots = slices.Grow(s.pivots, len(es))[:len(es)]
		all := s.rows.insertAll
		if j.width == 128 {
			all = s.rows.insertAllBroad
		}
		n, ok := all(es, s.pivots, j.columnMask(es[0].start))
		s.pivots = s.pivots[:n]
		return ok
	}

	for i := len(es) - 1; i >= 0; i-- {
		e := &es[i]
		var pivot uint32
		var rest uint64
		if j.width == 64 {
			pivot, rest = s.rows.insert(e.start, e.c, e.result)
		} else {
			pivot, rest = s.rows.insertBroad(e.start, e.c, e.d, e.result)
		}
		if rest&j.columnMask(e.start) != 0 {
			return false
		}
		if pivot != none {
			s.pivots = append(s.pivots, pivot)
		}
	}
	return true
}

// anyOrder reports whether the filter does not depend on the order in which the equations of a group of the bucket are
// inserted. The rows depend on the order, but in columns that all keys of the segment have, the solution does not. In a
// column that only some keys have, the solution depends on the order of the other keys; groups with such keys are
// inserted from the last start to the first.
func (j *job) anyOrder(bucket uint64) bool {
	return j.isWide(j.slotOf((bucket+1)<<j.shift-1)) || j.slotOf(j.segment<<segmentBits)/64 >= j.layer.wide
}

// columnMask returns a mask of the columns of a key, whose start is relative to the segment.
func (j *job) columnMask(start uint64) uint64 {
	columns := j.columns
	if j.isWide(j.slotOf(j.segment<<segmentBits + start)) {
		columns++
	}
	return 1<<columns - 1
}

// substitute computes the slots from the rows, from the last one to the first, and writes the slots of each block. A
// slot without a row is 0.
func (s *solver) substitute(j *job, blocks uint64) {
	base := j.slotOf(j.segment<<segmentBits) / 64
	columns := int(j.columns)
	if j.wide > 0 {
		columns++
	}

	// Bit i of near is slot at+1+i of a column, where at is the slot to compute; far are the 64 slots after these.
	// Columns are computed in groups of four, so the arrays have room for up to three columns too many.
	var near, far [2*MaxBits + 4]uint64
	for b := blocks; b > 0; {
		b--
		c, result := (*[64]uint64)(s.rows.c[64*b:]), (*[64]uint64)(s.rows.result[64*b:])
		for col := 0; col < columns; col += 4 {
			x, y := (*[4]uint64)(near[col:]), (*[4]uint64)(far[col:])
			switch {
			case j.width == 128:
				substituteBroad(c, (*[64]uint64)(s.rows.d[64*b:]), result, x, y, col, min(columns-col, 4))
			case columns-col == 1:
				x[0] = substituteOne(c, result, x[0], col)
			default:
				substituteFour(c, result, x, col)
			}
		}
		block := base + b
		n := j.columns
		if block < j.wide {
			n++
		}
		copy(j.words[j.firstWord(block):], near[:n])
	}
}

// parity returns 1 if an odd number of bits of v is set, else 0.
func parity(v uint64) uint64 { return uint64(bits.OnesCount64(v)) & 1 }

// solveLayer solves the last layer of f for the keys, writes the classes of its buckets, and adds the keys that it
// bumps to next. Hi of keys is multiplied by the factor of the layer, Hi of keys in next by the factor of the layer
// after it.
func (b *Builder) solveLayer(
	ctx context.Context, f *Filter, solvers []solver, classes []uint8, keys, next *hashes.Sorted,
) error {
	l := &f.layers[len(f.layers)-1]
	work := job{
		layer: l, valueBits: f.valueBits, back: inverse(l.factor), classes: classes, words: f.words,
	}

	forth := layerFactor(uint64(len(f.layers)) + maxLayers*f.seed)
	part := func(h filter.Hash) uint64 { return probe.Position(h.Hi, l.starts) >> segmentBits }
	check := f.valueBits > 0 && len(f.layers) == 1 // the first layer sees all keys
	do := func(s *solver, j *job) error {
		if check {
			if err := checkValues(j.part.Pieces(), work.back); err != nil {
				return err
			}
		}
		bumped := s.solveSegment(j)
		for i := range bumped {
			bumped[i].Hi *= forth
		}
		return next.AddMany(bumped)
	}

	segments := (l.starts + segmentStart - 1) >> segmentBits
	each := func(send func(job) error) error {
		return keys.Parts(ctx, part, func(p hashes.Part) error {
			j := work
			j.segment, j.part = p.Number, p
			b.done.countKeys(p.Len())
			return send(j)
		})
	}

	if len(solvers) == 1 || segments == 1 {
		return each(func(j job) error { return do(&solvers[0], &j) })
	}

	worker := func(i int) func(job) error { return func(j job) error { return do(&solvers[i], &j) } }
	return parallel.Feed(len(solvers), 0, worker, each)
}

// progress counts and reports the keys of a build that have reached a segment.
type progress struct {
	give  func(filter.Progress) // or nil
	keys  uint64                // all keys
	came  uint64
	start time.Time
}

// countKeys counts keys, at least one, and reports them. A segment takes a few hundredths of a second.
func (p *progress) countKeys(keys int) {
	p.came += uint64(keys)
	if p.give == nil {
		return
	}
	// All layers take about a sixteenth more keys than the first one.
	done := min(float64(p.came)/float64(p.keys+p.keys/16+1), 1)
	p.give(filter.Progress{Done: done, Left: time.Duration(float64(time.Since(p.start)) * (1 - done) / done)})
}
