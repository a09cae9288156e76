// Package guava is the BloomFilter of Google's Guava (com.google.common.hash), bit for bit: an array of 64-bit words, m =
// 64·words bits, k probes a key by double hashing, in the two forms that Guava has.
//
//	Hash (Lo, Hi) is murmur3-x64-128 with seed 0 of the bytes that the funnel gives
//	  MURMUR128_MITZ_64: bit (Lo + i·Hi without its highest bit) mod m, i = 0 to k-1
//	  MURMUR128_MITZ_32: bit c mod m, where c is the lower half of Lo plus i times its upper half, i = 1 to k, as a signed number of
//	                     32 bits, complemented if that is negative: it lies below 2^31
//
// The second form is that of filters from before Guava 12; what lies beyond 2^31 bits is never used by it. Double hashing
// costs rate where a filter is small and its rate low, see family/standard: take that where Guava need not read the filter.
package guava

import (
	"fmt"
	"math"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/probe"
)

// Family is the name in a Spec: guava(k=7,strategy=64,words=150).
const Family = "guava"

// Limits of Guava's own format.
const (
	MaxK     = math.MaxUint8
	MaxWords = math.MaxInt32
)

// Strategy is one of Guava's two ways from a hash to positions.
type Strategy int

// The strategies, MURMUR128_MITZ_32 and MURMUR128_MITZ_64.
const (
	Mitz32 Strategy = 32
	Mitz64 Strategy = 64
)

// Filter is a Bloom filter of Guava. Reads are safe from any number of goroutines; Add and Merge need exclusive use.
type Filter struct {
	words    []uint64 // bit i is bit i%64 of word i/64
	k        int
	strategy Strategy
	keys     uint64
}

// step returns where the probes of a key start and how they go on, so that both strategies are at(x) of x, x+by, ...
func (f *Filter) step(h filter.Hash) (x, by uint64) {
	if f.strategy == Mitz64 {
		return h.Lo, h.Hi
	}
	by = h.Lo >> 32
	return h.Lo + by, by
}

// at returns the position of a probe.
func (f *Filter) at(x uint64) uint64 {
	if f.strategy == Mitz64 {
		return x &^ (1 << 63) % f.bits()
	}
	c := int32(x)
	return uint64(c^c>>31) % f.bits()
}

func (f *Filter) bits() uint64 { return 64 * uint64(len(f.words)) }

// Has reports whether the key may be in the set.
func (f *Filter) Has(h filter.Hash) bool {
	x, by := f.step(h)
	for range f.k {
		if at := f.at(x); f.words[at/64]>>(at%64)&1 == 0 {
			return false
		}
		x += by
	}
	return true
}

// batch is how many keys go together; see the standard family.
const batch = 32

// HasMany sets dst[i] to Has(hs[i]), having asked for the first two probes of a batch before it looks at any. dst must be as
// long as hs.
func (f *Filter) HasMany(dst []bool, hs []filter.Hash) {
	filter.CheckBatch(dst, hs)
	dst = dst[:len(hs)] // for the compiler: no bounds checks below
	var at [2 * batch]uint64
	for start := 0; start < len(hs); start += batch {
		group := hs[start:min(start+batch, len(hs))]
		for i, h := range group {
			x, by := f.step(h)
			at[2*i], at[2*i+1] = f.at(x), f.at(x+by)
		}
		bitvec.PrefetchBits(f.words, at[:2*len(group)])
		for i, h := range group {
			dst[start+i] = f.Has(h)
		}
	}
}

// Add puts a key into the set. The error is always nil.
func (f *Filter) Add(h filter.Hash) error {
	x, by := f.step(h)
	for range f.k {
		at := f.at(x)
		f.words[at/64] |= 1 << (at % 64)
		x += by
	}
	f.keys++
	return nil
}

// Merge makes f hold the keys of both, as putAll of Guava does. Keys counts those that stand in both twice.
func (f *Filter) Merge(other filter.Filter) error {
	o, ok := other.(*Filter)
	if !ok || len(o.words) != len(f.words) || o.k != f.k || o.strategy != f.strategy {
		return fmt.Errorf("%s and %s: %w", f.spec(), filter.SpecOf(other), filter.ErrMismatch)
	}
	for i, w := range o.words {
		f.words[i] |= w
	}
	f.keys += o.keys
	return nil
}

// Reach returns how many bits probes can fall on: the first 2^31 at most with Mitz32.
func Reach(words uint64, s Strategy) uint64 {
	if s == Mitz32 {
		return min(64*words, 1<<31)
	}
	return 64 * words
}

// Info counts the set bits, which reads the whole filter. Its rates are those of independent probes. With the strategy of
// 32 bits they are too low for filters of more than some 2^26 bits, whose positions then are not equally likely.
func (f *Filter) Info() filter.Info {
	m := Reach(uint64(len(f.words)), f.strategy)
	fill := float64(bitvec.OnesCount(f.words[:m/64])) / float64(m)
	return filter.Info{
		Spec: f.spec(), Keys: f.keys, Bits: f.bits(), Fill: fill,
		FPRPrior: probe.FPR(f.keys, m, f.k), FPRPosterior: math.Pow(fill, float64(f.k)),
	}
}
