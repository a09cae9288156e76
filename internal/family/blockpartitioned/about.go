package blockpartitioned

import (
	"github.com/bloomery/bloomery/filter"
)

// About describes the family. Package families lists it.
var About = filter.About{
	Name: Family, Summary: "as partitioned, in one cache line per query",
	Can: filter.CanAdd | filter.CanLater | filter.CanSearch | filter.CanSpill | filter.CanCountItself |
		filter.CanOneLine,
	FileBytes: 208,
	Default:   "8 bits a key", Sizes: []string{"blocks"},
	Parameters: append([]filter.Parameter{
		filter.LaterParameter, filter.SlotsParameter, {Name: "block", Value: "512|1024", Help: "bits per block"},
	}, filter.SearchParameters...),
	Forms: []filter.Form{{
		Spec: filter.NewSpec(Family), Patented: true,
		Can:     filter.CanAdd | filter.CanLater | filter.CanSearch | filter.CanSpill | filter.CanOneLine,
		Reason:  "one cache line per query, and the same search",
		Warning: "patented in the US, nominally until 2027-06-15; needs all keys for the build",
	}},
}

// Reoptimize returns a builder of a filter with the geometry of f, whose search starts from f. It needs all keys
// again; they may have changed. f must not change before Build returns. Errors wrap filter.ErrConfig.
func (f *Filter) Reoptimize(e filter.Effort) (filter.Builder, error) {
	return filter.As[filter.Builder](NewBuilder(Config{From: f, Effort: e}))
}
