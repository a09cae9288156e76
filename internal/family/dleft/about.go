package dleft

import (
	"github.com/bloomery/bloomery/internal/family"
)

// Traits are what the family can do and which hash functions it takes. Package families lists them.
var Traits = family.Traits{
	Name: Family,
	Can:  formCan | family.CanStartEmpty | family.CanCount,
}

// About describes the family to planners and users.
func About() family.About {
	return family.About{
		Summary:   "d-left fingerprint table: keys are removed, in four short buckets per query",
		FileBytes: 200,
		Bounded:   true, Default: "a false-positive rate of 1%", DefaultFPR: 0.01, Sizes: []string{"remainder", "buckets"},
		Parameters: []family.Parameter{
			family.CapacityParameter, family.CountingParameter,
			{Name: "remainder", Value: "4..32", Help: "bits per remainder, instead of a size"},
			{Name: "buckets", Value: "N", Help: "buckets per subtable"},
		},
		Forms: []family.Form{
			{
				Spec: family.NewSpec(Family), Can: formCan, Reason: "removal with four short buckets per query",
				Warning: "full beyond its capacity; remove only what was added",
			},
			{
				Spec: family.NewSpec(Family, "counting", 1), Can: formCan | family.CanCount,
				Reason:  "counts, with four short buckets per query",
				Warning: "full beyond its capacity; remove only what was added",
			},
		},
	}
}

const formCan = family.CanAdd | family.CanRemove | family.CanConcurrent | family.CanCapacity | family.CanSpill |
	family.CanCountItself

// Forecast returns the size in bits of the filter that the Config makes for its Keys, and the predicted false-positive
// rate in [0, 1] once keys distinct keys are in it. It allocates no filter. Errors are those of New.
func (c Config) Forecast(keys uint64) (bits uint64, fpr float64, err error) {
	g, err := c.resolve()
	if err != nil {
		return 0, 0, err
	}
	return g.cells() * g.width(), FPR(keys, g.buckets, g.remainder), nil
}
