package blockpartitioned

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// Traits are what the family can do and which hash functions it takes. Package families lists them.
var Traits = family.Traits{
	Name: Family,
	Can:  family.CanLater | family.CanSpill | family.CanCountItself | family.CanOneLine,
}

// About describes the family to planners and users.
func About() family.About {
	return family.About{
		Summary:   "as partitioned, in one cache line per query",
		FileBytes: 208,
		Default:   "8 bits a key", Sizes: []string{"blocks"},
		Parameters: append([]family.Parameter{
			family.LaterParameter, family.SlotsParameter, {Name: "block", Value: "512|1024", Help: "bits per block"},
		}, family.SearchParameters...),
		Forms: []family.Form{{
			Spec: family.NewSpec(Family), Patented: true,
			Can:     family.CanAdd | family.CanLater | family.CanSearch | family.CanSpill | family.CanOneLine,
			Reason:  "one cache line per query, and the same search",
			Warning: "patented in the US, nominally until 2027-06-15; needs all keys for the build",
		}},
	}
}

// Reoptimize returns a builder of a filter with the geometry of f, whose search starts from f. It needs all keys
// again; they may have changed. f must not change before Build returns. Errors wrap filter.ErrConfig.
func (f *Filter) Reoptimize(e filter.Effort) (family.Builder, error) {
	return family.As[family.Builder](NewBuilder(Config{From: f, Effort: e}))
}
