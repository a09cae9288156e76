package rankindexed

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// Traits describes the abilities and the hash functions of the family. Package families lists the Traits of all
// families.
var Traits = family.Traits{
	Name: Family,
	Can: family.CanStartEmpty | family.CanCapacity | family.CanGrow | family.CanSpill | family.CanOneLine |
		family.CanCountItself | family.CanBuildValues,
}

// About describes the family to planners and users.
func About() family.About {
	return family.About{
		Summary:   "keys come and go, are counted or have values, in few bits",
		FileBytes: 290,
		Bounded:   true, Default: "a false-positive rate of 1%", DefaultFPR: 0.01, Sizes: []string{"buckets"},
		// A table that begins with fewer keys keeps its unsuitable buckets when it grows: 20 times the bits per key.
		Grows: func(s filter.Spec) uint64 { return 1000 * min(1, family.Reader(s).Uint("growth")) },
		Parameters: []family.Parameter{
			family.CapacityParameter, family.CountingParameter,
			{Name: "value_bits", Value: "1..32", Help: "bits of the value that each key has"},
			{Name: "growth", Value: "1..24", Help: "how often the filter may double when it is full"},
			{Name: "bucket", Value: "BITS", Help: "bits per bucket: 512 is one cache line, 16384 is smallest"},
			{Name: "fast", Value: "1", Help: "short chains: faster queries for 20% to 50% more bits"},
			{Name: "overflow", Value: "P", Help: "probability of being full before the capacity, 1e-15 to 0.1"},
		},
		Forms: []family.Form{
			newForm(family.Form{Default: 5, Reason: "keys come and go, in few bits"}),
			newForm(family.Form{Reason: "keys come and go, in the fewest bits", Warning: slowChanges}, "bucket", maxBucket),
			newForm(family.Form{LineFrom: 1e-4, Reason: "keys come and go, mostly with one cache line per query"},
				"bucket", 512),
			newForm(family.Form{Can: family.CanOneLine, Reason: "keys come and go, fast: short chains in one cache line"},
				"bucket", 512, "fast", 1),
			newForm(family.Form{Default: 6, Reason: "counts in the fewest bits", Warning: "a key counts to about 800 at most"},
				"counting", 1),
			newForm(family.Form{LineFrom: 1e-4, Reason: "counts, mostly with one cache line per query", Warning: shortCounts},
				"bucket", 512, "counting", 1),
			newForm(family.Form{
				Can: family.CanOneLine, Reason: "counts, fast: short chains in one cache line", Warning: shortCounts,
			}, "bucket", 512, "counting", 1, "fast", 1),
			newForm(family.Form{Reason: "a value with each key, in the fewest bits", Warning: sharedValues}, "value_bits", 1),
			newForm(family.Form{
				Can: family.CanOneLine, Reason: "a value with each key, fast: short chains in one cache line",
				Warning: sharedValues,
			}, "bucket", 512, "fast", 1, "value_bits", 1),
		},
	}
}

// Warnings that several forms share.
const (
	slowChanges  = "add and remove take four times as long"
	shortCounts  = "a key counts to about 200 at most"
	sharedValues = "keys that look alike share a value"
)

const formCan = family.CanAdd | family.CanRemove | family.CanConcurrent | family.CanCapacity

// newForm adds to a form its Spec, the abilities that follow from the parameters, and the common warning.
func newForm(f family.Form, parameters ...any) family.Form {
	f.Spec = family.NewSpec(Family, parameters...)
	f.Can |= formCan
	if family.Given(f.Spec, "counting") {
		f.Can |= family.CanCount
	} else { // the counting builder keeps no keys that it could spill
		f.Can |= family.CanSpill
	}
	if family.Given(f.Spec, "value_bits") {
		f.Can |= family.CanValues
	}
	if f.LineFrom > 0 {
		f.Can |= family.CanOneLine
	}
	if f.Warning != "" {
		f.Warning += "; "
	}
	f.Warning += "full soon beyond its capacity; remove only what was added"
	return f
}

// Forecast returns the size in bits of the filter that the Config makes for its Keys, and the predicted false-positive
// rate in [0, 1] after keys distinct keys were added. It allocates no filter. It returns the errors of Plan.
func (c Config) Forecast(keys uint64) (bits uint64, fpr float64, err error) {
	g, err := c.Plan()
	if err != nil {
		return 0, 0, err
	}
	return g.Bits(), g.FPR(keys), nil
}

// ValueBits returns the number of bits of the value of each key, 0 without values.
func (f *Filter) ValueBits() int { return f.g.ValueBits }

// ValueBits returns the number of bits of the value of each key, 0 without values.
func (c *Concurrent) ValueBits() int { return c.table.Load().g.ValueBits }
