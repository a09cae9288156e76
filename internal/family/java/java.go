// Package java implements the Bloom filters of two systems in Java, bit for bit: families guava and spark. A filter has
// m = 64·words bits and k probes per key by double hashing: the positions of a key follow from the sums x, x+by,
// x+2·by, ... Each family has two forms with different sums:
//
//	        start x            step by     position of a sum c
//	Sum32   Lo + Lo>>32        Lo >> 32    (c if c >= 0, else NOT c) mod m, c of 32 bits, signed
//	Sum63   Lo                 Hi          (c AND 2^63-1) mod m
//	Sum64   (2^31-1)·a + b     b           (c if c >= 0, else NOT c) mod m, c of 64 bits, signed;
//	                                       a and b are the lower and the upper half of Lo, signed
//
//	guava   strategy=32: Sum32, strategy=64: Sum63     hash murmur3-x64-128
//	spark   version=1: Sum32, version=2: Sum64         hash murmur3-x86-32-twice
//
// Probes of Sum32 reach only the first 2^31 bits, and fill filters of more than about 2^26 bits unevenly. Double
// hashing causes more false positives than independent probes in small filters with a low rate, see probe.Double: use
// family standard unless the other system must read the filter. A filter with a planned rate is made larger by the bits
// that it needs for this, and a filter with a chosen size reports its true rate.
package java

import (
	"math"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// Limits of the file formats of the systems.
const (
	MaxK     = math.MaxUint8 // probes per key
	MaxWords = math.MaxInt32 // 64-bit words: 16 GiB
)

// Sums selects how the positions of a key follow from its hash.
type Sums uint8

// The sums. 0 stands for the default of a Kind.
const (
	Sum32 Sums = 1 + iota
	Sum63
	Sum64
)

// Kind is a family of filters.
type Kind struct {
	Family string // name in a Spec
	System string // the system whose format sets the limits
	// Parameter is the parameter of a Spec that selects the sums: its value is Narrow for Sum32, or Wide for the sums
	// Of.
	Parameter    string
	Narrow, Wide int
	Of           Sums // Sum63 or Sum64
	Default      Sums // Sum32, or Of
}

// parameterValue returns the value of the parameter for sums.
func (kind *Kind) parameterValue(s Sums) int {
	if s == Sum32 {
		return kind.Narrow
	}
	return kind.Wide
}

// sumsOf returns the sums for a value of the parameter.
func (kind *Kind) sumsOf(value uint64) (Sums, error) {
	switch value {
	case uint64(kind.Narrow):
		return Sum32, nil
	case uint64(kind.Wide):
		return kind.Of, nil
	}
	return 0, family.Invalid(kind.Parameter, value, "want %d or %d", kind.Narrow, kind.Wide)
}

// Spec returns the Spec of a filter with this geometry.
func (kind *Kind) Spec(words uint64, k int, s Sums) filter.Spec {
	return family.NewSpec(kind.Family, "k", k, kind.Parameter, kind.parameterValue(s), "words", words)
}

// Reach returns the number of bits that probes can reach: with Sum32 at most the first 2^31, else all 64·words.
func Reach(words uint64, s Sums) uint64 {
	if s == Sum32 {
		return min(64*words, 1<<31)
	}
	return 64 * words
}

// Guava is the BloomFilter of Google's Guava (com.google.common.hash): guava(k=7,strategy=64,words=150). Strategy 32,
// MURMUR128_MITZ_32, is the strategy of filters made before Guava 12. The key is the output of the funnel.
var Guava = &Kind{
	Family: "guava", System: "Guava",
	Parameter: "strategy", Narrow: 32, Wide: 64, Of: Sum63, Default: Sum63,
}

// GuavaTraits describes the abilities and the hash functions of the family. Package families lists it.
var GuavaTraits = family.Traits{Name: "guava", Hash: filter.Murmur3, Can: can}

// AboutGuava describes the family to planners and users.
func AboutGuava() family.About {
	return aboutKind("filter of Guava (Java)",
		family.Parameter{Name: "strategy", Value: "32|64", Help: "MURMUR128_MITZ_32 or MURMUR128_MITZ_64"})
}

// Spark is the BloomFilter of Apache Spark (org.apache.spark.util.sketch): spark(k=7,version=2,words=150). Filters made
// before Spark 4.1 are of version 1. The hash of a key has 64 bits in both versions. Spark's format does not limit the
// number of probes.
var Spark = &Kind{
	Family: "spark", System: "Spark",
	Parameter: "version", Narrow: 1, Wide: 2, Of: Sum64, Default: Sum32,
}

// SparkTraits describes the abilities and the hash functions of the family. Package families lists it.
var SparkTraits = family.Traits{Name: "spark", Hash: filter.Murmur3x86, Can: can}

// AboutSpark describes the family to planners and users.
func AboutSpark() family.About {
	return aboutKind("filter of Apache Spark",
		family.Parameter{Name: "version", Value: "1|2", Help: "of the format; Spark reads 2 from 4.1 on"})
}
