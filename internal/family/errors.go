package family

import (
	"fmt"
	"reflect"

	"github.com/bloomery/bloomery/filter"
)

// Invalid returns a *ConfigError whose Reason has the format and the arguments of fmt.Sprintf.
func Invalid(field string, value any, reason string, args ...any) error {
	return &filter.ConfigError{Field: field, Value: value, Reason: fmt.Sprintf(reason, args...)}
}

// Mismatch returns an error wrapping ErrMismatch that names both filters: the one with Spec s, and other, which may
// be nil, a nil pointer, or of any family.
func Mismatch(s filter.Spec, other Filter) error {
	what := "nil"
	if v := reflect.ValueOf(other); v.IsValid() && (v.Kind() != reflect.Pointer || !v.IsNil()) {
		what = SpecOf(other).String()
	}
	return fmt.Errorf("%s and %s: %w", s, what, filter.ErrMismatch)
}
