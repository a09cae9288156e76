package publish

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/exact"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/live"
	"github.com/bloomery/bloomery/publish/transport"
)

// DefaultFollowInterval is the largest time between successful polls; see WithInterval.
const DefaultFollowInterval = time.Minute

// FollowOption is an option of Follow and NewFollower.
type FollowOption func(*followOptions)

type followOptions struct {
	keys      []PublicKey
	insecure  bool
	name      string
	interval  time.Duration
	maxBytes  uint64
	notify    func(Event)
	progress  func(loaded, expected int64)
	source    transport.Source
	transport transport.Config
	open      []bloomery.Option
	secret    *filter.Secret
	guard     guard
	now       func() time.Time
}

// WithKeys pins public keys: a release must be signed by at least one of them. Pin the next key of a publisher before
// it replaces the current one.
func WithKeys(keys ...PublicKey) FollowOption {
	return func(o *followOptions) { o.keys = append(o.keys, keys...) }
}

// WithInsecure makes a follower without keys accept releases unchecked. Without it and without WithKeys, a Follower
// accepts only local folders.
func WithInsecure() FollowOption { return func(o *followOptions) { o.insecure = true } }

// WithName refuses releases with another name. Default: the name of the first accepted release.
func WithName(name string) FollowOption { return func(o *followOptions) { o.name = name } }

// WithInterval sets the largest time between successful polls. Default: DefaultFollowInterval, 1 minute.
func WithInterval(d time.Duration) FollowOption { return func(o *followOptions) { o.interval = d } }

// WithMaxBytes limits the bytes of a release: of the filter file, or of all files of a sharded set, and of a trimmed
// filter also in memory. Above it the error wraps filter.ErrTooLarge. Default: bloomery.DefaultMaxBytes.
func WithMaxBytes(n uint64) FollowOption { return func(o *followOptions) { o.maxBytes = max(n, 1) } }

// OnEvent calls f after every poll with each of its events, and with Expired when the release expires. f must not call
// the Follower. Calls of OnEvent and OnProgress functions never overlap.
func OnEvent(f func(Event)) FollowOption { return func(o *followOptions) { o.notify = f } }

// OnProgress calls f during downloads, with the bytes that the poll has loaded and the bytes that it expects to load,
// which may change. f must not call the Follower.
func OnProgress(f func(loaded, expected int64)) FollowOption {
	return func(o *followOptions) { o.progress = f }
}

// WithSource makes a follower read from s, such as a bucket. The follower then has the address of s.
func WithSource(s transport.Source) FollowOption { return func(o *followOptions) { o.source = s } }

// WithTransport configures requests to web servers. Stall and MinRate also apply to polls of other sources.
func WithTransport(c transport.Config) FollowOption {
	return func(o *followOptions) { o.transport = c }
}

// WithOpen sets the options with which new files are opened, such as bloomery.WithMaxBytes. They have no effect on
// exact sets.
func WithOpen(o ...bloomery.Option) FollowOption {
	return func(f *followOptions) { f.open = append(f.open, o...) }
}

// WithSecret sets the secret of a filter or exact set with a keyed hash. nil sets none.
func WithSecret(secret *filter.Secret) FollowOption {
	return func(f *followOptions) {
		f.secret = secret
		f.open = append(f.open, bloomery.WithSecret(secret))
	}
}

// Follower keeps a file current with the releases of a publisher. The file is a filter file, an exact set or the folder
// of a sharded set, and is always one complete release: it is replaced atomically, as by Set.Save. See Poll. Its
// methods are safe for concurrent use, and several followers of one file, in one or many processes, poll one after the
// other.
//
// It keeps these files beside FILE, or beside its target if FILE is a link: FILE.follow, with the newest release that
// each key has signed; FILE.follow.lock, which a poll locks; and during a download FILE.part-*, which the next poll
// resumes. See WithForeign for their owners and permissions.
type Follower struct {
	file    string
	target  string // the file, or the target of its link at the start of a poll
	source  transport.Source
	options followOptions
	kinds   []string // the kinds that it follows; nil: all

	polls  chan struct{} // has an element while a poll runs
	sums   sums
	newest atomic.Pointer[state] // the newest accepted state
	calls  sync.Mutex            // held while a function of the caller runs
}

// NewFollower returns the Follower of a file. address is a URL or a folder; see transport.Open. It sends no request.
// The error wraps ErrNoKey if releases could not be checked, and filter.ErrConfig if an option is out of range.
func NewFollower(address, file string, o ...FollowOption) (*Follower, error) {
	f := &Follower{file: filepath.Clean(file), target: filepath.Clean(file), polls: make(chan struct{}, 1), sums: sums{}}
	f.options = followOptions{interval: DefaultFollowInterval, maxBytes: bloomery.DefaultMaxBytes, now: time.Now,
		guard: guard{owner: ownerOf, user: os.Geteuid()}}
	for _, set := range o {
		set(&f.options)
	}

	switch {
	case file == "":
		return nil, fmt.Errorf("publish: no file to follow: %w", filter.ErrConfig)
	case f.options.interval <= 0:
		return nil, fmt.Errorf("publish: interval %v: %w", f.options.interval, filter.ErrConfig)
	}

	f.options.open = append([]bloomery.Option{bloomery.WithMaxBytes(f.options.maxBytes)}, f.options.open...)
	if f.source = f.options.source; f.source == nil {
		var err error
		if f.source, err = transport.Open(address, f.options.transport); err != nil {
			return nil, err
		}
	}
	if _, local := f.source.(transport.Folder); len(f.options.keys) == 0 && !local && !f.options.insecure {
		return nil, fmt.Errorf("%s: %w", f.source, ErrNoKey)
	}
	return f, nil
}

// Follow keeps a file current until ctx ends or the Live is closed, and returns a Live of the file, which has every new
// release at once. If the file exists and is valid, Follow returns at once and polls in the background; else it waits
// until the first release is loaded or ctx ends, and retries after transient errors. It returns all other errors: of
// signatures, formats, names, secrets and limits, if the release cannot be opened, and if nothing is published at the
// address. If an exact set is published, the error wraps ErrKind.
//
// Live.Err returns the error of the last poll. It wraps ErrExpired as soon as the release has expired, and the cause of
// ctx after ctx ends. See also OnEvent. Options for opening the file are set by WithOpen.
func Follow(ctx context.Context, address, file string, o ...FollowOption) (*bloomery.Live, error) {
	return follow(ctx, address, file, o, []string{File, Set}, func(f *Follower, update updater) (*bloomery.Live, error) {
		with := bloomery.WithUpdater(func(ctx context.Context, l *bloomery.Live, report func(error)) {
			update(ctx, l.Reload, report)
		})
		return bloomery.OpenLive(ctx, f.file, append(f.options.open, with)...)
	})
}

// FollowExact is Follow for an exact set. If something else is published, the error wraps ErrKind. A keyed hash needs
// WithSecret.
func FollowExact(ctx context.Context, address, file string, o ...FollowOption) (*exact.Live, error) {
	return follow(ctx, address, file, o, []string{Exact}, func(f *Follower, update updater) (*exact.Live, error) {
		with := func(o *live.ExactOptions) {
			o.Update = func(ctx context.Context, l live.Follower) { update(ctx, l.Reload, l.Report) }
		}
		return exact.OpenLive(ctx, f.file, exact.WithSecret(f.options.secret), with)
	})
}

// updater is a poll loop that runs until its context ends. It calls reload after it has replaced the file, and passes
// its errors to report.
type updater = func(ctx context.Context, reload func(context.Context) error, report func(error))

// follow implements Follow. open opens the file with a poll loop.
func follow[L any](
	ctx context.Context, address, file string, o []FollowOption, kinds []string, open func(*Follower, updater) (L, error),
) (none L, err error) {
	f, err := NewFollower(address, file, o...)
	if err != nil {
		return none, err
	}

	f.kinds = kinds
	for failures := 1; ; failures++ {
		if st, err := os.Stat(f.file); err == nil && !st.Mode().IsRegular() && !st.IsDir() {
			return none, f.notRegular()
		}
		l, opened := open(f, f.updater(ctx, false, nil))
		if opened == nil {
			return l, nil
		}

		event, err := f.Poll(ctx)
		if event.Kind != "" {
			f.tellEvents(event, err, 0)
			if l, opened = open(f, f.updater(ctx, true, err)); opened == nil || !errors.As(opened, new(syscall.Errno)) {
				return l, opened
			}
			err = opened // the system has failed: too many open files, no memory
		} else if !errors.Is(opened, fs.ErrNotExist) {
			err = errors.Join(err, opened) // the file exists
		}

		// Waiting for a later release does not help against a wrong secret or a low limit.
		final := errors.Is(opened, filter.ErrSecret) || errors.Is(opened, filter.ErrTooLarge)
		if ctx.Err() != nil || final || !passes(err) {
			return none, err
		}

		wait := f.nextDelay(failures, err)
		f.tellEvents(Event{}, err, wait)
		select {
		case <-ctx.Done():
			return none, errors.Join(err, context.Cause(ctx))
		case <-time.After(wait):
		}
	}
}

// updater returns a poll loop that ends with ctx. If polled is true, a poll was just made, and reported is its error.
func (f *Follower) updater(ctx context.Context, polled bool, reported error) updater {
	return func(inner context.Context, reload func(context.Context) error, report func(error)) {
		inner, cancel := context.WithCancelCause(inner)
		defer context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })()
		defer cancel(nil)
		report(reported)
		_ = f.run(inner, polled, func(e Event, err error) {
			if e.Kind == Updated {
				err = errors.Join(err, reload(inner))
			}
			report(err)
		})
		if ctx.Err() != nil {
			report(fmt.Errorf("%s is not followed any more: %w", f.file, context.Cause(ctx)))
		}
	}
}
