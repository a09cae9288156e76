package partitioned

import (
	"context"
	"errors"
	"fmt"
	"sync"
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
	Keys uint64        // how many keys will come, to reserve memory; 0 if not known
	Size filter.Sizing // default: BitsPerKey = DefaultBitsPerKey, for distinct keys
	// Later is how many keys will be added after the build, a thousand times those of the build at most. Size counts them, a
	// rate is that after all of them, and the number of slots suits them too; without it each late key raises the rate
	// several times as much.
	Later uint64
	// Effort is filter.Default if not set. One core takes about 0.6, 2 and 60 µs a key at 8 bits for fast, default and
	// max, half as much again without vector code, and more in proportion to the number of slots.
	Effort  filter.Effort
	Workers int    // shards that are searched at once; default: GOMAXPROCS
	Memory  int64  // bytes of keys to hold in memory at most, the others going to Dir; default: no limit
	Dir     string // default: os.TempDir()
	// From has the search go on from the shifts of an earlier filter, whose geometry the new one gets. Size is not used.
	// The keys may have changed; all of them are needed again.
	From *Filter
}

// ConfigFromSpec reads partitioned(bits_per_key=, fpr=, bytes=, later=, effort=fast|default|max, passes=, budget=, target=).
func ConfigFromSpec(s filter.Spec, keys uint64) (Config, error) {
	r := s.Reader()
	c := Config{Keys: keys, Size: filter.ReadSizing(r), Later: r.Uint("later"), Effort: filter.ReadEffort(r)}
	if err := r.Err(); err != nil {
		return Config{}, err
	}
	return c, c.check()
}

func (c Config) check() error {
	if err := errors.Join(c.Size.Check(), c.Effort.Check()); err != nil {
		return err
	}
	switch {
	case c.From != nil && c.From.geometry.shards == 0:
		return &filter.ConfigError{Field: "from", Value: "an empty Filter", Reason: "want one that was built or read"}
	case c.Workers < 0:
		return &filter.ConfigError{Field: "workers", Value: c.Workers, Reason: "want 0 or more"}
	case c.Size.BitsPerKey > maxBitsPerKey:
		return &filter.ConfigError{Field: "bits_per_key", Value: c.Size.BitsPerKey, Reason: fmt.Sprintf("want at most %d", maxBitsPerKey)}
	case c.Effort.Target != 0 && c.Size.FPR != 0:
		return &filter.ConfigError{Field: "target", Value: c.Effort.Target, Reason: "a size by fpr keeps its rate with any effort; give target with bits_per_key or bytes"}
	}
	return nil
}

// Builder gathers keys, 16 bytes each, and searches at the end. A search takes about 8 + 4·k bytes more for each key of
// the shards that are worked on.
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

// Build searches for the shifts. The result depends on the set of keys, the size and the effort alone: neither on the
// order of the keys, nor on how often one was added, nor on the number of workers; but for an effort by time.
//
// If ctx ends with the cause filter.ErrEnough, Build settles for what the search has reached and returns the filter.
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
	if c.Effort.Target != 0 {
		if c.Effort, err = c.effortFor(needed, g, n); err != nil {
			return nil, err
		}
	}
	for {
		f, err := b.search(ctx, g, n, c.Effort, start)
		if err != nil {
			return nil, err
		}
		p := f.after(float64(c.Later))
		// Forecasts come from a sample. Where one promised too much, a little more room or time keeps the promise.
		switch target := b.c.Effort.Target; {
		case n == 0 || ctx.Err() != nil:
			return f, nil
		case c.From == nil && c.Size.FPR != 0 && p > c.Size.FPR:
			if longer, ok := anneal.Longer(b.c.Effort, c.Effort, n); ok {
				c.Effort = longer
				continue
			}
			before := g.total()
			if g, err = c.geometryOf(needed, n, before+8+uint64(anneal.MoreBits(p/c.Size.FPR, float64(n)+float64(c.Later)))); err != nil {
				return nil, err
			}
			if g.total() <= before {
				return nil, &filter.ConfigError{Field: "fpr", Value: c.Size.FPR,
					Reason: fmt.Sprintf("the nearest that these keys reach is %.2g, with %d bits a key; take standard", p, maxBitsPerKey)}
			}
		case target != 0 && p > target:
			if c.Effort.Passes >= 4*maxForecastPasses || g.width == 0 {
				return nil, unreached(target, g, n, p)
			}
			c.Effort.Passes = c.Effort.Passes*3/2 + 1
		default:
			return f, nil
		}
	}
}

// unreached says that a target is beyond a size.
func unreached(target float64, g geometry, n uint64, rate float64) error {
	return &filter.ConfigError{Field: "target", Value: target,
		Reason: fmt.Sprintf("%.2f bits a key reach about %.3g at best; give more", float64(g.total())/float64(max(n, 1)), rate)}
}

// search makes the filter: every shard for itself, several at once.
func (b *Builder) search(ctx context.Context, g geometry, n uint64, effort filter.Effort, start time.Time) (*Filter, error) {
	bitmap, err := bitvec.Alloc(g.bitmapWords())
	if err != nil {
		return nil, err
	}
	shifts, err := bitvec.Alloc(g.shiftWords())
	if err != nil {
		return nil, err
	}
	f := newFilter(g, bitmap, shifts, n)
	workers := anneal.Workers(b.c.Workers, g.shards)
	pace := anneal.NewPace(ctx, anneal.Passes(effort), start, effort.Budget, n, workers)
	defer pace.Report(b.Progress)()
	var mu sync.Mutex // shards share words at their ends
	err = pace.Each(b.Keys, g.shard, func() func(uint64, []filter.Hash) error {
		var s anneal.State
		return func(shard uint64, keys []filter.Hash) error {
			part := pace.Take(uint64(len(keys)))
			layOut(&s, g, shard, keys)
			searchShard(&s, part, shard, b.c.From)
			mu.Lock()
			defer mu.Unlock()
			f.store(shard, &s)
			return anneal.Promise(f, keys)
		}
	})
	if err != nil {
		return nil, err
	}
	f.searched = f.ones()
	return f, nil
}
