package shards

import (
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/shard"
)

// spreading is the family.Spread of the shards, which answers batches once all shards are loaded. Its spread is nil if
// the family has none, if shards cannot be queried together, or in a Locked.
type spreading struct {
	ready  atomic.Bool   // all filters are set
	spread family.Spread // does not change once ready was true
	mu     sync.Mutex    // protects the fields below
	began  bool          // setShard has been called
	set    []bool        // set[i]: the filter of shard i is set
	unset  int           // number of shards whose filter is not set
}

// setShard sets the filter of shard i of shards. Queries may run at the same time if it is the first filter of this
// shard.
func (p *spreading) setShard(i, shards int, f family.Filter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.began {
		p.began = true
		if f, ok := f.(family.Spreader); ok {
			p.spread, p.set, p.unset = f.Spread(shards), make([]bool, shards), shards
		}
	}
	if p.spread == nil {
		return
	}

	was := p.set[i]
	p.set[i] = p.spread.SetFilter(i, f)
	switch {
	case p.set[i] && !was:
		p.unset--
	case was && !p.set[i]:
		p.unset++
	}
	p.ready.Store(p.unset == 0)
}

// spreadIDs holds buffers for the shards of the keys of a batch.
var spreadIDs = sync.Pool{New: func() any { return new([engine.BatchLen]uint32) }}

// hasSpread is HasMany if all shards are in the Spread.
func (t *Set) hasSpread(dst []bool, hs []filter.Hash) {
	ids := spreadIDs.Get().(*[engine.BatchLen]uint32)
	defer spreadIDs.Put(ids)
	for len(hs) > 0 {
		n := min(len(hs), engine.BatchLen)
		for i, h := range hs[:n] {
			ids[i] = uint32(shard.Route(h, len(t.slots)))
		}
		if !t.hasSpreadBatch(dst[:n], hs[:n], ids[:n]) {
			for i, h := range hs[:n] {
				dst[i] = t.Has(h)
			}
		}
		dst, hs = dst[n:], hs[n:]
	}
}

// hasSpreadBatch is hasSpread for one batch. If the file of a mapped shard can no longer be read, it returns false and
// incomplete answers.
func (t *Set) hasSpreadBatch(dst []bool, hs []filter.Hash, ids []uint32) (ok bool) {
	was := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(was)
		if recover() != nil {
			ok = false // a panic other than a fault of a mapping is repeated in the single queries
		}
	}()
	t.spreading.spread.HasManySpread(dst, hs, ids)
	return true
}
