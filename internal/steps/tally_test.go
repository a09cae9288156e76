package steps_test

import (
	"testing"

	"github.com/bloomery/bloomery/internal/steps"
)

// TestTally counts after each step, with one listing of the output, and two when the last range is done.
func TestTally(t *testing.T) {
	out := memoryOf()
	p, in := latePlan(t, "one")
	if err := p.Save(t.Context(), out); err != nil {
		t.Fatal(err)
	}
	var before, want steps.Tally
	check := func(requests int) {
		t.Helper()
		ops := out.ops
		got, err := p.Tally(t.Context(), out, before)
		if err != nil || got != want || out.ops-ops != requests {
			t.Errorf("%+v with %d requests, %v; want %+v with %d", got, out.ops-ops, err, want, requests)
		}
		before = got
	}
	check(1)
	for i := range p.Ranges {
		d, err := p.Range(t.Context(), in, out, i, steps.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if want.Ranges++; want.Ranges < len(p.Ranges) {
			want.Keys += d.Keys
			check(1)
			continue
		}
		want.Keys += d.Keys
		check(2)
	}
	if _, err := p.Gather(t.Context(), out, nil, steps.Options{}); err != nil {
		t.Fatal(err)
	}
	for s := range p.Shards {
		if _, err := p.Build(t.Context(), out, s, steps.Options{}); err != nil {
			t.Fatal(err)
		}
		want.Shards++
		check(1)
	}
	if st, err := p.Status(t.Context(), out); err != nil || st.Keys != want.Keys || want.Ranges != st.Ranges {
		t.Errorf("%+v, %v; tally %+v", st, err, want)
	}
	out.limited, out.left = true, 0
	if got, err := p.Tally(t.Context(), out, before); err == nil || got != before {
		t.Errorf("output broken: %+v, %v", got, err)
	}
}
