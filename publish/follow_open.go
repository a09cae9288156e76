package publish

import (
	"errors"
	"fmt"
	"os"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/container"
	"github.com/bloomery/bloomery/exact"
)

// opens returns an error if this program cannot open a filter file.
func (p *poll) opens(c loaded) error {
	if p.release.Kind == Exact {
		return p.opensExact(c)
	}
	var s *bloomery.Set
	var err error
	if c.part != "" {
		s, err = bloomery.Open(c.part, p.options.open...)
	} else {
		s, err = bloomery.FromBytes(c.bytes, p.options.open...)
	}
	switch {
	case errors.Is(err, container.ErrNoSecret): // its version and family are known: who has the secret can open it
		return nil
	case err != nil:
		return fmt.Errorf("this program cannot open it: %w", err)
	}
	return s.Close()
}

// opensExact is opens for an exact set.
func (p *poll) opensExact(c loaded) (err error) {
	b := c.bytes
	if c.part != "" {
		if b, err = os.ReadFile(c.part); err != nil {
			return err
		}
	}
	if p.options.secret == nil {
		_, err = exact.Inspect(b)
	} else {
		_, err = exact.FromBytes(b, p.options.secret)
	}
	if err != nil {
		return fmt.Errorf("this program cannot open it: %w", err)
	}
	return nil
}
