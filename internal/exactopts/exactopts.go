// Package exactopts has the options with which package exact opens a set: those that everybody may set, by functions of
// exact, and those that only package publish needs. An exact.Option is a function of these Options.
package exactopts

import (
	"context"
	"time"

	"github.com/bloomery/bloomery/filter"
)

// Options say how a set is opened, and how a Live follows its file. The zero value has the defaults.
type Options struct {
	Secret   *filter.Secret // of a set with a keyed hash
	MaxBytes uint64         // of the file; 0: as many as the function allows
	Interval time.Duration  // between two checks of the file; 0: exact.DefaultInterval

	// Described says that only the Info of the set is used: a set with a keyed hash then needs no secret. The answers
	// of such a set mean nothing.
	Described bool
	// Update, if not nil, runs in a goroutine of its own. It replaces the file from time to time, for example by a
	// download, calls Reload, and passes its errors to Report. It must return soon after its context ends, when the Live
	// is closed; Close waits for it.
	Update func(ctx context.Context, f Follower)
}

// Follower is the side of a Live that Options.Update has.
type Follower interface {
	Reload(ctx context.Context) error // checks the file now and swaps it in if it has changed
	Report(error)                     // makes Err return an error, unless the file itself has one; nil clears it
}
