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

// Refused returns an Invalid without the value if a field is set that is not used, else nil.
func Refused(field string, set bool, reason string) error {
	if !set {
		return nil
	}
	return Invalid(field, "a value", "%s", reason)
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

// ValueError means that a ValueBuilder got a key with two values. It wraps filter.ErrValues.
type ValueError struct {
	Hash   filter.Hash // of the key; the low 32 bits of Lo are 0
	Values [2]uint64   // two of its values, in order
	Key    string      // empty if it is not known
}

func (e *ValueError) Error() string {
	key := fmt.Sprintf("%.80q", e.Key)
	if e.Key == "" {
		key = fmt.Sprintf("with hash %016x%08x", e.Hash.Hi, e.Hash.Lo>>32)
	}
	return fmt.Sprintf("key %s has the values %d and %d: want one value a key", key, e.Values[0], e.Values[1])
}

func (e *ValueError) Unwrap() error { return filter.ErrValues }

// Of reports whether h is the hash of the key.
func (e *ValueError) Of(h filter.Hash) bool { return h.Hi == e.Hash.Hi && h.Lo>>32 == e.Hash.Lo>>32 }
