package java

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// Spark is the BloomFilter of Apache Spark (org.apache.spark.util.sketch): spark(k=7,version=2,words=150). Version 1 is
// that of all filters made before Spark 4.1. The hash of a key has 64 bits in both versions. Spark's format has no
// limit for the probes.
var Spark = &Kind{
	Family: "spark", System: "Spark",
	Parameter: "version", Narrow: 1, Wide: 2, Of: Sum64, Default: Sum32,
}

// SparkTraits are what the family can do and which hash functions it takes. Package families lists them.
var SparkTraits = family.Traits{Name: "spark", Hash: filter.Murmur3x86, Can: can}

// AboutSpark describes the family to planners and users.
func AboutSpark() family.About {
	return about("filter of Apache Spark",
		family.Parameter{Name: "version", Value: "1|2", Help: "of the format; Spark reads 2 from 4.1 on"})
}
