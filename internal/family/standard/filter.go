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
	"fmt"

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
type Filter struct {
	words []uint64 // bit i is bit i%64 of word i/64; bits from m on are 0
	m     uint64
	k     int
	keys  uint64
}

// together is the number of probes that Has tests before it branches. If half of the bits are set, a branch after each
// probe would be mispredicted for every other absent key; after three probes one absent key in eight remains.
const together = 3

// Has reports whether the key may be in the set. It stops after the first three probes whose bits are not all set.
func (f *Filter) Has(h filter.Hash) bool {
	words, m, k := f.words, f.m, f.k
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

func (f *Filter) kernel() kernel.Bits { return kernel.Bits{Words: f.words, M: f.m, K: uint64(f.k)} }

// Add adds a key. The error is always nil.
func (f *Filter) Add(h filter.Hash) error {
	x, by := h.Lo, h.Hi
	for range f.k {
		at := probe.Position(x, f.m)
		f.words[at/64] |= 1 << (at % 64)
		x = probe.Next(x, by)
	}
	f.keys++
	return nil
}

// Merge adds the keys of other to f; see bitvec.Merge. The filters must have the same m and k.
func (f *Filter) Merge(other family.Filter, passed func([]uint64)) error {
	return bitvec.Merge(f, &f.keys, other, passed)
}

// Intersect reduces f to the keys that are in both filters and some false positives; see bitvec.Intersect.
func (f *Filter) Intersect(other family.Filter, passed func([]uint64)) error {
	return bitvec.Intersect(f, &f.keys, other, passed)
}

// Fold is family.Folder; the places are the bits.
func (f *Filter) Fold(d uint64) family.Filter {
	all := f.words
	for ; d%2 == 0 && d <= 8; d /= 2 {
		f.halve()
	}
	if d > 1 {
		f.unite(d)
	}
	f.words = bitvec.Shrunk(all, uint64(len(f.words)))
	return f
}

// unite is Fold without halve, in the same array.
func (f *Filter) unite(d uint64) {
	f.m /= d
	n, at := (f.m+63)/64, uint64(0)
	for i := range n {
		var folded uint64
		for bit := range min(64, f.m-64*i) { // is any of the bits [at, at+d) set?
			first, last := at/64, (at+d-1)/64
			any := f.words[first] >> (at % 64)
			if first == last {
				any <<= 64 - d
			} else {
				for _, w := range f.words[first+1 : last] {
					any |= w
				}
				any |= f.words[last] << (63 - (at+d-1)%64)
			}
			folded |= (any | -any) >> 63 << bit // without a branch, which would be mispredicted
			at += d
		}
		f.words[i] = folded // the words up to this one were read before
	}
	f.words = f.words[:n]
}

// halve is unite(2), in a fifth of the time.
func (f *Filter) halve() {
	f.m /= 2
	n := (f.m + 63) / 64
	for i := range n {
		low, high := f.words[2*i], uint64(0)
		if 2*i+1 < uint64(len(f.words)) {
			high = f.words[2*i+1]
		}
		f.words[i] = evenBits(low|low>>1) | evenBits(high|high>>1)<<32
	}
	f.words = f.words[:n]
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
func (f *Filter) Info() filter.Info { return f.infoFor(f.keys, bitvec.OnesCount(f.words)) }

// infoFor describes a filter with these numbers of keys and set bits.
func (f *Filter) infoFor(keys, ones uint64) filter.Info {
	return probe.Config{Keys: keys, M: f.m, K: f.k, Width: 1}.Info(f.builtSpec(), ones)
}

// Cells describes the bits.
func (f *Filter) Cells() family.Cells { return probe.Cells(f.m, f.k) }

// Free returns the number of bits that are 0 in both filters. It returns the errors of Merge.
func (f *Filter) Free(other family.Filter) (uint64, error) { return bitvec.Free(f, other, f.m) }

func (f *Filter) builtSpec() filter.Spec { return family.NewSpec(Family, "m", f.m, "k", f.k) }

// Encode returns one section of ⌈m/64⌉ words. Bit i of the filter is bit i%64 of word i/64. Bits from m on are 0.
func (f *Filter) Encode() family.Encoded {
	return family.Encoded{Spec: f.builtSpec(), Keys: f.keys, Sections: [][]uint64{f.words}}
}

// SectionWords returns the number of words of each section of a stored filter with this Spec. The error wraps
// filter.ErrConfig or filter.ErrTooLarge if the Spec does not fix a geometry.
func SectionWords(s filter.Spec) ([]uint64, error) {
	m, _, err := probe.Built(s, 1)
	return []uint64{(m + 63) / 64}, err
}

// Decode makes a filter from its stored form, as Encode returns it. The filter shares the words. Decode returns an
// error if the sections do not have the sizes of SectionWords or if bits from m on are set.
func Decode(e family.Encoded) (*Filter, error) {
	m, k, err := probe.Built(e.Spec, 1)
	if err := e.CheckSections([]uint64{(m + 63) / 64}, err); err != nil {
		return nil, err
	}

	words := e.Sections[0]
	if !bitvec.ZeroFrom(words, m) { // else Info would count bits that no query reads
		return nil, fmt.Errorf("bits from m=%d on are set", m)
	}
	return &Filter{words: words, m: m, k: k, keys: e.Keys}, nil
}
