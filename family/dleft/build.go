package dleft

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
)

// DefaultFPR is the rate that a Config without a size aims at.
const DefaultFPR = 0.01

// Config says what filter to make. Fields that are 0 have the default that stands with them.
type Config struct {
	Keys     uint64 // how many keys will come
	Capacity uint64 // how many keys shall fit at once; default: Keys. In the counting form copies count once, up to four of them
	// Size fixes the bits of a remainder: the fewest that keep a rate when Capacity keys are in, or the most for the bits. Bits a
	// key are those at capacity, of a filter of many keys: one of few has a whole number of buckets. Default: FPR = DefaultFPR.
	Size      filter.Sizing
	Remainder uint   // bits of a remainder, MinRemainder to MaxRemainder, instead of Size
	Counting  bool   // cells have a counter of 2 bits: copies of a key share one, up to four
	Buckets   uint64 // of a subtable; default: a 24th of Capacity, rounded up
}

// ConfigFromSpec reads dleft(bits_per_key=, fpr=, bytes=, remainder=, counting=1, capacity=, buckets=).
func ConfigFromSpec(s filter.Spec, keys uint64) (Config, error) {
	r := s.Reader()
	c := Config{Keys: keys, Size: filter.ReadSizing(r), Capacity: r.Uint("capacity"), Buckets: r.Uint("buckets")}
	remainder, counting := r.Uint("remainder"), r.Uint("counting")
	c.Remainder, c.Counting = uint(min(remainder, MaxRemainder+1)), counting == 1
	if err := r.Err(); err != nil {
		return Config{}, err
	}
	if counting > 1 {
		return Config{}, &filter.ConfigError{Field: "counting", Value: counting, Reason: "want 0 or 1"}
	}
	for name, v := range map[string]uint64{"capacity": c.Capacity, "buckets": c.Buckets, "remainder": remainder} {
		if v == 0 && s.Has(name) {
			return Config{}, &filter.ConfigError{Field: name, Value: v, Reason: "want more than 0"}
		}
	}
	return c, c.check()
}

func (c Config) check() error {
	if err := c.Size.Check(); err != nil {
		return err
	}
	switch {
	case c.Remainder != 0 && (c.Remainder < MinRemainder || c.Remainder > MaxRemainder):
		return &filter.ConfigError{Field: "remainder", Value: c.Remainder, Reason: fmt.Sprintf("want %d to %d", MinRemainder, MaxRemainder)}
	case c.Remainder != 0 && !c.Size.IsZero():
		return &filter.ConfigError{Field: "remainder", Value: c.Remainder, Reason: "give remainder or one of bits_per_key, fpr and bytes"}
	case c.Size.FPR != 0 && c.Size.FPR < minFPR:
		return &filter.ConfigError{Field: "fpr", Value: c.Size.FPR, Reason: fmt.Sprintf("dleft reaches %.2g and no less", minFPR)}
	}
	return nil
}

// minFPR is the rate of the longest remainders at capacity.
const minFPR = load / (1.0*(1<<MaxRemainder) - 1)

// resolve returns the shape of the filter.
func (c Config) resolve() (geometry, error) {
	if err := c.check(); err != nil {
		return geometry{}, err
	}
	g := geometry{capacity: c.Capacity, buckets: c.Buckets, remainder: c.Remainder}
	if c.Counting {
		g.counter = counterBits
	}
	if g.capacity == 0 {
		g.capacity = max(c.Keys, 1)
	}
	if g.buckets == 0 {
		g.buckets = (g.capacity-1)/load + 1
	}
	if g.buckets > maxBuckets {
		return geometry{}, fmt.Errorf("buckets=%d: %w", g.buckets, filter.ErrTooLarge)
	}
	if g.capacity > g.cells() {
		return geometry{}, &filter.ConfigError{Field: "capacity", Value: g.capacity, Reason: fmt.Sprintf("%d cells hold no more than as many keys", g.cells())}
	}
	switch {
	case g.remainder != 0:
	case c.Size.BitsPerKey != 0:
		return g.fit(uint(c.Size.BitsPerKey*load/(subtables*cells)), "bits_per_key", c.Size.BitsPerKey)
	case c.Size.Bytes != 0:
		total, err := c.Size.Bits(0)
		if err != nil {
			return geometry{}, err
		}
		return g.fit(uint(min(total/g.cells(), math.MaxUint32)), "bytes", c.Size.Bytes)
	default:
		p := c.Size.FPR
		if p == 0 {
			p = DefaultFPR
		}
		if g.remainder = g.remainderFor(p); g.remainder > MaxRemainder {
			return geometry{}, &filter.ConfigError{Field: "fpr", Value: p, Reason: fmt.Sprintf("remainders of %d bits do not reach it", MaxRemainder)}
		}
	}
	return g, nil
}

// fit gives the remainder what a cell of that many bits leaves it.
func (g geometry) fit(width uint, field string, value any) (geometry, error) {
	if width < MinRemainder+g.counter {
		least := float64((MinRemainder + g.counter) * subtables * cells)
		return geometry{}, &filter.ConfigError{Field: field, Value: value,
			Reason: fmt.Sprintf("dleft needs %.1f bits a key, and at least %.0f bytes for %d keys", least/load, least/8*float64(g.buckets), g.capacity)}
	}
	g.remainder = min(width-g.counter, MaxRemainder)
	return g, nil
}

// New returns an empty filter.
func New(c Config) (*Filter, error) {
	g, err := c.resolve()
	if err != nil {
		return nil, err
	}
	words, err := bitvec.Alloc(g.words())
	if err != nil {
		return nil, err
	}
	return &Filter{geometry: g, words: words}, nil
}

// Builder gathers the hashes of keys, 16 bytes each, and adds them at the end in an order of its own: where a key goes depends on those
// that came before. In the plain form a key that comes twice is there once; in the counting form it counts twice.
type Builder struct {
	c    Config
	mu   sync.Mutex
	keys []filter.Hash
}

// NewBuilder returns an empty builder. Without Keys and Capacity the keys that come give the size.
func NewBuilder(c Config) (*Builder, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if c.Keys > 0 {
		if _, err := c.resolve(); err != nil {
			return nil, err
		}
	}
	return &Builder{c: c, keys: make([]filter.Hash, 0, min(c.Keys, 1<<24))}, nil
}

// AddMany takes keys.
func (b *Builder) AddMany(hs []filter.Hash) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.keys = append(b.keys, hs...)
	return nil
}

// order puts the low half of Hi first, on which neither bucket nor remainder depend: keys must come as if at random. Ordered by
// Hi, those of one remainder come together, and a table of 10^5 keys with 4 bits each is full too early now and then.
func order(x, y filter.Hash) int {
	return cmp.Or(cmp.Compare(bits.RotateLeft64(x.Hi, 32), bits.RotateLeft64(y.Hi, 32)), cmp.Compare(x.Lo, y.Lo))
}

// Build adds the keys to a filter that New makes and returns it, a *Filter. It fails with an error wrapping filter.ErrFull if
// the buckets of a key are full: there are more keys than the capacity, or in the plain form far too few remainders for them.
func (b *Builder) Build(ctx context.Context) (filter.Filter, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	keys := b.keys
	b.keys = nil
	slices.SortFunc(keys, order)
	if !b.c.Counting {
		keys = slices.Compact(keys)
	}
	c := b.c
	if c.Keys == 0 {
		c.Keys = uint64(len(keys))
	}
	f, err := New(c)
	if err != nil {
		return nil, err
	}
	for i, h := range keys {
		if i%(1<<16) == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err := f.Add(h); errors.Is(err, filter.ErrFull) {
			return nil, fmt.Errorf("%d keys for a capacity of %d: %w", len(keys), f.capacity, err)
		} else if err != nil {
			return nil, err
		}
	}
	return f, nil
}
