package bloomery

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/engine/shards"
	"github.com/bloomery/bloomery/internal/except"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/intake"
)

// SetDerivedMemory sets the size up to which a derived sharded Set stays in memory and returns the old one.
func SetDerivedMemory(n uint64) (old uint64) {
	old, shards.DerivedMemory = shards.DerivedMemory, n
	return old
}

// WithOpening has f called with the path of each file, or each shard, before it is opened, mapped or
// read. An error of f takes the place of that of the system.
func WithOpening(f func(path string) error) Option {
	return func(o *options) { o.Opening = f }
}

// SetLockedMemory sets the memory limit of a Locked sharded Set and returns the old one.
func SetLockedMemory(n int64) (old int64) {
	old, shards.LockedMemory = shards.LockedMemory, n
	return old
}

// ErrSpent is the error of a Builder that takes no more keys.
var ErrSpent = intake.ErrSpent

// ErrUnlocked is the error of a Locked that was closed.
var ErrUnlocked = errUnlocked

// main returns the filter without its exceptions, and these, or nil if it has none.
func (s *Set) main() (family.Filter, *except.Cascade) { return except.Split(s.Filter()) }

// sizesOfExceptions returns the geometry of the exceptions, or nil if there are none.
func (s *Set) sizesOfExceptions() []except.Size {
	if _, c := s.main(); c != nil {
		return c.Sizes()
	}
	return nil
}

// sizesOf returns the numbers of an Info that a manifest does not have.
func sizesOf(i filter.Info) [4]uint64 {
	return [4]uint64{i.Bits, i.Allowed, i.Exceptions, i.ExceptionBits}
}
