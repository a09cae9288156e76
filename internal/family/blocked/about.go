package blocked

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// Traits are what the family can do and which hash functions it takes. Package families lists them.
var Traits = family.Traits{
	Name: Family,
	Also: family.Also{Spec: family.NewSpec(Family, "layout", string(Split)), Hash: filter.XXH64}, // a filter of Parquet
	Can:  family.CanStartEmpty | family.CanCapacity | family.CanOneLine,
}

// About describes the family to planners and users.
func About() family.About {
	return family.About{
		Summary:   "one cache line per query; keys at any time, union",
		FileBytes: 128,
		Default:   "a false-positive rate of 1%", DefaultFPR: 0.01, Sizes: []string{"blocks"},
		Parameters: []family.Parameter{
			family.CapacityParameter, {Name: "k", Value: "1..32", Help: "probes per key (layout=line)"},
			{Name: "blocks", Value: "N", Help: "number of blocks, instead of a size"},
			{Name: "layout", Value: "line|split", Help: "512-bit lines, or the 256-bit split blocks of Parquet"},
		},
		Forms: []family.Form{
			{
				Spec: family.NewSpec(Family), Can: formCan, Default: 4,
				Reason:  "one cache line per query, keys at any time, union",
				Warning: "grows fast as the rate falls: below 0.01% others are smaller",
			},
			{
				Spec: family.NewSpec(Family, "layout", string(Split)), Can: formCan,
				Reason:  "one cache line and eight bits per query, as in Parquet",
				Warning: "grows fast as the rate falls: below 0.1% others are smaller",
			},
		},
	}
}

const formCan = family.CanAdd | family.CanMerge | family.CanConcurrent | family.CanCapacity | family.CanOneLine

// Forecast returns the size in bits of the filter that the Config makes for its Keys, and the predicted false-positive
// rate in [0, 1] once keys distinct keys are in it. It allocates no filter. It returns the errors of Geometry.
func (c Config) Forecast(keys uint64) (bits uint64, fpr float64, err error) {
	x := newFormula()
	defer x.remember()
	blocks, k, err := c.geometry(x)
	if err != nil {
		return 0, 0, err
	}
	return blocks * c.Layout.BlockBits(), x.fpr(keys, blocks, k, c.Layout), nil
}
