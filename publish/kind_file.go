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
	"github.com/bloomery/bloomery/container"
	"github.com/bloomery/bloomery/delta"
	"github.com/bloomery/bloomery/exact"
	"github.com/bloomery/bloomery/internal/untrusted"
)

// oneFile is the form of a kind of one file.
type oneFile struct {
	inspect func(content []byte) error
	// opens returns an error if this program cannot open what was loaded.
	opens func(ctx context.Context, p *poll, c loaded) error
}

func (oneFile) parts([]byte) ([]part, error) { return nil, nil }

func (k oneFile) check(content []byte, _ reader) error { return k.inspect(content) }

func (oneFile) diff(ctx context.Context, old, new []byte, _ reader) ([]byte, error) {
	return delta.Diff(ctx, old, new)
}

func (oneFile) patch(ctx context.Context, old, d []byte, most uint64, _ reader, _ writer) ([]byte, error) {
	return delta.Patch(ctx, old, d, delta.Options{MaxBytes: most})
}

func (oneFile) hold(ctx context.Context, p *poll, _ *loaded) ([]byte, error) {
	return untrusted.ReadFile(ctx, p.file, untrusted.Limit{MaxBytes: math.MaxInt64}) // it was hashed, whole
}

func (oneFile) whole(ctx context.Context, p *poll) (c loaded, err error) {
	c.part, err = p.download(ctx, p.release.Object)
	return c, err
}

func (k oneFile) install(ctx context.Context, p *poll, c loaded) error {
	if err := k.opens(ctx, p, c); err != nil {
		return err
	}
	if err := p.writeState(ctx); err != nil {
		return err
	}
	delete(p.sums, p.file)
	return container.WriteAtomic(ctx, p.target, func(w io.Writer) (err error) {
		if c.part == "" {
			_, err = w.Write(c.bytes)
		} else {
			err = p.copyPart(ctx, w, c.part, p.release.Object)
		}
		if err != nil {
			return err
		}
		return p.unchanged()
	})
}

// unchanged returns an error wrapping container.ErrChanged if the file is not the one that was looked at.
func (p *poll) unchanged() error {
	now, err := os.Stat(p.file)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !p.held.exists, err == nil && p.held.exists && same(p.held.file, now):
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return fmt.Errorf("%s: %w", p.file, container.ErrChanged)
}

func checkFilter(content []byte) error {
	_, err := decodeFilter(content, false)
	return err
}

func openFilter(_ context.Context, p *poll, c loaded) error {
	options := p.options.open
	if p.options.guard.off { // another user may cut the part file, which would crash those that map it
		options = append(slices.Clip(options), bloomery.InMemory())
	}
	if c.part != "" {
		return opened(bloomery.Open(c.part, options...))
	}
	return opened(bloomery.FromBytes(c.bytes, options...))
}

// opened closes a Set that was opened to see whether this program can do it. A missing secret is no error: the version
// and the family are known, and who has the secret can open it.
func opened(s *bloomery.Set, err error) error {
	switch {
	case errors.Is(err, container.ErrNoSecret):
		return nil
	case err != nil:
		return cannotOpen(err)
	}
	return s.Close()
}

func checkExact(content []byte) error {
	_, err := exact.Inspect(content)
	return err
}

func openExact(ctx context.Context, p *poll, c loaded) (err error) {
	b := c.bytes
	if c.part != "" {
		if b, err = untrusted.ReadFile(ctx, c.part, untrusted.Limit{MaxBytes: p.release.Bytes}); err != nil {
			return err
		}
	}
	if p.options.secret == nil {
		_, err = exact.Inspect(b)
	} else {
		_, err = exact.FromBytes(b, p.options.secret)
	}
	return cannotOpen(err)
}
