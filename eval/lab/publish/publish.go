// Package publish measures the cost of keeping the readers of a set up to date. A few domains of a list are replaced
// every day. The package builds the filter of every version in each family, and the deltas between versions.
// docs/guides/publish.md shows the results.
package publish

import (
	"context"
	"fmt"
	"strings"

	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/figure"
)

// Experiments returns the experiments of this room in the order in which they are shown.
func Experiments() []experiment.Experiment { return []experiment.Experiment{daily} }

// daily publishes a version per day.
var daily = experiment.Experiment{
	Name: "publish", Source: "docs/guides/publish.md", Varies: "family, room for later keys", Run: run, Seconds: 60,
}

// scale is the size of a run.
type scale struct {
	keys, days, absent int
	short, long        int // days of the jumps
}

var (
	full  = scale{keys: 133_604, days: 100, absent: 300_000, short: 7, long: 30}
	quick = scale{keys: 6000, days: 10, absent: 20_000, short: 3, long: 10}
)

// kind is a way to build and to change a set.
type kind struct {
	name    string
	spec    string  // ROOM in the spec stands for a number of keys:
	room    float64 // a share of the keys of the first day
	shards  int     // 0: a file
	trimmed bool    // the form for transfer
	inPlace bool    // keys are removed and added, instead of a new build like the version of the day before
	curve   bool    // whether the plots show it
}

// targets are limits of the bytes per day, by family.
var targets = map[string]int{
	"standard": 2500, "blocked": 2500, "partitioned": 1500, "blockpartitioned": 1500, "rankindexed": 950,
}

// target returns the target of the family, or 0 for none.
func (k kind) target() int {
	family, _, _ := strings.Cut(k.spec, "(")
	return targets[family]
}

// kinds are the rows of the table. The searched families have room for the new keys of 30 or of 100 days.
var kinds = []kind{
	{name: "standard", spec: "standard(fpr=0.01,capacity=ROOM)", room: 1.003, curve: true},
	{name: "standard, k=6", spec: "standard(fpr=0.01,k=6,capacity=ROOM)", room: 1.007},
	{name: "standard, k=4", spec: "standard(fpr=0.01,k=4,capacity=ROOM)", room: 1.007},
	{name: "blocked", spec: "blocked(fpr=0.01,capacity=ROOM)", room: 1.007, curve: true},
	{name: "blocked, k=4", spec: "blocked(fpr=0.01,k=4,capacity=ROOM)", room: 1.007},
	{name: "partitioned", spec: "partitioned(fpr=0.01)"},
	{name: "partitioned, 30 days", spec: "partitioned(fpr=0.01,later=ROOM)", room: 0.045, curve: true},
	{name: "partitioned, k=4, 30 days", spec: "partitioned(fpr=0.01,k=4,later=ROOM)", room: 0.045},
	{name: "partitioned, 100 days", spec: "partitioned(fpr=0.01,later=ROOM)", room: 0.125},
	{name: "partitioned, k=4, 100 days", spec: "partitioned(fpr=0.01,k=4,later=ROOM)", room: 0.125},
	{name: "partitioned, k=3, 100 days", spec: "partitioned(fpr=0.01,k=3,later=ROOM)", room: 0.14, curve: true},
	{name: "blockpartitioned", spec: "blockpartitioned(fpr=0.01)"},
	{name: "blockpartitioned, 30 days", spec: "blockpartitioned(fpr=0.01,later=ROOM)", room: 0.045},
	{name: "blockpartitioned, k=4, 100 days", spec: "blockpartitioned(fpr=0.01,k=4,later=ROOM)", room: 0.12, curve: true},
	{name: "rankindexed", spec: "rankindexed(fpr=0.01,capacity=ROOM)", room: 1.003, trimmed: true, curve: true},
	{name: "rankindexed, full form", spec: "rankindexed(fpr=0.01,capacity=ROOM)", room: 1.003},
	{name: "rankindexed, full form, in place", spec: "rankindexed(fpr=0.01,capacity=ROOM)", room: 1.003, inPlace: true},
	{name: "counting", spec: "counting(fpr=0.01,capacity=ROOM)", room: 1.007},
	{name: "standard, k=6, 4 shards", spec: "standard(fpr=0.01,k=6)", shards: 4},
	{name: "partitioned, k=3, 100 days, 4 shards", spec: "partitioned(fpr=0.01,k=3,later=ROOM)", room: 0.14, shards: 4},
	{name: "rankindexed, 4 shards", spec: "rankindexed(fpr=0.01,capacity=ROOM)", room: 1.003, shards: 4, trimmed: true},
}

func run(ctx context.Context, c experiment.Config) (figure.Result, error) {
	result := c.Begin(1)
	s := full
	if c.Quick {
		s = quick
	}
	h := newHistory(s.keys, s.days, s.absent, c.Seed)
	work := c.Work(float64(len(kinds) + 1))
	tracks, err := experiment.Each(ctx, work, 1, len(kinds), func(ctx context.Context, i int) (*track, error) {
		t, err := follow(ctx, kinds[i], s, h)
		if err != nil {
			err = fmt.Errorf("%s: %w", kinds[i].name, err)
		}
		return t, err
	})
	if err != nil {
		return result, err
	}
	lists, err := h.listRows(ctx)
	if err != nil {
		return result, err
	}
	ignored, err := s.ignoredRows(ctx, h)
	if err != nil {
		return result, err
	}
	work.Step(1)
	for _, t := range tracks {
		result.Add(t.rows()...)
	}
	result.Rows = append(append(result.Rows, lists...), ignored...)
	result.Plots = plots(tracks)
	result.Notes = append(result.Notes, fmt.Sprintf(
		"%d domains (cmd/bloomery/domains), %d days; each day %d made-up domains take the place of others. Each version "+
			"is built like the one before, and each delta was applied and its result compared.",
		s.keys, s.days, len(h.days[0].at)))
	return result, nil
}
