package java

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// Guava is the BloomFilter of Google's Guava (com.google.common.hash): guava(k=7,strategy=64,words=150). Strategy 32,
// MURMUR128_MITZ_32, is that of filters made before Guava 12. The key is what the funnel writes.
var Guava = &Kind{
	Family: "guava", System: "Guava",
	Parameter: "strategy", Narrow: 32, Wide: 64, Of: Sum63, Default: Sum63,
}

// GuavaTraits are what the family can do and which hash functions it takes. Package families lists them.
var GuavaTraits = family.Traits{Name: "guava", Hash: filter.Murmur3, Can: can}

// AboutGuava describes the family to planners and users.
func AboutGuava() family.About {
	return about("filter of Guava (Java)",
		family.Parameter{Name: "strategy", Value: "32|64", Help: "MURMUR128_MITZ_32 or MURMUR128_MITZ_64"})
}
