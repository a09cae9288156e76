package bitsandblooms

import (
	"cmp"
	"fmt"
	"math"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/probe"
)

// Config describes a filter to make. Zero fields take the default noted beside them.
type Config struct {
	probe.Config
	Length uint64 // length in bits of the bit set, M to 2^62-1; default: M
}

// ConfigFromSpec reads bitsandblooms(bits_per_key=, fpr=, bytes=, capacity=, m=, length=, k=). The size is for
// capacity or keys distinct keys, whichever is more. Errors wrap filter.ErrConfig.
func ConfigFromSpec(s filter.Spec, keys uint64) (Config, error) {
	r := family.Reader(s)
	c := Config{Config: probe.ReadConfig(r, keys, MaxK, 1), Length: r.Count("length", math.MaxUint64)}
	return c, r.Err()
}

// Geometry returns the number of bits, the length in bits of the bit set, and the number of probes per key of the
// filter that New makes. It does not allocate. Errors wrap filter.ErrConfig or filter.ErrTooLarge.
func (c Config) Geometry() (m, length uint64, k int, err error) {
	c.MaxK, c.Width = MaxK, 1
	if m, k, err = c.Resolve(); err != nil {
		return 0, 0, 0, err
	}
	// A size for a rate: double hashing may need more bits than the independent probes that Resolve assumes.
	if c.Keys > 0 && c.M == 0 && c.Size.BitsPerKey == 0 && c.Size.Bytes == 0 {
		if m, err = doubleHashing(m, k).Fit(Family, c.Keys, cmp.Or(c.Size.FPR, probe.DefaultFPR), 1, 1<<62-1); err != nil {
			return 0, 0, 0, err
		}
	}
	length, err = c.lengthFor(m)
	return m, length, k, err
}

// lengthFor returns the length in bits of a bit set of m bits.
func (c Config) lengthFor(m uint64) (uint64, error) {
	switch {
	case c.Length == 0:
		return m, nil
	case c.Length < m:
		return 0, family.Invalid("length", c.Length, "want at least m")
	case c.Length >= 1<<62:
		return 0, fmt.Errorf("length=%d: %w", c.Length, filter.ErrTooLarge)
	}
	return c.Length, nil
}

// New returns an empty filter. AddKey adds keys. New returns the errors of Geometry, and an error wrapping
// filter.ErrTooLarge if the memory does not suffice.
func New(c Config) (*Filter, error) {
	m, length, k, err := c.Geometry()
	if err != nil {
		return nil, err
	}
	b, err := bitsOf(m, length, k).Empty(length)
	return &Filter{b}, err
}

// Traits describes the abilities and the hash functions of the family. Package families lists the Traits of all
// families.
var Traits = family.Traits{
	Name: Family,
	Hash: filter.Murmur3Twice,
	Can:  family.CanStartEmpty | family.CanCapacity,
}

// About describes the family to planners and users.
func About() family.About {
	return family.About{
		Summary: "filter of bits-and-blooms (Go)",
		Default: "a false-positive rate of 1%", DefaultFPR: 0.01, Sizes: []string{"m"},
		Parameters: []family.Parameter{
			family.CapacityParameter,
			{Name: "k", Value: "1..255", Help: "probes per key"},
			{Name: "m", Value: "BITS", Help: "number of bits, instead of a size"},
			{Name: "length", Value: "BITS", Help: "length of the bit set, at least m"},
		},
	}
}

// Forecast returns the size in bits of the filter that New makes, and its predicted false-positive rate, in [0, 1],
// after keys distinct keys were added. It does not allocate a filter. It returns the errors of Geometry.
func (c Config) Forecast(keys uint64) (bits uint64, fpr float64, err error) {
	m, _, k, err := c.Geometry()
	if err != nil {
		return 0, 0, err
	}
	return m, doubleHashing(m, k).FPR(keys), nil
}
