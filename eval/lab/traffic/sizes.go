package traffic

import (
	"math"
	"math/rand/v2"
)

// The law of sizes: a truncated Pareto law. Powers near 1 are found for files of the web (Crovella and Bestavros,
// IEEE/ACM ToN 5, 1997).
const (
	SizePower = 1.2
	SizeMin   = 2e3 // bytes
	SizeMax   = 1e8
)

// SizeMean is the mean of the law: 10.6 kB. One of 110 objects has more than 100 kB; these objects are 39% of all
// bytes.
var SizeMean = SizePower / (SizePower - 1) * SizeMin * (1 - math.Pow(SizeMin/SizeMax,
	SizePower-1)) / (1 - math.Pow(SizeMin/SizeMax, SizePower))

// Sizes draws the sizes of a number of objects, in bytes.
func Sizes(r *rand.Rand, objects int) []float64 {
	sizes := make([]float64, objects)
	for i := range sizes {
		sizes[i] = SizeMin * math.Pow(1-r.Float64()*(1-math.Pow(SizeMin/SizeMax, SizePower)), -1/SizePower)
	}
	return sizes
}
