package saha

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/figure"
	"github.com/bloomery/bloomery/eval/lab/paper"
	"github.com/bloomery/bloomery/internal/probe"
)

// universal compares the universal families with random hashing, on random and on structured keys.
var universal = experiment.Experiment{
	Name: "saha-universal", Source: experiment.SahaSlides + ", strongly 2-wise and 3-wise universal hashing",
	Varies: "family and keys", Run: runUniversal, Seconds: 12,
}

const (
	universalKeys = 10_000
	universalBits = 80_000
	universalK    = 6

	universalAbsent = 3 * universalKeys
)

// universalFamily draws the functions of a filter for some keys.
type universalFamily struct {
	name string
	draw func(r *rand.Rand, keys []uint64) paper.Positions
}

var universalFamilies = []universalFamily{
	// Every key is hashed only once, so fresh random numbers act as a random function.
	{"random", func(r *rand.Rand, _ []uint64) paper.Positions {
		return func(int, int) uint64 { return r.Uint64N(universalBits) }
	}},
	{"2-wise", func(r *rand.Rand, keys []uint64) paper.Positions {
		return positions(paper.DrawUniversals(r, universalK, 1), keys)
	}},
	{"3-wise", func(r *rand.Rand, keys []uint64) paper.Positions {
		return positions(paper.DrawUniversals(r, universalK, 2), keys)
	}},
	{"2-wise, one a for all k", func(r *rand.Rand, keys []uint64) paper.Positions {
		fs := paper.DrawUniversals(r, universalK, 1)
		for _, f := range fs {
			f[0] = fs[0][0]
		}
		return positions(fs, keys)
	}},
}

// positions returns the positions of keys under the functions.
func positions(fs []paper.Universal, keys []uint64) paper.Positions {
	return paper.Polynomials(fs, universalBits, func(i int) uint64 { return keys[i] })
}

// universalKeySets are the sets of keys, all below p. Keys from universalKeys on are absent.
var universalKeySets = []struct {
	name, file string
	make       func(r *rand.Rand) func(i int) uint64
}{
	{"random keys", "random", func(r *rand.Rand) func(int) uint64 {
		return func(int) uint64 { return r.Uint64N(paper.Mersenne) }
	}},
	{"consecutive integers, absent ones go on", "consecutive", multiplesOf(1)},
	{"multiples of 4096, absent ones go on", "multiples", multiplesOf(4096)},
	{"every fourth integer, absent ones between them", "between", func(r *rand.Rand) func(int) uint64 {
		start := r.Uint64N(paper.Mersenne / 2)
		return func(i int) uint64 {
			if i < universalKeys {
				return start + 4*uint64(i)
			}
			i -= universalKeys
			return start + 4*uint64(i/3) + 1 + uint64(i%3)
		}
	}},
}

// multiplesOf returns keys at equal distances, starting at a random key.
func multiplesOf(step uint64) func(r *rand.Rand) func(int) uint64 {
	return func(r *rand.Rand) func(int) uint64 {
		start := r.Uint64N(paper.Mersenne / 2)
		return func(i int) uint64 { return start + step*uint64(i) }
	}
}

func runUniversal(ctx context.Context, c experiment.Config) (figure.Result, error) {
	result := c.Begin(1000)
	formula := probe.FPR(universalKeys, universalBits, universalK)
	oneA := figure.Plot{
		Name: "saha-universal-one-a", Title: fmt.Sprintf("Rates of %d draws: 2-wise with one a for all k", c.Trials),
		X: drawsAxis, Y: "false positive rate",
	}
	w := c.Work(float64(c.Trials * len(universalKeySets)))
	for s, set := range universalKeySets {
		rates, err := experiment.Each(ctx, w, 1, c.Trials, func(ctx context.Context, trial int) ([]float64, error) {
			r := rand.New(rand.NewPCG(c.Seed, uint64(s*c.Trials+trial)))
			keys := make([]uint64, universalKeys+universalAbsent)
			key := set.make(r)
			for i := range keys {
				keys[i] = key(i)
			}
			var rates []float64
			for _, f := range universalFamilies {
				_, rate := paper.ObservedBits(f.draw(r, keys), universalKeys, universalAbsent, universalBits,
					universalK)
				rates = append(rates, rate)
			}
			return rates, nil
		})
		if err != nil {
			return result, err
		}
		plot := figure.Plot{
			Name: "saha-universal-" + set.file, Title: fmt.Sprintf("Rates of %d draws: %s", c.Trials, set.name),
			X: drawsAxis, Y: "false positive rate",
		}
		for i, v := range experiment.Columns(rates) {
			r := figure.Mean(fmt.Sprintf("%s: %s", set.name, universalFamilies[i].name), v)
			slices.Sort(v)
			r = r.Noted("worst draw %.4f, best %.4f; the formula gives %.5f", v[len(v)-1], v[0], formula)
			result.Add(r)
			if curve := draws(v); i < len(universalFamilies)-1 {
				curve.Name = universalFamilies[i].name
				plot.Curves = append(plot.Curves, curve)
			} else {
				curve.Name = set.name
				oneA.Curves = append(oneA.Curves, curve)
			}
		}
		level := figure.Level("formula", 0, formula)
		plot.Curves = append(plot.Curves, level)
		if result.Plots = append(result.Plots, plot); s == len(universalKeySets)-1 {
			oneA.Curves = append(oneA.Curves, level)
			result.Plots = append(result.Plots, oneA)
		}
	}
	result.Notes = []string{
		"A draw is a filter with its own functions; each is queried for 30,000 absent keys. p is the prime 2^61-1, " +
			"and the arithmetic is exact.",
		"On random keys both families behave like random hashing. On consecutive keys the mean of the 2-wise family " +
			"over all draws is still right, but single draws are not: (ax+b) mod p advances in steps of a, so that " +
			"the difference of two keys decides whether they collide, except at a wrap around p, and all pairs with " +
			"that difference collide together. A draw is good or bad, and a filter keeps its draw. The squares of " +
			"the 3-wise family prevent this.",
		"One a for all k is not in the slides, but an obvious shortcut: the k positions of a key then differ by " +
			"constants, except at a wrap around p, and k probes tell little more than one, even on random keys.",
	}
	return result, nil
}

// drawsAxis is the label of the axis of draws.
const drawsAxis = "share of the draws with at most this rate"

// draws returns sorted rates as a curve over the share of the draws, with about 200 points.
func draws(v []float64) (c figure.Curve) {
	for j, rate := range v {
		if j%max(1, len(v)/200) == 0 || j == len(v)-1 {
			c.AddPoint((float64(j)+1)/float64(len(v)), rate)
		}
	}
	return c
}
