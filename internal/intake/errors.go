package intake

import (
	"fmt"

	"github.com/bloomery/bloomery/filter"
)

// KeysError means that a Builder got another number of keys than announced, which must be exact or 0. It wraps
// filter.ErrKeys.
type KeysError struct {
	Announced, Added uint64
}

func (e *KeysError) Error() string {
	const text = "%d keys were added, %d were announced: the number must be exact, or 0 if it is unknown"
	return fmt.Sprintf(text, e.Added, e.Announced)
}

func (e *KeysError) Unwrap() error { return filter.ErrKeys }
