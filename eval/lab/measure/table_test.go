package measure

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
)

// TestWithPoint requires the shorter times of a point that is measured twice. A search that was cut short must get the
// build time of fewer keys at its rate.
func TestWithPoint(t *testing.T) {
	var points []families.CostPoint
	for _, p := range []families.CostPoint{
		{Keys: 100, FPR: 0.1, Present: 5, Absent: 9, Build: 70},
		{Keys: 100, FPR: 0.01, Present: 50, Absent: 50, Build: 700},
		{Keys: 100, FPR: 0.1, Present: 7, Absent: 6, Build: 80},
		{Keys: 1000, FPR: 0.1, Present: 8, Absent: 8},
	} {
		points = withPoint(points, p)
	}
	want := []families.CostPoint{
		{Keys: 100, FPR: 0.1, Present: 5, Absent: 6, Build: 70},
		{Keys: 100, FPR: 0.01, Present: 50, Absent: 50, Build: 700},
		{Keys: 1000, FPR: 0.1, Present: 8, Absent: 8, Build: 70},
	}
	if !slices.Equal(points, want) {
		t.Errorf("%+v, want %+v", points, want)
	}
}

// TestInTable checks that the kinds of one family are replaced, with times as if the machine had the speed of the
// table.
func TestInTable(t *testing.T) {
	point := func(time float64) []families.CostPoint {
		return []families.CostPoint{{Keys: 1000, FPR: 0.01, Present: time, Absent: 2 * time, Build: 3 * time}}
	}
	table := families.CostTable{
		Machine: "then", Keyed: 7, Memory: map[string]float64{"fuse": 30, "ribbon": 5, "standard": 1},
		Kinds: map[string][]families.CostPoint{"fuse": point(10), "ribbon": point(99), "standard": point(8)},
	}
	now := families.CostTable{
		Machine: "now", Memory: map[string]float64{"fuse": 31, "ribbon": 16, "ribbon(w=128)": 17},
		Kinds: map[string][]families.CostPoint{"fuse": point(20), "ribbon": point(60), "ribbon(w=128)": point(70)},
	}
	got := inTable(table, now, "ribbon")
	for kind, want := range map[string]float64{"fuse": 10, "ribbon": 30, "ribbon(w=128)": 35, "standard": 8} {
		if !slices.Equal(got.Kinds[kind], point(want)) {
			t.Errorf("%s: %+v, want %+v", kind, got.Kinds[kind], point(want))
		}
	}
	if got.Machine != "then" || got.Keyed != 7 || got.Memory["fuse"] != 30 || got.Memory["ribbon"] != 16 ||
		got.Memory["ribbon(w=128)"] != 17 || table.Memory["ribbon"] != 5 {
		t.Errorf("%+v, of %+v", got, table)
	}
	if _, err := Costs(t.Context(), Config{Family: "guava"}); !errors.Is(err, filter.ErrFamily) {
		t.Errorf("a family without kinds: %v", err)
	}
}

// TestWrite writes the table in the sources again, byte for byte.
func TestWrite(t *testing.T) {
	want, err := os.ReadFile("../../../internal/families/costs.json")
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := Write(&got, families.Costs()); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("costs.json has %d bytes, Write gives %d: run go generate ./internal/families", len(want), got.Len())
	}
}

// TestCosts measures a quick table. Every kind must have points and a memory, progress must end at 1, and a canceled
// context must end the measurement.
func TestCosts(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	last := 0.0
	costs, err := Costs(t.Context(), Config{Quick: true, Trials: 1, Progress: func(done float64) {
		if done < last || done > 1 {
			t.Errorf("progress %g after %g", done, last)
		}
		last = done
	}})
	if err != nil {
		t.Fatal(err)
	}
	if last < 0.99 || costs.Machine == "" || costs.Go == "" {
		t.Errorf("progress %g, %q, %q", last, costs.Machine, costs.Go)
	}
	for _, kind := range families.Forms() {
		points := costs.Kinds[kind.String()]
		if _, ok := costs.Memory[kind.String()]; !ok || len(points) == 0 {
			t.Errorf("%s: %d points, memory %v", kind, len(points), ok)
		}
		for _, p := range points {
			if p.Keys != 1000 || !(p.Present > 0 && p.Absent > 0 && p.Build > 0 && p.Present < 1e6) {
				t.Errorf("%s: %+v", kind, p)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Costs(ctx, Config{Quick: true}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}
