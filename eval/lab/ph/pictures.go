package ph

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/figure"
	"github.com/bloomery/bloomery/eval/plot"
)

// fig4 and fig8 draw a filter that is small enough to show all of it, and measure it.
var (
	fig4 = experiment.Experiment{
		Name: "ph-fig4", Source: Paper + ", figure 4", Varies: "groups of a small filter", Run: runGroupsPicture,
		Seconds: 1,
	}
	fig8 = experiment.Experiment{
		Name: "ph-fig8", Source: Paper + ", figure 8", Varies: "keys of a small filter", Run: runQueryPicture,
		Seconds: 1,
	}
)

// shown holds the parameters of the drawn filter. Its bitmap has 32 bits; the choices take 30.
var shown = published{n: 12, m: 62, g: 5, h: 8, k: 2}

// absentShown is the number of absent keys that the experiments draw or ask.
const absentShown = 10_000

// searchShown searches the drawn filter for the first set of keys with two keys or more in each group.
func searchShown(ctx context.Context, c *experiment.Config) (f found, with functions, members [][]int, err error) {
	for trial := 0; ; trial++ {
		with = shown.random(c.Hashes(shown.n+absentShown, trial))
		members = make([][]int, shown.g)
		for key := range shown.n {
			members[with.group(key)] = append(members[with.group(key)], key)
		}
		if !slices.ContainsFunc(members, func(keys []int) bool { return len(keys) < 2 }) {
			f, err = shown.search(ctx, with)
			return f, with, members, err
		}
	}
}

// functionNames lists the functions of a group: "h2 h5".
func (f found) functionNames(group int) string {
	var names []string
	for _, j := range slices.Sorted(slices.Values(f.Functions[group])) {
		names = append(names, fmt.Sprintf("h%d", j+1))
	}
	return strings.Join(names, " ")
}

func runGroupsPicture(ctx context.Context, c experiment.Config) (figure.Result, error) {
	result := c.Begin(1)
	f, _, members, err := searchShown(ctx, &c)
	if err != nil {
		return result, err
	}
	groups, pool := plot.Column{Name: "groups by h0"}, plot.Column{Name: "functions"}
	users := make([]int, f.h)
	var arrows []plot.Arrow
	for i, keys := range members {
		text := fmt.Sprintf("%d:", i+1)
		for _, key := range keys {
			text += fmt.Sprintf(" %c", 'a'+key)
		}
		groups.Boxes = append(groups.Boxes, plot.Box{Text: text, Color: i + 1})
		arrows = append(arrows, plot.Arrow{From: [2]int{0, 0}, To: [2]int{1, i}, Color: i + 1})
		for _, j := range f.Functions[i] {
			users[j]++
			arrows = append(arrows, plot.Arrow{From: [2]int{1, i}, To: [2]int{2, j}, Color: i + 1})
		}
	}
	several := 0.
	for j, n := range users {
		pool.Boxes = append(pool.Boxes, plot.Box{Text: fmt.Sprintf("h%d", j+1)})
		if n > 1 {
			several++
		}
	}
	set := plot.Column{Name: "set", Boxes: []plot.Box{{Text: fmt.Sprintf("%d keys", f.n)}}}
	result.Rows = []figure.Row{
		figure.Exact("groups", float64(f.g)),
		figure.Exact("functions that several groups use", several),
		figure.Exact("fill", f.Fills[len(f.Fills)-1]).Noted("without a search about %.2f",
			1-math.Exp(-float64(f.n*f.k)/float64(f.bits()))),
	}
	result.Plots = []figure.Plot{{
		Name: "ph-fig4", Title: fmt.Sprintf("Each group chooses %d of %d functions", f.k, f.h),
		Diagram: &plot.Diagram{Columns: []plot.Column{set, groups, pool}, Arrows: arrows},
	}}
	c.Progress(1)
	return result, nil
}

func runQueryPicture(ctx context.Context, c experiment.Config) (figure.Result, error) {
	result := c.Begin(1)
	f, with, _, err := searchShown(ctx, &c)
	if err != nil {
		return result, err
	}
	absent := f.n // a key of another group than key 0, with a bit that is not set
	for with.group(absent) == with.group(0) || f.has(with, absent) {
		absent++
	}
	queries := plot.Column{Name: "key", Boxes: []plot.Box{{Text: "a, in the set"}, {Text: "x, absent"}}}
	groups, filter := plot.Column{Name: "group by h0"}, plot.Column{Name: "filter"}
	for i := range f.g {
		box := plot.Box{Text: fmt.Sprintf("%d: %s", i+1, f.functionNames(i))}
		if i == with.group(0) || i == with.group(absent) {
			box.Color = i + 1
		}
		groups.Boxes = append(groups.Boxes, box)
	}
	for _, set := range f.Set {
		filter.Boxes = append(filter.Boxes, plot.Box{Full: set})
	}
	var arrows []plot.Arrow
	for i, key := range []int{0, absent} {
		group := with.group(key)
		queries.Boxes[i].Color = group + 1
		arrows = append(arrows, plot.Arrow{From: [2]int{0, i}, To: [2]int{1, group}, Color: group + 1})
		for _, j := range f.Functions[group] {
			arrows = append(arrows,
				plot.Arrow{From: [2]int{1, group}, To: [2]int{2, int(with.bit(key, j))}, Color: group + 1})
		}
	}
	tally := f.over(with, f.n, f.n+absentShown)
	result.Rows = []figure.Row{
		figure.Exact("keys of the set that are in the filter", float64(f.over(with, 0, f.n).Hits)).
			Against(float64(f.n), 0),
		tally.Row("p_o", f.rate()),
		figure.Exact("p_a", f.rate()),
	}
	result.Plots = []figure.Plot{{
		Name: "ph-fig8", Title: fmt.Sprintf("A query: h0 selects the group, its %d functions the bits", f.k),
		Diagram: &plot.Diagram{Columns: []plot.Column{queries, groups, filter}, Arrows: arrows},
	}}
	c.Progress(1)
	return result, nil
}
