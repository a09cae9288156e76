package twochoice

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// Traits are what the family can do and which hash functions it takes. Package families lists them.
var Traits = family.Traits{
	Name: Family,
	Can:  family.CanStartEmpty | family.CanSpill | family.CanCountItself,
}

// About describes the family to planners and users.
func About() family.About {
	return family.About{
		Summary:   "keys choose among groups of positions: small at low rates",
		FileBytes: 256,
		Default:   "8 bits a key", Sizes: []string{"shards"},
		Parameters: append([]family.Parameter{
			{Name: "choices", Value: "2..16", Help: "groups of positions a key chooses among"},
			{Name: "k", Value: "1..64", Help: "positions per group"},
			{Name: "hashing", Value: "independent|double", Help: "how the positions follow from the hash"},
			{Name: "search", Value: "anneal|greedy", Help: "with noise, or as the paper does"},
		}, family.SearchParameters...),
		Forms: []family.Form{{
			Spec: family.NewSpec(Family), Can: family.CanAdd | family.CanSearch | family.CanSpill, Reason: "small at low rates",
			Warning: "a query reads many places, and a build searches",
		}},
	}
}

// Reoptimize returns a builder of a filter with the geometry of f, whose search starts from f. It needs all keys
// again; they may have changed. f must not change before Build returns. Errors wrap filter.ErrConfig.
func (f *Filter) Reoptimize(e filter.Effort) (family.Builder, error) {
	return family.As[family.Builder](NewBuilder(Config{From: f, Effort: e}))
}
