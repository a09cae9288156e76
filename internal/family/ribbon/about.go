// Package ribbon is the bumped ribbon retrieval filter (Dillinger, Hübschle-Schneider, Sanders and Walzer, "Fast
// Succinct Retrieval and Approximate Membership using Ribbon", SEA 2022). It is static. A key's fingerprint of r bits,
// and a value if the filter has values, is the XOR of some of the slots; a filter takes 1.003·r bits per key. The
// false-positive rate is 2^-r.
//
// The slots of a key are within 64 or 128 slots from a start, chosen by random coefficients of 64 or 128 bits. The
// linear system of all keys is solved by elimination, in order of the starts, so that only nearby rows meet. It has
// fewer slots than keys. If the equation of a key contradicts the others, the key is bumped to the next layer, together
// with all keys of its bucket whose offset in the bucket is below a threshold. Two bits per bucket select the
// threshold:
//
//	layer 0    ┌──bucket──┬──bucket──┬──bucket──┬─ ... ─┐  6% of the keys are bumped, 4% with w=128
//	           │▒▒        │          │▒▒▒▒▒     │       │  ▒ offsets below the threshold of the bucket
//	           └──────────┴──────────┴──────────┴─ ... ─┘
//	layer 1    ┌──bucket──┬─ ...┐                         6% of those
//	...
//	tail       ┌─────┐                                    at most 256 keys, coefficients for all slots
//
// docs/format/ribbon.md has the formulas and the layout. We differ from the paper in the tail, in layers of another
// shape for few keys, and in segments of 2^18 starts, which are solved in parallel.
package ribbon

import (
	"github.com/bloomery/bloomery/internal/family"
)

// Family is the name in a Spec: ribbon(r=8,starts=944896-51968-2752,tail=96,tail_seed=3,w=64).
const Family = "ribbon"

// wholeFile is the warning of all forms.
const wholeFile = "a change of one key changes the whole file, so updates by diff and publish are as large as it"

// Traits are what the family can do and which hash functions it takes. Package families lists them.
var Traits = family.Traits{
	Name: Family,
	Can:  family.CanSpill | family.CanCountItself | family.CanBuildValues,
}

// About describes the family to planners and users.
func About() family.About {
	return family.About{
		Summary:   "static, smallest: 0.3% over the bound with many keys; fractional bits per fingerprint",
		FileBytes: 230,
		Default:   "8 bits per fingerprint: about 8.03 bits a key", Sizes: []string{"r"},
		Parameters: []family.Parameter{
			{Name: "r", Value: "1..32", Help: "bits per fingerprint, instead of a size; 0: values only"},
			{Name: "w", Value: "64|128", Help: "128: smaller and slower, the default for rates above 1/16"},
			{Name: "value_bits", Value: "1..32", Help: "bits of a value that is stored with each key"},
			{Name: "wide", Value: "1..1023", Help: "share of the blocks, of 1024, with fingerprints of r+1 bits"},
		},
		// There is no form with values: the planner only chooses for values that change.
		Forms: []family.Form{
			{
				Spec: family.NewSpec(Family), Can: family.CanSpill, Default: 1,
				Reason:  "static, {size}",
				Warning: wholeFile,
			},
			{
				Spec: family.NewSpec(Family, "w", 128), Can: family.CanSpill,
				Reason:  "static, {size}; slower queries and builds",
				Warning: wholeFile,
			},
		},
	}
}
