package counting

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/parallel"
	"github.com/bloomery/bloomery/internal/probe"
)

// Config describes a filter. Zero fields take the default noted beside them.
type Config struct {
	Keys     uint64        // number of distinct keys in the filter at once; needed unless Counters or Size.Bytes is set
	Size     family.Sizing // size in bits, 4 per counter; default: FPR = 0.01
	Counters uint64        // m, instead of Size
	K        int           // probes per key, 1 to MaxK; default: the best for Keys and m
}

// ConfigFromSpec reads counting(bits_per_key=, fpr=, bytes=, capacity=, m=, k=). A capacity larger than keys replaces
// keys. Errors wrap filter.ErrConfig.
func ConfigFromSpec(s filter.Spec, keys uint64) (Config, error) {
	r := family.Reader(s)
	p := probe.ReadConfig(r, keys, MaxK, width)
	return Config{Keys: p.Keys, Size: p.Size, Counters: p.M, K: p.K}, r.Err()
}

// Geometry returns the number of counters m and of probes per key k of the filter that New makes. It allocates no
// filter. Errors wrap filter.ErrConfig or filter.ErrTooLarge.
func (c Config) Geometry() (m uint64, k int, err error) {
	return probe.Config{Keys: c.Keys, Size: c.Size, M: c.Counters, K: c.K, Width: width, Scatter: true}.Resolve()
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

// Builder fills a filter from many goroutines at once; see parallel.Filler. The filter does not depend on the order of
// the keys, because additions commute, even additions to stuck counters. A key that is added twice counts twice.
type Builder struct{ *parallel.Filler[*Filter] }

// NewBuilder returns a builder of the filter that New would return.
func NewBuilder(c Config) (*Builder, error) {
	f, err := New(c)
	if err != nil {
		return nil, err
	}

	return &Builder{parallel.NewFiller(f, len(f.words), parallel.FillConfig[*Filter]{
		Add:   func(f *Filter, hs []filter.Hash) { f.addMany(hs, false) },
		Share: func(hs []filter.Hash) { f.addMany(hs, true) },
		Empty: func() (*Filter, error) { return New(Config{Counters: f.m, K: f.k}) },
		Count: func(f *Filter, keys uint64) { f.keys = keys },
	})}, nil
}

// addMany adds keys and does not count them. If shared is true, other goroutines may do the same. In filters larger
// than the caches it prefetches the words of a key four keys ahead.
func (f *Filter) addMany(hs []filter.Hash, shared bool) {
	const ahead = 4
	var ring [ahead][MaxK]uint64 // the first bits of the counters of the next keys
	for i := range len(hs) + ahead {
		at := ring[i%ahead][:f.k]
		if i >= ahead {
			for _, bit := range at {
				w := &f.words[bit/64]
				if shared {
					changeCounter(w, bit%64, 1)
				} else if *w>>(bit%64)&stuck != stuck { // an addition to a stuck counter would carry into the next one
					*w += 1 << (bit % 64)
				}
			}
		}

		if i < len(hs) {
			x, by := hs[i].Lo, hs[i].Hi
			for j := range at {
				at[j] = probe.Position(x, f.m) * width
				x = probe.Next(x, by)
			}
			if len(f.words) >= probe.InCache {
				bitvec.PrefetchBits(f.words, at)
			}
		}
	}
}

// Traits describes the abilities and the hash functions of the family. Package families lists the Traits of all
// families.
var Traits = family.Traits{
	Name: Family,
	Can:  family.CanStartEmpty | family.CanCapacity,
}

// About describes the family to planners and users.
func About() family.About {
	return family.About{
		Summary:   "counting Bloom filter: keys are removed and counted, and it is never full",
		FileBytes: 130,
		Default:   "a false-positive rate of 1%", DefaultFPR: 0.01, Sizes: []string{"m"},
		Parameters: []family.Parameter{
			family.CapacityParameter, {Name: "k", Value: "1..64", Help: "probes per key"},
			{Name: "m", Value: "N", Help: "number of counters of 4 bits, instead of a size"},
		},
		Forms: []family.Form{{
			Spec: family.NewSpec(Family),
			Can: family.CanAdd | family.CanRemove | family.CanCount | family.CanMerge | family.CanConcurrent |
				family.CanCapacity,
			Default: 8,
			Reason:  "removal with union, and never full", Warning: "four times standard; a counter that reached 15 stays there",
		}},
	}
}

// Forecast returns the size in bits of the filter that the Config makes for its Keys, and the predicted false-positive
// rate in [0, 1] after keys distinct keys were added. It allocates no filter. It returns the errors of Geometry.
func (c Config) Forecast(keys uint64) (bits uint64, fpr float64, err error) {
	m, k, err := c.Geometry()
	if err != nil {
		return 0, 0, err
	}
	return m * width, probe.FPR(keys, m, k), nil
}
