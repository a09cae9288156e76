package partitioned

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// Traits are what the family can do and which hash functions it takes. Package families lists them.
var Traits = family.Traits{
	Name: Family,
	Can:  family.CanLater | family.CanSpill | family.CanCountItself,
}

// About describes the family to planners and users.
func About() family.About {
	return family.About{
		Summary:   "a search fits the hash functions to the keys: the smallest that takes keys after the build",
		FileBytes: 300,
		Default:   "8 bits a key", Sizes: []string{"shards"},
		Parameters: append([]family.Parameter{
			family.LaterParameter, family.SlotsParameter,
			{Name: "target", Value: "RATE", Help: "search until this rate is reached"},
		}, family.SearchParameters...),
		Forms: []family.Form{{
			Spec: family.NewSpec(Family), Patented: true,
			Can:     family.CanAdd | family.CanLater | family.CanSearch | family.CanSpill,
			Reason:  "smallest: a search fits its hash functions to the keys",
			Warning: "patented in the US, nominally until 2027-06-15; needs all keys for the build",
		}},
	}
}

// Reoptimize returns a builder of a filter with the geometry of f, whose search starts from f. It needs all keys
// again; they may have changed. f must not change before Build returns. Errors wrap filter.ErrConfig.
func (f *Filter) Reoptimize(e filter.Effort) (family.Builder, error) {
	return family.As[family.Builder](NewBuilder(Config{From: f, Effort: e}))
}
