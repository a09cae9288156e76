package ph

import (
	"context"
	"fmt"
	"time"

	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/figure"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/family/blockpartitioned"
	"github.com/bloomery/bloomery/internal/family/partitioned"
)

// buildTime measures how the rate falls with the time of a build on one core. Builds run one after the other, so that
// they do not disturb each other.
var buildTime = experiment.Experiment{
	Name: "ph-time", Source: "docs/families/partitioned.md", Varies: "time of a build on one core, per key", Run: runTime,
	Seconds: 107,
}

func runTime(ctx context.Context, c experiment.Config) (figure.Result, error) {
	result := c.Begin(3)
	n, most := c.Size(30_000, 5000), c.Size(4096, 64)
	plot := figure.Plot{
		Name: "ph-time", Title: fmt.Sprintf("Rate and build time, 8 bits per key, n = %d", n),
		X: "µs per key on one core", Y: "false positive rate", LogX: true, LogY: true,
	}
	inBlocks := func(bits uint64) func(passes int) (family.Builder, error) {
		return func(passes int) (family.Builder, error) {
			return blockpartitioned.NewBuilder(
				blockpartitioned.Config{Effort: filter.Effort{Passes: passes}, Workers: 1, Block: bits},
			)
		}
	}
	families := []struct {
		name string
		make func(passes int) (family.Builder, error)
	}{
		{"partitioned", func(passes int) (family.Builder, error) {
			return partitioned.NewBuilder(partitioned.Config{Effort: filter.Effort{Passes: passes}, Workers: 1})
		}},
		{"blockpartitioned, 512 bits", inBlocks(512)}, {"blockpartitioned, 1024 bits", inBlocks(1024)},
	}
	for i, f := range families {
		curve := figure.Curve{Name: f.name}
		for passes := 4; passes <= most; passes *= 2 {
			var rates, times []float64
			for trial := -1; trial < c.Trials; trial++ {
				b, err := f.make(passes)
				start := time.Now()
				built, err := experiment.Build(ctx, b, err, c.Hashes(n, trial))
				if err != nil {
					return result, err
				}
				if trial < 0 {
					continue // the first build also searches for a geometry, which the others reuse
				}
				times = append(times, float64(time.Since(start).Nanoseconds())/float64(n)/1000)
				rates = append(rates, built.Info().FPRPosterior)
			}
			µs, _, _ := figure.MeanInterval(times)
			r := figure.Mean(fmt.Sprintf("%s, %d passes", f.name, passes), rates).Noted("%.2f µs per key", µs)
			curve.AddPoint(µs, r.Measured)
			result.Add(r)
			c.Progress((float64(i) + float64(passes)/float64(most)) / float64(len(families)))
		}
		plot.Curves = append(plot.Curves, curve)
	}
	plot.Curves = append(plot.Curves, figure.Level("published search", 1, 0.0098), figure.Level("standard", 1, 0.0216))
	result.Plots = []figure.Plot{plot}
	return result, nil
}
