package publish

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/eval/lab/figure"
	"github.com/bloomery/bloomery/internal/drift"
)

// rows returns the numbers of a kind of sets.
func (t *track) rows() (rows []figure.Row) {
	add := func(label string, r figure.Row) {
		r.Label = t.name + ": " + label
		rows = append(rows, r)
	}
	day := figure.Mean("", t.sizes)
	if t.target() > 0 {
		day = day.Noted("%s: at most %d", kept(day.Measured <= float64(t.target())), t.target())
	}
	add("bytes per day", day)
	add("bytes per day, most", figure.Exact("", slices.Max(t.sizes)))
	add(fmt.Sprintf("bytes of %d days at once", t.scale.short), figure.Mean("", t.short))
	long := figure.Mean("", t.long)
	if t.target() == 950 {
		long = long.Noted("%s: at most 18000", kept(slices.Max(t.long) <= 18_000))
	}
	add(fmt.Sprintf("bytes of %d days at once", t.scale.long), long)
	add("bytes of the whole set", figure.Exact("", float64(t.whole)))
	if t.packed > 0 {
		add("bytes of zstd beside the day before", figure.Exact("", float64(t.packed)))
	}
	for i := range 3 {
		today := i * t.days / 2
		rate := t.rates[today].FPRPosterior
		add(fmt.Sprintf("rate on day %d", today), figure.Exact("", rate))
		add(fmt.Sprintf("observed rate on day %d", today), t.seen[today].Row("", rate))
	}
	over := 0
	for _, r := range t.rates {
		if r.FPRPosterior > t.planned {
			over++
		}
	}
	middle := drift.Of(t.planned, t.rates[:t.scale.long+1])
	add("releases over the promise", figure.Exact("", float64(over)).Noted(
		"of %d; a rate of %g; drift on day %d: %s", len(t.rates), t.planned, t.scale.long, middle))
	return rows
}

func kept(ok bool) string {
	if ok {
		return "target kept"
	}
	return "target missed"
}

// listRows returns the size of the list itself: whole, and compressed by zstd for a reader that has the list of the day
// before.
func (h *history) listRows(ctx context.Context) ([]figure.Row, error) {
	list := slices.Clone(h.first)
	var sizes []float64
	for i, d := range h.days {
		before := slices.Clone(list)
		d.apply(list)
		if i%(len(h.days)/3) != 0 { // zstd takes a second
			continue
		}
		n, err := packed(text(list), text(before))
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		sizes = append(sizes, float64(n))
	}
	return []figure.Row{
		figure.Exact("list of the keys: bytes", float64(len(text(h.first)))),
		figure.Mean("list of the keys: bytes of zstd beside the day before", sizes),
	}, nil
}

// text returns the sorted list as a file.
func text(list []string) []byte {
	sorted := slices.Clone(list)
	slices.Sort(sorted)
	return []byte(strings.Join(sorted, "\n") + "\n")
}

// ignoredRows returns the rates of filters that get the new keys and also keep the removed ones.
func (s scale) ignoredRows(ctx context.Context, h *history) (rows []figure.Row, err error) {
	for _, spec := range []string{"standard(fpr=0.01)", "partitioned(fpr=0.01)"} {
		set, err := bloomery.Build(ctx, slices.Values(h.first), bloomery.Config{Spec: spec})
		if err != nil {
			return nil, err
		}
		add := func(today int) {
			label := fmt.Sprintf("%s, keys never removed: rate on day %d", spec, today)
			rows = append(rows, figure.Exact(label, set.Info().FPRPosterior))
		}
		add(0)
		for today, d := range h.days {
			for _, k := range d.fresh {
				if err := set.AddString(k); err != nil {
					return nil, err
				}
			}
			if today+1 == s.long || today+1 == s.days && s.days != s.long {
				add(today + 1)
			}
		}
	}
	return rows, nil
}

// plots returns the bytes and the rates of all days.
func plots(tracks []*track) []figure.Plot {
	bytes := figure.Plot{
		Name: "publish-bytes", Title: "Bytes of the delta of each day", X: "day", Y: "bytes", LogY: true,
	}
	rates := figure.Plot{
		Name: "publish-rate", Title: "False-positive rate of each day", X: "day", Y: "rate",
		Curves: []figure.Curve{figure.Level("promise", 0, 0.01)},
	}
	observed := figure.Curve{Name: "observed, with 95% intervals", Dots: true}
	for _, t := range tracks {
		if !t.curve {
			continue
		}
		size, rate := figure.Curve{Name: t.name}, figure.Curve{Name: t.name}
		for i, n := range t.sizes {
			size.AddPoint(float64(i+1), n)
		}
		for i, r := range t.rates {
			rate.AddPoint(float64(i), r.FPRPosterior)
		}
		bytes.Curves, rates.Curves = append(bytes.Curves, size), append(rates.Curves, rate)
		for _, today := range slices.Sorted(maps.Keys(t.seen)) {
			t.seen[today].AddTo(&observed, float64(today), t.rates[today].FPRPosterior)
		}
	}
	rates.Curves = append(rates.Curves, observed)
	return []figure.Plot{bytes, rates}
}
