package counting

import (
	"fmt"
	"math/bits"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/probe"
)

func (f *Filter) spec() filter.Spec { return filter.NewSpec(Family, "m", f.m, "k", f.k) }

func wordsOf(m uint64) uint64 { return (m + inWord - 1) / inWord }

// Encode returns one section: the ⌈m/16⌉ words, counter i being the 4 bits from bit 4·(i mod 16) of word ⌊i/16⌋. Counters
// from m on are 0.
func (f *Filter) Encode() filter.Encoded {
	return filter.Encoded{Spec: f.spec(), Keys: f.keys, Sections: [][]uint64{f.words}}
}

// SectionWords returns the number of words of each section of a stored filter with this Spec, or an error wrapping
// filter.ErrConfig or filter.ErrTooLarge if the Spec does not fix a geometry.
func SectionWords(s filter.Spec) ([]uint64, error) {
	m, _, err := probe.Built(s, width)
	return []uint64{wordsOf(m)}, err
}

// Decode makes the filter from what Encode gave, whose sections have the sizes of SectionWords. It keeps the words. Where no
// counter is stuck their sum must be k times the number of keys; with stuck ones nothing can be said, as they do not follow
// removals.
func Decode(e filter.Encoded) (*Filter, error) {
	if err := e.CheckSections(SectionWords(e.Spec)); err != nil {
		return nil, err
	}
	m, k, err := probe.Built(e.Spec, width)
	if err != nil {
		return nil, err
	}
	f := &Filter{words: e.Sections[0], m: m, k: k, keys: e.Keys}
	if used := m % inWord; used != 0 && f.words[m/inWord]>>(used*width) != 0 {
		return nil, fmt.Errorf("counters from m=%d on are not 0", m)
	}
	over, want := bits.Mul64(e.Keys, uint64(k))
	if sum := f.sum(); (over != 0 || sum != want) && f.Stuck() == 0 {
		return nil, fmt.Errorf("the counters sum up to %d, %d keys to %d each", sum, e.Keys, k)
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
