package rankindexed

import (
	"fmt"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
)

// Trimmed is a filter in the form for transfer (Table V of the paper): without free cells and without pointers, 1/λ + r
// + 1 bits a key. In memory it is the Filter; only its Encode is smaller. Decode returns a Filter.
type Trimmed struct{ *Filter }

// Trimmed returns the filter's trimmed form, which shares its content.
func (f *Filter) Trimmed() family.Filter { return Trimmed{f} }

// Trimmable returns an error wrapping filter.ErrTooLarge if the filter has more than 64 times the size of its trimmed
// form and 1 MiB.
func (f *Filter) Trimmable() error { return f.g.inflates(f.g.trimmedWords(f.used)) }

// inflates returns the error of Trimmable for a trimmed form of that many words.
func (g Geometry) inflates(words uint64) error {
	if g.Bits()/64 <= inflation*words+1<<17 {
		return nil
	}
	return fmt.Errorf("a trimmed form of %d bits for a filter of %d bits: %w", 64*words, g.Bits(), filter.ErrTooLarge)
}

// Trimmed returns t.
func (t Trimmed) Trimmed() family.Filter { return t }

// Inflated returns how many bytes Decode allocates besides the sections: the size of the whole filter if a
// trimmed filter has the Spec, else 0. Errors are the errors of SectionWords.
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

// Encode returns one section: a stream of bits, beginning at the lowest bit of the first word. For each bucket it has
// the base index, one bit of higher index for each cell in use, and these cells. A bucket has as many cells as there
// are set bits in its two indexes. The Spec has the number of all cells as trimmed=.
func (t Trimmed) Encode() family.Encoded {
	f := t.Filter
	w := writer{words: make([]uint64, f.g.trimmedWords(f.used))}
	for b := range f.buckets {
		u := f.bucket(b)
		used := u.used()
		for at := range f.chains + used {
			bit := uint64(0)
			if u.bit(at) {
				bit = 1
			}
			w.put(bit, 1)
		}
		for c := range used {
			w.put(u.cell(c), f.width)
		}
	}
	return family.Encoded{Spec: f.g.Spec().With("trimmed", f.used), Keys: f.keys, Sections: [][]uint64{w.words}}
}

// writer appends fields to words, which must be 0.
type writer struct {
	words []uint64
	at    uint64
}

func (w *writer) put(v uint64, width uint) {
	bitvec.SetField(w.words, w.at, width, v)
	w.at += uint64(width)
}

// trimmedWords returns the number of words of the trimmed form with that many cells in use.
func (g Geometry) trimmedWords(cells uint64) uint64 {
	return (g.Buckets*uint64(g.Chains) + cells*uint64(1+g.width()) + 63) / 64
}

// most returns the number of cells, the cells of all extensions included.
func (g Geometry) most() uint64 {
	return g.Buckets*uint64(g.Cells[0]) + g.Pools[1]*uint64(g.Cells[1]) + g.Pools[2]*uint64(g.Cells[2])
}

// inflation bounds the memory that a trimmed file can claim: a filter has at most inflation times the size of its
// trimmed form, and a mebibyte. The trimmed form has a bit for each chain, so that the ratio is bounded; an almost
// empty filter with values of 32 bits has 60.
const inflation = 64

// untrim returns the filter of a trimmed form with that many cells.
func (g Geometry) untrim(e family.Encoded, cells uint64) (*Filter, error) {
	stream := e.Sections[0]
	if err := g.inflates(uint64(len(stream))); err != nil {
		return nil, err
	}

	f, err := newFilter(g)
	if err != nil {
		return nil, err
	}

	at, end := uint64(0), g.Buckets*uint64(g.Chains)+cells*uint64(1+g.width())
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

	index, higher := at, at+f.chains
	first := bitvec.Ones(stream, index, f.chains)
	used := first
	for at = higher; at < higher+used; at++ {
		if at == end {
			return 0, errIndex
		}
		used += bitvec.Bit(stream, at) & 1
	}

	if (end-at)/uint64(f.width) < used {
		return 0, errIndex
	}

	if err := f.checkRow(stream, higher, at, first, used); err != nil {
		return 0, err
	}

	u := f.bucket(b)
	for u.room() < used {
		if u.lengthen(false) != nil {
			return 0, errPointer
		}
	}

	left, bits := used, f.chains+used
	for i := range u.n {
		p := &u.parts[i]
		in, cells := min(bits, p.bits), min(left, p.room)
		bitvec.Copy(p.words, p.index, stream, index, in)
		bitvec.Copy(p.words, p.cells, stream, at, cells*uint64(f.width))
		index, bits = index+in, bits-in
		at, left = at+cells*uint64(f.width), left-cells
	}

	f.used += used
	return at, nil
}
