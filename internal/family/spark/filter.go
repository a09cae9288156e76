// Package spark is the BloomFilter of Apache Spark (org.apache.spark.util.sketch), bit for bit: m = 64·words bits and k
// probes per key by double hashing, in either of Spark's two versions.
//
//	Hash Lo: murmur3-x86-32-twice of the bytes of an item; a is its lower half, b its upper half, both signed
//	  version 1   probe i = 1..k -> bit (c if c >= 0, else NOT c) mod m, c = a + i·b, of 32 bits
//	  version 2   probe i = 1..k -> bit (c if c >= 0, else NOT c) mod m, c = (2^31-1)·a + i·b, of 64 bits
//
// Version 1 is that of all filters made before Spark 4.1. Its probes reach the first 2^31 bits only, and fill those of
// filters from about 2^26 bits on unevenly. The hash of a key has 64 bits in both versions.
//
// Double hashing has more false positives than independent probes in small filters with a low rate, see probe.Double:
// use family standard unless Spark has to read the filter. A filter with a chosen rate is made larger where it needs to
// be, and one with a chosen size states the rate that it has.
package spark

import (
	"math"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/batch"
	"github.com/bloomery/bloomery/internal/bitmap"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/probe"
)

// Family is the name of the family in a Spec: spark(k=7,version=2,words=150).
const Family = "spark"

// Limits. Spark's format has none for the probes.
const (
	MaxK     = math.MaxUint8 // probes per key
	MaxWords = math.MaxInt32 // 64-bit words: 16 GiB
)

// Version is the version of Spark's format. It is also the way from a hash to positions.
type Version int

// The versions.
const (
	V1 Version = 1
	V2 Version = 2
)

// Filter is a Bloom filter of Spark. Any number of goroutines may query it at once. Add, Merge and Intersect need
// exclusive use.
type Filter struct {
	words   []uint64 // bit i is bit i%64 of word i/64
	k       int
	version Version
	keys    uint64
}

// step returns the start and the step of a key's probes: their positions are at(x), at(x+by), at(x+2·by), ...
func (f *Filter) step(h filter.Hash) (x, by uint64) {
	if f.version == V1 {
		by = h.Lo >> 32
		return h.Lo + by, by
	}
	by = signed(h.Lo >> 32)
	return signed(h.Lo)*math.MaxInt32 + by, by
}

// signed returns the lower half of x as a signed number.
func signed(x uint64) uint64 { return uint64(int64(int32(x))) }

// at returns the position of the probe x.
func (f *Filter) at(x uint64) uint64 {
	if f.version == V1 {
		x = signed(x)
	}
	return (x ^ uint64(int64(x)>>63)) % f.bits()
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

// Merge makes f hold the keys of both filters; see bitmap.Merge. It is mergeInPlace of Spark. The filters
// must have the same words, k and version.
func (f *Filter) Merge(other family.Filter, passed func([]uint64)) error {
	return bitmap.Merge(f, &f.keys, other, passed)
}

// Intersect makes f hold at least the keys that are in both filters; see bitmap.Intersect.
func (f *Filter) Intersect(other family.Filter, passed func([]uint64)) error {
	return bitmap.Intersect(f, &f.keys, other, passed)
}

// Reach returns the number of bits that probes can reach: at most the first 2^31 in version 1, all 64·words in
// version 2.
func Reach(words uint64, v Version) uint64 {
	if v == V1 {
		return min(64*words, 1<<31)
	}
	return 64 * words
}

// reached returns the number of bits that probes can reach and the share of those that are set.
func (f *Filter) reached() (m uint64, fill float64) {
	m = Reach(uint64(len(f.words)), f.version)
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
	return probe.Cells(Reach(uint64(len(f.words)), f.version), f.k)
}

// Free returns the number of bits that probes can reach and that are 0 in both filters. Errors are those of Merge.
func (f *Filter) Free(other family.Filter) (uint64, error) {
	return bitmap.Free(f, other, Reach(uint64(len(f.words)), f.version))
}

// Info counts the set bits, which reads the whole filter. Fill is that of the bits that probes can reach. The rates are
// those of probe.Double; in version 1 they count that positions are not equally likely.
func (f *Filter) Info() filter.Info {
	m, fill := f.reached()
	return filter.Info{
		Spec: f.spec(), Keys: f.keys, Bits: f.bits(), Fill: fill, FPRPrior: prior(m, f.k, f.version, f.keys),
		FPRPosterior: posterior(f.words[:m/64], m, f.k, f.version),
	}
}
