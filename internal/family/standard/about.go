package standard

import (
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/probe"
)

// Traits are what the family can do and which hash functions it takes. Package families lists them.
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
// rate in [0, 1] once keys distinct keys are in it. It allocates no filter. It returns the errors of Geometry.
func (c Config) Forecast(keys uint64) (bits uint64, fpr float64, err error) {
	m, k, err := c.Geometry()
	if err != nil {
		return 0, 0, err
	}
	return m, probe.FPR(keys, m, k), nil
}
