package blockpartitioned

import (
	"context"
	"fmt"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/anneal"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/gather"
)

// DefaultBitsPerKey is the size of a Config without one.
const DefaultBitsPerKey = 8

// Config says what filter to make. Fields that are 0 have the default that stands with them.
type Config struct {
	Keys    uint64        // how many keys will come, to reserve memory; 0 if not known
	Size    filter.Sizing // default: BitsPerKey = DefaultBitsPerKey, for distinct keys; whole blocks
	Block   uint64        // bits of a block: 512 (default) or 1024, which takes two cache lines for a lower rate
	Later   uint64        // keys that will be added after the build, a thousand times its own at most: Size counts them, a rate is that after them
	Effort  filter.Effort // default: filter.Default, about 2 µs a key on one core
	Workers int           // blocks that are searched at once; default: GOMAXPROCS
	Memory  int64         // bytes of keys to hold in memory at most, the others going to Dir; default: no limit
	Dir     string        // default: os.TempDir()
	// From has the search go on from the shifts of an earlier filter, whose geometry the new one gets. Size and Block are
	// not used. The keys may have changed; all of them are needed again.
	From *Filter
}

// ConfigFromSpec reads blockpartitioned(bits_per_key=, fpr=, bytes=, later=, block=512|1024, effort=fast|default|max, passes=,
// budget=).
func ConfigFromSpec(s filter.Spec, keys uint64) (Config, error) {
	r := s.Reader()
	c := Config{Keys: keys, Size: filter.ReadSizing(r), Block: r.Uint("block"), Later: r.Uint("later"), Effort: filter.ReadEffort(r)}
	if err := r.Err(); err != nil {
		return Config{}, err
	}
	return c, c.check()
}

func (c *Config) check() error {
	if c.Block == 0 {
		c.Block = lineBits
	}
	if err := c.Size.Check(); err != nil {
		return err
	}
	if err := c.Effort.Check(); err != nil {
		return err
	}
	switch {
	case c.Block != lineBits && c.Block != 2*lineBits:
		return &filter.ConfigError{Field: "block", Value: c.Block, Reason: "want 512 or 1024"}
	case c.Size.BitsPerKey > maxBitsPerKey || c.Size.BitsPerKey != 0 && c.Size.BitsPerKey < minBitsPerKey:
		return &filter.ConfigError{Field: "bits_per_key", Value: c.Size.BitsPerKey, Reason: fmt.Sprintf("want %d to %d", minBitsPerKey, maxBitsPerKey)}
	case c.Effort.Target != 0:
		return &filter.ConfigError{Field: "target", Value: c.Effort.Target, Reason: "this family has no such effort; give a size by fpr"}
	case c.From != nil && c.From.blocks == 0:
		return &filter.ConfigError{Field: "from", Value: "an empty Filter", Reason: "want one that was built or read"}
	case c.Workers < 0:
		return &filter.ConfigError{Field: "workers", Value: c.Workers, Reason: "want 0 or more"}
	}
	return nil
}

// Builder gathers keys, 16 bytes each, and searches at the end.
type Builder struct {
	gather.Intake
	c Config
}

// NewBuilder returns an empty builder.
func NewBuilder(c Config) (*Builder, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	return &Builder{gather.NewIntake(gather.Config{Memory: c.Memory, Dir: c.Dir, Expect: c.Keys, Workers: c.Workers}), c}, nil
}

// Build searches for the shifts of all blocks. The result depends on the set of keys, the size and the effort alone: neither
// on the order of the keys, nor on how often one was added, nor on the number of workers; but for an effort by time.
//
// If ctx ends with the cause filter.ErrEnough, the blocks that are left get no search, and the filter is returned.
func (b *Builder) Build(ctx context.Context) (filter.Filter, error) {
	start := anneal.Now(ctx)
	defer b.Close()
	needed, cancel := anneal.Unless(ctx)
	defer cancel()
	n, err := b.Keys.Finish(needed)
	if err != nil {
		return nil, err
	}
	c := b.c
	g, err := c.geometry(needed, n)
	if err != nil {
		return nil, err
	}
	for most := 4*g.blocks + 16; ; {
		f, err := b.search(ctx, g, n, c.Effort, start)
		if err != nil {
			return nil, err
		}
		f.searched, _ = f.census()
		p := f.after(float64(c.Later))
		if c.From != nil || c.Size.FPR == 0 || n == 0 || ctx.Err() != nil || p <= c.Size.FPR {
			return f, nil
		}
		if longer, ok := anneal.Longer(b.c.Effort, c.Effort, n); ok {
			c.Effort = longer
			continue
		}
		// The forecast comes from a sample. Where it promised too much, a little more room keeps the promise.
		more := anneal.MoreBits(p/c.Size.FPR, float64(n)+float64(c.Later)) / float64(c.Block)
		if g.blocks += 1 + uint64(min(more, float64(g.blocks))); g.blocks > most {
			return nil, &filter.ConfigError{Field: "fpr", Value: c.Size.FPR, Reason: fmt.Sprintf("the nearest that these keys reach is %.2g; take partitioned or fuse", p)}
		}
	}
}

// stretch is how many blocks a worker takes at once.
const stretch = 512

// search makes the filter.
func (b *Builder) search(ctx context.Context, g geometry, n uint64, effort filter.Effort, start time.Time) (*Filter, error) {
	words, err := bitvec.Alloc(g.words())
	if err != nil {
		return nil, err
	}
	f := newFilter(g, words, n)
	workers := anneal.Workers(b.c.Workers, (g.blocks+stretch-1)/stretch)
	pace := anneal.NewPace(ctx, anneal.Passes(effort), start, effort.Budget, n, workers)
	defer pace.Report(b.Progress)()
	stretchOf := func(h filter.Hash) uint64 {
		block, _ := g.place(h)
		return block / stretch
	}
	err = pace.Each(b.Keys, stretchOf, func() func(uint64, []filter.Hash) error {
		s := searcher{f: f, from: b.c.From, pace: pace, sizes: make([]uint32, g.groups)}
		return func(_ uint64, keys []filter.Hash) error { return s.stretch(keys) }
	})
	return f, err
}

// searcher is what a worker needs.
type searcher struct {
	f     *Filter
	from  *Filter // or nil
	pace  *anneal.Pace
	sizes []uint32
	state anneal.State
}

// stretch searches all blocks of some keys, which are in the order of their blocks.
func (s *searcher) stretch(keys []filter.Hash) error {
	part := s.pace.Take(uint64(len(keys)))
	for done := 0; done < len(keys); {
		block, _ := s.f.place(keys[done])
		end := done + 1
		for end < len(keys) {
			if next, _ := s.f.place(keys[end]); next != block {
				break
			}
			end++
		}
		if stopped, keep := s.pace.Stopped(); stopped && !keep {
			return nil // nobody gets the filter
		}
		s.block(block, keys[done:end], part)
		if err := anneal.Promise(s.f, keys[done:end]); err != nil {
			return err
		}
		done = end
		part.Advance(float64(done) / float64(len(keys)))
	}
	return nil
}

// layOut makes the state that of the keys of a block, which are in the order of their groups. Marked norace as what it calls
// for every key and slot is.
//
//go:norace
func (s *searcher) layOut(keys []filter.Hash) {
	f := s.f
	clear(s.sizes)
	for _, h := range keys {
		_, group := f.place(h)
		s.sizes[group]++
	}
	s.state.Reset(anneal.Shape{Bits: f.bits, K: f.k, Width: f.width, Words: true}, s.sizes)
	for j := range s.sizes {
		pos, size := s.state.Positions(j), s.state.Size(j)
		for i, h := range keys[:size] {
			for l := range f.k {
				pos[l*size+i] = anneal.Twice(f.query.Position(h.Lo, l))
			}
		}
		keys = keys[size:]
	}
}

// crowded is the number of (key, slot) pairs a bit from which on a search is of no use: a block so full answers yes to
// almost everything.
const crowded = 8

// block searches one block and writes it.
func (s *searcher) block(block uint64, keys []filter.Hash, part *anneal.Part) {
	f := s.f
	s.layOut(keys)
	if uint64(len(keys)*f.k) > crowded*f.bits {
		s.state.Fill()
	} else {
		rnd := anneal.Random(block * 0x9E3779B97F4A7C15)
		if s.from != nil {
			for i := range s.state.Shifts {
				s.state.Shifts[i] = uint8(s.from.shift(block, 0, i))
			}
		}
		part.RunSmall(&s.state, &rnd, len(keys), s.from != nil)
	}
	s.state.Store(f.words, block*f.block+f.first)
	at0 := block * f.block
	for _, shift := range s.state.Shifts {
		f.words[at0/64] |= uint64(shift) << (at0 % 64)
		if end := at0%64 + uint64(f.width); end > 64 {
			f.words[at0/64+1] |= uint64(shift) >> (64 - at0%64)
		}
		at0 += uint64(f.width)
	}
}
