package live

import (
	"context"
	"time"

	"github.com/bloomery/bloomery/filter"
)

// ExactOptions say how package exact opens the file of a set, and how an exact.Live follows it. exact has functions for
// what users may set. Package publish also sets Described and Update, so the type cannot be private to exact. The zero
// value has the defaults.
type ExactOptions struct {
	Secret   *filter.Secret // of a set with a keyed hash
	MaxBytes uint64         // limit of the file; 0: the limit of the function
	Interval time.Duration  // between two checks of the file; 0: exact.DefaultInterval

	// Described means that only the Info of the set is used: a set with a keyed hash then needs no secret. The answers
	// of such a set mean nothing.
	Described bool
	// Update, if not nil, runs in a goroutine of its own. It replaces the file from time to time, for example by a
	// download, calls Reload, and passes its errors to Report. It must return soon after its context ends, which Close
	// ends and waits for.
	Update func(ctx context.Context, f Follower)
}

// Follower is a File as the code sees it that replaces the file.
type Follower interface {
	Reload(ctx context.Context) error // checks the file now and swaps it in if it has changed
	Report(error)                     // makes Err return an error, unless the file itself has one; nil clears it
}
