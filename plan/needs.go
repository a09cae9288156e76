package plan

import (
	"fmt"
	"time"

	"github.com/bloomery/bloomery/filter"
)

// Needs says what a filter has to do. Zero fields ask for nothing, but as it stands with them.
type Needs struct {
	Keys  uint64 // at the build, at least one
	Later uint64 // keys that are added after it
	// FPR is the rate to keep when all keys are in, in (0, 1). Default: 0.01, if there is no limit of bits.
	FPR float64
	// BitsPerKey and Bytes, at most one of them, limit the size. With FPR they are a limit beside it; without, the rate is
	// what comes out.
	BitsPerKey float64
	Bytes      uint64

	Remove    bool // keys are taken out again
	Count     bool // how often a key was added is asked for
	Merge     bool // filters of different keys are united
	ValueBits int  // of a value that each key has
	OneLine   bool // a query reads one cache line, or in a few per cent of cases a second
	Writers   bool // many goroutines add keys at the same time
	// Adversarial says that who asks may choose the keys, and gain from those that are falsely present.
	Adversarial bool
	Unpatented  bool // what is known to be patented somewhere is not wanted
	// Absent is the share of queries for keys that are not there, in (0, 1]. Default: one half.
	Absent float64
	Build  time.Duration // the longest build, on one core; 0 for any
	Memory uint64        // bytes that the build may hold beside the filter, keys that can go to a file not counted; 0 for any
	For    Objective     // default: Smallest
}

// Objective is what is least in the filter that comes first.
type Objective string

// The objectives: bits, or the rate where bits are limited and the rate is not; or nanoseconds a query.
const (
	Smallest Objective = "size"
	Fastest  Objective = "speed"
)

// check fills in the defaults and returns what is wrong.
func (n *Needs) check() error {
	bad := func(field string, value any, reason string) error {
		return &filter.ConfigError{Field: field, Value: value, Reason: reason}
	}
	switch {
	case n.Keys == 0:
		return bad("keys", n.Keys, "want at least one")
	case n.Keys+n.Later < n.Keys || n.Keys+n.Later > mostKeys:
		return bad("keys", n.Keys, fmt.Sprintf("want at most %g with those that come later", float64(mostKeys)))
	case !(n.FPR >= 0 && n.FPR < 1):
		return bad("fpr", n.FPR, "want a rate between 0 and 1, both excluded, such as 0.01")
	case !(n.BitsPerKey >= 0 && n.BitsPerKey <= 4096):
		return bad("bits_per_key", n.BitsPerKey, "want more than 0 and at most 4096")
	case n.BitsPerKey > 0 && n.Bytes > 0:
		return bad("bytes", n.Bytes, "give bits_per_key or bytes")
	case !(n.Absent >= 0 && n.Absent <= 1):
		return bad("absent", n.Absent, "want a share from 0 to 1")
	case n.ValueBits < 0 || n.ValueBits > 32:
		return bad("value_bits", n.ValueBits, "want 0 to 32")
	case n.For != "" && n.For != Smallest && n.For != Fastest:
		return bad("for", n.For, "want size or speed")
	case n.Build < 0:
		return bad("build", n.Build, "want more than 0")
	}
	if n.FPR == 0 && n.BitsPerKey == 0 && n.Bytes == 0 {
		n.FPR = 0.01
	}
	if n.Absent == 0 {
		n.Absent = 0.5
	}
	if n.For == "" {
		n.For = Smallest
	}
	return nil
}

// mostKeys is beyond any memory.
const mostKeys = 1 << 56

// all returns the keys that are in at the end.
func (n *Needs) all() uint64 { return n.Keys + n.Later }

// budget returns the bits that the filter may have, 0 for any.
func (n *Needs) budget() float64 {
	if n.Bytes > 0 {
		return 8 * float64(n.Bytes)
	}
	return n.BitsPerKey * float64(n.all())
}

// fits returns a size of at most so many bits, in the unit of the needs.
func (n *Needs) fits(bits float64) (bytes uint64, perKey float64) {
	if n.Bytes > 0 {
		return uint64(max(1, bits/8)), 0
	}
	return 0, max(bits/float64(n.all()), 1/float64(n.all()))
}

// slack returns how many bits more than the budget a filter may have: the rest of a word where bits a key are given.
func (n *Needs) slack() float64 {
	if n.Bytes > 0 {
		return 0
	}
	return 63
}
