package parallel

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// SmallFilter is the size of the largest filter, in 64-bit words, for which a Filler makes copies: 2 MiB,
// the second-level cache of a recent server core.
const SmallFilter = 1 << 18

// maxCopies limits the memory of copies: 32 MiB.
const maxCopies = 16

// turn is the number of keys that a goroutine adds before it releases the lock, so that others do not wait for long.
const turn = 4096

// Fillable is a filter that a Filler can fill. The union of copies must be the filter of the keys of all copies.
type Fillable interface {
	family.Filter
	family.Merger
}

// FillConfig describes how to fill a filter.
type FillConfig[F Fillable] struct {
	// Add adds keys to a filter that no other goroutine uses. It does not count them.
	Add func(f F, hs []filter.Hash)
	// Share adds keys to the filter while other goroutines do the same. It does not count them. It is not called
	// where Empty is.
	Share func(hs []filter.Hash)
	// Empty returns an empty filter of the same geometry. It is not called for a filter of more than SmallFilter words.
	Empty func() (F, error)
	// Count sets the number of keys in the filter.
	Count func(f F, keys uint64)
}

// Filler is a family.Builder that adds keys to one filter. Any number of goroutines may call AddMany at once. If only
// one goroutine adds keys, it is as fast as the filter's Add.
//
// A goroutine that finds no other goroutine adding keys locks the filter and uses plain writes. Meanwhile the others
//
//	small filter   write to empty copies, which Build merges: at most 16 copies, made when needed, each for one
//	               goroutine at a time. If no copy is free, they wait for the lock of the filter
//	large filter   write to the filter itself as the family does with many writers: atomically, or with locks for its
//	               parts. From then on every goroutine does so
//
// Atomic writes to a filter that fits into a core's caches take 3x to 4x the time of plain ones (standard, 1 million
// keys), and copies scale with the number of cores. In filters larger than the caches both kinds of writes wait for
// memory, and copies would take too much memory.
type Filler[F Fillable] struct {
	c       FillConfig[F]
	filter  F
	alone   sync.RWMutex // locked by the goroutine that is alone; read-locked by goroutines that share
	crowded atomic.Bool  // goroutines share
	keys    atomic.Uint64
	built   atomic.Bool

	mu     sync.Mutex
	copies []F
	free   []F // copies that no goroutine uses
}

// NewFiller returns a Filler that fills f, an empty filter of this number of 64-bit words.
func NewFiller[F Fillable](f F, words int, c FillConfig[F]) *Filler[F] {
	if words > SmallFilter {
		c.Empty = nil // copies would take too much memory
	}
	return &Filler[F]{c: c, filter: f}
}

var errBuilt = errors.New("the builder has built its filter, and takes no more keys")

// AddMany adds keys and does not keep hs. It returns an error after Build.
func (b *Filler[F]) AddMany(hs []filter.Hash) error {
	if b.built.Load() {
		return errBuilt
	}

	b.keys.Add(uint64(len(hs)))
	for len(hs) > 0 {
		part := hs[:min(len(hs), turn)]
		hs = hs[len(part):]
		switch {
		case !b.crowded.Load() && b.alone.TryLock():
			b.c.Add(b.filter, part)
			b.alone.Unlock()
		case b.c.Empty != nil:
			b.addToCopy(part)
		default:
			b.crowded.Store(true) // from now on nobody uses plain writes, which would lose bits beside atomic ones
			b.alone.RLock()
			b.c.Share(part)
			b.alone.RUnlock()
		}
	}
	return nil
}

// addToCopy adds keys to a copy, or to the filter itself if no copy is free.
func (b *Filler[F]) addToCopy(hs []filter.Hash) {
	if f, ok := b.takeCopy(); ok {
		b.c.Add(f, hs)
		b.mu.Lock()
		b.free = append(b.free, f)
		b.mu.Unlock()
		return
	}
	b.alone.Lock()
	b.c.Add(b.filter, hs)
	b.alone.Unlock()
}

// takeCopy returns a copy that no goroutine uses. It returns false if all copies are in use and no more may be made.
func (b *Filler[F]) takeCopy() (f F, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if last := len(b.free) - 1; last >= 0 {
		f, b.free = b.free[last], b.free[:last]
		return f, true
	}
	if len(b.copies) >= min(runtime.GOMAXPROCS(0)-1, maxCopies) { // one processor is for the filter itself
		return f, false
	}

	f, err := b.c.Empty()
	if err != nil { // no memory: use the filter itself
		return f, false
	}
	b.copies = append(b.copies, f)
	return f, true
}

// Build returns the filter, an F, once all calls of AddMany have returned, or ctx.Err() if ctx is done. A second Build
// returns an error.
func (b *Filler[F]) Build(ctx context.Context) (family.Filter, error) {
	if b.built.Swap(true) {
		return nil, errBuilt
	}

	for _, c := range b.copies {
		if err := b.filter.Merge(c, nil); err != nil {
			return nil, err // copies of another geometry: a bug of the family
		}
	}

	b.copies, b.free = nil, nil
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b.c.Count(b.filter, b.keys.Load())
	return b.filter, nil
}
