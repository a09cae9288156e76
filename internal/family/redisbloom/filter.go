// Package redisbloom implements the Bloom filter of RedisBloom (BF.ADD and related commands), bit for bit: a chain of
// Bloom filters, called links, that grows with its keys. Each link has a larger capacity and a lower rate than the link
// before it. A Filter is a whole chain.
//
//	Hash (Lo, Hi): murmur64a-twice, Lo with a fixed seed, Hi with the seed Lo
//	  probe i = 0..k-1 of a link of m bits -> bit ((Lo + i·Hi) mod 2^64) mod m
//
// Has tests all links. Add does nothing if any link has the key, otherwise it adds the key to the last link. If the
// last link is at its capacity, Add first appends a link for growth times as many keys with half the rate; in a chain
// that does not grow, Add returns an error. Info.Keys counts the Adds that changed the chain. The order of Adds changes
// the chain: a Builder adds keys in the order of their hashes.
//
// Double hashing has a higher rate than independent probes in small links. The rates in Info account for this, see
// probe.Double; for chains of many links they account for it in the larger links only. Add skips keys that look
// present, so the prior rate, computed from the keys that it counted, is too low if it is above about 5%. Chains do not
// merge, in Redis or here.
package redisbloom

import (
	"fmt"
	"math"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/probe"
)

// Family is the name of the family in a Spec: redisbloom(links=1,words=188).
const Family = "redisbloom"

// MaxK is the largest number of probes per key: ⌈ln 2 · bits per key⌉ at the lowest rate that a float64 can represent.
const MaxK = 1075

// Link is one filter of a chain, as the header describes it.
type Link struct {
	Bits       uint64  // size, a multiple of 64
	Keys       uint64  // number of keys that were added
	Rate       float64 // false-positive rate at Capacity keys, in (0, 1)
	BitsPerKey float64
	K          int    // probes per key, 1 to MaxK
	Capacity   uint64 // number of keys that the link is sized for
}

// Filter is a chain. Any number of goroutines may query it at once. Add needs exclusive use.
type Filter struct {
	words  []uint64 // words of all links, one after the other; bit i of a link is bit i%64 of its word i/64
	links  []Link
	growth uint32
	scales bool
}

// hasKey reports whether all bits of the key with hash h are set in the words of a link.
func (l *Link) hasKey(words []uint64, h filter.Hash) bool {
	x := h.Lo
	for range l.K {
		if at := x % l.Bits; words[at/64]>>(at%64)&1 == 0 {
			return false
		}
		x += h.Hi
	}
	return true
}

// Has reports whether the key may be in the set. It tests the last and largest link first.
func (f *Filter) Has(h filter.Hash) bool {
	end := uint64(len(f.words))
	for i := len(f.links) - 1; i >= 0; i-- {
		l := &f.links[i]
		start := end - l.Bits/64
		if l.hasKey(f.words[start:end], h) {
			return true
		}
		end = start
	}
	return false
}

// HasMany sets dst[i] to Has(hs[i]) for every i; see probe.HasMany.
func (f *Filter) HasMany(dst []bool, hs []filter.Hash) {
	probe.HasMany(probe.InCache, dst, hs, f.prefetch, probe.HasEach(f))
}

// prefetch prefetches the first two probes in the last link of at most probe.BatchSize keys.
func (f *Filter) prefetch(hs []filter.Hash) {
	last := &f.links[len(f.links)-1]
	words := f.words[uint64(len(f.words))-last.Bits/64:]
	var at [2 * probe.BatchSize]uint64
	for i, h := range hs {
		at[2*i], at[2*i+1] = h.Lo%last.Bits, (h.Lo+h.Hi)%last.Bits
	}
	bitvec.PrefetchBits(words, at[:2*len(hs)])
}

// Add adds the key with hash h, unless it looks present. The error wraps filter.ErrFull if the chain is full and does
// not grow or has MaxLinks links, filter.ErrTooLarge if the next link is too large, or filter.ErrConfig if the rate of
// the next link would be too low for a float64. On error the filter is unchanged. A new link has at most 128 MiB, or 16
// times the size of the last link if that is more, so that an untrusted file cannot demand more.
func (f *Filter) Add(h filter.Hash) error {
	if f.Has(h) {
		return nil
	}

	if l := f.links[len(f.links)-1]; l.Keys >= l.Capacity {
		if err := f.appendLink(l); err != nil {
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

// A link of more than largeLink bits has at most maxStep times the size of the link before it. A file states capacities
// and growth, and one Add must not allocate memory out of proportion to the file.
const (
	largeLink = 1 << 30 // 128 MiB
	maxStep   = 16
)

// appendLink appends a link after last, the last one.
func (f *Filter) appendLink(last Link) error {
	if !f.scales || f.growth == 0 {
		return fmt.Errorf("a chain of %d keys that does not grow: %w", last.Keys, filter.ErrFull)
	}

	if len(f.links) == MaxLinks {
		return fmt.Errorf("a chain of %d links: %w", len(f.links), filter.ErrFull)
	}

	capacity := float64(last.Capacity) * float64(f.growth)
	if !(capacity < 1<<53) { // above, a float64 would round the capacity
		return fmt.Errorf("a link for %.3g keys: %w", capacity, filter.ErrTooLarge)
	}

	next, err := newLink(uint64(capacity), last.Rate/2, 0)
	if err != nil {
		return err
	}

	if next.Bits > largeLink && next.Bits/maxStep > last.Bits {
		return fmt.Errorf("the next link takes %d bytes, more than %d times the last one; reserve a chain of a larger "+
			"capacity: %w", next.Bits/8, maxStep, filter.ErrTooLarge)
	}

	words, err := bitvec.Alloc(uint64(len(f.words)) + next.Bits/64)
	if err != nil {
		return err
	}

	copy(words, f.words)
	f.words, f.links = words, append(f.links, next)
	return nil
}

// Links returns a copy of the links, and the growth: the capacity of a new link over the capacity of the link before
// it, or 0 if the chain does not grow.
func (f *Filter) Links() ([]Link, uint32) {
	if !f.scales {
		return append([]Link(nil), f.links...), 0
	}
	return append([]Link(nil), f.links...), f.growth
}

// FPR returns the rate that the chain was made for, the error rate of BF.RESERVE. The rates of the links add up to at
// most this rate.
func (f *Filter) FPR() float64 {
	if f.scales {
		return 2 * f.links[0].Rate
	}
	return f.links[0].Rate
}

// keyCount returns the number of keys in all links.
func (f *Filter) keyCount() (n uint64) {
	for _, l := range f.links {
		n += l.Keys
	}
	return n
}

// Info counts the set bits, which reads the whole filter. Bits, Fill and Capacity are for all links together.
func (f *Filter) Info() filter.Info {
	info := filter.Info{Spec: f.builtSpec(), Keys: f.keyCount(), Bits: 64 * uint64(len(f.words))}
	var set uint64
	var prior, posterior float64 // natural logarithms of the share of absent keys that no link reports as present
	words := f.words
	for _, l := range f.links {
		link, d := words[:l.Bits/64], l.doubleHashing(len(f.links))
		ones := bitvec.OnesCount(link)
		words = words[l.Bits/64:]
		set += ones
		if info.Capacity += l.Capacity; info.Capacity < l.Capacity {
			info.Capacity = math.MaxUint64 // capacities that a file states can overflow
		}
		prior += math.Log1p(-d.FPR(l.Keys))
		posterior += math.Log1p(-d.Posterior(link, ones))
	}

	info.Fill = float64(set) / float64(info.Bits)
	info.FPRPrior, info.FPRPosterior = max(0, -math.Expm1(prior)), max(0, -math.Expm1(posterior)) // not -0
	return info
}

// doubleHashing returns the double hashing of a link; links is the number of links in the chain.
func (l *Link) doubleHashing(links int) probe.Double {
	return probe.Double{Bits: l.Bits, K: l.K, Word: 64, Pairs: 1, Probe: probePosition, Parts: links}
}

// probePosition is the probe.Probe of the family.
func probePosition(start, step *[2]uint64, i int, m uint64) (uint64, int, bool) {
	return (start[0] + uint64(i)*step[0]) % m, 0, false
}
