package filter

import (
	"fmt"
	"strings"
	"time"

	"github.com/bloomery/bloomery/internal/stat"
)

// Info describes a filter at one moment. Rates and shares are in [0, 1].
type Info struct {
	// Spec is the family and the geometry.
	Spec Spec
	// Keys is the number of keys added minus the number removed. A key that was added twice counts twice, except in
	// families that gather all keys before the build: they drop duplicates, unless they count keys.
	Keys uint64
	// Late is the number of Keys that were added after the search that fitted the filter to its keys. It is 0 in
	// families that do not search.
	Late uint64
	// Bits is the size in bits of all data that queries may read: it includes side information and exceptions, but not
	// file headers.
	Bits uint64
	// Fill is the share of the filter in use, without side information: of bits that are set, or in families that store
	// fingerprints or counters, of slots, cells or counters that are not empty.
	Fill float64
	// FillSearched is Fill at the end of the search, before any Late key. It is 0 in families that do not
	// search.
	FillSearched float64
	// Capacity is the number of keys that the filter was sized for. It is 0 in families without a limit,
	// whose rate rises with every key.
	Capacity uint64
	// Pools are the pools of extensions for full buckets, from the second level on. It is nil in families without such
	// pools.
	Pools []Pool
	// FPRPrior is p_b, the false-positive rate predicted from the number of keys and the geometry.
	FPRPrior float64
	// FPRPosterior is p_a, the false-positive rate computed from the bits that are set.
	FPRPosterior float64
	// Allowed is the number of keys in the list for which the filter answers false, Exceptions the number
	// of those that would be false positives, and ExceptionBits the size of what is stored for them, which
	// is part of Bits. All are 0 in a filter without such a list.
	Allowed, Exceptions, ExceptionBits uint64
	// FPRPlanned is the false-positive rate that the filter was sized for: the rate of its Config or Spec, or
	// the rate that was forecast for its size. It is 0 if the file has none. See Exceeded.
	FPRPlanned float64
	// Form says how the keys became bytes.
	Form KeyForm
}

// String describes the filter with units, in two lines, and one more for exceptions, the form of keys and each pool.
func (i Info) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d keys, %d bytes", i.Spec, i.Keys, (i.Bits+7)/8)
	if i.Keys > 0 {
		fmt.Fprintf(&b, ", %.4g bits per key", i.BitsPerKey())
	}
	if i.Capacity > 0 {
		fmt.Fprintf(&b, ", capacity %d keys", i.Capacity)
	}

	fmt.Fprintf(&b, "\nfalse-positive rate %s, predicted %s", stat.Percent(i.FPRPosterior), stat.Percent(i.FPRPrior))
	if i.FPRPlanned > 0 {
		fmt.Fprintf(&b, ", planned %s", stat.Percent(i.FPRPlanned))
	}
	fmt.Fprintf(&b, "; fill %.3g%%", 100*i.Fill)
	if i.Late > 0 {
		fmt.Fprintf(&b, ", %.3g%% before the last %d keys", 100*i.FillSearched, i.Late)
	}

	if i.ExceptionBits > 0 {
		fmt.Fprintf(&b, "\nexact for %d allowed keys: %d exceptions, %d bytes", i.Allowed, i.Exceptions,
			(i.ExceptionBits+7)/8)
	}
	if i.Form != (KeyForm{}) {
		fmt.Fprintf(&b, "\nform of keys: %s", i.Form)
	}
	for level, p := range i.Pools {
		fmt.Fprintf(&b, "\nextensions of level %d: %d of %d in use", level+2, p.Used, p.Size)
	}
	return b.String()
}

// BitsPerKey returns Bits divided by Keys, or 0 if there are no keys.
func (i Info) BitsPerKey() float64 {
	if i.Keys == 0 {
		return 0
	}
	return float64(i.Bits) / float64(i.Keys)
}

// ValuesOnly reports whether the filter is a static function without fingerprints, such as ribbon(r=0,value_bits=8): it
// knows the values of its keys, and reports every other key as present, with an arbitrary value.
func (i Info) ValuesOnly() bool {
	_, ok := i.Spec.Param("value_bits")
	return ok && i.FPRPrior == 1
}

// Pool counts the equal pieces of memory that full buckets take: how many there are and how many are taken.
type Pool struct {
	Size uint64 `json:"size"`
	Used uint64 `json:"used"`
}

// Progress is the progress of a Build.
type Progress struct {
	Done float64       // share of the work done, in [0, 1]
	Rate float64       // posterior rate so far: of the finished parts, or of the first one; 0 if unknown
	Left time.Duration // estimated remaining time; 0 if unknown
}
