package twochoice

import (
	"fmt"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
)

// Limits of a Spec.
const (
	maxChoices = 16
	MaxK       = 64
	maxShard   = 1 << 28 // bits of a shard, which a search counts in bytes
	maxShards  = 1 << 32
	minShard   = 1 << 12 // bits of a shard if the filter has several, so that a small file cannot have many shards
)

// Encode returns two sections that share the memory of the filter:
//
//  1. the bits of all shards one after the other, bit i at bit i%64 of word i/64, then zeros to the end of the word,
//     and a word that is 0;
//  2. two words that no query needs: the number of keys added after the search, and of bits set at its end.
func (f *Filter) Encode() family.Encoded {
	return family.Encoded{Spec: f.builtSpec(), Keys: f.keys, Sections: [][]uint64{f.words, {f.late, f.searched}}}
}

// SectionWords returns the number of words of each section of a stored filter with this Spec. The error wraps
// filter.ErrConfig if no built filter has this Spec.
func SectionWords(s filter.Spec) ([]uint64, error) {
	g, err := geometryFromSpec(s)
	return g.sections(), err
}

// sections returns the number of words of each section.
func (g geometry) sections() []uint64 { return []uint64{g.wordCount(), 2} }

// Decode makes a filter from the result of Encode and keeps its words. It returns an error if the sections do not have
// the sizes of SectionWords, bits behind the last one are set, or the counts contradict each other.
func Decode(e family.Encoded) (*Filter, error) {
	g, err := geometryFromSpec(e.Spec)
	if err := e.CheckSections(g.sections(), err); err != nil {
		return nil, err
	}

	total := g.shards * g.bits
	f := &Filter{geometry: g, words: e.Sections[0], keys: e.Keys, late: e.Sections[1][0], searched: e.Sections[1][1]}
	if !bitvec.ZeroFrom(f.words, total) {
		return nil, fmt.Errorf("bits behind the last one, %d, are set", total)
	}

	if f.late > f.keys || f.searched > total {
		return nil, fmt.Errorf("%d keys of %d added late, %d bits of %d set by the search", f.late, f.keys, f.searched, total)
	}
	return f, nil
}

// geometryFromSpec reads the Spec of a built filter, twochoice(bits=,choices=,k=,shards=), and no other.
func geometryFromSpec(s filter.Spec) (geometry, error) {
	r := family.Reader(s)
	bits, choices, k, shards := r.Uint("bits"), r.Uint("choices"), r.Uint("k"), r.Uint("shards")
	g := geometry{shards: shards, bits: bits, choices: int(min(choices, maxChoices+1)), k: int(min(k, MaxK+1))}
	if err := r.Err(); err != nil {
		return geometry{}, err
	}

	if !g.isValid() {
		return geometry{}, family.Invalid("spec", s,
			"want twochoice(bits=,choices=,k=,shards=)")
	}
	return g, nil
}

// isValid reports whether a filter may have these sizes.
func (g geometry) isValid() bool {
	return g.choices >= 2 && g.choices <= maxChoices && g.k >= 1 && g.k <= MaxK &&
		g.bits >= uint64(g.choices) && g.bits <= maxShard &&
		g.shards >= 1 && g.shards <= maxShards && (g.shards == 1 || g.bits >= minShard)
}
