// Package dcso implements the Bloom filter of github.com/DCSO/bloom, bit for bit: m bits, for any m, and k probes per
// key. Each probe follows from the one before:
//
//	x_0 = Lo mod p, x_(i+1) = (x_i·g mod 2^64) mod p      p = 2^64 - 59, g = 2^64 - 1469
//	probe i = 1..k -> bit x_i mod m
//
// Since p is almost 2^64, x_i is almost always Lo·g^i mod 2^64. If 2^a divides m, the lowest a bits of a position thus
// determine the lowest a bits of all later positions: keys belong to 2^a classes, and each probe of a class reaches
// m/2^a bits. With few bits per class the rate is far above the rate of independent probes. So New chooses an odd m for
// a size, and the rates count the classes.
package dcso

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync/atomic"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/probe"
)

// Family is the name of the family in a Spec: dcso(k=7,m=9585,n=1000).
const Family = "dcso"

// MaxK is the largest number of probes per key. The program has no limit, but more probes do not help.
const MaxK = 255

// The constants of the probes.
const (
	prime  = 1<<64 - 59
	factor = 1<<64 - 1469
)

// Filter is a Bloom filter. Any number of goroutines may query it at once. Add, Merge and Intersect need exclusive use.
type Filter struct {
	words []uint64 // bit i is bit i%64 of word i/64; bits from m on are 0
	m     uint64
	k     int
	room  uint64 // keys that the program sized the filter for; nothing here depends on it
	keys  uint64
}

// nextProbe returns the x of the probe after x.
func nextProbe(x uint64) uint64 { return x * factor % prime }

// Has reports whether the key may be in the set. It stops at the first probe whose bit is not set.
func (f *Filter) Has(h filter.Hash) bool {
	x := h.Lo % prime
	for range f.k {
		x = nextProbe(x)
		if at := x % f.m; f.words[at/64]>>(at%64)&1 == 0 {
			return false
		}
	}
	return true
}

// HasMany sets dst[i] to Has(hs[i]) for every i; see probe.HasMany.
func (f *Filter) HasMany(dst []bool, hs []filter.Hash) {
	probe.HasMany(len(f.words), dst, hs, f.prefetch, probe.HasEach(f))
}

// prefetch prefetches the first two probes of at most probe.BatchSize keys.
func (f *Filter) prefetch(hs []filter.Hash) {
	var at [2 * probe.BatchSize]uint64
	for i, h := range hs {
		x := nextProbe(h.Lo % prime)
		at[2*i], at[2*i+1] = x%f.m, nextProbe(x)%f.m
	}
	bitvec.PrefetchBits(f.words, at[:2*len(hs)])
}

// Add adds the key with hash h. Like the program, it counts the key if a bit was not set. The error is always nil.
func (f *Filter) Add(h filter.Hash) error {
	if !f.Has(h) {
		f.set([]filter.Hash{h}, false)
		f.keys++
	}
	return nil
}

// set sets the bits of keys and does not count the keys. If shared, other goroutines do the same meanwhile.
func (f *Filter) set(hs []filter.Hash, shared bool) {
	for _, h := range hs {
		x := h.Lo % prime
		for range f.k {
			x = nextProbe(x)
			at := x % f.m
			w, bit := &f.words[at/64], uint64(1)<<(at%64)
			switch {
			case !shared:
				*w |= bit
			case atomic.LoadUint64(w)&bit == 0: // a load leaves the cache line shared; a write takes it from other cores
				atomic.OrUint64(w, bit)
			}
		}
	}
}

// Merge adds the keys of other to f; see bitvec.Merge. The filters must have the same Spec.
func (f *Filter) Merge(other family.Filter, passed func([]uint64)) error {
	return bitvec.Merge(f, &f.keys, other, passed)
}

// Intersect reduces f to the keys that are in both filters and some false positives; see bitvec.Intersect.
func (f *Filter) Intersect(other family.Filter, passed func([]uint64)) error {
	return bitvec.Intersect(f, &f.keys, other, passed)
}

// EstimateKeys estimates the number of distinct keys from the bits that are set; see probe.EstimateKeys. It reads the
// whole filter and returns +Inf if all bits are set.
func (f *Filter) EstimateKeys() float64 {
	return probe.EstimateKeys(float64(bitvec.OnesCount(f.words))/float64(f.m), f.m, f.k)
}

// Cells describes the bits, as if the probes of a key were independent.
func (f *Filter) Cells() family.Cells { return probe.Cells(f.m, f.k) }

// Free returns the number of bits that are 0 in both filters. It returns the errors of Merge.
func (f *Filter) Free(other family.Filter) (uint64, error) { return bitvec.Free(f, other, f.m) }

// Info counts the set bits, which reads the whole filter.
func (f *Filter) Info() filter.Info {
	fill := float64(bitvec.OnesCount(f.words)) / float64(f.m)
	i := filter.Info{Spec: f.builtSpec(), Keys: f.keys, Bits: f.m, Fill: fill, FPRPrior: priorRate(f.m, f.k, f.keys)}
	i.FPRPosterior = math.Pow(fill, float64(f.k))
	if classes, few := classesOf(f.m); few {
		i.FPRPosterior = f.classRate(classes)
	}
	return i
}

// classesOf returns the number of classes of keys in a filter of m bits, and whether they reach so few bits each that
// they increase the rate: at 2^14 bits and k = 10 by about 2%.
func classesOf(m uint64) (classes uint64, few bool) {
	classes = m & -m
	return classes, classes > 1 && m/classes < 1<<14
}

// classRate returns the false-positive rate: the mean over all classes, or over a sample of them, of the product of the
// shares of set bits among the bits that each probe of the class can reach. Equal filters give equal results.
func (f *Filter) classRate(classes uint64) (mean float64) {
	const work = 1 << 20 // bits to read for each probe
	share := f.m / classes
	samples := min(classes, work/share)
	r := rand.New(rand.NewPCG(1, f.m))

	for class := range samples {
		if samples < classes {
			class = r.Uint64N(classes)
		}
		x, rate := class, 1.0
		for i := 0; i < f.k && rate > 0; i++ {
			x = x * factor % classes
			ones := uint64(0)
			for at := x; at < f.m; at += classes {
				ones += f.words[at/64] >> (at % 64) & 1
			}
			rate *= float64(ones) / float64(share)
		}
		mean += rate / float64(samples)
	}
	return mean
}

// priorRate returns the predicted false-positive rate, in [0, 1], after n distinct keys: the rate of independent
// probes, or, with many classes of few bits, the mean rate of random filters of at most about 2^20 bits with the same
// load and as many bits per class.
func priorRate(m uint64, k int, n uint64) float64 {
	plain := probe.FPR(n, m, k)
	classes, few := classesOf(m)
	if !few || classes < 64 || plain == 0 || plain > 0.99 {
		return plain
	}

	model := &Filter{m: m, k: k}
	for ; classes > 64 && model.m > 1<<17; classes /= 2 {
		model.m /= 2
	}
	keys := max(1, math.Round(float64(n)*float64(model.m)/float64(m)))

	r, runs, sum := rand.New(rand.NewPCG(2, m)), 0.0, 0.0
	for ; runs*keys < 1<<13; runs++ {
		model.words = make([]uint64, (model.m+63)/64)
		for range uint64(keys) {
			model.set([]filter.Hash{{Lo: r.Uint64()}}, false)
		}
		sum += model.classRate(classes)
	}
	return sum / runs
}

func (f *Filter) builtSpec() filter.Spec { return Spec(f.m, f.k, f.room) }

// Spec returns the Spec of a filter of m bits that was sized for room keys.
func Spec(m uint64, k int, room uint64) filter.Spec {
	return family.NewSpec(Family, "k", k, "m", m, "n", room)
}

// Encode returns one section of ⌈m/64⌉ words. Bit i of the filter is bit i%64 of word i/64. Bits from m on are 0.
func (f *Filter) Encode() family.Encoded {
	return family.Encoded{Spec: f.builtSpec(), Keys: f.keys, Sections: [][]uint64{f.words}}
}

// SectionWords returns the number of words of each section of a stored filter with this Spec. The error wraps
// filter.ErrConfig or filter.ErrTooLarge if no built filter has this Spec.
func SectionWords(s filter.Spec) ([]uint64, error) {
	c, err := builtConfig(s)
	return []uint64{(c.M + 63) / 64}, err
}

// Decode returns the filter that Encode stored. It keeps the words of e and does not copy them. It returns an error
// if the sections do not have the sizes of SectionWords, or if a bit from m on is set.
func Decode(e family.Encoded) (*Filter, error) {
	c, err := builtConfig(e.Spec)
	if err := e.CheckSections([]uint64{(c.M + 63) / 64}, err); err != nil {
		return nil, err
	}
	if !bitvec.ZeroFrom(e.Sections[0], c.M) {
		return nil, fmt.Errorf("a bit at position %d or above is set; the filter ends there", c.M)
	}
	return &Filter{words: e.Sections[0], m: c.M, k: c.K, room: c.Room, keys: e.Keys}, nil
}

// builtConfig reads the canonical Spec of a built filter. It returns an error for any other Spec.
func builtConfig(s filter.Spec) (Config, error) {
	c, err := ConfigFromSpec(s, 0)
	if err == nil && (c.M == 0 || c.K == 0 || c.Room == 0 || !c.Size.IsZero() || family.Given(s, "capacity")) {
		err = family.Invalid("spec", s, "want dcso(k=,m=,n=)")
	}
	if err == nil {
		_, _, err = c.Fixed()
	}
	return c, err
}
