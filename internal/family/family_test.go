package family

import (
	"errors"
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

// fixed is a Filter of a family that does not match any other.
type fixed struct{ spec filter.Spec }

func (f *fixed) Has(filter.Hash) bool { return false }
func (f *fixed) Info() filter.Info    { return filter.Info{Spec: f.spec} }
func (f *fixed) Spec() filter.Spec    { return f.spec }

// TestMismatch names both filters, also where one is nil.
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
