package counting

import (
	"context"
	"sync/atomic"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/probe"
)

// DefaultFPR is the rate that a Config without a size aims at.
const DefaultFPR = probe.DefaultFPR

// Config says what filter to make. Fields that are 0 have the default that stands with them.
type Config struct {
	Keys     uint64        // how many distinct keys will be in it at once; needed unless Counters or Size.Bytes is set
	Size     filter.Sizing // default: FPR = DefaultFPR; bits are those of the counters, 4 each
	Counters uint64        // m itself, instead of Size
	K        int           // probes a key, 1 to MaxK; default: the best for Keys and the counters
}

// ConfigFromSpec reads counting(bits_per_key=, fpr=, bytes=, capacity=, m=, k=).
func ConfigFromSpec(s filter.Spec, keys uint64) (Config, error) {
	p, err := probe.ReadShape(s, keys, width)
	return Config{Keys: p.Keys, Size: p.Size, Counters: p.M, K: p.K}, err
}

// Geometry returns the number of counters and of probes that New takes for this Config, without allocating. Errors wrap
// filter.ErrConfig or filter.ErrTooLarge.
func (c Config) Geometry() (m uint64, k int, err error) {
	return probe.Shape{Keys: c.Keys, Size: c.Size, M: c.Counters, K: c.K, Width: width}.Resolve()
}

// New returns an empty filter.
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

// Builder fills a filter from many goroutines at once. Additions commute, stuck counters included, so that the order of the
// keys makes no difference; a key that comes twice counts twice.
type Builder struct {
	f    *Filter // its keys field is not used
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

// AddMany puts keys into the set. It prefetches the lines of a key some keys ahead.
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

// increment adds 1 to the counter at bit shift of a word that others write as well, unless it is stuck.
func increment(word *uint64, shift uint64) {
	for {
		w := atomic.LoadUint64(word)
		if w>>shift&stuck == stuck || atomic.CompareAndSwapUint64(word, w, w+1<<shift) {
			return
		}
	}
}

// Build returns the filter, a *Filter.
func (b *Builder) Build(ctx context.Context) (filter.Filter, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b.f.keys = b.keys.Load()
	return b.f, nil
}
