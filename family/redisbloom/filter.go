// Package redisbloom is the Bloom filter of RedisBloom (BF.ADD and its kin), bit for bit: a chain of filters, each for more keys
// and a lower rate than the one before, so that it grows with its keys. A Filter is the whole chain.
//
//	Hash (Lo, Hi) is murmur64a-twice: Lo with a fixed seed, Hi with Lo as the seed
//	  probe i of a link of m bits -> bit (Lo + i·Hi modulo 2^64) mod m
//
// Has asks all links. Add adds nothing if one of them has the key, and else adds to the last one, behind which it first puts
// another if that has come to its number of keys: for growth times as many, at half the rate. A chain without growth is
// full then. The number of keys is that of the Adds that changed it. The order of Adds matters to a chain; a Builder
// takes it from the hashes.
//
// The rates that Info tells are those of independent probes. Double hashing has a higher one in links of a few hundred bits,
// where many keys have but a few different probes: a tenth more than Info tells for chains that begin at 40 keys and 30%. And
// Add passes over keys that look present, so that the prior rate, which goes by the keys that it counted, is too low above
// some 5%. Chains do not merge, in Redis or here.
package redisbloom

import (
	"fmt"
	"math"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/probe"
)

// Family is the name in a Spec: redisbloom(links=1,words=188).
const Family = "redisbloom"

// MaxK is the largest number of probes a key: ⌈ln 2 · the bits a key⌉ at the least rate that a float64 can be.
const MaxK = 1075

// Link is one filter of a chain, as its header describes it.
type Link struct {
	Bits       uint64  // a multiple of 64
	Keys       uint64  // how many were added
	Rate       float64 // of false positives, at Capacity keys
	BitsPerKey float64
	K          int // probes a key
	Capacity   uint64
}

// Filter is a chain. Reads are safe from any number of goroutines; Add needs exclusive use.
type Filter struct {
	words  []uint64 // of all links, one after the other; bit i of a link is bit i%64 of its word i/64
	links  []Link
	growth uint32
	scales bool
}

// in reports whether all bits of a key are set in the words of a link.
func (l *Link) in(words []uint64, h filter.Hash) bool {
	x := h.Lo
	for range l.K {
		if at := x % l.Bits; words[at/64]>>(at%64)&1 == 0 {
			return false
		}
		x += h.Hi
	}
	return true
}

// Has reports whether the key may be in the set. It asks the last link first.
func (f *Filter) Has(h filter.Hash) bool {
	end := uint64(len(f.words))
	for i := len(f.links) - 1; i >= 0; i-- {
		l := &f.links[i]
		start := end - l.Bits/64
		if l.in(f.words[start:end], h) {
			return true
		}
		end = start
	}
	return false
}

// batch is how many keys go together; see the standard family.
const batch = 32

// HasMany sets dst[i] to Has(hs[i]), having asked for the first two probes of a batch in the last link before it looks at
// any. dst must be as long as hs.
func (f *Filter) HasMany(dst []bool, hs []filter.Hash) {
	filter.CheckBatch(dst, hs)
	dst = dst[:len(hs)] // for the compiler: no bounds checks below
	last := &f.links[len(f.links)-1]
	words := f.words[uint64(len(f.words))-last.Bits/64:]
	var at [2 * batch]uint64
	for start := 0; start < len(hs); start += batch {
		group := hs[start:min(start+batch, len(hs))]
		for i, h := range group {
			at[2*i], at[2*i+1] = h.Lo%last.Bits, (h.Lo+h.Hi)%last.Bits
		}
		bitvec.PrefetchBits(words, at[:2*len(group)])
		for i, h := range group {
			dst[start+i] = f.Has(h)
		}
	}
}

// Add puts a key into the set, unless it looks present. An error wraps filter.ErrFull where the chain does not grow and is
// full, or filter.ErrTooLarge where there is no memory for another link.
func (f *Filter) Add(h filter.Hash) error {
	if f.Has(h) {
		return nil
	}
	if l := f.links[len(f.links)-1]; l.Keys >= l.Capacity {
		if err := f.grow(l); err != nil {
			return err
		}
	}
	l := &f.links[len(f.links)-1]
	words := f.words[uint64(len(f.words))-l.Bits/64:]
	x := h.Lo
	for range l.K {
		at := x % l.Bits
		words[at/64] |= 1 << (at % 64)
		x += h.Hi
	}
	l.Keys++
	return nil
}

// grow puts a link behind the last one.
func (f *Filter) grow(last Link) error {
	if !f.scales || f.growth == 0 {
		return fmt.Errorf("%d keys in a chain that does not grow: %w", last.Keys, filter.ErrFull)
	}
	if len(f.links) == MaxLinks {
		return fmt.Errorf("%d links: %w", len(f.links), filter.ErrFull)
	}
	capacity := float64(last.Capacity) * float64(f.growth)
	if !(capacity < 1<<53) {
		return fmt.Errorf("a link for %.3g keys: %w", capacity, filter.ErrTooLarge)
	}
	next, err := newLink(uint64(capacity), last.Rate/2, 0)
	if err != nil {
		return err
	}
	words, err := bitvec.Alloc(uint64(len(f.words)) + next.Bits/64)
	if err != nil {
		return err
	}
	copy(words, f.words)
	f.words, f.links = words, append(f.links, next)
	return nil
}

// Links returns a copy of the links, and how many times as many keys each is for as the one before, 0 if the chain does not
// grow.
func (f *Filter) Links() ([]Link, uint32) {
	if !f.scales {
		return append([]Link(nil), f.links...), 0
	}
	return append([]Link(nil), f.links...), f.growth
}

// keys returns how many keys the links hold.
func (f *Filter) keys() (n uint64) {
	for _, l := range f.links {
		n += l.Keys
	}
	return n
}

// Info counts the set bits, which reads the whole filter.
func (f *Filter) Info() filter.Info {
	info := filter.Info{Spec: f.spec(), Keys: f.keys(), Bits: 64 * uint64(len(f.words))}
	var set uint64
	var prior, posterior float64 // logarithms of the share of absent keys that all links say no to
	words := f.words
	for _, l := range f.links {
		ones := bitvec.OnesCount(words[:l.Bits/64])
		words = words[l.Bits/64:]
		set += ones
		if info.Capacity += l.Capacity; info.Capacity < l.Capacity {
			info.Capacity = math.MaxUint64 // it came from a file
		}
		prior += math.Log1p(-probe.FPR(l.Keys, l.Bits, l.K))
		posterior += math.Log1p(-math.Pow(float64(ones)/float64(l.Bits), float64(l.K)))
	}
	info.Fill = float64(set) / float64(info.Bits)
	info.FPRPrior, info.FPRPosterior = max(0, -math.Expm1(prior)), max(0, -math.Expm1(posterior)) // not -0
	return info
}
