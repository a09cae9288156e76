package dleft

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/hashes"
	"github.com/bloomery/bloomery/internal/probe"
)

// Config is the parameters of a filter. Zero fields take the default noted beside them.
type Config struct {
	Keys     uint64 // how many keys will come
	Capacity uint64 // how many keys fit at once; default: Keys. In the counting form up to four copies count as one
	// Size fixes the bits of a remainder: the fewest that keep FPR with Capacity keys, or the most that fit BitsPerKey
	// or Bytes. BitsPerKey is for a full filter of many keys; one of few keys has more, because buckets are whole.
	// Default: FPR = 0.01.
	Size      family.Sizing
	Remainder uint   // bits of a remainder, MinRemainder to MaxRemainder, instead of Size
	Counting  bool   // cells have a counter of 2 bits: copies of a key share a cell, up to four
	Buckets   uint64 // per subtable; default: Capacity/24, rounded up
}

// ConfigFromSpec reads dleft(bits_per_key=, fpr=, bytes=, remainder=, counting=1, capacity=, buckets=).
func ConfigFromSpec(s filter.Spec, keys uint64) (Config, error) {
	r := family.Reader(s)
	c := Config{Keys: keys, Size: family.ReadSizing(r), Capacity: r.Uint("capacity"), Buckets: r.Uint("buckets")}
	remainder := r.Uint("remainder")
	c.Remainder, c.Counting = uint(min(remainder, MaxRemainder+1)), r.Flag("counting")
	if err := r.Err(); err != nil {
		return Config{}, err
	}
	for name, v := range map[string]uint64{"capacity": c.Capacity, "buckets": c.Buckets, "remainder": remainder} {
		if v == 0 && family.Given(s, name) {
			return Config{}, family.Invalid(name, v, "want more than 0")
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
		return family.Invalid("remainder", c.Remainder, "want %d to %d", MinRemainder, MaxRemainder)
	case c.Remainder != 0 && !c.Size.IsZero():
		return family.Invalid("remainder", c.Remainder, "give remainder or one of bits_per_key, fpr and bytes")
	case c.Size.FPR != 0 && c.Size.FPR < minFPR:
		return family.Invalid("fpr", c.Size.FPR, "the lowest rate of dleft is %.2g", minFPR)
	}
	return nil
}

// minFPR is the rate at capacity with the longest remainders.
const minFPR = load / (1.0*(1<<MaxRemainder) - 1)

// fixed returns the geometry of the filter, with the remainder of the Config, which may be 0. Errors are those of
// resolve.
func (c Config) fixed() (geometry, error) {
	if err := c.check(); err != nil {
		return geometry{}, err
	}
	g := geometry{capacity: cmp.Or(c.Capacity, max(c.Keys, 1)), remainder: c.Remainder}
	g.buckets = cmp.Or(c.Buckets, (g.capacity-1)/load+1)
	if c.Counting {
		g.counter = counterBits
	}
	if g.buckets > maxBuckets {
		return geometry{}, fmt.Errorf("buckets=%d: %w", g.buckets, filter.ErrTooLarge)
	}
	if g.capacity > g.cells() {
		return geometry{}, family.Invalid("capacity", g.capacity,
			"the buckets have %d cells in all; want at most as many", g.cells())
	}
	return g, nil
}

// resolve returns the geometry of the filter, or an error that wraps filter.ErrConfig or filter.ErrTooLarge.
func (c Config) resolve() (geometry, error) {
	g, err := c.fixed()
	switch {
	case err != nil || g.remainder != 0:
		return g, err
	case c.Size.BitsPerKey != 0:
		g, err := g.fit(uint(c.Size.BitsPerKey*load/(subtables*cells)), "bits_per_key", c.Size.BitsPerKey)
		return g, errors.Join(err, c.atMost(g))
	case c.Size.Bytes != 0:
		total, err := c.Size.Bits(0)
		if err != nil {
			return geometry{}, err
		}
		g, err := g.fit(uint(min(total/g.cells(), math.MaxUint32)), "bytes", c.Size.Bytes)
		return g, errors.Join(err, c.atMost(g))
	default:
		p := cmp.Or(c.Size.FPR, probe.DefaultFPR)
		if g.remainder = g.remainderFor(p); g.remainder > MaxRemainder {
			return geometry{}, family.Invalid("fpr", p, "remainders of %d bits have a higher rate", MaxRemainder)
		}
	}
	return g, nil
}

// atMost returns an error if the size is more than a filter with the longest remainders takes.
func (c Config) atMost(g geometry) error {
	if g.remainder < MaxRemainder {
		return nil
	}
	return c.Size.AtMost(g.cells()*g.width(), max(c.Keys, c.Capacity), Family)
}

// fit sets the remainder to the bits that a cell of width bits has for it.
func (g geometry) fit(width uint, field string, value any) (geometry, error) {
	if width < MinRemainder+g.counter {
		least := float64((MinRemainder + g.counter) * subtables * cells)
		return geometry{}, family.Invalid(field, value,
			"dleft needs %.1f bits a key, and at least %.0f bytes for %d keys",
			least/load, least/8*float64(g.buckets), g.capacity)
	}
	g.remainder = min(width-g.counter, MaxRemainder)
	return g, nil
}

// New returns an empty filter. Errors wrap filter.ErrConfig or filter.ErrTooLarge.
func New(c Config) (*Filter, error) {
	g, err := c.resolve()
	if err != nil {
		return nil, err
	}
	words, err := bitvec.Alloc(g.words())
	if err != nil {
		return nil, err
	}
	return (&Filter{geometry: g, words: words}).hold(), nil
}

// Builder gathers the hashes of keys, 16 bytes each, and adds them at the end in an order of its own, because the place
// of a key depends on the keys before it. A key that comes twice counts once in the plain form and twice in the
// counting form.
type Builder struct {
	hashes.Intake
	c Config
}

// NewBuilder returns an empty builder. If Keys and Capacity are 0, the capacity is the number of keys that come,
// duplicates included. Errors wrap filter.ErrConfig or filter.ErrTooLarge.
func NewBuilder(c Config) (*Builder, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if c.Keys > 0 {
		if _, err := c.resolve(); err != nil {
			return nil, err
		}
	}
	return &Builder{hashes.NewIntake(hashes.Config{Expect: c.Keys, Copies: c.Counting, Form: turned}), c}, nil
}

// turned returns the form of a hash that a Builder orders: the low half of Hi first, on which neither bucket nor
// remainder depend. Keys must come as if at random: in the order of Hi, those of one remainder come together, and a
// table of 10^5 keys with remainders of 4 bits is sometimes full too early. turned of the result is the hash itself.
func turned(h filter.Hash) filter.Hash { return filter.Hash{Hi: bits.RotateLeft64(h.Hi, 32), Lo: h.Lo} }

// Build adds the keys to a filter that New makes and returns it, a *Filter. Errors are those of New; one that wraps
// filter.ErrFull means that the buckets of a key are full: there are more keys than the capacity, or in the plain form
// far too few remainders for them.
func (b *Builder) Build(ctx context.Context) (family.Filter, error) {
	f, err := b.build(ctx)
	if err = errors.Join(err, b.Close()); err != nil {
		return nil, err
	}
	return f, nil
}

func (b *Builder) build(ctx context.Context) (*Filter, error) {
	n, err := b.Keys.Finish(ctx)
	if err != nil {
		return nil, err
	}
	c := b.c
	c.Keys = cmp.Or(c.Keys, b.Keys.Added())
	f, err := New(c)
	if err != nil {
		return nil, err
	}
	parts := n/partKeys + 1
	part := func(h filter.Hash) uint64 { return probe.Position(h.Hi, parts) }
	err = b.Keys.Each(ctx, part, func(_ uint64, hs []filter.Hash) error {
		for _, h := range hs {
			if err := f.Add(turned(h)); errors.Is(err, filter.ErrFull) {
				return fmt.Errorf("%d keys for a capacity of %d: %w", n, f.capacity, err)
			} else if err != nil {
				return err
			}
		}
		if b.Progress != nil {
			b.Progress(filter.Progress{Done: float64(f.keys) / float64(n)})
		}
		return nil
	})
	return f, err
}

// partKeys is about how many keys come at once from gather. More would be copied more often: gather copies the keys of
// a part that lies across two of its chunks of 65,536.
const partKeys = 1 << 12
