// Package guava is the BloomFilter of Google's Guava (com.google.common.hash), bit for bit: m = 64·words bits and k
// probes per key by double hashing, with either of Guava's two strategies.
//
//	Hash (Lo, Hi): murmur3-x64-128 with seed 0, of the bytes that the funnel writes
//	  MURMUR128_MITZ_64   probe i = 0..k-1 -> bit ((Lo + i·Hi mod 2^64) AND 2^63-1) mod m
//	  MURMUR128_MITZ_32   probe i = 1..k   -> bit (c if c >= 0, else NOT c) mod m,
//	                      c = lower half of Lo + i · upper half of Lo, as a signed 32-bit integer
//
// MURMUR128_MITZ_32 is the strategy of filters made before Guava 12. Its probes reach the first 2^31 bits only. Double
// hashing has more false positives than independent probes in small filters with a low rate, see probe.Double: use
// family standard unless Guava has to read the filter. A filter with a chosen rate is made larger where it needs to be,
// and one with a chosen size states the rate that it has.
package guava

import (
	"math"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/batch"
	"github.com/bloomery/bloomery/internal/bitmap"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/probe"
)

// Family is the name of the family in a Spec: guava(k=7,strategy=64,words=150).
const Family = "guava"

// Limits of Guava's file format.
const (
	MaxK     = math.MaxUint8 // probes per key
	MaxWords = math.MaxInt32 // 64-bit words: 16 GiB
)

// Strategy is the way from a hash to positions.
type Strategy int

// The strategies, MURMUR128_MITZ_32 and MURMUR128_MITZ_64.
const (
	Mitz32 Strategy = 32
	Mitz64 Strategy = 64
)

// Filter is a Bloom filter of Guava. Any number of goroutines may query it at once. Add, Merge and Intersect need
// exclusive use.
type Filter struct {
	words    []uint64 // bit i is bit i%64 of word i/64
	k        int
	strategy Strategy
	keys     uint64
}

// step returns the start and the step of a key's probes: their positions are at(x), at(x+by), at(x+2·by), ...
func (f *Filter) step(h filter.Hash) (x, by uint64) {
	if f.strategy == Mitz64 {
		return h.Lo, h.Hi
	}
	by = h.Lo >> 32
	return h.Lo + by, by
}

// at returns the position of the probe x.
func (f *Filter) at(x uint64) uint64 {
	if f.strategy == Mitz64 {
		return x &^ (1 << 63) % f.bits()
	}
	return fold(x) % f.bits()
}

// fold returns c if c >= 0, else NOT c, for the signed lower half c of x.
func fold(x uint64) uint64 {
	c := int32(x)
	return uint64(c ^ c>>31)
}

func (f *Filter) bits() uint64 { return 64 * uint64(len(f.words)) }

// Has reports whether the key may be in the set. It stops at the first probe whose bit is not set.
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

// HasMany sets dst[i] to Has(hs[i]) for every i; see batch.HasMany.
func (f *Filter) HasMany(dst []bool, hs []filter.Hash) {
	batch.HasMany(batch.InCache, dst, hs, f.prefetch, batch.Has(f))
}

// prefetch prefetches the first two probes of at most batch.Size keys.
func (f *Filter) prefetch(hs []filter.Hash) {
	var at [2 * batch.Size]uint64
	for i, h := range hs {
		x, by := f.step(h)
		at[2*i], at[2*i+1] = f.at(x), f.at(x+by)
	}
	bitvec.PrefetchBits(f.words, at[:2*len(hs)])
}

// Add adds the key with hash h. The error is always nil.
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

// Merge makes f hold the keys of both filters; see bitmap.Merge. It is putAll of Guava. The filters must
// have the same words, k and strategy.
func (f *Filter) Merge(other family.Filter, passed func([]uint64)) error {
	return bitmap.Merge(f, &f.keys, other, passed)
}

// Intersect makes f hold at least the keys that are in both filters; see bitmap.Intersect.
func (f *Filter) Intersect(other family.Filter, passed func([]uint64)) error {
	return bitmap.Intersect(f, &f.keys, other, passed)
}

// Reach returns the number of bits that probes can reach: all 64·words with Mitz64, at most the first 2^31 with Mitz32.
func Reach(words uint64, s Strategy) uint64 {
	if s == Mitz32 {
		return min(64*words, 1<<31)
	}
	return 64 * words
}

// reached returns the number of bits that probes can reach and the share of those that are set.
func (f *Filter) reached() (m uint64, fill float64) {
	m = Reach(uint64(len(f.words)), f.strategy)
	return m, float64(bitvec.OnesCount(f.words[:m/64])) / float64(m)
}

// EstimateKeys estimates the number of distinct keys from the bits that are set; see probe.EstimateKeys. It reads the
// whole filter and returns +Inf if every bit that probes can reach is set.
func (f *Filter) EstimateKeys() float64 {
	m, fill := f.reached()
	return probe.EstimateKeys(fill, m, f.k)
}

// Cells describes the bits that probes can reach. It takes the probes of a key as independent.
func (f *Filter) Cells() family.Cells {
	return probe.Cells(Reach(uint64(len(f.words)), f.strategy), f.k)
}

// Free returns the number of bits that probes can reach and that are 0 in both filters. Errors are those of Merge.
func (f *Filter) Free(other family.Filter) (uint64, error) {
	return bitmap.Free(f, other, Reach(uint64(len(f.words)), f.strategy))
}

// Info counts the set bits, which reads the whole filter. Fill is that of the bits that probes can reach. The rates are
// those of probe.Double. With Mitz32 they are too low for filters of more than about 2^26 bits, whose positions are not
// equally likely.
func (f *Filter) Info() filter.Info {
	m, fill := f.reached()
	d := double(m, f.k, f.strategy)
	return filter.Info{
		Spec: f.spec(), Keys: f.keys, Bits: f.bits(), Fill: fill,
		FPRPrior: d.FPR(f.keys), FPRPosterior: d.Posterior(f.words[:m/64], uint64(math.Round(fill*float64(m)))),
	}
}
