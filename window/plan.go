package window

import (
	"fmt"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family/rankindexed"
)

// epochs is the number of epochs per TTL. stamps is one more, for the running epoch.
const (
	epochs    = 7
	stamps    = epochs + 1
	stampBits = 3
)

// overflow is the accepted probability that some key finds no room while the filter is as full as planned.
const overflow = 1e-6

// extensionShare returns the largest share of the buckets with an extension at their fullest, in which operations take
// twice as long. At a million keys and 1% the limit costs 0.15 bits per key and gives 18% of the buckets an extension
// instead of 33%. At low rates, where a cell has more bits, it would cost more.
func (c Config) extensionShare() float64 {
	if c.chosenFPR() < 0.005 {
		return 0.55
	}
	return 0.5
}

// mostBuckets is the largest number of buckets. See ring.groups.
const mostBuckets = 1 << 28

// steps is the largest number of loads that represent all buckets, whose ages are uniformly distributed.
const steps = 16

// few is the number of keys beyond Keys for which the filter always has room, so that up to few keys need not arrive
// evenly. As long as at most Keys keys arrive within TTL, at most 2·Keys are in memory. The room costs 0.6 kB.
const few = 300

// tenth is the share of an epoch to which Config.Burst refers, and the smallest burst.
const tenth = 0.1

// burstShare returns Burst or its default.
func (c Config) burstShare() float64 { return max(c.Burst, tenth) }

// guaranteedKeys returns the number of keys for which the filter always has room, however they arrive.
func (c Config) guaranteedKeys() float64 { return float64(c.Keys + min(c.Keys, few)) }

// meanKeys returns the mean number of keys in memory when the filter is full, or guaranteedKeys if that is more.
func (c Config) meanKeys() float64 {
	mean := 0.0
	for i := range steps {
		mean += c.meanLoad((float64(i)+0.5)/steps) / steps // the middle of each step: the midpoint rule
	}
	return max(mean, c.guaranteedKeys())
}

// meanLoad returns the mean total number of keys in all buckets if the hand had passed all of them u epochs ago, at the
// worst time.
//
// With even arrivals it is 7+u times the keys of an epoch: when the hand passes a bucket, it keeps the keys of seven
// epochs. If a share b of the keys of an epoch arrives within a tenth of it, a bucket is fullest when such a burst has
// just ended, at the first tenth of the running epoch, and when its oldest burst was in the last tenth of an epoch.
// Then
//
//	A(x) = (1-b)·x/0.9                     arrivals of the oldest epoch up to x, for x < 0.9
//	A(x) = (1-b) + b·(x-0.9)/0.1           for others
//	8 + b - A(1.1-u)     for u >= 0.1      the oldest epoch is the eighth before the running one, from 1.1-u on
//	7 + b - A(0.1-u)     for u < 0.1       the seventh
//
// For b = 0.1 this is 7+u again.
func (c Config) meanLoad(u float64) float64 {
	b := c.burstShare()
	arrived := func(x float64) float64 {
		return (1-b)*min(1, x/(1-tenth)) + b*max(0, x-(1-tenth))/tenth
	}
	load := epochs + b - arrived(tenth-u)
	if u >= tenth {
		load = epochs + 1 + b - arrived(1+tenth-u)
	}
	return load * float64(c.Keys) / epochs
}

// relativeLoads divides the buckets into equal shares and returns the mean load of each share, relative to the mean of
// all. The ages of two successive buckets differ by 1/buckets of an epoch. The buckets are fullest just before the hand
// passes one: with two buckets, the ages are then 1/2 and 1.
func (c Config) relativeLoads(buckets uint64) []float64 {
	n := min(buckets, steps)
	mean, all := c.meanKeys(), make([]float64, n)
	for i := range all {
		u := (float64(i)+0.5)/float64(n) + 0.5/float64(buckets)
		all[i] = max(c.meanLoad(u), c.guaranteedKeys()) / mean
	}
	return all
}

// planTable returns the geometry of the table.
//
// The loads of buckets differ by chance and by their age. The table has extensions for the fullest buckets; the number
// of extensions must suffice for the mixture of all loads. Each of B buckets exceeds z cells with probability
//
//	q(z) = mean over u of Pr[Poisson(load(u)/B) > z]
//
// and more than J of them do with at most twice the binomial tail Pr[Bin(B, q) > J] (Hua et al., ICNP 2008, section
// IV). The paper assumes one load for all buckets. Its bound also holds for unequal loads, because a sum of unequal
// trials has lighter tails than a sum of equal trials (Hoeffding, Annals of Mathematical Statistics 27, 1956).
func (c Config) planTable() (rankindexed.Geometry, error) {
	g, err := rankindexed.PlanCells(rankindexed.CellsConfig{
		Keys: c.meanKeys(), Most: 2 * c.Keys, FPR: c.chosenFPR(), Overflow: overflow, Extended: c.extensionShare(),
		ValueBits: stampBits, Loads: c.relativeLoads,
	})
	if err == nil && g.Buckets > mostBuckets {
		err = fmt.Errorf("%d keys: %w", c.Keys, filter.ErrTooLarge)
	}
	return g, err
}
