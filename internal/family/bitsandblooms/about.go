package bitsandblooms

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// Traits are what the family can do and which hash functions it takes. Package families lists them.
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
	return m, double(m, k).FPR(keys), nil
}
