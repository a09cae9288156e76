package partitioned

import (
	"math"

	"github.com/bloomery/bloomery/internal/bitvec"
)

// prior returns p_b, the rate before the search, as the paper defines it: the rate of n keys with random shifts in a
// standard filter with the bits of the bitmaps. Late keys move the rate towards it. Config.Forecast predicts the rate
// after a search.
func (g geometry) prior(n uint64) float64 {
	empty := float64(g.k) * float64(n) * math.Log1p(-1/float64(g.shards*g.bits+1))
	return math.Pow(-math.Expm1(empty), float64(g.k))
}

// posterior returns p_a. An absent key has a random group and random base positions. Its slot l finds a set bit with a
// probability that is the share of set bits among those that the shift of the slot reaches, and p_a is the mean over
// the groups of the product of these shares. With the fill f that is about f^k: not every shift reaches the 31 bits at
// either end of a shard.
func (f *Filter) posterior() float64 { return f.after(0) }

// after returns the posterior rate to expect after that many more keys with the present shifts. They set some of the
// empty bits that a slot reaches.
func (f *Filter) after(keys float64) float64 {
	// The share of empty bits that stay empty. In a small filter every shift reaches only the middle, where most of the
	// later bits are.
	empty := math.Exp(keys * float64(f.k) * math.Log1p(-1/float64(f.geometry.shards*f.base()+1)))
	var sum float64
	reach := make([]float64, 1<<f.width)
	for s := range f.geometry.shards {
		f.shares(s, reach)
		for j := range f.groups {
			rate := 1.0
			for l := range f.k {
				rate *= 1 - (1-reach[f.shift(s*f.groups+j, l)])*empty
			}
			sum += rate
		}
	}
	return sum / float64(f.geometry.shards*f.groups)
}

// shares sets reach[c] to the share of set bits among those that shift c reaches from all base positions of a shard.
func (f *Filter) shares(shard uint64, reach []float64) {
	first, base := shard*f.bits, f.base()
	ones := bitvec.OnesIn(f.bitmap, first, first+base)
	for c := range uint64(len(reach)) {
		reach[c] = float64(ones) / float64(base)
		ones -= f.bit(first + c)
		ones += f.bit(first + c + base)
	}
}

func (f *Filter) bit(i uint64) uint64 { return f.bitmap[i/64] >> (i % 64) & 1 }
