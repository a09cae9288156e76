package main

import (
	"strings"
	"testing"
)

// TestPrograms runs all comparisons.
func TestPrograms(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out, nil); err != nil {
		t.Error(err)
	}
	t.Log("\n" + out.String())
	if n := strings.Count(out.String(), "0 false negatives"); n != 8 {
		t.Errorf("%d filters were asked", n)
	}
}

// TestCompare checks that a false negative and a rate above the predicted one are errors.
func TestCompare(t *testing.T) {
	present, absent := words("present"), words("absent")
	exact := map[string]bool{}
	for _, key := range present {
		exact[key] = true
	}
	for name, c := range map[string]struct {
		has  func(string) bool
		rate float64
		bad  bool
	}{
		"exact":    {func(key string) bool { return exact[key] }, 0.01, false},
		"lost":     {func(key string) bool { return exact[key] && key != present[7] }, 0.01, true},
		"too many": {func(key string) bool { return exact[key] || strings.HasSuffix(key, "00.example") }, 0.008, true},
	} {
		err := compare(&strings.Builder{}, present, absent, side[string]{name, c.has, c.rate, keys})
		if (err != nil) != c.bad {
			t.Errorf("%s: %v", name, err)
		}
	}
}
