package filter

import (
	"errors"
	"fmt"
)

// Sentinels. Errors of this module wrap them; test with errors.Is.
var (
	// ErrConfig says that a parameter is outside what its documentation allows.
	ErrConfig = errors.New("invalid configuration")
	// ErrSpec says that a Spec does not parse.
	ErrSpec = errors.New("invalid spec")
	// ErrTooLarge says that a size is beyond a limit, or beyond what this machine has memory for.
	ErrTooLarge = errors.New("too large")
	// ErrFamily says that there is no family of a name, or of an id in a file.
	ErrFamily = errors.New("unknown family")
	// ErrMismatch says that two filters cannot be combined, because spec, hash or seed differ.
	ErrMismatch = errors.New("filters do not match")
	// ErrNotFound says that a key to remove is not in the filter.
	ErrNotFound = errors.New("key not found")
	// ErrFull says that a filter has no room for another key. It is intact.
	ErrFull = errors.New("filter is full")
	// ErrEnough ends a search but keeps what it has reached: give it to the function that context.WithCancelCause returns.
	ErrEnough = errors.New("enough")
	// ErrUnsupported says that a family lacks an operation. It is errors.ErrUnsupported.
	ErrUnsupported = errors.ErrUnsupported
)

// ConfigError is an error about one parameter. It wraps ErrConfig.
type ConfigError struct {
	Field  string // the parameter as it stands in a Spec, such as "bits_per_key"
	Value  any    // what was given
	Reason string // what is allowed
}

func (e *ConfigError) Error() string {
	return fmt.Sprintf("%s=%v: %s", e.Field, e.Value, e.Reason)
}

func (e *ConfigError) Unwrap() error { return ErrConfig }
