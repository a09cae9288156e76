package standard

import (
	"context"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/probe"
)

// DefaultFPR is the rate that a Config without a size aims at.
const DefaultFPR = probe.DefaultFPR

// Config says what filter to make. Fields that are 0 have the default that stands with them.
type Config struct {
	Keys uint64        // how many distinct keys will be added; needed unless Bits or Size.Bytes is set
	Size filter.Sizing // default: FPR = DefaultFPR; a rate is kept with the fewest bits
	Bits uint64        // m itself, instead of Size
	K    int           // probes a key, 1 to MaxK; default: the best for Keys and the bits
}

// ConfigFromSpec reads standard(bits_per_key=, fpr=, bytes=, capacity=, m=, k=).
func ConfigFromSpec(s filter.Spec, keys uint64) (Config, error) {
	p, err := probe.ReadShape(s, keys, 1)
	return Config{Keys: p.Keys, Size: p.Size, Bits: p.M, K: p.K}, err
}

// Geometry returns the number of bits and of probes that New takes for this Config, without allocating. Errors wrap
// filter.ErrConfig or filter.ErrTooLarge.
func (c Config) Geometry() (m uint64, k int, err error) {
	return probe.Shape{Keys: c.Keys, Size: c.Size, M: c.Bits, K: c.K, Width: 1}.Resolve()
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
