// Package except makes a filter exact for a list of keys: for each key of the list that is not a member, the answer is
// false although the filter's bits may say true. Members stay members.
//
// The keys of the list that the filter takes for members are its exceptions. They are stored in a cascade of Bloom
// filters, which is queried only for keys that the filter takes for members (Larisch et al., "CRLite", IEEE S&P 2017,
// section IV). Level 1 holds the exceptions, level 2 the members that pass level 1, level 3 the exceptions that pass
// level 2, and so on, until no key is left:
//
//	level 1   exceptions E             a key that is not in it is a member
//	level 2   members in level 1       a key that is not in it is an exception
//	level 3   E in level 2             a key that is not in it is a member
//	...
//
// A query walks the levels from the first one on. The first level i without the key decides: true if i is odd. A key
// that is in all L levels is treated as if level L+1 did not have it. The answer is correct for members and for keys of
// the list. Other false positives of the filter are rarely in level 1, so most of them stay false positives.
//
// # Section
//
// The section is 64-bit words:
//
//	word   0      number of levels L, 0 to 64
//	       1      number of keys in the list
//	       2      number of exceptions
//	       3 ..   for each level its length in words, 1 to 2^56-1, plus its number of probes, 1 to 64, times 2^56
//	       3+L .. the bits of all levels, one level after the other
//
// Words 1 and 2 are for information: no answer depends on them. Probe j, from 0 on, of a level whose length is in word
// w is bit ⌊x·m / 2^64⌋ of the level, where m is 64 times its length and
//
//	x = fold(fold(Lo xor (256·w + j), Hi xor 0x9E3779B185EBCA87), 0x9E3779B185EBCA87)
//
// fold(a, b) is the exclusive or of the halves of the 128-bit product a·b. So the levels are independent of each other
// and of the filter. The constant is a prime of XXH3, so that readers in a web page need no other constant. A key is in
// a level if all its probes are set.
package except

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/probe"
)

const (
	maxLevels  = 64
	maxProbes  = 64
	headWords  = 3  // words before the lengths of the levels
	probeShift = 56 // position of the number of probes in the word of a level
	maxLength  = 1<<probeShift - 1

	prime = 0x9E3779B185EBCA87
)

// Size is the size of a level.
type Size struct {
	Words  uint64 // number of words of 64 bits
	Probes uint64 // probes per key
}

// level is a level that can be queried.
type level struct {
	bits   []uint64
	probes uint64
	round  uint64 // 256 times the index of the word with the length of the level
}

// Cascade holds the exceptions of a filter. It is safe for concurrent use.
type Cascade struct {
	words  []uint64
	levels []level
}

// Decode returns the cascade of a section and keeps the words. It returns an error unless the section has the layout
// in the package comment.
func Decode(words []uint64) (*Cascade, error) {
	if len(words) < headWords || words[0] > maxLevels || uint64(len(words)) < headWords+words[0] {
		return nil, fmt.Errorf("exceptions in %d words", len(words))
	}

	c := &Cascade{words: words}
	rest := words[headWords+words[0]:]
	for i, w := range words[headWords:][:words[0]] {
		length, probes := w&maxLength, w>>probeShift
		if length == 0 || length > uint64(len(rest)) || probes == 0 || probes > maxProbes {
			return nil, fmt.Errorf("level %d of the exceptions has %d words and %d probes", i+1, length, probes)
		}
		c.levels = append(c.levels, level{rest[:length:length], probes, roundOf(i)})
		rest = rest[length:]
	}

	if len(rest) != 0 {
		return nil, fmt.Errorf("%d words behind the exceptions", len(rest))
	}
	return c, nil
}

// roundOf returns the round of level i, counted from 0 on.
func roundOf(i int) uint64 { return 256 * uint64(headWords+i) }

// Words returns the section. It is shared with the cascade.
func (c *Cascade) Words() []uint64 { return c.words }

// Allowed returns the number of keys in the list.
func (c *Cascade) Allowed() uint64 { return c.words[1] }

// Exceptions returns the number of keys of the list that the filter takes for members.
func (c *Cascade) Exceptions() uint64 { return c.words[2] }

// Bits returns the size of the section in bits.
func (c *Cascade) Bits() uint64 { return 64 * uint64(len(c.words)) }

// ReadCounts returns the number of keys in the list and of exceptions from the start of a section in a file.
func ReadCounts(section io.Reader) (allowed, exceptions uint64, err error) {
	var b [8 * headWords]byte
	if _, err := io.ReadFull(section, b[:]); err != nil {
		return 0, 0, fmt.Errorf("reading the numbers of exceptions: %w", err)
	}
	return binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:]), nil
}

// Sizes returns the sizes of the levels.
func (c *Cascade) Sizes() []Size {
	sizes := make([]Size, len(c.levels))
	for i, l := range c.levels {
		sizes[i] = Size{uint64(len(l.bits)), l.probes}
	}
	return sizes
}

// Clone returns a copy that shares nothing with c.
func (c *Cascade) Clone() (*Cascade, error) {
	words, err := bitvec.Alloc(uint64(len(c.words)))
	if err != nil {
		return nil, err
	}
	copy(words, c.words)
	return Decode(words)
}

// Has reports whether a key that the filter contains is present: true for members, false for exceptions.
func (c *Cascade) Has(h filter.Hash) bool {
	i := 0
	for i < len(c.levels) && c.levels[i].hasKey(h) {
		i++
	}
	return i&1 == 0
}

func (l *level) hasKey(h filter.Hash) bool {
	for j := range l.probes {
		at := l.position(h, j)
		if l.bits[at/64]>>(at%64)&1 == 0 {
			return false
		}
	}
	return true
}

func (l *level) addKey(h filter.Hash) {
	for j := range l.probes {
		at := l.position(h, j)
		l.bits[at/64] |= 1 << (at % 64)
	}
}

func (l *level) position(h filter.Hash, j uint64) uint64 {
	x := probe.Mix(probe.Mix(h.Lo^(l.round+j), h.Hi^prime), prime)
	return probe.Position(x, 64*uint64(len(l.bits)))
}
