package counting

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
// rate in [0, 1] once keys distinct keys are in it. It allocates no filter. It returns the errors of Geometry.
func (c Config) Forecast(keys uint64) (bits uint64, fpr float64, err error) {
	m, k, err := c.Geometry()
	if err != nil {
		return 0, 0, err
	}
	return m * width, probe.FPR(keys, m, k), nil
}
