package plan

import (
	"math"
	"time"

	"github.com/bloomery/bloomery/internal/family"
)

// DefaultFPR is the false-positive rate for Needs with neither a rate nor a limit of size.
const DefaultFPR = 0.01

// Needs are requirements on a filter. A zero field requires nothing, unless a default is noted.
type Needs struct {
	Keys  uint64 // at the build, at least 1
	Later uint64 // keys that are added after the build
	// FPR is the highest false-positive rate with all keys, in (0, 1). Default: DefaultFPR if the size is
	// not limited.
	FPR float64
	// BitsPerKey or Bytes limits the size. Without FPR the filter has the lowest rate within that size.
	BitsPerKey float64
	Bytes      uint64

	Add       bool // keys are added after the build; Later says how many
	Remove    bool // keys are removed
	Count     bool // the filter counts how often each key was added
	Merge     bool // filters of different keys are merged
	ValueBits int  // bits of the value of each key, 0 to 32
	OneLine   bool // a query reads one cache line, or a second one in at most 5% of the cases
	Writers   bool // many goroutines add keys at the same time
	// Adversarial means that clients may search for false positives to query: the hash needs a secret.
	Adversarial bool
	Unpatented  bool // leave out methods with a known patent
	// Absent is the share of queries for absent keys, in (0, 1]. Default: 0.5.
	Absent float64
	Build  time.Duration // longest build on one core; 0: no limit
	// Memory is the largest memory of a build in bytes, without the filter and without keys that can go to a file.
	// 0: no limit.
	Memory uint64
	// For is the order of a plan. Default: Smallest, and in a bloomery.Config Lasting.
	For Objective
}

// Objective is the order of the filters in a plan.
type Objective string

// The objectives.
const (
	// Smallest is the order by the size of the file, or with a limit of size and no rate by the rate.
	Smallest Objective = "size"
	// Fastest is the order by the time of a query.
	Fastest Objective = "speed"
	// Lasting takes one filter, whose family does not depend on the number of keys, so that a growing list keeps its
	// family, and with it the operations of its filters. It is the first form of this list that meets the needs:
	//
	//	nothing else            ribbon
	//	Add, Later or Merge     standard
	//	Remove                  rankindexed
	//	Count                   rankindexed(counting=1)
	//	ValueBits               rankindexed(value_bits=)
	//	OneLine                 blocked
	//	Remove and Merge        counting
	//
	// No static family has rates below 2^-32 or more than 33 bits per key: there, Lasting takes the smallest of the
	// other forms, mostly rankindexed. For several needs, the form must meet all of them: Add with Remove gives
	// rankindexed. If none of these forms meets the needs, Lasting takes the first choice of Smallest.
	Lasting Objective = "lasting"
)

// check sets the defaults and returns an error if the needs are invalid.
func (n *Needs) check() error {
	switch {
	case n.Keys == 0:
		return family.Invalid("keys", n.Keys, "want at least 1")
	// The first comparison catches a sum that overflowed.
	case n.Keys+n.Later < n.Keys || n.Keys+n.Later > mostKeys:
		return family.Invalid("keys", n.Keys, "want at most %g, later keys included", float64(mostKeys))
	case !(n.FPR >= 0 && n.FPR < 1): // written so that NaN is refused, here and below
		return family.Invalid("fpr", n.FPR, "want a rate between 0 and 1, both excluded, such as 0.01")
	case !(n.BitsPerKey >= 0 && n.BitsPerKey <= 4096):
		return family.Invalid("bits_per_key", n.BitsPerKey, "want more than 0 and at most 4096")
	case n.BitsPerKey > 0 && n.Bytes > 0:
		return family.Invalid("bytes", n.Bytes, "give bits_per_key or bytes")
	case !(n.Absent >= 0 && n.Absent <= 1):
		return family.Invalid("absent", n.Absent, "want a share from 0 to 1")
	case n.ValueBits < 0 || n.ValueBits > 32:
		return family.Invalid("value_bits", n.ValueBits, "want 0 to 32")
	case n.For != "" && n.For != Smallest && n.For != Fastest && n.For != Lasting:
		return family.Invalid("for", n.For, "want size or speed")
	case n.Build < 0:
		return family.Invalid("build", n.Build, "want more than 0")
	}
	if n.FPR == 0 && n.BitsPerKey == 0 && n.Bytes == 0 {
		n.FPR = DefaultFPR
	}
	if n.Absent == 0 {
		n.Absent = 0.5
	}
	if n.For == "" {
		n.For = Smallest
	}
	return nil
}

// mostKeys is the largest number of keys, more than fit into the memory of any machine.
const mostKeys = 1 << 56

// totalKeys returns the number of keys, later keys included.
func (n *Needs) totalKeys() uint64 { return n.Keys + n.Later }

// budget returns the limit of the filter's size in bits, or 0 without a limit.
func (n *Needs) budget() float64 {
	if n.Bytes > 0 {
		return 8 * float64(n.Bytes)
	}
	return n.BitsPerKey * float64(n.totalKeys())
}

// sizeOfLines returns the size of a filter of whole cache lines, in the unit of the needs. Bits per key have the fewest
// digits that make these lines.
func (n *Needs) sizeOfLines(lines float64) (bytes uint64, perKey float64) {
	if n.Bytes > 0 {
		return uint64(64 * lines), 0
	}

	fewer, most := 512*(lines-1)/float64(n.totalKeys()), 512*lines/float64(n.totalKeys())
	for digits := range 16 {
		scale := math.Pow10(digits)
		if v := math.Floor(most*scale) / scale; v > fewer && v <= most {
			return 0, v
		}
	}
	return 0, most
}

// slackBits returns the number of bits by which a filter may exceed the budget: with BitsPerKey it may fill its last
// word of 64 bits.
func (n *Needs) slackBits() float64 {
	if n.Bytes > 0 {
		return 0
	}
	return 63
}
