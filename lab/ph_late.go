package lab

import (
	"context"
	"fmt"

	"github.com/bloomery/bloomery/family/blockpartitioned"
	"github.com/bloomery/bloomery/family/partitioned"
	"github.com/bloomery/bloomery/family/standard"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/stat"
)

// phLate shows what keys do that are added after the search, in filters of one size for all keys (section 5.3). Filters that
// were told how many would come have fewer slots.
var phLate = Experiment{
	Name: "ph-late", Source: "partitioned hashing, section 5.3", Varies: "share of keys added after the build", Run: runLate,
}

func runLate(ctx context.Context, c Config) (Result, error) {
	result := c.begin(5)
	n := 20_000
	if c.Quick {
		n = 4000
	}
	size := filter.Sizing{Bytes: uint64(n)} // 8 bits for each of all keys
	plot := Plot{
		Name: "ph-late", Title: fmt.Sprintf("Keys that come after the search, 8 bits for each of n = %d in the end", n),
		X: "% of the keys that came late", Y: "false positive rate", LogY: true,
	}
	families := []struct {
		name string
		make func(later uint64) (filter.Builder, error)
	}{
		{"standard", func(uint64) (filter.Builder, error) {
			return standard.NewBuilder(standard.Config{Keys: uint64(n), Size: size})
		}},
		{"partitioned", func(uint64) (filter.Builder, error) {
			return partitioned.NewBuilder(partitioned.Config{Size: size})
		}},
		{"partitioned, told", func(later uint64) (filter.Builder, error) {
			return partitioned.NewBuilder(partitioned.Config{Size: size, Later: later})
		}},
		{"blockpartitioned", func(uint64) (filter.Builder, error) {
			return blockpartitioned.NewBuilder(blockpartitioned.Config{Size: size})
		}},
		{"blockpartitioned, told", func(later uint64) (filter.Builder, error) {
			return blockpartitioned.NewBuilder(blockpartitioned.Config{Size: size, Later: later})
		}},
	}
	const step, most = 5, 50
	for i, f := range families {
		curve := Curve{Name: f.name}
		for late := 0; late <= most; late += step {
			var rates []float64
			for trial := range c.Trials {
				hs := c.hashes(n, trial)
				early := n - n*late/100
				b, err := f.make(uint64(n - early))
				built, err := build(ctx, b, err, hs[:early])
				if err != nil {
					return result, err
				}
				for _, h := range hs[early:] {
					if err := built.(filter.Adder).Add(h); err != nil {
						return result, err
					}
				}
				rates = append(rates, built.Info().FPRPosterior)
			}
			rate, low, high := stat.MeanInterval(rates)
			curve.Points = append(curve.Points, [2]float64{float64(late), rate})
			result.Rows = append(result.Rows, Row{Label: fmt.Sprintf("%s, %d%% late", f.name, late), Measured: rate, Low: low, High: high})
			c.Progress((float64(i) + float64(late+step)/(most+step)) / float64(len(families)))
		}
		plot.Curves = append(plot.Curves, curve)
	}
	result.Plots = []Plot{plot}
	return result, nil
}
