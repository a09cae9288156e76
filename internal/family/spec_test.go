package family

import (
	"testing"

	"github.com/bloomery/bloomery/filter"
)

// TestNewSpecPanics on what ParseSpec would reject.
func TestNewSpecPanics(t *testing.T) {
	odd := []any{"k"} // a literal is refused by staticcheck already
	for what, f := range map[string]func(){
		"no family":  func() { NewSpec("") },
		"no value":   func() { NewSpec("a", odd...) },
		"bad value":  func() { NewSpec("a", "k", "(") },
		"bad name":   func() { NewSpec("a", "K", 1) },
		"not a name": func() { NewSpec("a", 1, "k") },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", what)
				}
			}()
			f()
		}()
	}
}

// TestSpecParts takes parameters from a Spec and looks for them.
func TestSpecParts(t *testing.T) {
	s := NewSpec("standard", "m", uint64(5), "bits_per_key", 9.5)
	if s.String() != "standard(bits_per_key=9.5,m=5)" || !Given(s, "m") || Given(s, "k") || Given(filter.Spec{}, "") {
		t.Errorf("NewSpec = %q", s)
	}
	left := Without(s, "bits_per_key")
	if left != NewSpec("standard", "m", 5) || Without(s, "k") != s || Without(left, "m") != NewSpec("standard") {
		t.Errorf("without parameters: %q", left)
	}
	for _, c := range []struct {
		part filter.Spec
		want bool
	}{
		{s, true}, {left, true}, {NewSpec("standard"), true},
		{NewSpec("blocked"), false}, {NewSpec("standard", "m", 6), false}, {s.With("k", 7), false},
	} {
		if Includes(s, c.part) != c.want {
			t.Errorf("%s includes %s: want %t", s, c.part, c.want)
		}
	}
}
