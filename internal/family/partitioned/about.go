package partitioned

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// About describes the family. Package families lists it.
var About = family.About{
	Name: Family, Summary: "a search fits the hash functions to the keys: the smallest that takes keys after the build",
	Can:       family.CanAdd | family.CanLater | family.CanSearch | family.CanSpill | family.CanCountItself,
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

// Reoptimize returns a builder of a filter with the geometry of f, whose search starts from f. It needs all keys
// again; they may have changed. f must not change before Build returns. Errors wrap filter.ErrConfig.
func (f *Filter) Reoptimize(e filter.Effort) (family.Builder, error) {
	return family.As[family.Builder](NewBuilder(Config{From: f, Effort: e}))
}
