package standard

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/parallel"
	"github.com/bloomery/bloomery/internal/probe"
)

// Config describes a filter. Zero fields take the default noted beside them.
type Config struct {
	Keys uint64        // number of distinct keys that will be added; needed unless Bits or Size.Bytes is set
	Size family.Sizing // default: FPR = 0.01; for an FPR, m is the smallest that reaches it
	Bits uint64        // m, instead of Size
	K    int           // probes per key, 1 to MaxK; default: probe.OptimalK of Keys and m
}

// ConfigFromSpec reads standard(bits_per_key=, fpr=, bytes=, capacity=, m=, k=). If the capacity is larger than the
// number of keys, it is used instead. Errors wrap filter.ErrConfig.
func ConfigFromSpec(s filter.Spec, keys uint64) (Config, error) {
	r := family.Reader(s)
	p := probe.ReadConfig(r, keys, MaxK, 1)
	return Config{Keys: p.Keys, Size: p.Size, Bits: p.M, K: p.K}, r.Err()
}

// Geometry returns the number of bits m and of probes per key k of the filter that New makes. It allocates no filter.
// Errors wrap filter.ErrConfig or filter.ErrTooLarge.
func (c Config) Geometry() (m uint64, k int, err error) {
	return probe.Config{Keys: c.Keys, Size: c.Size, M: c.Bits, K: c.K, Width: 1, Scatter: true}.Resolve()
}

// Foldable returns the Spec of a filter from which the filter that New makes, and smaller ones, are folded; see
// family.Foldable. It returns the errors of Geometry.
func (c Config) Foldable() (filter.Spec, error) {
	m, k, err := c.Geometry()
	if err != nil {
		return filter.Spec{}, err
	}
	return Spec(family.Foldable(m, 1), k), nil
}

// New returns an empty filter. Errors wrap filter.ErrConfig or filter.ErrTooLarge.
func New(c Config) (*Filter, error) {
	m, k, err := c.Geometry()
	if err != nil {
		return nil, err
	}
	b, err := bitsOf(m, k).Empty(m)
	return &Filter{b}, err
}

// Builder fills a filter from many goroutines at once; see parallel.Filler.
type Builder struct{ *parallel.Filler[*Filter] }

// NewBuilder returns a builder of the filter that New would return.
func NewBuilder(c Config) (*Builder, error) {
	f, err := New(c)
	if err != nil {
		return nil, err
	}
	return &Builder{parallel.NewFiller(f, len(f.Words), parallel.FillConfig[*Filter]{
		Add: (*Filter).addMany, Share: func(hs []filter.Hash) { f.addAhead(hs, true) },
		Empty: func() (*Filter, error) { return New(Config{Bits: f.M, K: f.K}) },
		Count: func(f *Filter, keys uint64) { f.Keys = keys },
	})}, nil
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
		Summary:   "plain Bloom filter: any size, keys at any time, union",
		FileBytes: 130,
		Default:   "a false-positive rate of 1%", DefaultFPR: 0.01, Sizes: []string{"m"},
		Parameters: []family.Parameter{
			family.CapacityParameter, {Name: "k", Value: "1..64", Help: "probes per key"},
			{Name: "m", Value: "BITS", Help: "number of bits, instead of a size"},
		},
		Forms: []family.Form{{
			Spec: family.NewSpec(Family), Can: family.CanAdd | family.CanMerge | family.CanConcurrent | family.CanCapacity,
			Default: 3,
			Reason:  "the plain Bloom filter: any size, keys at any time, union",
			Warning: "a query for a present key reads k cache lines",
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
	return m, probe.FPR(keys, m, k), nil
}
