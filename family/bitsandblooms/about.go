package bitsandblooms

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/probe"
)

// About describes the family. Package families lists it.
var About = filter.About{
	Hash: filter.Murmur3Twice,
	Name: Family, Summary: "filter of bits-and-blooms (Go)",
	Can:     filter.CanStartEmpty | filter.CanAdd | filter.CanMerge | filter.CanCapacity | filter.CanRawKeys,
	Default: "a false-positive rate of 1%",
	Parameters: []filter.Parameter{
		filter.CapacityParameter, {Name: "k", Value: "1..255", Help: "probes per key"},
		{Name: "m", Value: "BITS", Help: "number of bits, instead of a size"},
		{Name: "length", Value: "BITS", Help: "length of the bit set, at least m"},
	},
}

// Check returns what is wrong with the Config whatever the number of keys. It allocates no filter. Errors wrap
// filter.ErrConfig or filter.ErrTooLarge.
func (c Config) Check() error {
	_, _, _, err := c.Geometry()
	return err
}

// Forecast returns the size in bits of the filter that the Config makes for its Keys, and the predicted false-positive
// rate in [0, 1] once keys distinct keys are in it. It allocates no filter. Errors are those of Geometry.
func (c Config) Forecast(keys uint64) (bits uint64, fpr float64, err error) {
	m, _, k, err := c.Geometry()
	if err != nil {
		return 0, 0, err
	}
	return m, probe.FPR(keys, m, k), nil
}
