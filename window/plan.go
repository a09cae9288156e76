package window

import (
	"fmt"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family/rankindexed"
)

// epochs is the number of epochs of TTL. There is one stamp more.
const (
	epochs    = 7
	stamps    = epochs + 1
	stampBits = 3
)

// overflow is the probability that the plan allows for a key to find no room, at some time of a full load.
const overflow = 1e-6

// mostBuckets is the largest number of buckets. See ring.groups.
const mostBuckets = 1 << 28

// steps is the number of loads that stand for all: buckets are of any age, uniformly.
const steps = 16

// loads returns the mean numbers of keys of buckets that the hand passed u = (i+½)/steps of an epoch ago, in units of
// the keys of an epoch, at the worst time.
//
// With even arrivals they are 7+u: at its pass a bucket keeps the keys of seven epochs. A burst of a share b of an epoch
// within a tenth of it is in the way of u most if one has just ended, and if the last one that a bucket still holds
// came at the end of its epoch: the times are then
//
//	A(x) = (1-b)·x                          arrivals of an epoch up to x, if its burst is at its end, for x < 0.9
//	A(x) = (1-b)·x + b·(x-0.9)/0.1          else
//	E    = (1-b)·0.1 + b                    arrivals of the running epoch, whose burst was its first tenth
//	7 + E - A(1.1-u)        for u >= 0.1    the oldest epoch is the 8th before, from 1.1-u on
//	6 + E + 1 - A(0.1-u)    for u < 0.1     the 7th before
func (c Config) loads() (all []float64) {
	const tenth = 0.1
	b := c.Burst
	arrived := func(x float64) float64 { return (1-b)*x + b*max(0, x-(1-tenth))/tenth }
	running := (1-b)*tenth + b
	for i := range steps {
		u := (float64(i) + 0.5) / steps
		if u < tenth {
			all = append(all, epochs+running-arrived(tenth-u))
		} else {
			all = append(all, epochs+1+running-arrived(1+tenth-u))
		}
	}
	return all
}

// plan returns the geometry of the table, and the number of keys that it holds in the mean when it is full.
//
// The loads of buckets differ, by chance and by their age. The table has extensions for buckets that are fuller than
// most; their number must suffice for the mixture of all loads: of B buckets, each exceeds z cells with probability
//
//	q(z) = mean over u of Pr[Poisson(load(u)·Keys/(7·B)) > z]
//
// and more than J of them do with at most twice the binomial tail Pr[Bin(B, q) > J] (Hua et al., ICNP 2008, section IV,
// which has one load for all; a sum of unequal trials has lighter tails than one of equal ones: Hoeffding, Annals of
// Mathematical Statistics 27, 1956).
func (c Config) plan() (rankindexed.Geometry, float64, error) {
	loads := c.loads()
	mean := 0.0
	for _, l := range loads {
		mean += l / steps
	}
	keys := float64(c.Keys) * mean / epochs
	g, err := rankindexed.PlanCells(rankindexed.CellsConfig{
		Keys: keys, FPR: c.fpr(), Overflow: overflow, ValueBits: stampBits, Loads: loads,
	})
	if err == nil && g.Buckets > mostBuckets {
		err = fmt.Errorf("%d keys: %w", c.Keys, filter.ErrTooLarge)
	}
	return g, keys, err
}
