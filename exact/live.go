package exact

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/live"
)

// DefaultInterval is the interval at which a Live checks its file.
const DefaultInterval = time.Second

// Live follows the file of a set. When the file is replaced by rename, as Save does, Live reads and verifies the new
// file, and Set returns the new set from then on. All methods are safe for concurrent use.
//
// If the new file cannot be opened, Live keeps the current Set, and Err returns the error. It tries again when
// bloomery.Live does: soon after a transient error, else when the file changes.
type Live struct{ file live.File[current] }

// current is the set of a Live.
type current struct{ *Set }

func (c current) Err() error { return c.fault }

// WithInterval sets the interval at which a Live checks its file. Default: DefaultInterval.
func WithInterval(d time.Duration) Option { return func(o *options) { o.Interval = d } }

// OpenLive opens the set in a file and follows the file. Close it when done. ctx is for the opening alone. Options and
// errors are as for Open.
func OpenLive(ctx context.Context, path string, o ...Option) (*Live, error) {
	return openLive(ctx, path, optionsOf(maxFile, o), openFile)
}

// openLive is OpenLive with a function that opens the file.
func openLive(
	ctx context.Context, path string, o options, open func(context.Context, string, options) (*Set, error),
) (*Live, error) {
	l := new(Live)
	c := live.Config[current]{
		Path: func() string { return path },
		Open: func(ctx context.Context) (current, error) {
			s, err := open(ctx, path, o)
			return current{s}, err
		},
		// A closed Live answers true for every key: a false negative would be worse than a false positive.
		Closed:   current{&Set{fault: errClosed}},
		Interval: cmp.Or(max(o.Interval, 0), DefaultInterval),
	}
	if o.Update != nil {
		c.Update = func(ctx context.Context) { o.Update(ctx, &l.file) }
	}
	if err := l.file.Start(ctx, c); err != nil {
		return nil, err
	}
	return l, nil
}

// Reload checks the file now. If the file has changed, or the last attempt failed with a transient error, Reload opens
// it and swaps it in. If the file cannot be opened, Reload returns the error and keeps the current Set; Err returns the
// same error until a Reload succeeds.
func (l *Live) Reload(ctx context.Context) error { return l.file.Reload(ctx) }

// Set returns the current Set. It stays valid when the file is replaced, and after Close, but does not change: ask for
// it again before the next queries. After Close, Set returns a Set whose Contains is always true.
func (l *Live) Set() *Set { return l.file.Current().Set }

// Err returns the error of the last Reload, or of the last poll of publish.FollowExact, or nil. After Close it
// returns an error.
func (l *Live) Err() error { return l.file.Err() }

var errClosed = fmt.Errorf("exact: the Live set is %w", filter.ErrClosed)

// Close stops following the file; see Set. The error is nil.
func (l *Live) Close() error { return l.file.Close() }
