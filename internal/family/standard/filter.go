// Package standard implements the Bloom filter of 1970 (B. H. Bloom, CACM 13): m bits, k probes per key, any m.
//
//	Hash (Lo, Hi)
//	  probe 0:  x0 = Lo                    -> bit ⌊x0·m / 2^64⌋
//	  probe 1:  x1 = rotl(9·x0, 25) + Hi   -> bit ⌊x1·m / 2^64⌋
//	  probe 2:  x2 = rotl(9·x1, 25) + Hi   -> ...
//
// rotl rotates a word to the left; see package probe. Lo determines the first probe; Lo and Hi together determine the
// others.
//
// Plain double hashing, h1 + i·h2, is not enough. Reduced to m positions it gives about m² different sequences, so an
// absent key shares all of its bits with some present key with a probability near n/m². For n = 1000 at 24 bits per key
// this alone is a sixth of the promised 1e-5. TestObservedRate measures small n at many bits per key, where such an
// error would show. The tests of internal/probe measure pairs of probes.
package standard

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/kernel"
	"github.com/bloomery/bloomery/internal/probe"
)

// Family is the name in a Spec: standard(k=7,m=95851).
const Family = "standard"

// MaxK is the largest number of probes per key. It is optimal up to 92 bits per key.
const MaxK = probe.MaxK

// Filter is a standard Bloom filter. Any number of goroutines may read it at once; Add, Merge and Intersect need
// exclusive use. Concurrent is the form for concurrent writers.
type Filter struct{ probe.Bits }

// together is the number of probes that Has tests before it branches. If half of the bits are set, a branch after each
// probe would be mispredicted for every other absent key; after three probes one absent key in eight remains.
const together = 3

// Has reports whether the key may be in the set. It stops after the first three probes whose bits are not all set.
func (f *Filter) Has(h filter.Hash) bool {
	words, m, k := f.Words, f.M, f.K
	x, by := h.Lo, h.Hi
	for ; k > together; k -= together {
		all := bitvec.Bit(words, probe.Position(x, m))
		x = probe.Next(x, by)
		all &= bitvec.Bit(words, probe.Position(x, m))
		x = probe.Next(x, by)
		all &= bitvec.Bit(words, probe.Position(x, m))
		x = probe.Next(x, by)
		if all&1 == 0 {
			return false
		}
	}

	all := bitvec.Bit(words, probe.Position(x, m))
	for ; k > 1; k-- {
		x = probe.Next(x, by)
		all &= bitvec.Bit(words, probe.Position(x, m))
	}
	return all&1 != 0
}

// Probe is kernel.Prober.
func (f *Filter) Probe() kernel.Probe {
	k := f.kernel()
	return k.Probe()
}

func (f *Filter) kernel() kernel.Bits { return kernel.Bits{Words: f.Words, M: f.M, K: uint64(f.K)} }

// Add adds a key. The error is always nil.
func (f *Filter) Add(h filter.Hash) error {
	x, by := h.Lo, h.Hi
	for range f.K {
		at := probe.Position(x, f.M)
		f.Words[at/64] |= 1 << (at % 64)
		x = probe.Next(x, by)
	}
	f.Keys++
	return nil
}

// Fold is family.Folder; the places are the bits.
func (f *Filter) Fold(d uint64) family.Filter {
	all := f.Words
	for ; d%2 == 0 && d <= 8; d /= 2 {
		f.halve()
	}
	if d > 1 {
		f.unite(d)
	}
	f.Words = bitvec.Shrunk(all, uint64(len(f.Words)))
	f.Spec = Spec(f.M, f.K)
	return f
}

// unite is Fold without halve, in the same array.
func (f *Filter) unite(d uint64) {
	f.M /= d
	n, at := (f.M+63)/64, uint64(0)
	for i := range n {
		var folded uint64
		for bit := range min(64, f.M-64*i) { // is any of the bits [at, at+d) set?
			first, last := at/64, (at+d-1)/64
			any := f.Words[first] >> (at % 64)
			if first == last {
				any <<= 64 - d
			} else {
				for _, w := range f.Words[first+1 : last] {
					any |= w
				}
				any |= f.Words[last] << (63 - (at+d-1)%64)
			}
			folded |= (any | -any) >> 63 << bit // without a branch, which would be mispredicted
			at += d
		}
		f.Words[i] = folded // the words up to this one were read before
	}
	f.Words = f.Words[:n]
}

// halve is unite(2), in a fifth of the time.
func (f *Filter) halve() {
	f.M /= 2
	n := (f.M + 63) / 64
	for i := range n {
		low, high := f.Words[2*i], uint64(0)
		if 2*i+1 < uint64(len(f.Words)) {
			high = f.Words[2*i+1]
		}
		f.Words[i] = evenBits(low|low>>1) | evenBits(high|high>>1)<<32
	}
	f.Words = f.Words[:n]
}

// evenBits returns the bits 0, 2, 4 ... of x side by side.
func evenBits(x uint64) uint64 {
	x &= 0x5555555555555555
	x = (x | x>>1) & 0x3333333333333333
	x = (x | x>>2) & 0x0f0f0f0f0f0f0f0f
	x = (x | x>>4) & 0x00ff00ff00ff00ff
	x = (x | x>>8) & 0x0000ffff0000ffff
	return (x | x>>16) & 0x00000000ffffffff
}

// Info counts the set bits, which reads the whole filter.
func (f *Filter) Info() filter.Info { return f.infoFor(f.Keys, bitvec.OnesCount(f.Words)) }

// infoFor describes a filter with these numbers of keys and set bits.
func (f *Filter) infoFor(keys, ones uint64) filter.Info {
	return probe.Config{Keys: keys, M: f.M, K: f.K, Width: 1}.Info(f.Spec, ones)
}

// bitsOf returns the sizes of a filter, without its words.
func bitsOf(m uint64, k int) probe.Bits { return probe.Bits{M: m, K: k, Spec: Spec(m, k)} }

// Spec returns the Spec of a filter of m bits.
func Spec(m uint64, k int) filter.Spec { return family.NewSpec(Family, "m", m, "k", k) }

// SectionWords returns the number of words of each section of a stored filter with this Spec. The error wraps
// filter.ErrConfig or filter.ErrTooLarge if the Spec does not fix a geometry.
func SectionWords(s filter.Spec) ([]uint64, error) {
	c, err := probe.Built(s, 1)
	return []uint64{(c.M + 63) / 64}, err
}

// Decode returns the filter that Encode stored; see probe.Bits.Decode.
func Decode(e family.Encoded) (*Filter, error) {
	c, err := probe.Built(e.Spec, 1)
	b, err := bitsOf(c.M, c.K).Decode(e, c.M, err)
	return &Filter{b}, err
}
