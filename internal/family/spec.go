package family

import (
	"slices"

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

// Without returns s without a parameter, or s if it does not give it.
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

// Includes reports whether s has the family and all parameters of part, with the same values as text.
func Includes(s, part filter.Spec) bool {
	for _, p := range part.Params() {
		if value, ok := s.Param(p.Name); !ok || value != p.Value {
			return false
		}
	}
	return s.Family() == part.Family()
}
