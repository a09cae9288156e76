package ribbon

import (
	"context"

	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/figure"
	"github.com/bloomery/bloomery/internal/family"
)

// manyBuilds counts failed builds and lost keys in builds of few keys. Half of the builds have 0, 1, 2, ... keys, the
// other half have evenly spaced numbers of keys up to the largest.
func (s scale) manyBuilds(c experiment.Config) part {
	by := float64(s.most) / 4 // keys of the mean build, roughly
	p := part{work: by * float64(s.builds)}
	p.run = func(ctx context.Context, work *experiment.Work, result *figure.Result) error {
		type outcome struct {
			lost   uint64
			failed error
		}
		one := func(ctx context.Context, i int) (o outcome, _ error) {
			n := i / 2
			if i%2 == 1 {
				n = s.most * i / (s.builds - 1)
			}
			hs := c.Hashes(n, 2_000_000+i)
			f, err := build(ctx, family.NewSpec("ribbon", "r", 1+i%16, "w", 64+64*(i/16%2)), hs)
			switch {
			case ctx.Err() != nil:
				return o, ctx.Err()
			case err != nil:
				o.failed = err
			default:
				o.lost = uint64(n) - has(f, hs)
			}
			return o, nil
		}
		outcomes, err := experiment.Each(ctx, work, by, s.builds, one)
		if err != nil {
			return err
		}
		var failed, lost float64
		var first error
		for _, o := range outcomes {
			lost += float64(o.lost)
			if o.failed != nil && first == nil {
				first = o.failed
			}
			if o.failed != nil {
				failed++
			}
		}
		row := figure.Exact("builds that failed", failed).Noted("of %d with 0 to %d keys", s.builds, s.most)
		if first != nil {
			row = row.Noted("%s; the first: %v", row.Note, first)
		}
		result.Rows = append(result.Rows,
			experiment.AtMost(row, 0), experiment.AtMost(figure.Exact("keys lost in these builds", lost), 0))
		return nil
	}
	return p
}
