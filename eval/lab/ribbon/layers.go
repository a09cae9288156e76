package ribbon

import (
	"context"
	"fmt"

	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/figure"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/family/ribbon"
)

// layers counts the keys of the layers, in a quarter of the trials.
func (s scale) layers(c experiment.Config) part {
	trials, widths := max(2, c.Trials/4), []int{64, 128}
	by := float64(s.rates * len(widths))
	p := part{work: by * float64(trials)}
	p.run = func(ctx context.Context, work *experiment.Work, result *figure.Result) error {
		one := func(ctx context.Context, trial int) ([][]float64, error) {
			var shares [][]float64
			hs := c.Hashes(s.rates, trial)
			for _, w := range widths {
				f, err := build(ctx, family.NewSpec("ribbon", "r", 8, "w", w), hs)
				if err != nil {
					return nil, err
				}
				shares = append(shares, bumped(f.(*ribbon.Filter).Layers(hs)))
			}
			return shares, nil
		}
		builds, err := experiment.Each(ctx, work, by, trials, one)
		if err != nil {
			return err
		}
		for i, w := range widths {
			for layer := 0; ; layer++ {
				var of []float64
				for _, b := range builds {
					if layer < len(b[i]) {
						of = append(of, b[i][layer])
					}
				}
				if len(of) == 0 {
					break
				}
				label := fmt.Sprintf("%d keys, w=%d: %% bumped by layer %d", s.rates, w, layer)
				row := atLeast0(figure.Mean(label, of))
				result.Rows = append(result.Rows, row.Noted("%d of %d filters have the layer", len(of), len(builds)))
			}
		}
		return nil
	}
	return p
}

// bumped returns the percentage of all keys that each layer bumps, from the numbers of keys of the layers and of the
// tail.
func bumped(counts []uint64) (percentages []float64) {
	all := uint64(0)
	for _, n := range counts {
		all += n
	}
	left := all
	for _, n := range counts[:len(counts)-1] {
		left -= n
		percentages = append(percentages, 100*float64(left)/float64(max(all, 1)))
	}
	return percentages
}
