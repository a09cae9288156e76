package bloomery

import (
	"context"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bulk"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/engine/one"
	"github.com/bloomery/bloomery/internal/family"
)

// WithOpening returns an Option that calls f with the path of each file or shard before it is opened, mapped or read.
// An error of f is treated like an error of the system.
func WithOpening(f func(path string) error) Option {
	return func(o *options) { o.Opening = f }
}

// Begin begins a change of a Set and returns the function that ends it.
func Begin(s *Set) (end func()) {
	s.begin()
	return s.end
}

// ErrUnlocked is the error of a Locked that was closed.
var ErrUnlocked = errUnlocked

// Resolve is Config.resolve.
func (c Config) Resolve(ctx context.Context) (Config, error) { return c.resolve(ctx) }

// EngineOf returns the Engine of a Set.
func EngineOf(s *Set) engine.Engine { return s.inner() }

// FilterOf returns the filter of a Set, or nil if the Set has no filter or several.
func FilterOf(s *Set) family.Filter { return s.inner().Facts().Filter }

// SetOf returns a Set of a filter and the hasher of its keys.
func SetOf(f family.Filter, h filter.Hasher) *Set { return setOf(one.New(f, h)) }

// The two values of MaxStrangers are equal, or this does not compile.
var _ = [1]struct{}{}[MaxStrangers-bulk.MaxStrangers]
