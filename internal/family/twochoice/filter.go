// Package twochoice is a Bloom filter whose keys choose among c groups of positions (Lumetta and Mitzenmacher, "Using
// the power of two choices to improve Bloom filters", Internet Mathematics 4, 2007). Group s of a key is group 0
// shifted by s bits. Thus k windows of c bits contain all groups of a key, and bit s of the windows is group s:
//
//	Hash    Hi·shards = shard·2^64 + by,  x0 = Lo,  x1 = rotl(9·x0, 25) + by,  x2 = rotl(9·x1, 25) + by, ...
//	window  i is bits [p, p+c) of the shard, p = ⌊x_i·(bits-c+1) / 2^64⌋: windows never leave their shard
//	Add     sets bit s of all windows, for the s that sets the fewest new bits
//	Has     is true if the AND of the k windows is not 0
//	rate    1 - (1 - f^k)^c,  f the share of set bits
//
// The paper has c·k independent positions and asks whether dependent groups do as well. They do: the rate is the same,
// and a query reads k places instead of c·k and stops at the first zero of the AND.
//
// Keys are added one by one to a filter from New, which needs no capacity (the online solution of the paper). A Builder
// has all keys before it starts. It makes many passes over them; each pass takes every key out and chooses its group
// again (offline).
//
// The shard uses the integer part of Hi·shards and the positions its fraction, which keys of one shard do not share;
// without shards, the positions are the probes of family standard; see package probe. A shard is a separate filter for
// about 16 Ki keys: its search fits the caches, and several shards are searched at once.
package twochoice

import (
	"fmt"
	"math/bits"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/kernel"
	"github.com/bloomery/bloomery/internal/probe"
)

// Family is the name in a Spec: twochoice(bits=80000,choices=3,k=9,shards=1).
const Family = "twochoice"

// Filter is a Bloom filter with choices. Reads are safe from any number of goroutines; Add needs exclusive use.
// Concurrent is the form for concurrent writers.
type Filter struct {
	geometry
	words    []uint64 // shard s is bits [s·bits, (s+1)·bits); at least 64 more bits follow, which are 0
	keys     uint64
	late     uint64 // how many of the keys were added after the search
	searched uint64 // bits that were set at the end of the search; 0 without a search
}

// geometry describes the sizes of a filter.
type geometry struct {
	shards  uint64
	bits    uint64 // of a shard
	choices int
	k       int
}

// shardOf returns the shard of a key.
func (g geometry) shardOf(h filter.Hash) uint64 { return probe.Position(h.Hi, g.shards) }

// wordCount returns the number of words of all shards. The last one is 0, so that bitvec.Load57 may read a window at
// the end.
func (g geometry) wordCount() uint64 { return (g.shards*g.bits+63)/64 + 1 }

// starts returns the number of positions in a shard at which a window may start.
func (g geometry) starts() uint64 { return g.bits - uint64(g.choices) + 1 }

func (g geometry) String() string {
	return fmt.Sprintf("%d shards of %d bits, %d groups of k=%d", g.shards, g.bits, g.choices, g.k)
}

// walk yields the windows of a key.
type walk struct {
	start  uint64 // first bit of the shard
	starts uint64
	x, by  uint64
}

// walkKey starts the walk of a key.
func (g geometry) walkKey(h filter.Hash) walk {
	shard, by := bits.Mul64(h.Hi, g.shards)
	return walk{start: shard * g.bits, starts: g.starts(), x: h.Lo, by: by}
}

// next returns the first bit of the next window.
func (w *walk) next() (at uint64) {
	at = w.start + probe.Position(w.x, w.starts)
	w.x = probe.Next(w.x, w.by)
	return at
}

// Has reports whether the key may be in the set.
func (f *Filter) Has(h filter.Hash) bool { return f.groups(h) != 0 }

// together is the number of windows that are read before a branch. With three choices and half of the bits set, one
// absent key in six remains after four windows.
const together = 4

// groups returns the groups of a key whose bits are all set, as bits, or 0 as soon as none is left.
func (f *Filter) groups(h filter.Hash) uint64 {
	words, w, k := f.words, f.walkKey(h), f.k
	all := uint64(1)<<(f.choices&63) - 1
	for ; k > together; k -= together {
		all &= bitvec.Load57(words, w.next())
		all &= bitvec.Load57(words, w.next())
		all &= bitvec.Load57(words, w.next())
		all &= bitvec.Load57(words, w.next())
		if all == 0 {
			return 0
		}
	}

	for ; k > 0; k-- {
		all &= bitvec.Load57(words, w.next())
	}
	return all
}

// Probes returns the number of windows that a query reads if it stops at the first zero of the AND.
func (f *Filter) Probes(h filter.Hash) (n int) {
	w, all := f.walkKey(h), uint64(1)<<f.choices-1
	for n < f.k && all != 0 {
		all &= bitvec.Load57(f.words, w.next())
		n++
	}
	return n
}

// Add adds a key by the group that sets the fewest new bits (section 3.1). Ties are broken at random by the Hash. A
// position that a group has twice counts twice. The error is always nil.
func (f *Filter) Add(h filter.Hash) error {
	var room [MaxK]uint64
	var fresh freshBits
	at, w, words := room[:f.k], f.walkKey(h), f.words
	for i := range at {
		at[i] = w.next()
		fresh.count(bitvec.Load57(words, at[i]))
	}

	s := fresh.fewest(f.choices, w.x)
	for _, u := range at {
		words[(u+s)/64] |= 1 << ((u + s) % 64)
	}
	f.keys++
	if f.searched > 0 { // a filter from New has no late keys
		f.late++
	}
	return nil
}

// freshBits counts the new bits of each group of a key, a byte per group.
type freshBits [maxChoices / 8]uint64

// count counts the zeros of a window.
func (b *freshBits) count(window uint64) {
	b[0] += zeros[uint8(window)]
	b[1] += zeros[uint8(window>>8)]
}

// fewest returns the first of the groups with the fewest new bits, from a random one on, which x chooses.
func (b *freshBits) fewest(choices int, x uint64) (group uint64) {
	c, fresh, lowest := uint64(choices), b[0], ^uint64(0)
	for s, distance := uint64(0), c-1-probe.Position(x, c); s < c; s++ {
		if s == 8 {
			fresh = b[1]
		}
		lowest = min(lowest, fresh&0xff<<16|distance<<8|s) // the number of new bits, then the distance
		fresh >>= 8
		if distance++; distance == c {
			distance = 0
		}
	}
	return lowest & 0xff
}

// zeros counts the zeros of eight groups at once: byte s is 1 if bit s of the index is 0. The sums of MaxK windows fit
// a byte.
var zeros = func() (zeros [256]uint64) {
	for i := range zeros {
		for s := range 8 {
			zeros[i] |= uint64(^i>>s&1) << (8 * s)
		}
	}
	return zeros
}()

// Info describes the filter. It reads the whole filter to count bits.
func (f *Filter) Info() filter.Info {
	total := f.shards * f.bits
	ones, rate := f.census()
	return filter.Info{
		Spec: f.builtSpec(), Keys: f.keys, Late: f.late, Bits: total,
		Fill:         float64(ones) / float64(total),
		FillSearched: float64(f.searched) / float64(total),
		FPRPrior:     f.priorRate(f.keys),
		FPRPosterior: rate,
	}
}

func (f *Filter) builtSpec() filter.Spec {
	return family.NewSpec(Family, "bits", f.bits, "choices", f.choices, "k", f.k, "shards", f.shards)
}

// Probe is kernel.Prober.
func (f *Filter) Probe() kernel.Probe {
	if !f.wholeBytes() {
		return kernel.Probe{}
	}
	k := f.kernel()
	return k.Probe()
}

// wholeBytes reports whether all shards begin at a byte, as the kernel needs.
func (g geometry) wholeBytes() bool { return g.shards == 1 || g.bits%8 == 0 }

func (f *Filter) kernel() kernel.Windows {
	k := kernel.Windows{
		Words: f.words, Starts: f.starts(), K: uint64(f.k), Shards: f.shards, Bytes: f.bits / 8, All: 1<<f.choices - 1,
		More: MaxK,
	}
	if f.choices > 4 { // many absent keys are left after the first windows
		k.More = 6
	}
	return k
}

// HasMany sets dst[i] to Has(hs[i]); see probe.HasMany.
func (f *Filter) HasMany(dst []bool, hs []filter.Hash) {
	family.CheckBatch(dst, hs)
	if k := f.kernel(); f.wholeBytes() && k.HasMany(dst, hs) {
		return
	}
	probe.HasMany(len(f.words), dst, hs, f.prefetch, probe.HasEach(f))
}

// prefetch prefetches the first windows of at most probe.BatchSize keys.
func (f *Filter) prefetch(hs []filter.Hash) {
	var room [probe.BatchSize * together]uint64
	at := room[:0]
	for _, h := range hs {
		w := f.walkKey(h)
		for range min(together, f.k) {
			at = append(at, w.next())
		}
	}
	bitvec.PrefetchBits(f.words, at)
}
