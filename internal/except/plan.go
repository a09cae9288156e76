package except

import "math"

const (
	// endOdds is how many keys the last level of a plan lets through: a plan has too few levels about once in so many
	// builds. Then the section becomes longer by a small level.
	endOdds = 1. / 1024
	// spare is the room of the last level, as a multiple of its expected keys. With a few percent more keys in a
	// cascade than its plan says, each level lets more keys through than expected, and the numbers of keys drift apart.
	spare = 2
	// steps is the number of sizes of a level between two powers of two. Sizes are rounded up, 3% on average, so that
	// filters whose numbers of keys differ little mostly have levels of the same sizes.
	steps = 16
)

// plan returns the sizes of the levels for that many exceptions and members, from expected numbers of keys. Both must
// be above 0.
func plan(exceptions, members float64) []Size {
	sizes, _ := cheapest(exceptions, members, maxLevels/2)
	return sizes
}

// cheapest returns the sizes of levels, the first of which holds in keys and is asked about out others, and their bits.
//
// A level at rate p costs about 1.44·log2(1/p) bits a key of it and leaves p·out keys to the next one. The optimum is
// p = √½·in/out, at most ½ (Larisch et al., section IV.C). Levels of few keys cost less if they end the cascade,
// because each level takes a word of its own and has whole words.
func cheapest(in, out float64, left int) ([]Size, float64) {
	last, lastBits := sized(spare*in, endOdds/max(spare*out, 1))
	if left == 0 {
		return []Size{last}, lastBits
	}

	p := min(math.Sqrt(0.5)*in/out, 0.5)
	if p*out < 1 {
		return []Size{last}, lastBits
	}

	first, bits := sized(in, p)
	rest, restBits := cheapest(p*out, in, left-1)
	if bits+restBits < lastBits {
		return append([]Size{first}, rest...), bits + restBits
	}
	return []Size{last}, lastBits
}

// sized returns the size of a Bloom filter of n keys with rate p, rounded up, and its bits and the bits of its length.
func sized(n, p float64) (Size, float64) {
	probes, bits := 1., math.Inf(1)
	for k := max(math.Floor(-math.Log2(p)), 1); k <= maxProbes; k++ {
		// 1 - e^(-k·n/m) is the share of set bits.
		m := -k * n / math.Log1p(-math.Pow(p, 1/k))
		if m >= bits {
			break
		}
		probes, bits = k, m
	}
	s := Size{Words: rounded(bits / 64), Probes: uint64(probes)}
	return s, 64 * float64(s.Words+1)
}

// rounded returns a number of words of at least w, one of few.
func rounded(w float64) uint64 {
	step := math.Exp2(math.Floor(math.Log2(max(w, 1)))) / steps
	if step < 1 {
		step = 1
	}
	return uint64(max(math.Ceil(w/step)*step, 1))
}
