package probe

import (
	"fmt"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
)

// Bits is the content of a Bloom filter, with the methods that do not depend on the positions of a key's bits. A Filter
// of a family embeds it.
type Bits struct {
	Words []uint64 // bit i is bit i%64 of word i/64
	M     uint64   // bits that probes reach; later bits of Words are not read
	K     int      // probes per key
	Keys  uint64
	Spec  filter.Spec // of the built filter
}

// Empty returns empty bits of the same M, K and Spec, in an array of length bits. The error wraps filter.ErrTooLarge.
func (b Bits) Empty(length uint64) (empty Bits, err error) {
	b.Keys = 0
	b.Words, err = bitvec.Alloc((length + 63) / 64)
	return b, err
}

// Decode returns the stored bits of e, of the same M, K and Spec. It keeps the words and does not copy them. It returns
// err if that is not nil, and an error if the only section is not an array of length bits, or if a bit from length on
// is set.
func (b Bits) Decode(e family.Encoded, length uint64, err error) (Bits, error) {
	if err := e.CheckSections([]uint64{(length + 63) / 64}, err); err != nil {
		return b, err
	}
	if !bitvec.ZeroFrom(e.Sections[0], length) { // else Info would count bits that no query reads
		return b, fmt.Errorf("a bit at position %d or above is set; the bits end there", length)
	}
	b.Words, b.Keys = e.Sections[0], e.Keys
	return b, nil
}

// CopyShared returns a copy while other goroutines set bits; see bitvec.CopyShared. keys is the number of keys before
// the call: a key is counted after its bits are set, so that no counted key is missing.
func (b Bits) CopyShared(keys uint64) (shared Bits, err error) {
	b.Keys = keys
	b.Words, err = bitvec.CopyShared(b.Words)
	return b, err
}

// Encode returns one section: all words.
func (b *Bits) Encode() family.Encoded {
	return family.Encoded{Spec: b.Spec, Keys: b.Keys, Sections: [][]uint64{b.Words}}
}

// Merge adds the keys of other; see bitvec.Merge. The filters must have the same Spec.
func (b *Bits) Merge(other family.Filter, passed func([]uint64)) error {
	return bitvec.Merge(b, &b.Keys, other, passed)
}

// Intersect reduces b to the keys that are in both filters and some false positives; see bitvec.Intersect.
func (b *Bits) Intersect(other family.Filter, passed func([]uint64)) error {
	return bitvec.Intersect(b, &b.Keys, other, passed)
}

// Ones returns the number of set bits below M. It reads the whole filter.
func (b *Bits) Ones() uint64 { return bitvec.OnesBelow(b.Words, b.M) }

// Cells describes the bits below M, as if the probes of a key were independent.
func (b *Bits) Cells() family.Cells { return Cells(b.M, b.K) }

// Free returns the number of bits below M that are 0 in both filters. It returns the errors of Merge.
func (b *Bits) Free(other family.Filter) (uint64, error) { return bitvec.Free(b, other, b.M) }
