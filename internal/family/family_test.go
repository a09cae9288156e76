package family

import (
	"errors"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/filter"
)

// TestReaderErrors reads parameters that are unknown or do not parse.
func TestReaderErrors(t *testing.T) {
	for _, text := range []string{"a(x=1)", "a(f=NaN)", "a(f=Inf)", "a(f=q)", "a(u=-1)", "a(u=01)", "a(u=+1)",
		"a(u=18446744073709551616)"} {
		s, err := filter.ParseSpec(text)
		if err != nil {
			t.Fatal(err)
		}
		r := Reader(s)
		r.Float("f")
		r.Uint("u")
		if err := r.Err(); !errors.Is(err, filter.ErrConfig) {
			t.Errorf("%s: %v; want filter.ErrConfig", text, err)
		}
	}
}

// fixed is a Filter of a family that does not match any other family.
type fixed struct{ spec filter.Spec }

func (f *fixed) Has(filter.Hash) bool { return false }
func (f *fixed) Info() filter.Info    { return filter.Info{Spec: f.spec} }
func (f *fixed) Spec() filter.Spec    { return f.spec }

// TestMismatch checks that the error names both filters, even if one is nil.
func TestMismatch(t *testing.T) {
	s := NewSpec("a", "k", 1)
	for want, other := range map[string]Filter{
		"a(k=1) and nil: filters do not match":    nil,
		"a(k=1) and b(m=2): filters do not match": &fixed{NewSpec("b", "m", 2)},
	} {
		if err := Mismatch(s, other); err.Error() != want {
			t.Errorf("%q, want %q", err, want)
		}
	}
	if err := Mismatch(s, (*fixed)(nil)); err.Error() != "a(k=1) and nil: filters do not match" {
		t.Errorf("a nil pointer: %v", err)
	}
}

// TestHashIDs checks that the name of every hash function of package filter can be parsed, and that each function is
// either ours or foreign.
func TestHashIDs(t *testing.T) {
	for id := range filter.HashID(11) {
		_, err := filter.ForeignHasher(id)
		if Foreign(id) != (err == nil) {
			t.Errorf("%s: foreign %t, %v", id, Foreign(id), err)
		}
		known := err == nil || id == filter.XXH3 || id == filter.SipHash
		if back, err := ParseHashID(id.String()); known != (err == nil) || known && back != id {
			t.Errorf("%s is parsed as %s, %v", id, back, err)
		} else if !known && !strings.HasSuffix(err.Error(), "xxh3-128, siphash-128, xxh64, murmur3-x64-128, "+
			"murmur3-x64-128-twice, murmur64a-twice, murmur3-x86-32-twice, uint64, fnv1-64") {
			t.Error(err)
		}
	}
	if HashBits(filter.XXH64) != 64 || HashBits(filter.SipHash) != 128 || LowestRate(filter.XXH64, 1<<32) != 1.0/(1<<32) {
		t.Error("the bits of a hash are wrong")
	}
}

// TestNewSpecPanics checks that NewSpec panics on text that ParseSpec would reject.
func TestNewSpecPanics(t *testing.T) {
	odd := []any{"k"} // staticcheck would refuse a literal
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

// TestSpecParts removes parameters from a Spec and searches for them.
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
