package java

import (
	"math"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/probe"
)

// Filter is a Bloom filter. Any number of goroutines may query it at once. Add, Merge and Intersect need exclusive use.
type Filter struct {
	words []uint64 // bit i is bit i%64 of word i/64
	k     int
	sums  Sums
	kind  *Kind
	keys  uint64
}

// step returns the start and the step of a key's probes: their positions are position(x), position(x+by),
// position(x+2·by), ...
func (f *Filter) step(h filter.Hash) (x, by uint64) {
	switch f.sums {
	case Sum63:
		return h.Lo, h.Hi
	case Sum64:
		by = signed(h.Lo >> 32)
		return signed(h.Lo)*math.MaxInt32 + by, by
	}
	by = h.Lo >> 32
	return h.Lo + by, by
}

// signed returns the lower half of x as a signed number.
func signed(x uint64) uint64 { return uint64(int64(int32(x))) }

// position returns the position of the sum x.
func (f *Filter) position(x uint64) uint64 {
	switch f.sums {
	case Sum63:
		return x &^ (1 << 63) % f.bits()
	case Sum32:
		x = signed(x)
	}
	return (x ^ uint64(int64(x)>>63)) % f.bits()
}

func (f *Filter) bits() uint64 { return 64 * uint64(len(f.words)) }

// Has reports whether the key may be in the set. It stops at the first probe whose bit is not set.
func (f *Filter) Has(h filter.Hash) bool {
	x, by := f.step(h)
	for range f.k {
		if at := f.position(x); f.words[at/64]>>(at%64)&1 == 0 {
			return false
		}
		x += by
	}
	return true
}

// HasMany sets dst[i] to Has(hs[i]) for every i; see probe.HasMany.
func (f *Filter) HasMany(dst []bool, hs []filter.Hash) {
	probe.HasMany(probe.InCache, dst, hs, f.prefetch, probe.HasEach(f))
}

// prefetch prefetches the first two probes of at most probe.BatchSize keys.
func (f *Filter) prefetch(hs []filter.Hash) {
	var at [2 * probe.BatchSize]uint64
	for i, h := range hs {
		x, by := f.step(h)
		at[2*i], at[2*i+1] = f.position(x), f.position(x+by)
	}
	bitvec.PrefetchBits(f.words, at[:2*len(hs)])
}

// Add adds the key with hash h. The error is always nil.
func (f *Filter) Add(h filter.Hash) error {
	x, by := f.step(h)
	for range f.k {
		at := f.position(x)
		f.words[at/64] |= 1 << (at % 64)
		x += by
	}
	f.keys++
	return nil
}

// Merge makes f hold the keys of both filters; see bitvec.Merge. The filters must have the same Spec.
func (f *Filter) Merge(other family.Filter, passed func([]uint64)) error {
	return bitvec.Merge(f, &f.keys, other, passed)
}

// Intersect makes f hold at least the keys that are in both filters; see bitvec.Intersect.
func (f *Filter) Intersect(other family.Filter, passed func([]uint64)) error {
	return bitvec.Intersect(f, &f.keys, other, passed)
}

// reach returns the number of bits that probes can reach.
func (f *Filter) reach() uint64 { return Reach(uint64(len(f.words)), f.sums) }

// EstimateKeys estimates the number of distinct keys from the bits that are set; see probe.EstimateKeys. It reads the
// whole filter and returns +Inf if every bit that probes can reach is set.
func (f *Filter) EstimateKeys() float64 {
	m := f.reach()
	return probe.EstimateKeys(float64(bitvec.OnesCount(f.words[:m/64]))/float64(m), m, f.k)
}

// Cells describes the bits that probes can reach. It takes the probes of a key as independent.
func (f *Filter) Cells() family.Cells { return probe.Cells(f.reach(), f.k) }

// Free returns the number of bits that probes can reach and that are 0 in both filters. It returns the errors of Merge.
func (f *Filter) Free(other family.Filter) (uint64, error) { return bitvec.Free(f, other, f.reach()) }

// Info counts the set bits, which reads the whole filter. Fill is the share of the bits that probes can reach. The
// rates are the rates of probe.Double. In filters of more than about 2^26 bits they account for the uneven positions of
// Sum32.
func (f *Filter) Info() filter.Info {
	m := f.reach()
	ones := bitvec.OnesCount(f.words[:m/64])
	return filter.Info{
		Spec: f.spec(), Keys: f.keys, Bits: f.bits(), Fill: float64(ones) / float64(m),
		FPRPrior: prior(m, f.k, f.sums, f.keys), FPRPosterior: posterior(f.words[:m/64], ones, f.k, f.sums),
	}
}
