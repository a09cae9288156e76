package java

import "github.com/bloomery/bloomery/internal/family"

// can has the abilities of both families that no interface of their filters shows.
const can = family.CanStartEmpty | family.CanCapacity

// about describes a family with its own parameter.
func about(summary string, own family.Parameter) family.About {
	return family.About{
		Summary: summary,
		Default: "a false-positive rate of 1%", DefaultFPR: 0.01, Sizes: []string{"words"},
		Parameters: []family.Parameter{
			family.CapacityParameter,
			{Name: "k", Value: "1..255", Help: "probes per key"},
			{Name: "words", Value: "N", Help: "number of 64-bit words, instead of a size"},
			own,
		},
	}
}

// Forecast returns the size in bits of the filter that New makes, and its predicted false-positive rate, in [0, 1],
// after keys distinct keys were added. It does not allocate a filter. It returns the errors of Geometry.
func (c Config) Forecast(keys uint64) (bits uint64, fpr float64, err error) {
	words, k, err := c.Geometry()
	if err != nil {
		return 0, 0, err
	}
	return 64 * words, prior(Reach(words, c.sums()), k, c.sums(), keys), nil
}
