package ph

import (
	"context"
	"fmt"

	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/figure"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/family/blockpartitioned"
	"github.com/bloomery/bloomery/internal/family/partitioned"
	"github.com/bloomery/bloomery/internal/family/standard"
)

// lateKeys measures the effect of keys that are added after the search, in filters of one size for all keys (section
// 5.3). Filters that know the number of later keys have fewer slots.
var lateKeys = experiment.Experiment{
	Name: "ph-late", Source: Paper + ", section 5.3", Varies: "share of keys added after the build",
	Run: runLate, Seconds: 13,
}

func runLate(ctx context.Context, c experiment.Config) (figure.Result, error) {
	result := c.Begin(5)
	n := c.Size(20_000, 4000)
	size := family.Sizing{Bytes: uint64(n)} // 8 bits for each of all keys
	plot := figure.Plot{
		Name: "ph-late", Title: fmt.Sprintf("Keys that come after the search, 8 bits for each of n = %d in the end", n),
		X: "% of the keys that came late", Y: "false positive rate", LogY: true,
	}
	searched := func(later uint64) (family.Builder, error) {
		return partitioned.NewBuilder(partitioned.Config{Size: size, Later: later, Workers: 1})
	}
	inBlocks := func(later uint64) (family.Builder, error) {
		return blockpartitioned.NewBuilder(blockpartitioned.Config{Size: size, Later: later, Workers: 1})
	}
	families := []struct {
		name      string
		announced bool // whether the search knows the number of later keys
		make      func(later uint64) (family.Builder, error)
	}{
		{"standard", false, func(uint64) (family.Builder, error) {
			return standard.NewBuilder(standard.Config{Keys: uint64(n), Size: size})
		}},
		{"partitioned", false, searched}, {"partitioned, announced", true, searched},
		{"blockpartitioned", false, inBlocks}, {"blockpartitioned, announced", true, inBlocks},
	}
	const step, most = 5, 50
	lates := most/step + 1
	rates, err := experiment.Each(ctx, c.Work(float64(len(families)*lates*c.Trials)), 1, len(families)*lates*c.Trials,
		func(ctx context.Context, i int) (float64, error) {
			kind, late, trial := i/c.Trials/lates, i/c.Trials%lates*step, i%c.Trials
			hs := c.Hashes(n, trial)
			early := n - n*late/100
			later := uint64(n - early)
			if !families[kind].announced {
				later = 0
			}
			b, err := families[kind].make(later)
			built, err := experiment.Build(ctx, b, err, hs[:early])
			if err != nil {
				return 0, err
			}
			if err := experiment.AddAll(built.(family.Adder), hs[early:]); err != nil {
				return 0, err
			}
			return built.Info().FPRPosterior, nil
		})
	if err != nil {
		return result, err
	}
	for _, f := range families {
		curve := figure.Curve{Name: f.name}
		for late := 0; late <= most; late += step {
			r := figure.Mean(fmt.Sprintf("%s, %d%% late", f.name, late), rates[:c.Trials])
			rates = rates[c.Trials:]
			curve.AddPoint(float64(late), r.Measured)
			result.Add(r)
		}
		plot.Curves = append(plot.Curves, curve)
	}
	result.Plots = []figure.Plot{plot}
	return result, nil
}
