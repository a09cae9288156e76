package bloomery

import "github.com/bloomery/bloomery/internal/intake"

// SetDerivedMemory sets the size up to which a derived sharded Set stays in memory and returns the old one.
func SetDerivedMemory(n uint64) (old uint64) {
	old, derivedMemory = derivedMemory, n
	return old
}

// WithOpening has f called with the path of each file, or each shard, before it is opened, mapped or
// read. An error of f takes the place of that of the system.
func WithOpening(f func(path string) error) Option {
	return func(o *options) { o.opening = f }
}

// SetLockedMemory sets the memory limit of a Locked sharded Set and returns the old one.
func SetLockedMemory(n int64) (old int64) {
	old, lockedMemory = lockedMemory, n
	return old
}

// ErrSpent is the error of a Builder that takes no more keys.
var ErrSpent = intake.ErrSpent

// ErrUnlocked is the error of a Locked that was closed.
var ErrUnlocked = errUnlocked
