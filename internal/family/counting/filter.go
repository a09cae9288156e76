// Package counting implements the counting Bloom filter (L. Fan, P. Cao, J. Almeida, A. Z. Broder, "Summary Cache",
// IEEE/ACM Transactions on Networking 8(3), 2000). It has m counters of 4 bits where the standard family has m bits,
// with the same k probes per key. Adding a key increments the counters that it probes, removing it decrements them. A
// key is present if none of its counters is 0.
//
//	word 0                              word 1
//	┌────┬────┬────┬─ ··· ─┬────┐      ┌────┬────┬─ ··· ─┐
//	│  0 │  1 │  2 │       │ 15 │      │ 16 │ 17 │       │      counter i: bits 4·(i mod 16) and up of word ⌊i/16⌋
//	└────┴────┴────┴─ ··· ─┴────┘      └────┴────┴─ ··· ─┘
//
// # Saturation
//
// A counter that reaches 15 is stuck: it stays at 15, because the number of keys that it counts is no longer known. So
// an overflow never makes a key absent. But a key whose counters are all stuck stays present after it was removed, such
// as a key that was added 16 times and removed 16 times. Stuck returns the number of stuck counters. A filter of
// distinct keys with the size that New chooses has none: a counter gets stuck with probability 1.6e-15 (Poisson with
// mean ln 2; the paper bounds the probability of 16 or more by 1.37e-15). Counters get stuck if keys are added many
// times each, or if the filter contains many more keys than it was sized for.
//
// # One counter probed twice
//
// Two probes of a key may fall on one counter. Add then adds 2 to it, Remove requires and subtracts 2, and Count
// divides by 2. So every addition adds k in total, in any order, and a removal undoes exactly that.
package counting

import (
	"fmt"
	"math"
	"math/bits"
	"sync/atomic"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/probe"
)

// Family is the name in a Spec: counting(k=7,m=95851).
const Family = "counting"

// MaxK is the largest number of probes per key.
const MaxK = probe.MaxK

const (
	width   = 4 // bits of a counter
	inWord  = 64 / width
	stuck   = 15 // a counter that no longer changes
	lowest  = 0x1111111111111111
	evenOne = 0x0f0f0f0f0f0f0f0f // every other counter of a word
)

// errNotFound is the error of Remove; made once so that Remove allocates nothing.
var errNotFound = fmt.Errorf("counting: %w", filter.ErrNotFound)

// Filter is a counting Bloom filter. Any number of goroutines may read it at once; Add, Remove and Merge need exclusive
// use. Concurrent is the form for concurrent writers.
type Filter struct {
	words []uint64 // counters from m on are 0
	m     uint64
	k     int
	keys  uint64 // additions less removals
}

// together is the number of probes that Has tests before it branches; see package standard.
const together = 3

// Has reports whether the key may be in the set. It stops after the first three probes whose counters are not all above
// 0.
func (f *Filter) Has(h filter.Hash) bool {
	words, m, k := f.words, f.m, f.k
	x, by := h.Lo, h.Hi
	for ; k > together; k -= together {
		all := present(words, probe.Position(x, m))
		x = probe.Next(x, by)
		all &= present(words, probe.Position(x, m))
		x = probe.Next(x, by)
		all &= present(words, probe.Position(x, m))
		x = probe.Next(x, by)
		if all&(stuck+1) == 0 {
			return false
		}
	}

	all := present(words, probe.Position(x, m))
	for ; k > 1; k-- {
		x = probe.Next(x, by)
		all &= present(words, probe.Position(x, m))
	}
	return all&(stuck+1) != 0
}

// present returns a number whose bit 4 is set if counter i is not 0: adding 15 to the counter carries into bit 4.
func present(words []uint64, i uint64) uint64 {
	return bitvec.Bit(words, i*width)&stuck + stuck
}

// first is the number of probes of every key that are prefetched at once. If half of the counters are in use, an eighth
// of the absent keys pass three probes.
const first = 3

// HasMany sets dst[i] to Has(hs[i]) for every i; see probe.HasMany. For a filter in the caches, one call fewer saves 4%
// of the time.
func (f *Filter) HasMany(dst []bool, hs []filter.Hash) {
	if len(f.words) < probe.InCache {
		family.CheckBatch(dst, hs)
		f.hasEach(dst, hs)
		return
	}
	probe.HasMany(len(f.words), dst, hs, f.prefetch, f.hasEach)
}

// prefetch prefetches the words of the first probes of at most probe.BatchSize keys.
func (f *Filter) prefetch(hs []filter.Hash) {
	var room [probe.BatchSize * first]uint64
	bits := room[:0]
	for _, h := range hs {
		x, by := h.Lo, h.Hi
		for range min(first, f.k) {
			bits = append(bits, probe.Position(x, f.m)*width)
			x = probe.Next(x, by)
		}
	}
	bitvec.PrefetchBits(f.words, bits)
}

// hasEach sets dst[i] to Has(hs[i]) for every i.
func (f *Filter) hasEach(dst []bool, hs []filter.Hash) {
	dst = dst[:len(hs)] // for the compiler: no bounds checks below
	for i, h := range hs {
		dst[i] = f.Has(h)
	}
}

// counter returns counter i. Other goroutines may change the filter at the same time.
func (f *Filter) counter(i uint64) uint64 {
	return atomic.LoadUint64(&f.words[i/inWord]) >> (i % inWord * width) & stuck
}

// Add adds a key once more. The error is always nil.
func (f *Filter) Add(h filter.Hash) error {
	x, by := h.Lo, h.Hi
	for range f.k {
		at := probe.Position(x, f.m)
		if f.counter(at) != stuck {
			f.words[at/inWord] += 1 << (at % inWord * width)
		}
		x = probe.Next(x, by)
	}
	f.keys++
	return nil
}

// Remove undoes one Add of h. It returns an error wrapping filter.ErrNotFound and changes nothing if a counter of the
// key is below the number of probes that fall on it, or if no keys are left. Stuck counters do not change. Removing a
// key that was never added but looks present succeeds and makes other keys absent: remove only what was added.
func (f *Filter) Remove(h filter.Hash) error {
	var room [MaxK]uint64
	at := f.probesOf(&room, h)
	if f.keys == 0 || f.countAt(at) == 0 {
		return errNotFound
	}

	for _, i := range at {
		if f.counter(i) != stuck {
			f.words[i/inWord] -= 1 << (i % inWord * width)
		}
	}

	f.keys--
	return nil
}

// Count returns the number of times that the key was added, or more: the smallest of its counters, each divided by the
// number of probes that fall on it. If all of them are stuck it returns 15 and true: the filter no longer knows how
// often the key was added.
func (f *Filter) Count(h filter.Hash) (n uint64, saturated bool) {
	var room [MaxK]uint64
	return counted(f.countAt(f.probesOf(&room, h)))
}

// counted returns the results of Count for a result of least.
func counted(n uint64) (uint64, bool) {
	if n > stuck {
		return stuck, true
	}
	return n, false
}

// probesOf returns the indices of the counters of a key. The index of a counter that two probes share appears twice.
func (f *Filter) probesOf(room *[MaxK]uint64, h filter.Hash) []uint64 {
	at := room[:f.k]
	probe.Positions(at, h.Lo, h.Hi, f.m)
	return at
}

// countAt returns the largest number of additions of a key with these probes that the counters allow. Other
// goroutines may change the filter at the same time. It loads all counters before it compares the probes with each
// other, so that the cache misses overlap.
func (f *Filter) countAt(at []uint64) uint64 {
	var room [MaxK]uint64
	counters := room[:len(at)]
	for j, i := range at {
		counters[j] = f.counter(i)
	}
	return leastCount(at, counters)
}

// leastCount returns the largest number of additions of a key that the counters allow, where counters[j] is the
// value of counter at[j]. The result is math.MaxUint64 if all of them are stuck.
func leastCount(at, counters []uint64) uint64 {
	n := uint64(math.MaxUint64)
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
		n = min(n, c)
	}
	return n
}

// Merge adds the keys of other to f: counters add up, and counters that reach 15 are stuck. All additions and removals
// of both filters in one would have given the same result. The error wraps filter.ErrMismatch if other is not a
// counting filter with the same m and k; f is then unchanged.
func (f *Filter) Merge(other family.Filter, passed func([]uint64)) error {
	o, err := bitvec.Same(f, other)
	if err != nil {
		return err
	}

	bitvec.Pass(f.words, o.words, passed, func(words, other []uint64) {
		for i, w := range other {
			v := words[i]
			words[i] = addHalf(v&evenOne, w&evenOne) | addHalf(v>>width&evenOne, w>>width&evenOne)<<width
		}
	})
	f.keys += o.keys
	return nil
}

// addHalf adds the low halves of eight bytes. Sums above 15 become 15.
func addHalf(v, w uint64) uint64 {
	sum := v + w
	over := sum >> width & (evenOne & lowest) // 1 in each byte that is 16 or more
	return sum&evenOne | over*stuck
}

// Stuck returns the number of counters that have reached 15, where they stay. It reads the whole filter.
func (f *Filter) Stuck() uint64 {
	var n uint64
	for _, w := range f.words {
		n += uint64(bits.OnesCount64(w & (w >> 1) & (w >> 2) & (w >> 3) & lowest))
	}
	return n
}

// nonzeroCounters returns the number of counters that are not 0. Other goroutines may change the filter at the same
// time.
func (f *Filter) nonzeroCounters() uint64 {
	var n uint64
	for i := range f.words {
		n += usedIn(atomic.LoadUint64(&f.words[i]))
	}
	return n
}

// usedIn returns the number of counters of a word that are not 0.
func usedIn(w uint64) uint64 { return uint64(bits.OnesCount64((w | w>>1 | w>>2 | w>>3) & lowest)) }

// EstimateLoss returns the mean number of keys that become absent for each absent key in a list of keys to remove, if
// the share keep of the keys is not in the list. It reads the whole filter.
func (f *Filter) EstimateLoss(keep float64) float64 {
	return lossPerAbsent(float64(f.nonzeroCounters())/float64(f.m), f.k, keep)
}

// Info counts the counters that are not 0, which reads the whole filter.
func (f *Filter) Info() filter.Info { return f.infoFor(f.keys, f.nonzeroCounters()) }

// infoFor describes a filter with these numbers of keys and of counters that are not 0. Stuck counters of keys that
// were removed raise the posterior rate, but not the prior one.
func (f *Filter) infoFor(keys, used uint64) filter.Info {
	return probe.Config{Keys: keys, M: f.m, K: f.k, Width: width}.Info(f.builtSpec(), used)
}

// lossSteps is the number of steps of the integral in lossPerAbsent. The result with 64 steps is within 0.1% of the
// result with 1000.
const lossSteps = 64

// lossPerAbsent returns the mean number of keys that become absent for each absent key in a list of keys to remove, if
// fill is the share of counters that are not 0 and keep the share of the keys that are not in the list.
//
// The counters are about Poisson with mean λ = -ln(1-fill); the counters of the kept keys have the mean κ = keep·λ.
// While the list is removed, the mean falls from λ to κ, and an absent key looks present with probability f^k, where f
// is the share of counters that are not 0 at that time. Its removal then decrements k of these counters. If a counter
// stands for exactly one kept key, as a share κe^-κ/f of them do, that key becomes absent. Keys that were added more
// than once are lost less often.
func lossPerAbsent(fill float64, k int, keep float64) float64 {
	lambda := min(-math.Log1p(-fill), 64) // -ln 0 if every counter is in use
	kept := keep * lambda
	var sum float64
	for i := range lossSteps {
		mean := kept + (lambda-kept)*(float64(i)+0.5)/lossSteps
		sum += math.Pow(-math.Expm1(-mean), float64(k-1))
	}
	return float64(k) * kept * math.Exp(-kept) * sum / lossSteps
}

// Cells describes the counters: a counter of 0 is free.
func (f *Filter) Cells() family.Cells { return probe.Cells(f.m, f.k) }

// Free returns the number of counters that are 0 in both filters. It returns the errors of Merge.
func (f *Filter) Free(other family.Filter) (uint64, error) {
	o, err := bitvec.Same(f, other)
	if err != nil {
		return 0, err
	}

	free := f.m
	for i, w := range f.words {
		free -= usedIn(w | o.words[i])
	}
	return free, nil
}

func (f *Filter) builtSpec() filter.Spec { return family.NewSpec(Family, "m", f.m, "k", f.k) }

func wordsOf(m uint64) uint64 { return (m + inWord - 1) / inWord }

// Encode returns one section of ⌈m/16⌉ words. Counter i is the 4 bits from bit 4·(i mod 16) of word ⌊i/16⌋ on. Counters
// from m on are 0.
func (f *Filter) Encode() family.Encoded {
	return family.Encoded{Spec: f.builtSpec(), Keys: f.keys, Sections: [][]uint64{f.words}}
}

// SectionWords returns the number of words of each section of a stored filter with this Spec. The error wraps
// filter.ErrConfig or filter.ErrTooLarge if the Spec does not fix a geometry.
func SectionWords(s filter.Spec) ([]uint64, error) {
	c, err := probe.Built(s, width)
	return []uint64{wordsOf(c.M)}, err
}

// Decode makes a filter from its stored form, as Encode returns it. The filter shares the words. Decode returns an
// error if the sections do not have the sizes of SectionWords, if counters from m on are not 0, or if no counter is
// stuck and the sum of the counters is not k times the number of keys. A stuck counter ignores removals, so that with
// one of them the sum proves nothing.
func Decode(e family.Encoded) (*Filter, error) {
	c, err := probe.Built(e.Spec, width)
	m, k := c.M, c.K
	if err := e.CheckSections([]uint64{wordsOf(m)}, err); err != nil {
		return nil, err
	}

	f := &Filter{words: e.Sections[0], m: m, k: k, keys: e.Keys}
	if !bitvec.ZeroFrom(f.words, m*width) {
		return nil, fmt.Errorf("counters from m=%d on are not 0", m)
	}

	over, want := bits.Mul64(e.Keys, uint64(k))
	if sum := f.counterSum(); (over != 0 || sum != want) && f.Stuck() == 0 {
		return nil, fmt.Errorf("the sum of the counters is %d, want %d keys times k=%d", sum, e.Keys, k)
	}
	return f, nil
}

// counterSum returns the sum of all counters.
func (f *Filter) counterSum() uint64 {
	var n uint64
	for _, w := range f.words {
		pairs := w&evenOne + w>>width&evenOne // eight sums, 30 at most
		n += pairs * (evenOne & lowest) >> 56 // their sum, 240 at most, in the highest byte
	}
	return n
}
