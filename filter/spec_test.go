package filter

import (
	"encoding/json"
	"fmt"
	"testing"
)

// TestSpecPrints: a Spec prints in its canonical form, alone and in other values.
func TestSpecPrints(t *testing.T) {
	s := NewSpec("standard", "m", 100, "k", 7)
	const want = "standard(k=7,m=100)"
	for _, verb := range []string{"%v", "%+v", "%s"} {
		if got := fmt.Sprintf(verb, s); got != want {
			t.Errorf("%s prints %q", verb, got)
		}
		if got := fmt.Sprintf(verb, []Spec{s, {}}); got != "["+want+" ]" {
			t.Errorf("%s prints %q in a slice", verb, got)
		}
	}
	if got := fmt.Sprint(&ConfigError{"spec", s, "want another"}); got != "spec="+want+": want another" {
		t.Errorf("in an error: %q", got)
	}
}

// TestSpecText: a Spec comes back from text and from JSON, as a value and as a key of a map, the zero Spec included.
func TestSpecText(t *testing.T) {
	type record struct {
		Spec Spec
		List []Spec
		Map  map[string]Spec
		Zero Spec
		None Spec `json:",omitzero"`
	}
	s := NewSpec("fuse", "fpr", 0.001)
	in := record{Spec: s, List: []Spec{s, {}}, Map: map[string]Spec{"a": s}}
	b, err := json.Marshal(in)
	const want = `{"Spec":"fuse(fpr=0.001)","List":["fuse(fpr=0.001)",""],"Map":{"a":"fuse(fpr=0.001)"},"Zero":""}`
	if err != nil || string(b) != want {
		t.Fatalf("%s, %v; want %s", b, err, want)
	}
	out := record{Zero: s}
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	if !out.Spec.Equal(s) || !out.List[0].Equal(s) || !out.List[1].IsZero() || !out.Map["a"].Equal(s) ||
		!out.Zero.IsZero() || s.IsZero() {
		t.Errorf("came back as %v", out)
	}
	if err := out.Spec.UnmarshalText([]byte("fuse(")); err == nil || !out.Spec.Equal(s) {
		t.Errorf("a Spec that does not parse: %v, %v", out.Spec, err)
	}
}

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
