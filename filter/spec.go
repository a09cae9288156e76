package filter

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// MaxSpecLen is the length in bytes of the longest Spec that ParseSpec accepts.
const MaxSpecLen = 512

// Spec describes a filter as text: a family and parameters, such as
//
//	standard(bits_per_key=10,k=7)
//
// Names consist of a-z, 0-9 and _ and begin with a letter. Values consist of A-Z, a-z, 0-9 and "_.+-". No parameter
// appears twice. A family without parameters is written without parentheses. The canonical form, which String
// returns, has no spaces and sorts parameters by name: equal Specs are equal strings, and ParseSpec(s.String())
// returns s.
//
// A Spec prints in its canonical form and is that form in JSON and text. The zero Spec is the empty text.
//
// The package comment lists the parameters that a family takes. The Spec of a built filter fixes its geometry: all
// sizes follow from it. A Spec is immutable: With and Without return another one.
type Spec struct {
	family string
	params []Param // sorted by name
}

// Param is one parameter of a Spec.
type Param struct {
	Name, Value string
}

// NewSpec returns the Spec of a family with parameters given as name and value in turn, in any order. Values are
// strings, integers or floats. It panics if ParseSpec would reject the Spec: use it for specs written in code.
func NewSpec(family string, nameValue ...any) Spec {
	if len(nameValue)%2 != 0 {
		panic("filter: NewSpec: a parameter has no value")
	}
	s := Spec{family: family}
	for i := 0; i < len(nameValue); i += 2 {
		s = s.With(nameValue[i].(string), nameValue[i+1])
	}
	if _, err := ParseSpec(s.String()); err != nil {
		panic(err)
	}
	return s
}

// ParseSpec parses a Spec. Spaces around names, values and punctuation are allowed. The error wraps ErrSpec and gives
// the byte offset at which parsing failed.
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
		return fail(0, "want the name of a family, such as standard")
	}
	if !open {
		return s, nil
	}
	at := len(head) + 1
	list, rest, closed := strings.Cut(list, ")")
	if !closed {
		return fail(len(text), "want a closing parenthesis")
	}
	if strings.Trim(rest, " ") != "" {
		return fail(at+len(list)+1, "want nothing after the closing parenthesis")
	}
	if strings.Trim(list, " ") == "" {
		return s, nil
	}
	for item := range strings.SplitSeq(list, ",") {
		name, value, ok := strings.Cut(item, "=")
		name, value = strings.Trim(name, " "), strings.Trim(value, " ")
		switch {
		case !isName(name):
			return fail(at, "want the name of a parameter, of a-z, 0-9 and _, with a letter first")
		case !ok || !isValue(value):
			return fail(at, fmt.Sprintf("parameter %s: want a value of A-Z, a-z, 0-9 and _.+-", name))
		case s.Has(name):
			return fail(at, fmt.Sprintf("parameter %s is given twice", name))
		}
		s = s.With(name, value)
		at += len(item) + 1
	}
	return s, nil
}

// Family returns the name of the family.
func (s Spec) Family() string { return s.family }

// Params returns a copy of the parameters, sorted by name.
func (s Spec) Params() []Param { return slices.Clone(s.params) }

// Param returns the value of a parameter, and whether it is given.
func (s Spec) Param(name string) (value string, ok bool) {
	i, ok := s.find(name)
	if ok {
		value = s.params[i].Value
	}
	return value, ok
}

// Has reports whether the parameter is given.
func (s Spec) Has(name string) bool {
	_, ok := s.find(name)
	return ok
}

// IsZero reports whether s is the zero Spec, which has no family.
func (s Spec) IsZero() bool { return s.family == "" && len(s.params) == 0 }

// With returns s with one parameter set to value, instead of its earlier value if it had one. Values are strings,
// integers or floats. With does not check them: ParseSpec(s.String()) does.
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

// Without returns s without a parameter, or s if it does not have it.
func (s Spec) Without(name string) Spec {
	if i, ok := s.find(name); ok {
		s.params = slices.Delete(slices.Clone(s.params), i, i+1)
	}
	return s
}

// String returns the canonical form.
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

// Equal reports whether s and o have the same canonical form. Values are compared as text: 1e-3 and 0.001 differ.
func (s Spec) Equal(o Spec) bool { return s.family == o.family && slices.Equal(s.params, o.params) }

// Contains reports whether s has the family and all parameters of o, with the same values as text.
func (s Spec) Contains(o Spec) bool {
	for _, p := range o.params {
		if i, ok := s.find(p.Name); !ok || s.params[i].Value != p.Value {
			return false
		}
	}
	return s.family == o.family
}

// MarshalText returns the canonical form.
func (s Spec) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText sets s to ParseSpec of text, or to the zero Spec if text is empty. On error s is unchanged.
func (s *Spec) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*s = Spec{}
		return nil
	}
	p, err := ParseSpec(string(text))
	if err == nil {
		*s = p
	}
	return err
}

func (s Spec) find(name string) (int, bool) {
	return slices.BinarySearchFunc(s.params, name, func(p Param, n string) int { return strings.Compare(p.Name, n) })
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
