package publish

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/exact"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/live"
	"github.com/bloomery/bloomery/internal/patch"
	"github.com/bloomery/bloomery/internal/shardset"
	"github.com/bloomery/bloomery/internal/untrusted"
)

// kind is a kind of published content, with everything that differs between kinds.
type kind struct {
	folder  bool   // the content is a manifest whose shards are separate objects; it is followed in a folder
	members string // the word for its keys in messages
	rated   bool   // it has false positives
	form
}

// form is the operations on the contents of one kind.
type form interface {
	// parts returns the objects that a content names.
	partsOf(content []byte) ([]part, error)
	// check checks a content whose parts have been checked.
	checkContent(content []byte, read reader) error
	// hold returns the current content of a follower. It stores its transaction in c, if there is one.
	holdCurrent(ctx context.Context, p *poll, c *loaded) ([]byte, error)
	// whole loads all parts that a follower does not have.
	loadAll(ctx context.Context, p *poll) (loaded, error)
	// install opens the loaded content, writes the state, and replaces the current content.
	install(ctx context.Context, p *poll, c loaded) error
}

type part struct {
	name string
	object
}

// reader reads a part of a content, and writer stores a new part.
type (
	reader func(part) ([]byte, error)
	writer func(name string, content []byte) error
)

// loaded is new content that is ready to be installed.
type loaded struct {
	bytes []byte           // the bytes of the file, or of the manifest of a set, unless part is set
	part  string           // the path of the part file with the content, or empty
	to    *shardset.Folder // the open transaction of a set with new shards, or nil
}

var kinds = map[string]kind{
	File:  {members: "keys", rated: true, form: oneFile{File, openFilter}},
	Set:   {members: "keys", rated: true, form: setForm{}, folder: true},
	Exact: {members: "members", form: oneFile{Exact, openExact}},
}

// version returns a content for package patch.
func (k kind) version(content []byte, read reader) (v patch.Version, err error) {
	v.File = content
	if k.folder {
		var all []part
		all, err = k.partsOf(content)
		v.Shard = func(i int) ([]byte, error) { return read(all[i]) }
	}
	return v, err
}

// diffContents returns the delta between two contents.
func (k kind) diffContents(ctx context.Context, old, new []byte, read reader) ([]byte, error) {
	from, err := k.version(old, read)
	if err != nil {
		return nil, err
	}
	to, err := k.version(new, read)
	if err != nil {
		return nil, err
	}
	return patch.Diff(ctx, from, to)
}

// applyDelta applies a delta to an old content and returns the new content. most limits the bytes of the new content
// and its parts. patch calls put with each new part.
func (k kind) applyDelta(ctx context.Context, old, delta []byte, most uint64, read reader, put writer) ([]byte, error) {
	from, err := k.version(old, read)
	if err != nil {
		return nil, err
	}
	return patch.Patch(ctx, from, delta, most, put)
}

// oneFile is the form of a kind of one file.
type oneFile struct {
	kind string
	// opens returns an error if this program cannot open the loaded content.
	opens func(ctx context.Context, p *poll, c loaded) error
}

func (oneFile) partsOf([]byte) ([]part, error) { return nil, nil }

func (k oneFile) checkContent(content []byte, _ reader) error {
	c, err := contentOf(content, false)
	if err == nil && c.Kind != k.kind {
		err = fmt.Errorf("%w: the filter is of kind %s, not %s", ErrObject, c.Kind, k.kind)
	}
	return err
}

func (oneFile) holdCurrent(ctx context.Context, p *poll, _ *loaded) ([]byte, error) {
	return untrusted.ReadFile(ctx, p.file, untrusted.Limit{MaxBytes: math.MaxInt64}) // the whole file was hashed before
}

func (oneFile) loadAll(ctx context.Context, p *poll) (c loaded, err error) {
	c.part, err = p.download(ctx, p.release.object())
	return c, err
}

func (k oneFile) install(ctx context.Context, p *poll, c loaded) error {
	if err := k.opens(ctx, p, c); err != nil {
		return err
	}
	// The state comes first: after a crash between the two, the follower refuses older releases and loads this one
	// again.
	if err := p.writeState(ctx); err != nil {
		return err
	}

	delete(p.sums, p.file)
	return container.WriteAtomic(ctx, p.target, func(w io.Writer) (err error) {
		if c.part == "" {
			_, err = w.Write(c.bytes)
		} else {
			err = p.copyPart(ctx, w, c.part, p.release.object())
		}
		if err != nil {
			return err
		}
		// WriteAtomic renames next. A user may have replaced the file since it was hashed.
		return p.unchanged()
	})
}

// unchanged returns an error wrapping filter.ErrChanged if the file has changed since lookAtFile.
func (p *poll) unchanged() error {
	now, err := os.Stat(p.file)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !p.held.exists, err == nil && p.held.exists && sameFile(p.held.file, now):
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return fmt.Errorf("%s: %w", p.file, filter.ErrChanged)
}

func openFilter(_ context.Context, p *poll, c loaded) error {
	options := p.options.open
	if p.options.guard.off { // another user may truncate the part file, which would crash programs that map it
		options = append(slices.Clip(options), bloomery.InMemory())
	}
	if c.part != "" {
		return opened(bloomery.Open(context.Background(), c.part, options...))
	}
	return opened(bloomery.FromBytes(c.bytes, options...))
}

// opened closes a Set that was opened only to check that this program can open it. A missing secret is not an error.
func opened(s *bloomery.Set, err error) error {
	switch {
	// The version and the family are known, and programs with the secret can open the Set.
	case errors.Is(err, filter.ErrNoSecret):
		return nil
	case err != nil:
		return cannotOpen(err)
	}
	return s.Close()
}

// inspect verifies and describes an exact set, without its secret.
func inspect(content []byte) (exact.Info, error) {
	s, err := exact.FromBytes(content, func(o *live.ExactOptions) { o.Described = true })
	if err != nil {
		return exact.Info{}, err
	}
	return s.Info(), nil
}

func openExact(ctx context.Context, p *poll, c loaded) (err error) {
	b := c.bytes
	if c.part != "" {
		if b, err = untrusted.ReadFile(ctx, c.part, untrusted.Limit{MaxBytes: p.release.Bytes}); err != nil {
			return err
		}
	}
	if p.options.secret == nil {
		_, err = inspect(b)
	} else {
		_, err = exact.FromBytes(b, exact.WithSecret(p.options.secret))
	}
	return cannotOpen(err)
}
