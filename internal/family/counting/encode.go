package counting

import (
	"fmt"
	"math/bits"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/probe"
)

func (f *Filter) spec() filter.Spec { return family.NewSpec(Family, "m", f.m, "k", f.k) }

func wordsOf(m uint64) uint64 { return (m + inWord - 1) / inWord }

// Encode returns one section of ⌈m/16⌉ words. Counter i is the 4 bits from bit 4·(i mod 16) of word ⌊i/16⌋ on. Counters
// from m on are 0.
func (f *Filter) Encode() family.Encoded {
	return family.Encoded{Spec: f.spec(), Keys: f.keys, Sections: [][]uint64{f.words}}
}

// SectionWords returns the number of words of each section of a stored filter with this Spec. The error wraps
// filter.ErrConfig or filter.ErrTooLarge if the Spec does not fix a geometry.
func SectionWords(s filter.Spec) ([]uint64, error) {
	m, _, err := probe.Built(s, width)
	return []uint64{wordsOf(m)}, err
}

// Decode makes a filter from its stored form, as Encode returns it. The filter shares the words. Decode returns an
// error if the sections do not have the sizes of SectionWords, if counters from m on are not 0, or if no counter is
// stuck and their sum is not k times the number of keys. With stuck counters, which do not follow removals, the sum
// is undefined.
func Decode(e family.Encoded) (*Filter, error) {
	m, k, err := probe.Built(e.Spec, width)
	if err := e.CheckSections([]uint64{wordsOf(m)}, err); err != nil {
		return nil, err
	}

	f := &Filter{words: e.Sections[0], m: m, k: k, keys: e.Keys}
	if !bitvec.ZeroFrom(f.words, m*width) {
		return nil, fmt.Errorf("counters from m=%d on are not 0", m)
	}

	over, want := bits.Mul64(e.Keys, uint64(k))
	if sum := f.sum(); (over != 0 || sum != want) && f.Stuck() == 0 {
		return nil, fmt.Errorf("the sum of the counters is %d, want %d keys times k=%d", sum, e.Keys, k)
	}
	return f, nil
}

// sum returns the sum of all counters.
func (f *Filter) sum() uint64 {
	var n uint64
	for _, w := range f.words {
		pairs := w&evenOne + w>>width&evenOne // eight sums, 30 at most
		n += pairs * (evenOne & lowest) >> 56 // their sum, 240 at most, in the highest byte
	}
	return n
}
