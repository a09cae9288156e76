package filter

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// MaxSpecLen is the longest Spec, in bytes, that ParseSpec takes.
const MaxSpecLen = 512

// Spec names a filter: a family and parameters, written
//
//	standard(bits_per_key=10,k=7)
//
// Names are of a-z, 0-9 and _, and begin with a letter; values are of A-Z, a-z, 0-9, and "_.+-". A parameter
// stands once. The empty list may be left out with its parentheses. String writes the parameters in the order
// of their names, so that equal Specs are equal strings, and ParseSpec(s.String()) gives s back.
//
// Each family says which parameters it takes. A built filter's Spec fixes its geometry: all sizes follow from it.
type Spec struct {
	family string
	params []Param // sorted by name
}

// Param is one parameter of a Spec.
type Param struct {
	Name, Value string
}

// NewSpec returns the Spec of a family with parameters given as pairs of name and value, in any order. Values
// are integers, floats or strings. It panics on what ParseSpec would refuse: it is for specs written in code.
func NewSpec(family string, nameValue ...any) Spec {
	s := Spec{family: family}
	for i := 0; i+1 < len(nameValue); i += 2 {
		s = s.With(nameValue[i].(string), nameValue[i+1])
	}
	if _, err := ParseSpec(s.String()); err != nil {
		panic(err)
	}
	return s
}

// ParseSpec reads a Spec. Its errors wrap ErrSpec and say at which byte they are. Spaces around names, values and
// punctuation are allowed.
func ParseSpec(text string) (Spec, error) {
	fail := func(at int, why string) (Spec, error) {
		if len(text) > 80 {
			text = text[:80] + "..."
		}
		return Spec{}, fmt.Errorf("%w %q: at byte %d: %s", ErrSpec, text, at, why)
	}
	if len(text) > MaxSpecLen {
		return fail(MaxSpecLen, fmt.Sprintf("longer than %d bytes", MaxSpecLen))
	}
	head, list, open := strings.Cut(text, "(")
	s := Spec{family: strings.Trim(head, " ")}
	if !isName(s.family) {
		return fail(0, "a family's name, such as standard, is missing")
	}
	if !open {
		return s, nil
	}
	at := len(head) + 1
	list, rest, closed := strings.Cut(list, ")")
	if !closed {
		return fail(len(text), "the closing parenthesis is missing")
	}
	if strings.Trim(rest, " ") != "" {
		return fail(at+len(list)+1, "nothing may follow the closing parenthesis")
	}
	if strings.Trim(list, " ") == "" {
		return s, nil
	}
	for item := range strings.SplitSeq(list, ",") {
		name, value, ok := strings.Cut(item, "=")
		name, value = strings.Trim(name, " "), strings.Trim(value, " ")
		switch {
		case !isName(name):
			return fail(at, "a parameter's name is missing or has other letters than a-z, 0-9 and _")
		case !ok || !isValue(value):
			return fail(at, fmt.Sprintf("parameter %s has no value, or one with letters that are not allowed", name))
		case s.Has(name):
			return fail(at, fmt.Sprintf("parameter %s stands twice", name))
		}
		s = s.With(name, value)
		at += len(item) + 1
	}
	return s, nil
}

// Family returns the family's name.
func (s Spec) Family() string { return s.family }

// Params returns a copy of the parameters, sorted by name.
func (s Spec) Params() []Param { return slices.Clone(s.params) }

// Has reports whether the parameter is given.
func (s Spec) Has(name string) bool {
	_, ok := s.find(name)
	return ok
}

// With returns the Spec with one parameter set, replacing any earlier value.
func (s Spec) With(name string, value any) Spec {
	var v string
	switch value := value.(type) {
	case string:
		v = value
	case float64:
		v = strconv.FormatFloat(value, 'g', -1, 64)
	default:
		v = fmt.Sprint(value)
	}
	i, ok := s.find(name)
	s.params = slices.Clone(s.params)
	if ok {
		s.params[i].Value = v
	} else {
		s.params = slices.Insert(s.params, i, Param{name, v})
	}
	return s
}

// Without returns the Spec without a parameter, or as it is if that is not given.
func (s Spec) Without(name string) Spec {
	if i, ok := s.find(name); ok {
		s.params = slices.Delete(slices.Clone(s.params), i, i+1)
	}
	return s
}

// String writes the Spec in its one canonical form.
func (s Spec) String() string {
	if len(s.params) == 0 {
		return s.family
	}
	var b strings.Builder
	b.WriteString(s.family)
	for i, p := range s.params {
		b.WriteByte("(,"[min(i, 1)])
		b.WriteString(p.Name + "=" + p.Value)
	}
	b.WriteByte(')')
	return b.String()
}

// Equal reports whether the two are the same family with the same parameters, values compared as text.
func (s Spec) Equal(o Spec) bool { return s.family == o.family && slices.Equal(s.params, o.params) }

// Contains reports whether s is of the family of o and has all of its parameters, values compared as text.
func (s Spec) Contains(o Spec) bool {
	for _, p := range o.params {
		if i, ok := s.find(p.Name); !ok || s.params[i].Value != p.Value {
			return false
		}
	}
	return s.family == o.family
}

// MarshalText and UnmarshalText write and read the canonical form, in JSON for one.
func (s Spec) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText is ParseSpec into s.
func (s *Spec) UnmarshalText(text []byte) error {
	p, err := ParseSpec(string(text))
	if err == nil {
		*s = p
	}
	return err
}

// Reader returns a SpecReader over the parameters.
func (s Spec) Reader() *SpecReader { return &SpecReader{spec: s} }

func (s Spec) find(name string) (int, bool) {
	return slices.BinarySearchFunc(s.params, name, func(p Param, n string) int { return strings.Compare(p.Name, n) })
}

// SpecReader takes typed parameters from a Spec and gathers what was wrong, so that a family reads all of its
// parameters and then asks Err once.
type SpecReader struct {
	spec Spec
	seen []string
	errs []error
}

// Text returns a parameter, or def if it is not given.
func (r *SpecReader) Text(name, def string) string {
	r.seen = append(r.seen, name)
	if i, ok := r.spec.find(name); ok {
		return r.spec.params[i].Value
	}
	return def
}

// Float returns a finite parameter, or 0 if it is not given.
func (r *SpecReader) Float(name string) float64 {
	t := r.Text(name, "0")
	v, err := strconv.ParseFloat(t, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		r.errs = append(r.errs, &ConfigError{name, t, "want a finite number"})
	}
	return v
}

// Uint returns a whole, non-negative parameter in canonical decimal form, or 0 if it is not given.
func (r *SpecReader) Uint(name string) uint64 {
	t := r.Text(name, "0")
	v, err := strconv.ParseUint(t, 10, 64)
	if err != nil || strconv.FormatUint(v, 10) != t {
		r.errs = append(r.errs, &ConfigError{name, t, "want a whole number of 0 or more"})
	}
	return v
}

// Err returns all that was wrong, unknown parameters included, or nil.
func (r *SpecReader) Err() error {
	for _, p := range r.spec.params {
		if !slices.Contains(r.seen, p.Name) {
			r.errs = append(r.errs, &ConfigError{p.Name, p.Value,
				fmt.Sprintf("family %s has no such parameter; it takes %s", r.spec.family, strings.Join(r.seen, ", "))})
		}
	}
	return errors.Join(r.errs...)
}

func isName(s string) bool {
	for i, c := range []byte(s) {
		letter := 'a' <= c && c <= 'z'
		if !letter && (i == 0 || c != '_' && (c < '0' || c > '9')) {
			return false
		}
	}
	return s != ""
}

func isValue(s string) bool {
	for _, c := range []byte(s) {
		ok := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("_.+-", c) >= 0
		if !ok {
			return false
		}
	}
	return s != ""
}
