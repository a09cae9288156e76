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
	"cmp"
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
type Filter struct{ probe.Bits }

// nextProbe returns the x of the probe after x.
func nextProbe(x uint64) uint64 { return x * factor % prime }

// Has reports whether the key may be in the set. It stops at the first probe whose bit is not set.
func (f *Filter) Has(h filter.Hash) bool {
	x := h.Lo % prime
	for range f.K {
		x = nextProbe(x)
		if at := x % f.M; f.Words[at/64]>>(at%64)&1 == 0 {
			return false
		}
	}
	return true
}

// HasMany sets dst[i] to Has(hs[i]) for every i; see probe.HasMany.
func (f *Filter) HasMany(dst []bool, hs []filter.Hash) {
	probe.HasMany(len(f.Words), dst, hs, f.prefetch, probe.HasEach(f))
}

// prefetch prefetches the first two probes of at most probe.BatchSize keys.
func (f *Filter) prefetch(hs []filter.Hash) {
	var at [2 * probe.BatchSize]uint64
	for i, h := range hs {
		x := nextProbe(h.Lo % prime)
		at[2*i], at[2*i+1] = x%f.M, nextProbe(x)%f.M
	}
	bitvec.PrefetchBits(f.Words, at[:2*len(hs)])
}

// Add adds the key with hash h. The error is always nil. The program counts a key only if a bit was not set.
func (f *Filter) Add(h filter.Hash) error {
	f.set([]filter.Hash{h}, false)
	f.Keys++
	return nil
}

// set sets the bits of keys and does not count the keys. If shared, other goroutines do the same meanwhile.
func (f *Filter) set(hs []filter.Hash, shared bool) {
	for _, h := range hs {
		x := h.Lo % prime
		for range f.K {
			x = nextProbe(x)
			at := x % f.M
			w, bit := &f.Words[at/64], uint64(1)<<(at%64)
			switch {
			case !shared:
				*w |= bit
			case atomic.LoadUint64(w)&bit == 0: // a load leaves the cache line shared; a write takes it from other cores
				atomic.OrUint64(w, bit)
			}
		}
	}
}

// Info counts the set bits, which reads the whole filter. The prior rate does not count the classes of keys; the
// posterior rate does.
func (f *Filter) Info() filter.Info {
	i := probe.Config{Keys: f.Keys, M: f.M, K: f.K, Width: 1}.Info(f.Spec, f.Ones())
	if classes, few := classesOf(f.M); few {
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
	const work = 1 << 24 // bits to read, so that no file makes Info slow
	share := f.M / classes
	samples := min(classes, work/share/uint64(f.K)+1)
	r := rand.New(rand.NewPCG(1, f.M))

	for class := range samples {
		if samples < classes {
			class = r.Uint64N(classes)
		}
		x, rate := class, 1.0
		for i := 0; i < f.K && rate > 0; i++ {
			x = x * factor % classes
			ones := uint64(0)
			for at := x; at < f.M; at += classes {
				ones += f.Words[at/64] >> (at % 64) & 1
			}
			rate *= float64(ones) / float64(share)
		}
		mean += rate / float64(samples)
	}
	return mean
}

// bitsOf returns the sizes of the filter that the Config makes, without its words.
func (c Config) bitsOf(m uint64, k int) probe.Bits {
	return probe.Bits{M: m, K: k, Spec: Spec(m, k, cmp.Or(c.Room, c.Keys, 1))}
}

// Spec returns the Spec of a filter of m bits that was sized for room keys.
func Spec(m uint64, k int, room uint64) filter.Spec {
	return family.NewSpec(Family, "k", k, "m", m, "n", room)
}

// SectionWords returns the number of words of each section of a stored filter with this Spec. The error wraps
// filter.ErrConfig or filter.ErrTooLarge if no built filter has this Spec.
func SectionWords(s filter.Spec) ([]uint64, error) {
	c, err := builtConfig(s)
	return []uint64{(c.M + 63) / 64}, err
}

// Decode returns the filter that Encode stored; see probe.Bits.Decode.
func Decode(e family.Encoded) (*Filter, error) {
	c, err := builtConfig(e.Spec)
	b, err := c.bitsOf(c.M, c.K).Decode(e, c.M, err)
	return &Filter{b}, err
}

// builtConfig reads the canonical Spec of a built filter. It returns an error for any other Spec.
func builtConfig(s filter.Spec) (Config, error) {
	c, err := ConfigFromSpec(s, 0)
	switch {
	case err != nil:
		return c, err
	case c.Room == 0:
		return c, family.Invalid("spec", s, "want dcso(k=,m=,n=)")
	}
	return c, c.CheckBuilt(s, ",n=")
}
