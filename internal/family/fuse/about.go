package fuse

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// Traits are what the family can do and which hash functions it takes. Package families lists them.
var Traits = family.Traits{
	Name: Family,
	Also: family.Also{Spec: family.NewSpec(Family), Hash: filter.Uint64}, // a filter of FastFilter
	Can:  family.CanSpill | family.CanCountItself,
}

// About describes the family to planners and users.
func About() family.About {
	return family.About{
		Summary:   "static and fast to query; whole bits per fingerprint",
		FileBytes: 208,
		Default:   "8 bits per fingerprint: about 9 bits a key", Sizes: []string{"width", "segment"},
		Parameters: []family.Parameter{{Name: "width", Value: "1..32", Help: "bits per fingerprint, instead of a size"}},
		// Not CanSpill, which promises a build in any memory: keys spill while they are gathered, but the solver needs
		// all of them in memory.
		Forms: []family.Form{{
			Spec: family.NewSpec(Family), Default: 2, Reason: "static, with the fastest queries of a static filter",
			Warning: "a build takes about 30 bytes a key; a change of one key changes the whole file",
		}},
	}
}

// Forecast returns the size in bits of the filter that the Config makes for its Keys, and the predicted false-positive
// rate in [0, 1] once keys distinct keys are in it. It allocates no filter. It returns the errors of Geometry.
func (c Config) Forecast(keys uint64) (bits uint64, fpr float64, err error) {
	slots, width, err := c.Geometry(keys)
	if err != nil {
		return 0, 0, err
	}
	return slots * uint64(width), FPR(width), nil
}
