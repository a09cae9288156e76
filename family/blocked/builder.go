package blocked

import (
	"context"
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
)

// Builder fills a filter from many goroutines at once.
//
// The blocks are divided into 64 regions, each with a lock. A call of AddMany sorts its keys by region and adds the
// keys of a region together: plain writes to a part of the filter that a second-level cache holds, instead of atomic
// writes to all of it. Building from a file on two cores takes half the time that it takes with the Add of Concurrent.
type Builder struct {
	f       *Filter
	shift   int // a block is in region block >> shift
	regions [regions]region
	keys    atomic.Uint64
	sorts   sync.Pool // of *sorted
}

const regions = 64

type region struct {
	sync.Mutex
	_ [56]byte // so that each lock has a cache line of its own
}

// sorted is the memory in which a call sorts keys.
type sorted struct {
	keys [4096]place
	ends [regions + 1]int // the keys of region s are keys[ends[s]:ends[s+1]]
}

// place is a key to add: the index of the first word of its block, and Lo of its Hash.
type place struct{ at, lo uint64 }

// NewBuilder returns a builder of the filter that New would return.
func NewBuilder(c Config) (*Builder, error) {
	f, err := New(c)
	if err != nil {
		return nil, err
	}
	return &Builder{
		f:     f,
		shift: max(0, bits.Len64(f.blocks-1)-bits.Len64(regions-1)),
		sorts: sync.Pool{New: func() any { return new(sorted) }},
	}, nil
}

// AddMany adds keys. Any number of goroutines may call it at once. The error is always nil.
func (b *Builder) AddMany(hs []filter.Hash) error {
	s := b.sorts.Get().(*sorted)
	defer b.sorts.Put(s)
	b.keys.Add(uint64(len(hs)))
	for len(hs) > 0 {
		n := min(len(hs), len(s.keys))
		b.add(s, hs[:n])
		hs = hs[n:]
	}
	return nil
}

// add sorts keys by counting and adds them region by region. s must have room for them.
func (b *Builder) add(s *sorted, hs []filter.Hash) {
	f, shift := b.f, b.shift&63
	var next [regions + 1]int
	for _, h := range hs {
		block, _ := bits.Mul64(h.Hi, f.blocks)
		next[block>>shift+1]++
	}
	for i := range regions {
		next[i+1] += next[i]
	}
	s.ends = next
	size := uint64(f.blockWords())
	for _, h := range hs {
		block, _ := bits.Mul64(h.Hi, f.blocks)
		to := &next[block>>shift]
		s.keys[*to] = place{block * size, h.Lo}
		*to++
	}
	for i := range regions {
		if part := s.keys[s.ends[i]:s.ends[i+1]]; len(part) > 0 {
			b.regions[i].Lock()
			f.addPlaces(part)
			b.regions[i].Unlock()
		}
	}
}

// addPlaces adds keys. It prefetches the blocks of a batch before it writes to them.
func (f *Filter) addPlaces(keys []place) {
	var at [batch]uint64
	size := f.blockWords()
	for len(keys) > 0 {
		group := keys[:min(batch, len(keys))]
		for i, k := range group {
			at[i] = k.at
		}
		bitvec.Prefetch(f.words, at[:len(group)])
		for _, k := range group {
			f.set(f.words[k.at:][:size], k.lo)
		}
		keys = keys[len(group):]
	}
}

// Build returns the filter, a *Filter, once all calls of AddMany have returned.
func (b *Builder) Build(ctx context.Context) (filter.Filter, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b.f.keys = b.keys.Load()
	return b.f, nil
}
