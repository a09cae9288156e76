package dcso

import (
	"cmp"
	"math"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/parallel"
	"github.com/bloomery/bloomery/internal/probe"
)

// Config describes a filter to make.
type Config struct {
	probe.Config
	Room uint64 // keys that the program shows as the capacity; default: Keys, or 1
}

// ConfigFromSpec reads dcso(bits_per_key=, fpr=, bytes=, capacity=, m=, k=, n=). The size is for capacity or keys
// distinct keys, whichever is more. Errors wrap filter.ErrConfig.
func ConfigFromSpec(s filter.Spec, keys uint64) (Config, error) {
	r := family.Reader(s)
	c := Config{Room: r.Count("n", math.MaxUint64), Config: probe.ReadConfig(r, keys, MaxK, 1)}
	return c, r.Err()
}

// Geometry returns the number of bits and of probes per key of the filter that New makes. For a rate they are the ones
// that the program chooses, if these keep the rate. It does not allocate. Errors wrap filter.ErrConfig or
// filter.ErrTooLarge.
func (c Config) Geometry() (m uint64, k int, err error) {
	c.MaxK, c.Width = MaxK, 1
	m, k, err = c.Resolve()
	if err != nil || c.M != 0 {
		return m, k, err
	}

	if c.Size.BitsPerKey == 0 && c.Size.Bytes == 0 && c.K == 0 {
		n, rate := max(c.Keys, 1), cmp.Or(c.Size.FPR, probe.DefaultFPR)
		real := math.Floor(float64(n) * -math.Log(rate) / math.Pow(math.Ln2, 2))
		probes := math.Ceil(math.Ln2 * real / float64(n))
		// The program rounds both numbers, so its filters of few keys or high rates do not keep the rate.
		kept := real > 0 && probes <= MaxK && probe.FPR(n, uint64(real), int(probes)) <= 1.01*rate
		if classes, few := classesOf(uint64(real)); kept && !(few && classes >= 64) {
			return uint64(real), int(probes), nil
		}
	}

	// An even number of bits makes the probes of a key depend on each other. Bytes is an upper limit.
	if c.Size.Bytes != 0 {
		m--
	}
	return m | 1, k, nil
}

// New returns an empty filter. It returns the errors of Geometry, and an error wrapping filter.ErrTooLarge if the
// memory does not suffice.
func New(c Config) (*Filter, error) {
	m, k, err := c.Geometry()
	if err != nil {
		return nil, err
	}
	b, err := c.bitsOf(m, k).Empty(m)
	return &Filter{b}, err
}

// Builder fills a filter from many goroutines at once; see parallel.Filler.
type Builder struct{ *parallel.Filler[*Filter] }

// NewBuilder returns a builder of the filter that New makes. It returns the errors of New.
func NewBuilder(c Config) (*Builder, error) {
	f, err := New(c)
	if err != nil {
		return nil, err
	}

	return &Builder{parallel.NewFiller(f, len(f.Words), parallel.FillConfig[*Filter]{
		Add:   func(f *Filter, hs []filter.Hash) { f.set(hs, false) },
		Share: func(hs []filter.Hash) { f.set(hs, true) },
		Count: func(f *Filter, keys uint64) { f.Keys = keys },
		Empty: func() (*Filter, error) {
			b, err := f.Empty(f.M)
			return &Filter{b}, err
		},
	})}, nil
}

// Traits describes the abilities and the hash functions of the family. Package families lists the Traits of all
// families.
var Traits = family.Traits{Name: Family, Hash: filter.FNV1, Can: family.CanStartEmpty | family.CanCapacity}

// About describes the family to planners and users.
func About() family.About {
	return family.About{
		Summary: "filter of DCSO's bloom (Go)",
		Default: "a false-positive rate of 1%", DefaultFPR: 0.01, Sizes: []string{"m"},
		Parameters: []family.Parameter{
			family.CapacityParameter,
			{Name: "k", Value: "1..255", Help: "probes per key"},
			{Name: "m", Value: "BITS", Help: "number of bits, instead of a size"},
			{Name: "n", Value: "KEYS", Help: "capacity that the program shows; default: the keys"},
		},
	}
}

// Forecast returns the size in bits of the filter that New makes, and its predicted false-positive rate, in [0, 1],
// after keys distinct keys were added. It does not allocate a filter of this size. It returns the errors of Geometry.
func (c Config) Forecast(keys uint64) (bits uint64, fpr float64, err error) {
	m, k, err := c.Geometry()
	if err != nil {
		return 0, 0, err
	}
	return m, probe.FPR(keys, m, k), nil
}
