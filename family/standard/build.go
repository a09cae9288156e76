package standard

import (
	"context"
	"fmt"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
)

// DefaultFPR is the rate that a Config without a size aims at.
const DefaultFPR = 0.01

// Config says what filter to make. Fields that are 0 have the default that stands with them.
type Config struct {
	Keys uint64        // how many distinct keys will be added; needed unless Bits or Size.Bytes is set
	Size filter.Sizing // default: FPR = DefaultFPR; a rate is kept with the fewest bits
	Bits uint64        // m itself, instead of Size
	K    int           // probes a key, 1 to MaxK; default: the best for Keys and the bits
}

// ConfigFromSpec reads standard(bits_per_key=, fpr=, bytes=, m=, k=).
func ConfigFromSpec(s filter.Spec, keys uint64) (Config, error) {
	r := s.Reader()
	c := Config{Keys: keys, Size: filter.ReadSizing(r), Bits: r.Uint("m")}
	k := r.Uint("k")
	if err := r.Err(); err != nil {
		return Config{}, err
	}
	if k > MaxK || s.Has("k") && k == 0 {
		return Config{}, &filter.ConfigError{Field: "k", Value: k, Reason: fmt.Sprintf("want 1 to %d", MaxK)}
	}
	if s.Has("m") && c.Bits == 0 {
		return Config{}, &filter.ConfigError{Field: "m", Value: 0, Reason: "want at least one bit"}
	}
	c.K = int(k)
	return c, nil
}

// Geometry returns the number of bits and of probes that New takes for this Config, without allocating. Errors wrap
// filter.ErrConfig or filter.ErrTooLarge.
func (c Config) Geometry() (m uint64, k int, err error) {
	if err := c.Size.Check(); err != nil {
		return 0, 0, err
	}
	if c.K < 0 || c.K > MaxK {
		return 0, 0, &filter.ConfigError{Field: "k", Value: c.K, Reason: fmt.Sprintf("want 1 to %d", MaxK)}
	}
	if c.Bits != 0 && !c.Size.IsZero() {
		return 0, 0, &filter.ConfigError{Field: "m", Value: c.Bits, Reason: "give m or one of bits_per_key, fpr and bytes"}
	}
	m, k, n := c.Bits, c.K, max(c.Keys, 1)
	switch {
	case m != 0:
	case c.Size.BitsPerKey != 0 || c.Size.Bytes != 0:
		m, err = c.Size.Bits(n)
	default:
		p := c.Size.FPR
		if p == 0 {
			p = DefaultFPR
		}
		var real float64
		if k == 0 {
			real, k = smallest(n, p)
		} else {
			real = bitsForFPR(n, p, k)
		}
		m, err = filter.BitsFor(real)
	}
	if err == nil && m >= 1<<62 {
		err = fmt.Errorf("m=%d: %w", m, filter.ErrTooLarge)
	}
	if err != nil {
		return 0, 0, err
	}
	if m = max(m, 1); k == 0 {
		k = OptimalK(n, m)
	}
	return m, k, nil
}

// New returns an empty filter.
func New(c Config) (*Filter, error) {
	m, k, err := c.Geometry()
	if err != nil {
		return nil, err
	}
	words, err := bitvec.Alloc((m + 63) / 64)
	if err != nil {
		return nil, err
	}
	return &Filter{words: words, m: m, k: k}, nil
}

// Builder fills a filter from many goroutines at once. It is an Atomic with the methods of filter.Builder.
type Builder struct{ a *Atomic }

// NewBuilder returns a builder of the filter that New would return.
func NewBuilder(c Config) (*Builder, error) {
	a, err := NewAtomic(c)
	if err != nil {
		return nil, err
	}
	return &Builder{a}, nil
}

// AddMany puts keys into the set.
func (b *Builder) AddMany(hs []filter.Hash) error {
	b.a.addMany(hs)
	return nil
}

// Build returns the filter, a *Filter.
func (b *Builder) Build(ctx context.Context) (filter.Filter, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return b.a.Filter(), nil
}
