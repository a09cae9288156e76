package twochoice

import (
	"github.com/bloomery/bloomery/filter"
)

// About describes the family. Package families lists it.
var About = filter.About{
	Name: Family, Summary: "keys choose among groups of positions: small at low rates",
	Can:       filter.CanAdd | filter.CanStartEmpty | filter.CanSearch | filter.CanSpill | filter.CanCountItself,
	FileBytes: 256,
	Default:   "8 bits a key", Sizes: []string{"shards"},
	Parameters: append([]filter.Parameter{
		{Name: "choices", Value: "2..16", Help: "groups of positions a key chooses among"},
		{Name: "k", Value: "1..64", Help: "positions per group"},
		{Name: "hashing", Value: "independent|double", Help: "how the positions follow from the hash"},
		{Name: "search", Value: "anneal|greedy", Help: "with noise, or as the paper does"},
	}, filter.SearchParameters...),
	Forms: []filter.Form{{
		Spec: filter.NewSpec(Family), Can: filter.CanAdd | filter.CanSearch | filter.CanSpill, Reason: "small at low rates",
		Warning: "a query reads many places, and a build searches",
	}},
}

// Reoptimize returns a builder of a filter with the geometry of f, whose search starts from f. It needs all keys
// again; they may have changed. f must not change before Build returns. Errors wrap filter.ErrConfig.
func (f *Filter) Reoptimize(e filter.Effort) (filter.Builder, error) {
	return filter.As[filter.Builder](NewBuilder(Config{From: f, Effort: e}))
}
