package exact

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/live"
)

// DefaultInterval is the interval at which a Live checks its file.
const DefaultInterval = time.Second

// Live is a Set that follows its file. When the file is replaced by rename, as Save does, Live reads and verifies the
// new file and swaps it in. Running queries finish on the old one. All methods are safe for concurrent use.
//
// If the new file cannot be opened, Live keeps the current Set, and Err returns the error. It tries again when
// bloomery.Live does: soon after an error that may pass, else when the file changes.
type Live struct{ file live.File[*Set] }

// LiveOptions are the options of OpenLive.
type LiveOptions struct {
	Secret   *filter.Secret // of a set with a keyed hash
	Interval time.Duration  // between two checks of the file; DefaultInterval if 0
	// Update, if not nil, runs in a goroutine of its own. It replaces the file from time to time, for example by a
	// download, calls Reload, and passes its errors to Report. It must return soon after its context ends, at Close,
	// which waits for it and which it must not call.
	Update func(ctx context.Context, l *Live)

	open func(string, *filter.Secret) (*Set, error) // Open if nil: only tests have another one
}

// OpenLive opens the set in a file and follows the file. Close it when done. Errors are those of Open.
func OpenLive(path string, o LiveOptions) (*Live, error) {
	if o.open == nil {
		o.open = Open
	}
	l := new(Live)
	c := live.Config[*Set]{
		Path:     func() string { return path },
		Open:     func() (*Set, error) { return o.open(path, o.Secret) },
		Closed:   &Set{fault: errClosed},
		Interval: cmp.Or(max(o.Interval, 0), DefaultInterval),
	}
	if o.Update != nil {
		c.Update = func(ctx context.Context) { o.Update(ctx, l) }
	}
	if err := l.file.Start(c); err != nil {
		return nil, err
	}
	return l, nil
}

// Reload checks the file now and swaps it in if it has changed, or if the last attempt failed with an error that may
// pass. If the file cannot be opened, Reload returns the error and keeps the current Set; Err returns the same error
// until a Reload succeeds.
func (l *Live) Reload() error { return l.file.Reload() }

// Set returns the current Set, for several queries of the same file. A Set that was returned stays valid when the file
// is replaced, and after Close.
func (l *Live) Set() *Set { return l.file.Current() }

// Contains is Set.Contains on the current file. After Close it returns true, and Err an error.
func (l *Live) Contains(key []byte) bool { return l.file.Current().Contains(key) }

// ContainsIn is Set.ContainsIn on the current file. After Close it returns true, and Err an error.
func (l *Live) ContainsIn(partition, key []byte) bool {
	return l.file.Current().ContainsIn(partition, key)
}

// Report makes Err return err, unless the file itself has an error, until the next Report. nil clears it.
func (l *Live) Report(err error) { l.file.Report(err) }

// Err returns the error of the last Reload, or that of the last Report, or nil. After Close it returns an error.
func (l *Live) Err() error { return l.file.Err() }

var errClosed = errors.New("exact: the Live set is closed")

// Close stops following the file. Later queries cannot know their answer: Contains is true, and Err returns an error.
// The error is nil.
func (l *Live) Close() error { return l.file.Close() }
