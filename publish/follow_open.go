package publish

import (
	"context"
	"errors"
	"slices"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/container"
	"github.com/bloomery/bloomery/exact"
	"github.com/bloomery/bloomery/internal/untrusted"
)

// opens returns an error if this program cannot open a filter file.
func (p *poll) opens(ctx context.Context, c loaded) error {
	if p.release.Kind == Exact {
		return p.opensExact(ctx, c)
	}
	options := p.options.open
	if p.options.guard.off { // another user may cut the part file, which would crash those that map it
		options = append(slices.Clip(options), bloomery.InMemory())
	}
	var s *bloomery.Set
	var err error
	if c.part != "" {
		s, err = bloomery.Open(c.part, options...)
	} else {
		s, err = bloomery.FromBytes(c.bytes, options...)
	}
	switch {
	case errors.Is(err, container.ErrNoSecret): // its version and family are known: who has the secret can open it
		return nil
	case err != nil:
		return cannotOpen(err)
	}
	return s.Close()
}

// opensExact is opens for an exact set.
func (p *poll) opensExact(ctx context.Context, c loaded) (err error) {
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
