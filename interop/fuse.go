package interop

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
)

// fuseFiles are the binary fuse filters of FastFilter: 3 slots per key, at the same positions as in family fuse. All
// numbers are little endian.
//
//	bytes   xorfilter, Go: Save of BinaryFuse8, BinaryFuse[T]
//	    8   seed
//	    4   slots of a segment, a power of two up to 2^18
//	    4   the same minus 1
//	    4   segments of first slots
//	    4   segments times slots of a segment
//	    4   number of slots: two segments more
//	  1, 2 or 4 for each slot
//
// The C library (xor_singleheader, binary_fuse8_serialize) has the number of keys, 4 bytes, after the seed, no mask.
// The Rust crate xorf in bincode with integers of fixed size has no number of segments, and 8 bytes for the number of
// slots. C writes the byte order of its machine; files of big-endian machines are not read.
//
// A file does not contain the width of its slots, so each width is its own format. Keys are numbers, Keyed[uint64].
var fuseFiles = []codec{
	fuseFile(XorFilter8, 8, goHead), fuseFile(XorFilter16, 16, goHead), fuseFile(XorFilter32, 32, goHead),
	fuseFile(FastFilter8, 8, cHead), fuseFile(FastFilter16, 16, cHead),
	fuseFile(Xorf8, 8, rustHead), fuseFile(Xorf16, 16, rustHead), fuseFile(Xorf32, 32, rustHead),
}

// slots are the geometry of a filter. All numbers are below 2^33.
type slots struct {
	seed, segment, segments, width uint64
	keys                           uint64 // number of keys, or 0 if the file does not contain it
}

// number returns the number of slots.
func (s *slots) number() uint64 { return (s.segments + 2) * s.segment }

// slotBytes returns the number of bytes of all slots.
func (s *slots) slotBytes() uint64 { return s.number() * s.width / 8 }

// isValid reports whether a filter may have these numbers.
func (s *slots) isValid() bool {
	return s.segment > 0 && s.segment <= 1<<18 && s.segment&(s.segment-1) == 0 && s.segments > 0
}

// slotsOf returns the geometry of a filter of family fuse.
func slotsOf(e family.Encoded) *slots {
	r := family.Reader(e.Spec)
	s := &slots{seed: r.Uint("seed"), segment: r.Uint("segment"), segments: r.Uint("segments"), width: r.Uint("width")}
	s.keys = e.Keys
	if s.segments == 0 { // no keys: the libraries write 12 slots of zeros, which match a few absent keys
		s.segment, s.segments = 4, 1
	}
	return s
}

// layout is the layout of a header: it converts the five 4-byte numbers after the seed to slots and back.
type layout struct {
	read  func(v [5]uint64) slots
	write func(*slots) [5]uint64
	// other returns the form of a header whose numbers contradict each other, or nil.
	other func(r *reader, b []byte, s *slots) *form
}

// headSize is the number of bytes of a header in each layout.
const headSize = 8 + 5*4

var goHead = layout{
	read: func(v [5]uint64) slots { return slots{segment: v[0], segments: v[2]} },
	write: func(s *slots) [5]uint64 {
		return [5]uint64{s.segment, s.segment - 1, s.segments, s.segments * s.segment, s.number()}
	},
}

var cHead = layout{
	read: func(v [5]uint64) slots { return slots{keys: v[0], segment: v[1], segments: v[2]} },
	write: func(s *slots) [5]uint64 {
		return [5]uint64{s.keys, s.segment, s.segments, s.segments * s.segment, s.number()}
	},
}

// rustHead is the layout in which the last two numbers give the number of slots.
var rustHead = layout{
	read: func(v [5]uint64) slots { return slots{segment: v[0], segments: v[2] / max(v[0], 1)} },
	write: func(s *slots) [5]uint64 {
		return [5]uint64{s.segment, s.segment - 1, s.segments * s.segment, s.number() & math.MaxUint32, s.number() >> 32}
	},
	other: func(r *reader, b []byte, s *slots) *form {
		const fixed = "write it with bincode, with integers of fixed size"
		if string(b[:8]) == jsonHead {
			r.fail(ErrForm, "a filter of xorf in JSON: "+fixed)
			return nil
		}
		if s.isValid() && littleUint32(b[12:]) == s.segment-1 && littleUint32(b[16:]) == s.segments*s.segment {
			what := "no number of slots, as in a filter of xorf by DmaSerializable: " + fixed
			return &form{what: what, least: 20 + s.slotBytes(), most: 20 + s.slotBytes()}
		}
		if b[0] == 253 && b[9] == 252 { // a header of 29 bytes with varints
			b = append(b, r.readBytes(2)...)
		}
		return varints(b, s.width)
	},
}

// jsonHead is the beginning of a filter of xorf in JSON.
const jsonHead = `{"seed":`

// varints returns the form of a filter of xorf in bincode with integers of variable size, if its header is in b, else
// nil. A number up to 250 has one byte; 251, 252 and 253 are followed by one of 2, 4 and 8 bytes.
func varints(b []byte, width uint64) *form {
	var v [5]uint64 // seed, slots of a segment, the same minus 1, segments times slots of a segment, number of slots
	rest := b
	for i := range v {
		first, n := rest[0], 0
		if first > 250 {
			n = 1 << (first - 250)
		}
		// At least one byte of each later number must remain, because rest[0] is read next.
		if n > 8 || len(rest) < n+2 {
			return nil
		}
		v[i] = uint64(first)
		if n > 0 {
			var number [8]byte
			copy(number[:n], rest[1:])
			v[i] = littleUint64(number[:])
		}
		rest = rest[1+n:]
	}

	s := slots{segment: v[1]}
	if s.segment > 0 {
		s.segments = v[3] / s.segment
	}
	if !s.isValid() || v[2] != s.segment-1 || v[3] != s.segments*s.segment || v[4] != s.number() {
		return nil
	}

	const what = "a filter of xorf in bincode with integers of variable size: write it with integers of fixed size"
	head, longest := uint64(len(b)-len(rest)), width/8
	if longest > 1 {
		longest++ // a slot may need the byte before it
	}
	return &form{what: what, least: head + s.number(), most: head + longest*s.number()}
}

func littleUint32(b []byte) uint64 { return uint64(binary.LittleEndian.Uint32(b)) }
func littleUint64(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// fuseFile returns the codec of a format.
func fuseFile(f Format, width uint64, l layout) codec {
	return codec{
		format: f, hash: filter.Uint64, width: width,
		head: func(r *reader) header {
			b := r.readBytes(headSize)
			var v [5]uint64
			for i := range v {
				v[i] = littleUint32(b[8+4*i:])
			}
			s := l.read(v)
			s.seed, s.width = littleUint64(b), width
			if l.write(&s) != v || s.keys > s.number() {
				if l.other != nil && r.err == nil {
					if f := l.other(r, b, &s); f != nil && r.err == nil {
						return header{form: f}
					}
				}
				r.fail(ErrFormat, "numbers of slots that contradict each other")
			}
			if !s.isValid() {
				r.fail(ErrFormat, "%d segments of %d slots", s.segments, s.segment)
			}
			spec := families.UserOf(filter.Uint64).With("seed", s.seed).With("segment", s.segment).
				With("segments", s.segments).With("width", s.width)
			return header{spec: spec, words: s.slotBytes() / 8, slots: &s, keys: s.estimate}
		},
		marshal: func(e *container.File) ([]byte, error) {
			s := slotsOf(e.Encoded)
			if s.number() > math.MaxUint32 {
				return nil, fmt.Errorf("%d slots, the limit of the header is %d", s.number(), uint32(math.MaxUint32))
			}
			b := binary.LittleEndian.AppendUint64(nil, s.seed)
			for _, v := range l.write(s) {
				b = binary.LittleEndian.AppendUint32(b, uint32(v))
			}
			return b, nil
		},
	}
}

// estimate returns the number of keys in the file, or an estimate. Each key sets its own slot, to 0 with probability
// 1/2^width. Other slots are 0, except that xorf fills them at random: then the estimate is the number of keys for
// which the libraries use this number of slots, which is up to 20% too high for 100 keys and 1% for a million.
func (s *slots) estimate(words []uint64) uint64 {
	if s.keys != 0 || len(words) == 0 {
		return s.keys
	}

	set, low := 0, uint64(1)<<s.width-1
	for i := range s.number() {
		if words[i*s.width/64]>>(i*s.width%64)&low != 0 {
			set++
		}
	}

	all := float64(s.number())
	n := float64(set) / (1 - math.Ldexp(1, -int(s.width)))
	// The libraries use at least 1.125 slots per key, so more set slots mean random filling: solve their formula for
	// the number of slots instead (Graf and Lemire, section 4). Twenty steps of the fixed point are more than enough.
	if n > 0.92*all {
		n = all
		for range 20 {
			n = all / max(1.125, 0.875+0.25*math.Log(1e6)/math.Log(max(n, 2)))
		}
	}
	return uint64(math.Round(n))
}

// appendTail reads the last bytes after the words, fewer than 8, and appends them and a word of zeros to a copy of the
// words.
func (r *reader) appendTail(words []uint64, bytes uint64) []uint64 {
	tail := make([]byte, 8)
	r.fill(tail[:bytes])
	if r.err != nil {
		return nil
	}

	// Two words more: the tail, and a word of zeros for reads that cross the last slot.
	all, err := bitvec.Alloc(uint64(len(words)) + 2)
	if err != nil {
		r.fail(err, "%d words", len(words))
		return nil
	}
	all[copy(all, words)] = littleUint64(tail)
	return all
}
