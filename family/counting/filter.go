// Package counting is the counting Bloom filter (L. Fan, P. Cao, J. Almeida, A. Z. Broder, "Summary Cache", IEEE/ACM
// Transactions on Networking 8(3), 2000): m counters of 4 bits in the place of m bits, k probes a key as in the standard
// family. A key adds 1 to each counter that it probes and takes 1 from each when it is removed; it is present while none
// of them is 0.
//
//	word 0                              word 1
//	┌────┬────┬────┬─ ··· ─┬────┐      ┌────┬────┬─ ··· ─┐
//	│  0 │  1 │  2 │       │ 15 │      │ 16 │ 17 │       │      counter i: bits 4·(i mod 16) and up of word ⌊i/16⌋
//	└────┴────┴────┴─ ··· ─┴────┘      └────┴────┴─ ··· ─┘
//
// # Saturation
//
// A counter that has reached 15 is stuck: it stays 15 for ever, because nobody knows any more how many keys it stands for.
// So no overflow ever makes a key absent. The price is that keys can stay present after they were removed, as those do that
// probe stuck counters only; a key that was added 16 times and removed 16 times is one of them. Stuck tells how many
// counters are stuck. In a filter of distinct keys, sized as New does it, none is: a counter gets there with probability
// 1.6e-15 (Poisson of mean ln 2; the paper bounds that of 16 or more by 1.37e-15). Keys that come many times each, or many
// more of them than there is room for, do it.
//
// # One counter probed twice
//
// Two probes of a key may meet in one counter. Add then adds 2 to it, Remove takes 2 and finds the key only if 2 are there,
// and Count divides by 2. Every addition so adds k in all, whatever the order, and a removal undoes just that.
package counting

import (
	"fmt"
	"math"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/probe"
)

// Family is the name in a Spec: counting(k=7,m=95851).
const Family = "counting"

// MaxK is the largest number of probes a key.
const MaxK = probe.MaxK

const (
	width   = 4 // bits of a counter
	inWord  = 64 / width
	stuck   = 15 // a counter that stays as it is
	lowest  = 0x1111111111111111
	evenOne = 0x0f0f0f0f0f0f0f0f // every other counter of a word
)

// Filter is a counting Bloom filter. Reads are safe from any number of goroutines; Add, Remove and Merge need exclusive
// use.
type Filter struct {
	words []uint64 // counters from m on are 0
	m     uint64
	k     int
	keys  uint64 // additions less removals
}

// together is how many probes Has tests before it branches; see the standard family.
const together = 3

// Has reports whether the key may be in the set. It stops after the first probes that are not all above 0.
func (f *Filter) Has(h filter.Hash) bool {
	words, m, k := f.words, f.m, f.k
	x, by := h.Lo, probe.Mixer(h)
	for ; k > together; k -= together {
		all := present(words, probe.Position(x, m))
		x = probe.Mix(x, by)
		all &= present(words, probe.Position(x, m))
		x = probe.Mix(x, by)
		all &= present(words, probe.Position(x, m))
		x = probe.Mix(x, by)
		if all&(stuck+1) == 0 {
			return false
		}
	}
	all := present(words, probe.Position(x, m))
	for ; k > 1; k-- {
		x = probe.Mix(x, by)
		all &= present(words, probe.Position(x, m))
	}
	return all&(stuck+1) != 0
}

// present returns a number whose bit 4 is set if counter i is not 0.
func present(words []uint64, i uint64) uint64 {
	return bitvec.Bit(words, i*width)&stuck + stuck
}

func (f *Filter) counter(i uint64) uint64 { return f.words[i/inWord] >> (i % inWord * width) & stuck }

// Add puts a key into the set once more. The error is always nil.
func (f *Filter) Add(h filter.Hash) error {
	x, by := h.Lo, probe.Mixer(h)
	for range f.k {
		at := probe.Position(x, f.m)
		if f.counter(at) != stuck {
			f.words[at/inWord] += 1 << (at % inWord * width)
		}
		x = probe.Mix(x, by)
	}
	f.keys++
	return nil
}

// Remove undoes one Add of h. It returns an error wrapping filter.ErrNotFound and changes nothing if a counter holds less
// than the key's probes ask of it, or if no key is left at all. Stuck counters give without becoming less. Removing a key that
// was never added but looks like a present one succeeds and makes others absent: remove only what was added.
func (f *Filter) Remove(h filter.Hash) error {
	var room [MaxK]uint64
	at := f.probes(&room, h)
	if f.keys == 0 || f.count(at) == 0 {
		return fmt.Errorf("counting: %w", filter.ErrNotFound)
	}
	for _, i := range at {
		if f.counter(i) != stuck {
			f.words[i/inWord] -= 1 << (i % inWord * width)
		}
	}
	f.keys--
	return nil
}

// Count returns how often the key was added, or more: the least of what its counters can give. If all of them are stuck at
// 15 it returns 15 and true: the filter no longer knows how often the key was added.
func (f *Filter) Count(h filter.Hash) (n uint64, saturated bool) {
	var room [MaxK]uint64
	n = f.count(f.probes(&room, h))
	if n > stuck {
		return stuck, true
	}
	return n, false
}

// probes returns the counters of a key, those that are probed twice twice.
func (f *Filter) probes(room *[MaxK]uint64, h filter.Hash) []uint64 {
	at := room[:f.k]
	x, by := h.Lo, probe.Mixer(h)
	for i := range at {
		at[i] = probe.Position(x, f.m)
		x = probe.Mix(x, by)
	}
	return at
}

// count returns how many additions of a key with these probes the counters can hold. It loads them all before it compares
// the probes among themselves, so that their cache misses overlap.
func (f *Filter) count(at []uint64) uint64 {
	var room [MaxK]uint64
	counters := room[:len(at)]
	for j, i := range at {
		counters[j] = f.counter(i)
	}
	least := uint64(math.MaxUint64) // unless a counter says less
	for j, c := range counters {
		if c == stuck {
			continue
		}
		times := uint64(0)
		for _, i := range at {
			if i == at[j] {
				times++
			}
		}
		if times > 1 {
			c /= times
		}
		least = min(least, c)
	}
	return least
}

// Merge makes f hold the keys of both: counters add, those that come to 15 or more are stuck. The result is the filter that all
// additions and removals of both would have given.
func (f *Filter) Merge(other filter.Filter) error {
	o, ok := other.(*Filter)
	if !ok || o.m != f.m || o.k != f.k {
		return fmt.Errorf("%s and %s: %w", f.spec(), filter.SpecOf(other), filter.ErrMismatch)
	}
	for i, w := range o.words {
		v := f.words[i]
		f.words[i] = addHalf(v&evenOne, w&evenOne) | addHalf(v>>width&evenOne, w>>width&evenOne)<<width
	}
	f.keys += o.keys
	return nil
}

// addHalf adds the low halves of eight bytes, none of the sums above 15.
func addHalf(v, w uint64) uint64 {
	sum := v + w
	over := sum >> width & (evenOne & lowest) // 1 in each byte that is 16 or more
	return sum&evenOne | over*stuck
}

// Stuck returns how many counters have reached 15, where they stay for ever. It reads the whole filter.
func (f *Filter) Stuck() uint64 {
	var n uint64
	for _, w := range f.words {
		n += bitvec.OnesCount([]uint64{w & (w >> 1) & (w >> 2) & (w >> 3) & lowest})
	}
	return n
}

// used returns how many counters are not 0.
func (f *Filter) used() uint64 {
	var n uint64
	for _, w := range f.words {
		n += bitvec.OnesCount([]uint64{(w | w>>1 | w>>2 | w>>3) & lowest})
	}
	return n
}

// Info counts the counters that are not 0, which reads the whole filter.
func (f *Filter) Info() filter.Info {
	fill := float64(f.used()) / float64(f.m)
	return filter.Info{
		Spec:         f.spec(),
		Keys:         f.keys,
		Bits:         f.m * width,
		Fill:         fill,
		FPRPrior:     FPR(f.keys, f.m, f.k),
		FPRPosterior: posterior(fill, f.k),
	}
}
