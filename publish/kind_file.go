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

// oneFile is what the kinds of one file have in common.
type oneFile struct{}

func (oneFile) folder() bool { return false }

func (oneFile) parts([]byte) ([]part, error) { return nil, nil }

func (oneFile) diff(ctx context.Context, _ *objects, old, new []byte, _ uint64) ([]byte, error) {
	return delta.Diff(ctx, old, new)
}

func (oneFile) apply(ctx context.Context, _ *objects, old, d []byte, _ map[string]Hash) ([]byte, error) {
	return delta.Patch(ctx, old, d, delta.Options{MaxBytes: 1 << 62}) // the sizes of the files limit it
}

func (oneFile) patch(ctx context.Context, p *poll, d []byte) (c loaded, err error) {
	old, err := untrusted.ReadFile(ctx, p.file, untrusted.Limit{MaxBytes: math.MaxInt64}) // it was hashed, whole
	if err != nil {
		return c, err
	}
	c.bytes, err = delta.Patch(ctx, old, d, delta.Options{MaxBytes: p.options.maxBytes})
	if err == nil {
		err = p.release.Object.match(c.bytes)
	}
	return c, err
}

func (oneFile) whole(ctx context.Context, p *poll) (c loaded, err error) {
	c.part, err = p.download(ctx, p.release.Object)
	return c, err
}

func (oneFile) install(ctx context.Context, p *poll, c loaded) error {
	if err := p.kind().opens(ctx, p, c); err != nil {
		return err
	}
	if err := p.writeState(ctx, p.was, p.next); err != nil {
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
	if errors.Is(err, fs.ErrNotExist) {
		if !p.held.exists {
			return nil
		}
	} else if err != nil {
		return err
	} else if p.held.exists && p.held.file.is(now) {
		return nil
	}
	return fmt.Errorf("%s: %w", p.file, container.ErrChanged)
}

// filterKind is the kind of a filter file.
type filterKind struct{ oneFile }

func (filterKind) members() string { return "keys" }

func (filterKind) rated() bool { return true }

func (filterKind) check(_ context.Context, _ *objects, content []byte) error {
	_, err := decodeFilter(content, false)
	return err
}

func (filterKind) opens(_ context.Context, p *poll, c loaded) error {
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

// exactKind is the kind of an exact set.
type exactKind struct{ oneFile }

func (exactKind) members() string { return "members" }

func (exactKind) rated() bool { return false }

func (exactKind) check(_ context.Context, _ *objects, content []byte) error {
	_, err := exact.Inspect(content)
	return err
}

func (exactKind) opens(ctx context.Context, p *poll, c loaded) (err error) {
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
	if err != nil {
		return cannotOpen(err)
	}
	return nil
}
