package rankindexed

import (
	"fmt"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
)

// Trimmed is a filter in the form for transfer (Table V of the paper), which omits free cells and pointers: 1/λ + r + 1
// bits per key. In memory it is the same Filter; only Encode differs. Decode returns a Filter.
type Trimmed struct{ *Filter }

// Trimmed returns the filter's trimmed form, which shares its content.
func (f *Filter) Trimmed() family.Filter { return Trimmed{f} }

// Trimmable returns an error wrapping filter.ErrTooLarge if the filter has more than 64 times the size of its trimmed
// form and 1 MiB.
func (f *Filter) Trimmable() error { return f.g.inflates(f.g.trimmedWords(f.used)) }

// inflates returns the error of Trimmable for a trimmed form of this number of words.
func (g Geometry) inflates(words uint64) error {
	if g.Bits()/64 <= inflation*words+1<<17 {
		return nil
	}
	return fmt.Errorf("a trimmed form of %d bits for a filter of %d bits: %w", 64*words, g.Bits(), filter.ErrTooLarge)
}

// Trimmed returns t.
func (t Trimmed) Trimmed() family.Filter { return t }

// Inflated returns the number of bytes that Decode allocates besides the sections: the size of the whole filter if a
// trimmed filter has the Spec, else 0. It returns the errors of SectionWords.
func Inflated(s filter.Spec) (bytes uint64, err error) {
	if !family.Given(s, "trimmed") {
		return 0, nil
	}

	words, err := SectionWords(family.Without(s, "trimmed"))
	if err != nil {
		return 0, err
	}

	for _, w := range words {
		if w > 1<<56 { // so that the sum of at most 8 sections stays below 2^63
			return 0, fmt.Errorf("%d words: %w", w, filter.ErrTooLarge)
		}
		bytes += 8 * w
	}
	return bytes, nil
}

// Encode returns one section: a stream of bits, beginning at the lowest bit of the first word. For each bucket the
// stream contains the base index, one bit of higher index for each cell in use, and these cells. A bucket has as many
// cells as its two indexes have set bits. The parameter trimmed= of the Spec is the number of all cells.
func (t Trimmed) Encode() family.Encoded {
	f := t.Filter
	stream, at := make([]uint64, f.g.trimmedWords(f.used)), uint64(0)
	for b := range f.buckets {
		u := f.bucket(b)
		at = u.eachRange(at, u.usedCells(), func(words []uint64, place, at, n uint64) {
			bitvec.Copy(stream, at, words, place, n)
		})
	}
	return family.Encoded{Spec: f.g.Spec().With("trimmed", f.used), Keys: f.keys, Sections: [][]uint64{stream}}
}

// eachRange calls copyRange for each range of a bucket with used cells in use: n bits from bit place of words on, which
// are stored from bit at on in a trimmed stream. It returns the first bit of the stream after the bucket.
func (u *bucket) eachRange(at, used uint64, copyRange func(words []uint64, place, at, n uint64)) (end uint64) {
	index, bits := at, u.f.chains+used
	end = at + bits
	for i := range u.n {
		p := &u.parts[i]
		in, cells := min(bits, p.bits), min(used, p.room)
		size := cells * uint64(u.f.width)
		copyRange(p.words, p.index, index, in)
		copyRange(p.words, p.cells, end, size)
		index, bits = index+in, bits-in
		end, used = end+size, used-cells
	}
	return end
}

// trimmedWords returns the number of words of the trimmed form while this number of cells is in use.
func (g Geometry) trimmedWords(cells uint64) uint64 {
	return (g.Buckets*uint64(g.Chains) + cells*uint64(1+g.cellBits()) + 63) / 64
}

// allCells returns the number of cells, the cells of all extensions included.
func (g Geometry) allCells() uint64 {
	return g.Buckets*uint64(g.Cells[0]) + g.Pools[1]*uint64(g.Cells[1]) + g.Pools[2]*uint64(g.Cells[2])
}

// inflation bounds the memory that a trimmed file can claim: a filter has at most inflation times the size of its
// trimmed form, and a mebibyte. The trimmed form has a bit for each chain, which bounds the ratio: an almost empty
// filter with values of 32 bits has a ratio of 60.
const inflation = 64

// untrim returns the filter of a trimmed form with cells cells in use.
func (g Geometry) untrim(e family.Encoded, cells uint64) (*Filter, error) {
	stream := e.Sections[0]
	if err := g.inflates(uint64(len(stream))); err != nil { // before newFilter allocates: the file may be hostile
		return nil, err
	}

	f, err := newFilter(g)
	if err != nil {
		return nil, err
	}

	at, end := uint64(0), g.Buckets*uint64(g.Chains)+cells*uint64(1+g.cellBits())
	for b := range f.buckets {
		if at, err = f.readTrimmed(b, stream, at, end); err != nil {
			return nil, fmt.Errorf("bucket %d: %w", b, err)
		}
	}

	if at != end || !bitvec.ZeroFrom(stream, end) {
		return nil, errIndex
	}

	f.keys = e.Keys
	return f, f.checkKeys()
}

// readTrimmed reads bucket b from bits [at, end) of a stream, and returns the first bit after it.
func (f *Filter) readTrimmed(b uint64, stream []uint64, at, end uint64) (uint64, error) {
	if end-at < f.chains {
		return 0, errIndex
	}

	higher := at + f.chains
	first := bitvec.OnesIn(stream, at, at+f.chains)
	// Each set bit of the higher index stands for one more cell, whose own bit of the index then follows.
	used, cells := first, higher
	for ; cells < higher+used; cells++ {
		if cells == end {
			return 0, errIndex
		}
		used += bitvec.Bit(stream, cells) & 1
	}

	if (end-cells)/uint64(f.width) < used { // a division, because the product could overflow
		return 0, errIndex
	}

	if err := f.checkRow(stream, higher, cells, first, used); err != nil {
		return 0, err
	}

	u := f.bucket(b)
	for u.allCells() < used {
		if u.lengthen(false) != nil {
			return 0, errPointer
		}
	}

	f.used += used
	return u.eachRange(at, used, func(words []uint64, place, at, n uint64) {
		bitvec.Copy(words, place, stream, at, n)
	}), nil
}
