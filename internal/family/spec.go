package family

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bloomery/bloomery/filter"
)

// NewSpec returns the Spec of a family with parameters given as name and value in turn, in any order. Values are
// strings, integers or floats. It panics if filter.ParseSpec would reject the Spec: use it for specs written in code.
func NewSpec(family string, nameValue ...any) filter.Spec {
	if len(nameValue)%2 != 0 {
		panic("family: NewSpec: a parameter has no value")
	}

	s, err := filter.ParseSpec(family)
	for i := 0; i < len(nameValue); i += 2 {
		s = s.With(nameValue[i].(string), nameValue[i+1])
	}
	if err == nil {
		_, err = filter.ParseSpec(s.String())
	}
	if err != nil {
		panic(err)
	}
	return s
}

// Given reports whether a Spec gives a parameter.
func Given(s filter.Spec, parameter string) bool {
	_, ok := s.Param(parameter)
	return ok
}

// GivenAny reports whether a Spec gives at least one of these parameters.
func GivenAny(s filter.Spec, parameters []string) bool {
	return slices.ContainsFunc(parameters, func(p string) bool { return Given(s, p) })
}

// Without returns s without a parameter, or s itself if it does not contain the parameter.
func Without(s filter.Spec, parameter string) filter.Spec {
	if !Given(s, parameter) {
		return s
	}
	left := slices.DeleteFunc(s.Params(), func(p filter.Param) bool { return p.Name == parameter })
	s, _ = filter.ParseSpec(s.Family()) // the name of a Spec parses
	for _, p := range left {
		s = s.With(p.Name, p.Value)
	}
	return s
}

// Includes reports whether s is of the family of part and gives all parameters of part, with the same values as text.
func Includes(s, part filter.Spec) bool {
	for _, p := range part.Params() {
		if value, ok := s.Param(p.Name); !ok || value != p.Value {
			return false
		}
	}
	return s.Family() == part.Family()
}

// SpecReader reads typed parameters from a Spec and collects errors. A family reads all of its parameters and then
// calls Err once. A SpecReader is for one goroutine.
type SpecReader struct {
	spec filter.Spec
	seen []string
	errs []error
}

// Reader returns a SpecReader of the parameters of a Spec.
func Reader(s filter.Spec) *SpecReader { return &SpecReader{spec: s} }

func (r *SpecReader) refuse(name string, value any, reason string) {
	r.errs = append(r.errs, &filter.ConfigError{Field: name, Value: value, Reason: reason})
}

// Text returns the value of a parameter, or def if it is not given.
func (r *SpecReader) Text(name, def string) string {
	r.seen = append(r.seen, name)
	if v, ok := r.spec.Param(name); ok {
		return v
	}
	return def
}

// Float returns the value of a parameter as a finite number, or 0 if it is not given.
func (r *SpecReader) Float(name string) float64 {
	t := r.Text(name, "0")
	v, err := strconv.ParseFloat(t, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		r.refuse(name, t, "want a finite number")
	}
	return v
}

// Uint returns the value of a parameter as an integer of 0 to 2^64-1, or 0 if it is not given. Only the canonical
// decimal form is accepted: no sign, no leading zeros.
func (r *SpecReader) Uint(name string) uint64 {
	t := r.Text(name, "0")
	v, err := strconv.ParseUint(t, 10, 64)
	if err != nil || strconv.FormatUint(v, 10) != t {
		r.refuse(name, t, "want a whole number of 0 or more")
	}
	return v
}

// Count returns the value of a parameter as an integer of 1 to most, or 0 if it is not given.
func (r *SpecReader) Count(name string, most uint64) uint64 {
	before := len(r.errs)
	v := r.Uint(name)
	switch {
	case len(r.errs) > before || v <= most && (v > 0 || !Given(r.spec, name)):
	case most == math.MaxUint64:
		r.errs = append(r.errs, Invalid(name, v, "want at least 1"))
	default:
		r.errs = append(r.errs, Invalid(name, v, "want 1 to %d", most))
	}
	return v
}

// Flag reports whether a parameter is 1. If it is not given, it is 0.
func (r *SpecReader) Flag(name string) bool {
	v := r.Uint(name)
	if v > 1 {
		r.errs = append(r.errs, Invalid(name, v, "want 0 or 1"))
	}
	return v == 1
}

// Err returns all errors so far, joined, or nil. A parameter of the Spec that was not read is also an error. All errors
// wrap ErrConfig.
func (r *SpecReader) Err() error {
	for _, p := range r.spec.Params() {
		if !slices.Contains(r.seen, p.Name) {
			r.refuse(p.Name, p.Value,
				fmt.Sprintf("family %s has no such parameter; it takes %s", r.spec.Family(), strings.Join(r.seen, ", ")))
		}
	}
	return errors.Join(r.errs...)
}
