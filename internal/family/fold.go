package family

import "math/bits"

// Folder is a Filter of places in a row, of which position ⌊x·places / 2^64⌋ of a key is in place ⌊position / d⌋ of a
// filter of places/d places, for every divisor d. So a filter for many keys becomes the filter of the same, fewer keys
// with fewer places: a build need not know the number of keys.
type Folder interface {
	Filter
	// Fold returns the filter with the same keys and probes per key whose place i is the union of the places d·i to
	// d·i + d-1, for a divisor d of the number of places. It takes over the filter's memory: do not use the filter
	// afterwards.
	Fold(d uint64) Filter
}

// foldMemory is the number of bits by which Foldable may enlarge a filter for more divisors: 1 MiB.
const foldMemory = 8 << 20

// Foldable returns the number of places, of width bits each, of a filter from which a filter of places places and
// smaller ones are folded. Folding gives 1/1, 1/2, 1/3 ... of it, as long as these are divisors. So the number is
// one of those up to 1.25% larger than places with the most divisors, times an integer in filters of less than 1 MiB.
// It is at least 0.4% larger, because filters of fewer keys need slightly more places per key. A multiple of 720,720
// alone would have gaps above 16, and would be too large for small filters.
//
// A folded filter has at most twice as many places as needed, 1.2 times on average if it has more than a tenth of the
// places before folding, and below that 1.1 times. TestFoldable measures this.
func Foldable(places, width uint64) (best uint64) {
	times := productUpTo(min(1+foldMemory/(places*width), 48), 2, 3, 2, 2, 2)
	unit := productUpTo(places/1024, 4, 3, 4, 5, 4, 3, 7, 11, 13)
	unit <<= bits.Len64(places / unit >> 14) // so that the loop ends soon: in filters of 6 GB and more
	least, most := places+places/256, uint64(0)
	for n := (least + unit - 1) / unit * unit; most == 0 || n <= places+places/80; n += unit {
		if d := smoothDivisors(n * times); d > most {
			best, most = n*times, d
		}
	}
	return best
}

// productUpTo returns the product of the first factors, as many as keep it at most most, or 1.
func productUpTo(most uint64, factors ...uint64) uint64 {
	product := uint64(1)
	for _, f := range factors {
		if product*f > most {
			break
		}
		product *= f
	}
	return product
}

// smoothDivisors returns the number of divisors of n without a prime factor above 13.
func smoothDivisors(n uint64) uint64 {
	number := uint64(1)
	for _, p := range []uint64{2, 3, 5, 7, 11, 13} {
		powers := uint64(1)
		for ; n%p == 0; n /= p {
			powers++
		}
		number *= powers
	}
	return number
}

// FoldTo returns the largest divisor d of places for which places/d is at least least, or 1. For a number of Foldable
// it needs at most √places steps.
func FoldTo(places, least uint64) uint64 {
	least = max(least, 1)
	most := max(places/least, 1)
	for i := uint64(0); ; i++ { // if d is the smaller one of d and places/d, the first case finds it
		switch {
		case places%(most-i) == 0:
			return most - i
		case places%(least+i) == 0:
			return places / (least + i)
		}
	}
}
