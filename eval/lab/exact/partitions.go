package exact

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/figure"
)

// Partitions of the experiment: their sizes are proportional to 1/i, and their shares of members are log-uniform.
const (
	partitions              = 300
	leastDensity, mostDense = 0.0001, 0.6
	// overEntropy is the limit of the ratio of the bits of a set to the entropy of its partitions, for 10 million keys.
	overEntropy = 1.10
)

// randomUniverse returns a universe of about the given number of keys in partitions.
func randomUniverse(keys int, seed uint64) universe {
	r := rand.New(rand.NewPCG(seed, 0x7061727469))
	u := universe{seed: seed}
	sum := 0.
	for i := range partitions {
		sum += 1 / float64(i+1)
	}
	for i := range partitions {
		size := int(float64(keys) / (float64(i+1) * sum))
		density := leastDensity * math.Pow(mostDense/leastDensity, r.Float64())
		u.partitions = append(u.partitions, partition{size, int(math.Round(float64(size) * density))})
	}
	return u
}

// divided builds sets of keys in partitions of different densities, and sets of the same keys without partitions.
func divided(ctx context.Context, c experiment.Config, work *experiment.Work, keys int, result *figure.Result) error {
	one := func(ctx context.Context, i int) ([]float64, error) {
		u := randomUniverse(keys, c.Seed+uint64(i))
		with, err := u.build(ctx, true)
		if err != nil {
			return nil, err
		}
		without, err := u.build(ctx, false)
		bound := u.entropy()
		return []float64{
			float64(with.info.Bits) / bound, float64(without.info.Bits) / bound, with.info.BitsPerMember,
			bound / float64(with.info.Members), float64(with.wrong + without.wrong),
		}, err
	}
	built, err := experiment.Each(ctx, work, float64(keys), c.Trials, one)
	if err != nil {
		return err
	}
	columns := experiment.Columns(built)
	over, alone, bits, bound := columns[0], columns[1], columns[2], columns[3] // over the entropy; bits per member
	wrong := 0.
	for _, n := range columns[4] {
		wrong += n
	}
	label := fmt.Sprintf("%d keys in %d partitions: ", keys, partitions)
	worst := figure.Exact(label+"bits over their entropy, worst", slices.Max(over))
	if keys >= limitedKeys {
		worst = experiment.AtMost(worst, overEntropy)
	}
	result.Add(figure.Mean(label+"bits over their entropy", over), worst,
		figure.Mean(label+"bits over their entropy, without partitions", alone),
		figure.Mean(label+"bits per member", bits), figure.Mean(label+"entropy per member", bound),
		experiment.AtMost(figure.Exact(label+"wrong answers", wrong), 0))
	with, without := figure.Curve{Name: "partitions", Dots: true}, figure.Curve{Name: "no partitions", Dots: true}
	for i := range over {
		with.AddPoint(bound[i], over[i])
		without.AddPoint(bound[i], alone[i])
	}
	result.Plots = append(result.Plots, figure.Plot{
		Name: "exact-partitions", Title: fmt.Sprintf("Exact sets of %d keys in %d partitions", keys, partitions),
		X: "entropy of the partitions, bits per member", Y: "bits over this entropy",
		Curves: []figure.Curve{with, without, figure.Level("entropy", 1, 1)},
	})
	return nil
}
