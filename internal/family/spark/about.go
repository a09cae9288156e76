package spark

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// Traits are what the family can do and which hash functions it takes. Package families lists them.
var Traits = family.Traits{
	Name: Family,
	Hash: filter.Murmur3x86,
	Can: family.CanAdd | family.CanStartEmpty | family.CanMerge | family.CanIntersect | family.CanCapacity |
		family.CanEstimate,
}

// About describes the family to planners and users.
func About() family.About {
	return family.About{
		Summary: "filter of Apache Spark",
		Default: "a false-positive rate of 1%", DefaultFPR: 0.01, Sizes: []string{"words"},
		Parameters: []family.Parameter{
			family.CapacityParameter,
			{Name: "k", Value: "1..255", Help: "probes per key"},
			{Name: "words", Value: "N", Help: "number of 64-bit words, instead of a size"},
			{Name: "version", Value: "1|2", Help: "of the format; Spark reads 2 from 4.1 on"},
		},
	}
}

// Forecast returns the size in bits of the filter that New makes, and its predicted false-positive rate, in [0, 1],
// after keys distinct keys were added. It does not allocate a filter. Errors are those of Geometry.
func (c Config) Forecast(keys uint64) (bits uint64, fpr float64, err error) {
	words, k, err := c.Geometry()
	if err != nil {
		return 0, 0, err
	}
	return 64 * words, prior(Reach(words, c.version()), k, c.version(), keys), nil
}
