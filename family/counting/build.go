package counting

import (
	"context"
	"sync/atomic"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/probe"
)

// DefaultFPR is the false-positive rate of a Config without a size.
const DefaultFPR = probe.DefaultFPR

// Config describes a filter. Zero fields take the default noted beside them.
type Config struct {
	Keys     uint64        // number of distinct keys in the filter at once; needed unless Counters or Size.Bytes is set
	Size     filter.Sizing // in bits, 4 per counter; default: FPR = DefaultFPR
	Counters uint64        // m, instead of Size
	K        int           // probes per key, 1 to MaxK; default: the best for Keys and m
}

// ConfigFromSpec reads counting(bits_per_key=, fpr=, bytes=, capacity=, m=, k=). A capacity larger than keys takes its
// place. Errors wrap filter.ErrConfig.
func ConfigFromSpec(s filter.Spec, keys uint64) (Config, error) {
	p, err := probe.ReadShape(s, keys, width)
	return Config{Keys: p.Keys, Size: p.Size, Counters: p.M, K: p.K}, err
}

// Geometry returns the number of counters m and of probes per key k of the filter that New makes. It allocates no
// filter. Errors wrap filter.ErrConfig or filter.ErrTooLarge.
func (c Config) Geometry() (m uint64, k int, err error) {
	return probe.Shape{Keys: c.Keys, Size: c.Size, M: c.Counters, K: c.K, Width: width}.Resolve()
}

// New returns an empty filter. Errors wrap filter.ErrConfig or filter.ErrTooLarge.
func New(c Config) (*Filter, error) {
	m, k, err := c.Geometry()
	if err != nil {
		return nil, err
	}
	words, err := bitvec.Alloc(wordsOf(m))
	if err != nil {
		return nil, err
	}
	return &Filter{words: words, m: m, k: k}, nil
}

// Builder fills a filter from many goroutines at once. The filter does not depend on the order of the keys: additions
// commute, even those to stuck counters. A key that is added twice counts twice.
type Builder struct {
	f    *Filter // its keys field is not used until Build
	keys atomic.Uint64
}

// NewBuilder returns a builder of the filter that New would return.
func NewBuilder(c Config) (*Builder, error) {
	f, err := New(c)
	if err != nil {
		return nil, err
	}
	return &Builder{f: f}, nil
}

// AddMany adds keys. It prefetches the words of a key four keys ahead. The error is always nil.
func (b *Builder) AddMany(hs []filter.Hash) error {
	const ahead = 4
	var ring [ahead][MaxK]uint64
	var bits [MaxK]uint64
	for i := range len(hs) + ahead {
		if i >= ahead {
			for _, at := range ring[i%ahead][:b.f.k] {
				increment(&b.f.words[at/inWord], at%inWord*width)
			}
		}
		if i < len(hs) {
			for j, at := range b.f.probes(&ring[i%ahead], hs[i]) {
				bits[j] = at * width
			}
			bitvec.PrefetchBits(b.f.words, bits[:b.f.k])
		}
	}
	b.keys.Add(uint64(len(hs)))
	return nil
}

// Build returns the filter, a *Filter.
func (b *Builder) Build(ctx context.Context) (filter.Filter, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b.f.keys = b.keys.Load()
	return b.f, nil
}
