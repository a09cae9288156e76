package partitioned

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/anneal"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/probe"
)

// DefaultBitsPerKey is the size of a Config without one.
const DefaultBitsPerKey = 8

// Effort is how long a search goes on.
type Effort string

// The efforts. Times are for one core at 8 bits a key; they grow with the number of slots.
const (
	Fast    Effort = "fast"    // about 0.6 µs a key, 1 µs without vector code
	Default Effort = "default" // about 2 µs a key, 3 µs without
	Max     Effort = "max"     // about 60 µs a key, 100 µs without
)

// Passes returns the number of passes over all slots.
func (e Effort) Passes() int {
	switch e {
	case Fast:
		return 18
	case Max:
		return 2500
	}
	return 72
}

// Config says what filter to make. Fields that are 0 have the default that stands with them.
type Config struct {
	Keys    uint64        // how many keys will come, to reserve memory; 0 if not known
	Size    filter.Sizing // default: BitsPerKey = DefaultBitsPerKey, for distinct keys
	Effort  Effort        // default: Default
	Workers int           // shards that are searched at once; default: GOMAXPROCS
}

// ConfigFromSpec reads partitioned(bits_per_key=, fpr=, bytes=, effort=fast|default|max).
func ConfigFromSpec(s filter.Spec, keys uint64) (Config, error) {
	r := s.Reader()
	c := Config{Keys: keys, Size: filter.ReadSizing(r), Effort: Effort(r.Text("effort", string(Default)))}
	if err := r.Err(); err != nil {
		return Config{}, err
	}
	return c, c.check()
}

func (c Config) check() error {
	if err := c.Size.Check(); err != nil {
		return err
	}
	switch {
	case c.Effort != "" && c.Effort != Fast && c.Effort != Default && c.Effort != Max:
		return &filter.ConfigError{Field: "effort", Value: c.Effort, Reason: "want fast, default or max"}
	case c.Workers < 0:
		return &filter.ConfigError{Field: "workers", Value: c.Workers, Reason: "want 0 or more"}
	case c.Size.BitsPerKey > maxBitsPerKey:
		return &filter.ConfigError{Field: "bits_per_key", Value: c.Size.BitsPerKey, Reason: fmt.Sprintf("want at most %d", maxBitsPerKey)}
	}
	return nil
}

// Builder gathers keys, 16 bytes each, and searches at the end. A search takes about 16 + 4·k bytes more for each key of
// the shards that are worked on.
type Builder struct {
	c        Config
	mu       sync.Mutex
	keys     []filter.Hash
	progress func(done float64)
}

// NewBuilder returns an empty builder.
func NewBuilder(c Config) (*Builder, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	return &Builder{c: c, keys: make([]filter.Hash, 0, min(c.Keys, 1<<26))}, nil
}

// AddMany takes keys. The error is always nil.
func (b *Builder) AddMany(hs []filter.Hash) error {
	b.mu.Lock()
	b.keys = append(b.keys, hs...)
	b.mu.Unlock()
	return nil
}

// OnProgress has Build call f some ten times a second, from one goroutine, with the share of the passes that are done.
// After a search that missed a target rate by a little, it begins again from 0.
func (b *Builder) OnProgress(f func(done float64)) { b.progress = f }

// Build searches for the shifts. The result depends on the set of keys, the size and the effort alone: neither on the
// order of the keys, nor on how often one was added, nor on the number of workers.
func (b *Builder) Build(ctx context.Context) (filter.Filter, error) {
	slices.SortFunc(b.keys, byGroup)
	keys := slices.Compact(b.keys)
	b.keys = nil
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c := b.c
	for {
		g, err := c.geometry(uint64(len(keys)))
		if err != nil {
			return nil, err
		}
		f, err := search(ctx, g, keys, c, b.progress)
		if err != nil {
			return nil, err
		}
		if p := f.posterior(); c.Size.FPR == 0 || len(keys) == 0 || p <= c.Size.FPR {
			return f, nil
		}
		// The forecast comes from a sample. Where it promised too much, a little more room keeps the promise.
		c.Size.FPR *= 0.98
		if c.Size.FPR < b.c.Size.FPR/2 {
			return nil, fmt.Errorf("partitioned: the rate %g is not reached: %w", b.c.Size.FPR, filter.ErrConfig)
		}
	}
}

// byGroup orders keys by Hi and so by group.
func byGroup(x, y filter.Hash) int {
	if x.Hi != y.Hi {
		return cmp.Compare(x.Hi, y.Hi)
	}
	return cmp.Compare(x.Lo, y.Lo)
}

// search makes the filter: every shard for itself, several at once.
func search(ctx context.Context, g geometry, keys []filter.Hash, c Config, progress func(float64)) (*Filter, error) {
	bitmap, err := bitvec.Alloc(g.bitmapWords())
	if err != nil {
		return nil, err
	}
	shifts, err := bitvec.Alloc(g.shiftWords())
	if err != nil {
		return nil, err
	}
	f := newFilter(g, bitmap, shifts, uint64(len(keys)))
	passes := c.Effort.Passes()
	var done atomic.Int64
	if progress != nil {
		stop := report(progress, &done, int64(passes)*int64(g.shards))
		defer stop()
	}
	var mu sync.Mutex // shards share words at their ends
	var next atomic.Uint64
	var wg sync.WaitGroup
	workers := c.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	for range min(uint64(workers), g.shards) {
		wg.Go(func() {
			for ctx.Err() == nil {
				shard := next.Add(1) - 1
				if shard >= g.shards {
					return
				}
				s := newState(g, shard, ofShard(g, shard, keys))
				if run(ctx, s, shard, passes, &done) {
					mu.Lock()
					f.store(shard, s)
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	return f, ctx.Err()
}

// run searches: a first choice for every slot, then passes that choose anew, the noise falling. It returns false if ctx
// was done before the end. done counts passes.
func run(ctx context.Context, s *anneal.State, shard uint64, passes int, done *atomic.Int64) bool {
	rnd := anneal.Random(shard * 0x9E3779B97F4A7C15)
	for p := range passes {
		if ctx.Err() != nil {
			return false
		}
		if p == 0 {
			s.First(&rnd)
		} else {
			s.Pass(anneal.Noise(float64(p)/float64(passes), passes), &rnd)
		}
		done.Add(1)
	}
	return true
}

// newState lays out the keys of a shard, which are those of groups [shard·groups, (shard+1)·groups) in the order of their
// groups.
func newState(g geometry, shard uint64, keys []filter.Hash) *anneal.State {
	sizes := make([]uint32, g.groups)
	first := shard * g.groups
	for _, h := range keys {
		sizes[g.group(h)-first]++
	}
	s := new(anneal.State)
	s.Reset(anneal.Shape{Bits: g.bits, K: g.k, Width: g.width}, sizes)
	base := g.base()
	for j := range sizes {
		pos, size := s.Positions(j), s.Size(j)
		for i, h := range keys[:size] {
			x, by := h.Lo, probe.Mixer(h)
			for l := range g.k {
				pos[l*size+i] = uint32(probe.Position(x, base))
				x = probe.Mix(x, by)
			}
		}
		keys = keys[size:]
	}
	return s
}

// ofShard returns the keys of a shard; keys are in the order of Hi and so of groups.
func ofShard(g geometry, shard uint64, keys []filter.Hash) []filter.Hash {
	begin := func(shard uint64) int {
		at, _ := slices.BinarySearchFunc(keys, shard*g.groups, func(h filter.Hash, group uint64) int {
			return cmp.Compare(g.group(h), group)
		})
		return at
	}
	return keys[begin(shard):begin(shard+1)]
}

// store writes the bitmap and the shifts of a shard to where they belong.
func (f *Filter) store(shard uint64, s *anneal.State) {
	s.Store(f.bitmap, shard*f.bits)
	at := shard * f.groups * uint64(f.k*f.width)
	for _, shift := range s.Shifts {
		f.shifts[at/64] |= uint64(shift) << (at % 64)
		if end := at%64 + uint64(f.width); end > 64 {
			f.shifts[at/64+1] |= uint64(shift) >> (64 - at%64)
		}
		at += uint64(f.width)
	}
}

// report calls give now and then until stop is called.
func report(give func(float64), done *atomic.Int64, all int64) (stop func()) {
	quit, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
			}
			give(float64(done.Load()) / float64(all))
		}
	}()
	return func() { close(quit); <-gone }
}
