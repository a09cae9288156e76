package bloomery

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/live"
	"github.com/bloomery/bloomery/internal/shardset"
)

// DefaultInterval is the interval at which a Live checks its file.
const DefaultInterval = time.Second

// Live is a Set that follows its file. When the file is replaced by rename, as Save does, Live opens and verifies the
// new file and swaps it in. For a sharded set it follows the manifest. Running queries finish on the old one. All
// methods are safe for concurrent use. Make one with [OpenLive] or publish.Follow: the zero Live is like a closed one.
//
// If the new file cannot be opened, Live keeps the current Set, and Err returns the error. After a transient error,
// such as too many open files, it tries again after 100 ms, then after twice as long each time, up to 30 s or the
// interval if that is shorter. After damage, or with the wrong secret, it tries again when the file changes.
type Live struct {
	path string
	file live.File[*Set]
}

var errClosed = fmt.Errorf("bloomery: the Live set is %w", filter.ErrClosed)

// OpenLive opens the Set in a file and follows the file, which it checks every [DefaultInterval]; see [WithInterval].
// Close it when done. ctx is for the opening alone. Options and errors: see [Open].
func OpenLive(ctx context.Context, path string, o ...Option) (*Live, error) {
	all := optionsOf(0, o)
	all.Regular = true
	if all.Concurrent {
		return nil, family.Invalid("concurrent", true, "a Live set is replaced by its file: it takes no keys")
	}

	l := &Live{path: path}
	c := live.Config[*Set]{
		Path:     func() string { return shardset.FileOf(path) },
		Open:     func(ctx context.Context) (*Set, error) { return openFile(ctx, path, all) },
		Release:  func(s *Set) { _ = s.Close() },
		Closed:   newClosed(errClosed),
		Interval: cmp.Or(max(all.interval, 0), DefaultInterval),
	}
	if all.update != nil {
		c.Update = func(ctx context.Context) { all.update(ctx, l, l.file.Report) }
	}
	if err := l.file.Start(ctx, c); err != nil {
		return nil, err
	}
	return l, nil
}

// opened returns the followed file, or a closed one if l is the zero Live.
func (l *Live) opened() *live.File[*Set] {
	if !l.file.Started() {
		l.file.StartClosed(newClosed(errClosed))
	}
	return &l.file
}

// WithInterval sets the interval at which a Live checks its file. Default: DefaultInterval.
func WithInterval(d time.Duration) Option {
	return func(o *options) { o.interval = d }
}

// WithUpdater makes OpenLive call update in a separate goroutine. update replaces the file from time to time, for
// example by a download, then calls Reload of the Live. It passes its errors to report: Live.Err returns the last one,
// unless the file itself has an error; report(nil) clears it. Close ends the context and waits for update, which must
// return soon and must not call Close.
func WithUpdater(update func(ctx context.Context, l *Live, report func(error))) Option {
	return func(o *options) { o.update = update }
}

// Reload checks the file now. If the file has changed, or the last attempt failed with a transient error, Reload opens
// it and swaps it in. If the file cannot be opened, Reload returns the error and keeps the current Set; Err returns the
// same error until a Reload succeeds. If ctx ends first, Reload returns its cause and changes nothing.
func (l *Live) Reload(ctx context.Context) error { return l.opened().Reload(ctx) }

// View calls f with the current Set, which stays open until f returns. f must not keep, change or close it. After Close
// f gets a closed Set.
func (l *Live) View(f func(s *Set)) { l.opened().View(f) }

// Contains is Set.Contains on the current file.
func (l *Live) Contains(key []byte) bool {
	g, u := l.opened().Acquire()
	defer g.Release(u)
	return g.Value.Contains(key)
}

// ContainsString is Contains for a string. For other methods of Set see View.
func (l *Live) ContainsString(key string) bool {
	g, u := l.opened().Acquire()
	defer g.Release(u)
	return g.Value.ContainsString(key)
}

// Swaps returns how many times a new file was swapped in.
func (l *Live) Swaps() uint64 { return l.opened().Swaps() }

// Err returns the error of the last Reload, or of Set.Err, or of the last download of publish.Follow, or nil. After
// Close it returns an error.
func (l *Live) Err() error { return l.opened().Err() }

// Close stops following the file, waits for running queries, and closes the Set. Later queries cannot know their
// answer: Contains is true, and Err returns an error.
func (l *Live) Close() error { return l.opened().Close() }

// String describes the current set, without its secret.
func (l *Live) String() (s string) {
	l.View(func(set *Set) { s = fmt.Sprintf("bloomery.Live(%s, %v)", l.path, set) })
	return s
}
