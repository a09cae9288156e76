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
// The blocks are divided into stripes, each under a lock. A call sorts its keys by stripe and adds those of one stripe
// together: plain writes, to a part of the filter that a second-level cache holds, instead of atomic ones all over it.
// Building from a file on two cores takes half the time of an Atomic.
type Builder struct {
	f       *Filter
	shift   int // a block belongs to stripe block >> shift
	stripes [stripes]stripe
	keys    atomic.Uint64
	sorts   sync.Pool // of *sorted
}

const stripes = 64

type stripe struct {
	sync.Mutex
	_ [56]byte // the next lock lies on another line
}

// sorted is the room in which a call sorts keys.
type sorted struct {
	keys [4096]place
	ends [stripes + 1]int // ends[s+1] is where the keys of stripe s end
}

// place is a key on its way: the first word of its block, and Lo of its Hash.
type place struct{ at, lo uint64 }

// NewBuilder returns a builder of the filter that New would return.
func NewBuilder(c Config) (*Builder, error) {
	f, err := New(c)
	if err != nil {
		return nil, err
	}
	return &Builder{
		f:     f,
		shift: max(0, bits.Len64(f.blocks-1)-bits.Len64(stripes-1)),
		sorts: sync.Pool{New: func() any { return new(sorted) }},
	}, nil
}

// AddMany puts keys into the set. It may be called from any number of goroutines.
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

// add sorts keys, as many as s has room for, by counting, and adds them stripe by stripe.
func (b *Builder) add(s *sorted, hs []filter.Hash) {
	f, shift := b.f, b.shift&63
	var next [stripes + 1]int
	for _, h := range hs {
		block, _ := bits.Mul64(h.Hi, f.blocks)
		next[block>>shift+1]++
	}
	for i := range stripes {
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
	for i := range stripes {
		if part := s.keys[s.ends[i]:s.ends[i+1]]; len(part) > 0 {
			b.stripes[i].Lock()
			f.addPlaces(part)
			b.stripes[i].Unlock()
		}
	}
}

// addPlaces adds keys, the blocks of a batch prefetched before it is written to.
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
