package family

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

// Foldable returns the number of places, of bits bits each, of a filter from which filters of places places and fewer
// are folded. It is a multiple m·c of a number m that is at most 1% larger than places and has many divisors: from
// 288,288,000 places on, 2,882,880 = 4·720,720 divides m. Folding gives m places and, for d > c, steps from cm/d to
// cm/(d+1) places as far as the divisors are dense. c is 1 in filters of more than 1 MiB, and up to 48 in smaller ones.
func Foldable(places, bits uint64) uint64 {
	places += places / 256
	unit := productUpTo(places/128, 4, 3, 4, 5, 4, 3, 7, 11, 13)
	return (places + unit - 1) / unit * unit * productUpTo(min(1+foldMemory/(places*bits), 48), 2, 3, 2, 2, 2)
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

// FoldTo returns the largest divisor d of places for which places/d is at least least, or 1.
func FoldTo(places, least uint64) uint64 {
	least = max(least, 1)
	most := max(places/least, 1)
	for i := uint64(0); ; i++ { // whichever of d and places/d is smaller is found first, after at most √places steps
		switch {
		case places%(most-i) == 0:
			return most - i
		case places%(least+i) == 0:
			return places / (least + i)
		}
	}
}
