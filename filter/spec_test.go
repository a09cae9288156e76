package filter

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
)

// parsed returns the Spec of a text.
func parsed(t *testing.T, text string) Spec {
	t.Helper()
	s, err := ParseSpec(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSpecPrints checks that a Spec prints in its canonical form, alone and in other values.
func TestSpecPrints(t *testing.T) {
	s := parsed(t, "standard").With("m", 100).With("k", 7)
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

// TestSpecText checks that a Spec, including the zero Spec, survives encoding as text and as JSON, as a value and as a
// key of a map.
func TestSpecText(t *testing.T) {
	type record struct {
		Spec Spec
		List []Spec
		Map  map[string]Spec
		Zero Spec
		None Spec `json:",omitzero"`
	}
	s := parsed(t, "fuse").With("fpr", 0.001)
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
	zero := Spec{}
	if out.Spec != s || out.List[0] != s || out.List[1] != zero || out.Map["a"] != s || out.Zero != zero || s == zero {
		t.Errorf("came back as %v", out)
	}
	if err := out.Spec.UnmarshalText([]byte("fuse(")); err == nil || out.Spec != s {
		t.Errorf("a Spec that does not parse: %v, %v", out.Spec, err)
	}
}

// TestSpecParams reads the parameters of Specs that were parsed and made by With.
func TestSpecParams(t *testing.T) {
	three := []Param{{"bits_per_key", "9.5"}, {"k", "7"}, {"m", "100"}}
	for _, s := range []Spec{
		parsed(t, "standard( m=100,k=7, bits_per_key=9.5)"),
		parsed(t, "standard").With("k", 7).With("m", uint64(100)).With("bits_per_key", 9.5),
		parsed(t, "standard(k=6,m=100)").With("bits_per_key", 9.5).With("k", "7"),
	} {
		if s.Family() != "standard" || !slices.Equal(s.Params(), three) {
			t.Errorf("%s: %s, %v", s, s.Family(), s.Params())
		}
		for _, p := range three {
			if value, ok := s.Param(p.Name); !ok || value != p.Value {
				t.Errorf("%s: %s=%s, %t", s, p.Name, value, ok)
			}
		}
		for _, absent := range []string{"", "bits", "b", "n", "standard", "k=7"} {
			if value, ok := s.Param(absent); ok || value != "" {
				t.Errorf("%s: %q is %q", s, absent, value)
			}
		}
		if n := testing.AllocsPerRun(10, func() { s.Param("m") }); n != 0 {
			t.Errorf("Param allocates %v times", n)
		}
	}
	for _, s := range []Spec{{}, parsed(t, "fuse"), parsed(t, "fuse( )")} {
		if value, ok := s.Param(""); ok || value != "" || len(s.Params()) != 0 {
			t.Errorf("%q has parameters: %v", s, s.Params())
		}
	}
}
