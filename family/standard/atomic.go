package standard

import (
	"sync/atomic"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/probe"
)

// Atomic is a standard Bloom filter that any number of goroutines may add to and query at once. A key is present for
// every Has that begins after its Add returned.
type Atomic struct {
	f    Filter // its keys field is not used
	keys atomic.Uint64
}

// NewAtomic returns an empty filter for concurrent writers.
func NewAtomic(c Config) (*Atomic, error) {
	f, err := New(c)
	if err != nil {
		return nil, err
	}
	return &Atomic{f: *f}, nil
}

// Has reports whether the key may be in the set.
func (a *Atomic) Has(h filter.Hash) bool {
	x, by := h.Lo, probe.Mixer(h)
	for range a.f.k {
		at := probe.Position(x, a.f.m)
		x = probe.Mix(x, by)
		if atomic.LoadUint64(&a.f.words[at/64])>>(at%64)&1 == 0 {
			return false
		}
	}
	return true
}

// Add puts a key into the set. The error is always nil.
func (a *Atomic) Add(h filter.Hash) error {
	a.set(h)
	a.keys.Add(1)
	return nil
}

// set sets the bits of a key, writing only to words that lack one: lines that are already full stay shared.
func (a *Atomic) set(h filter.Hash) {
	x, by := h.Lo, probe.Mixer(h)
	for range a.f.k {
		at := probe.Position(x, a.f.m)
		x = probe.Mix(x, by)
		w, bit := &a.f.words[at/64], uint64(1)<<(at%64)
		if atomic.LoadUint64(w)&bit == 0 {
			atomic.OrUint64(w, bit)
		}
	}
}

// addMany prefetches the lines of a batch of keys before it sets them.
func (a *Atomic) addMany(hs []filter.Hash) {
	var at [MaxK]uint64
	const ahead = 4
	for i := range len(hs) + ahead {
		if i < len(hs) {
			x, by := hs[i].Lo, probe.Mixer(hs[i])
			for j := range a.f.k {
				at[j] = probe.Position(x, a.f.m)
				x = probe.Mix(x, by)
			}
			bitvec.PrefetchBits(a.f.words, at[:a.f.k])
		}
		if i >= ahead {
			a.set(hs[i-ahead])
		}
	}
	a.keys.Add(uint64(len(hs)))
}

// Info describes the filter; while others write it is a little behind.
func (a *Atomic) Info() filter.Info {
	var ones uint64
	for i := range a.f.words {
		w := atomic.LoadUint64(&a.f.words[i])
		ones += bitvec.OnesCount([]uint64{w})
	}
	keys, fill := a.keys.Load(), float64(ones)/float64(a.f.m)
	return filter.Info{
		Spec: a.f.spec(), Keys: keys, Bits: a.f.m, Fill: fill,
		FPRPrior: FPR(keys, a.f.m, a.f.k), FPRPosterior: posterior(fill, a.f.k),
	}
}

// Filter returns the plain form once all writers are done. It shares the bits: do not use the Atomic afterwards.
func (a *Atomic) Filter() *Filter {
	return &Filter{words: a.f.words, m: a.f.m, k: a.f.k, keys: a.keys.Load()}
}
