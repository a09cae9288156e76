package filter

import (
	"fmt"
)

// ConfigError is an invalid parameter. It wraps ErrConfig.
type ConfigError struct {
	Field  string // the parameter's name in a Spec, such as "bits_per_key"
	Value  any    // the value that was given
	Reason string // what is allowed, such as "want 1 to 64"
}

func (e *ConfigError) Error() string {
	return fmt.Sprintf("%s=%v: %s", e.Field, e.Value, e.Reason)
}

func (e *ConfigError) Unwrap() error { return ErrConfig }

// KeysError means that a Builder got another number of keys than Config.Keys, which must be exact or 0. It wraps
// ErrKeys.
type KeysError struct {
	Announced, Added uint64
}

func (e *KeysError) Error() string {
	const text = "%d keys were added, %d were announced: the number must be exact, or 0 if it is unknown"
	return fmt.Sprintf(text, e.Added, e.Announced)
}

func (e *KeysError) Unwrap() error { return ErrKeys }

// AllowedError means that members are among the keys for which a set must answer false. It wraps ErrAllowed.
type AllowedError struct {
	Keys []string // all of them, sorted
}

func (e *AllowedError) Error() string {
	more := ""
	if n := len(e.Keys); n > 1 {
		more = fmt.Sprintf(", and so are %d others", n-1)
	}
	return fmt.Sprintf("key %.80q is a member and allowed%s; take it out of one of the lists", e.Keys[0], more)
}

func (e *AllowedError) Unwrap() error { return ErrAllowed }

// ValueError means that a ValueBuilder got a key with two values. It wraps ErrValues.
type ValueError struct {
	Hash   Hash      // of the key; the low 32 bits of Lo are 0
	Values [2]uint64 // two of its values, in order
	Key    string    // empty if it is not known
}

func (e *ValueError) Error() string {
	key := fmt.Sprintf("%.80q", e.Key)
	if e.Key == "" {
		key = fmt.Sprintf("with hash %016x%08x", e.Hash.Hi, e.Hash.Lo>>32)
	}
	return fmt.Sprintf("key %s has the values %d and %d: want one value a key", key, e.Values[0], e.Values[1])
}

func (e *ValueError) Unwrap() error { return ErrValues }

// Of reports whether h is the hash of the key.
func (e *ValueError) Of(h Hash) bool { return h.Hi == e.Hash.Hi && h.Lo>>32 == e.Hash.Lo>>32 }

// ShrinkError means that a good file was not replaced, since the new list has far fewer keys. It wraps ErrShrunk.
type ShrinkError struct {
	What          string // what was counted, such as "members"
	Before, After uint64
	Allowed       float64 // the fraction of Before that may be lost, in [0, 1]
}

func (e *ShrinkError) Error() string {
	return fmt.Sprintf("%s: %d, and %d before: %d are lost, and at most %.3g%% may be", e.What, e.After, e.Before,
		e.Before-e.After, 100*e.Allowed)
}

func (e *ShrinkError) Unwrap() error { return ErrShrunk }

// FormatError is an error at a position of a file. It wraps one of the sentinels, or io.ErrUnexpectedEOF.
type FormatError struct {
	Offset uint64 // in bytes from the start of the file
	What   string // the part of the file at Offset
	Err    error
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("%s at byte %d: %v", e.What, e.Offset, e.Err)
}

func (e *FormatError) Unwrap() error { return e.Err }
