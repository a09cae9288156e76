package probe

import (
	"math"
	"math/rand/v2"

	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/parallel"
)

// Double is the double hashing of a filter of another system: the probes of a key are start + i·step mod 2^Word for i =
// 0..K-1, and the positions are the probes modulo Bits. FPR and Posterior account for effects that independent probes
// do not have:
//
//   - Steps that revisit positions. If step is a multiple of Bits/q, a key has only q positions.
//   - Keys with the same step, or steps in a small ratio. With suitable starts, one key covers many probes of
//     another.
//   - Sums above 2^Word, which shift the later positions by 2^Word mod Bits. They make the other two effects rarer,
//     except if Bits is a power of two.
//
// At a constant load the first two effects have a probability of order 1/Bits, which is far above the rate of
// independent probes in small filters with a low rate: a filter of one word has a rate of at least 1/64² with any
// number of probes per key.
type Double struct {
	Bits  uint64 // m, at least 1
	K     int    // probes per key, at least 1
	Word  uint   // bits of a start and of a step, 32 to 64
	Pairs int    // starts and steps of a key: 1 or 2
	Falls bool   // some positions decrease if the start increases
	Probe Probe
	Parts int // filters of a chain, among which the work is divided; default: 1
}

// Probe returns the position of probe i of a key in a filter of m bits, the index of the start that it depends on, and
// whether the position decreases by one, instead of increasing, if that start increases by one.
type Probe func(start, step *[2]uint64, i int, m uint64) (at uint64, of int, falls bool)

const (
	// exactBits is the size of the largest filter whose rate is computed from every pair of a start and a step, modulo
	// Bits.
	exactBits = 1 << 14
	// modelBits is the size of the largest filter that FPR models. Rates of larger filters are computed from a model of
	// about this size.
	modelBits = 1 << 13
	// effort limits the work of a call, in words read: a few milliseconds.
	effort = 2_000_000
	// negligible is the part of the rate that may be ignored.
	negligible = 1e-3
)

// FPR returns the predicted false-positive rate, in [0, 1], after n distinct keys: up to 2^13 bits the mean rate of
// random filters; above, the rate of independent probes plus an excess, which is the excess of a filter of about 2^13
// bits with the same load, divided by the ratio of the sizes. The relative error is a few percent if the rate is far
// above the rate of independent probes. Equal arguments give equal results.
func (d Double) FPR(n uint64) float64 {
	if n == 0 {
		return 0
	}

	plain := d.plainRate(n)
	fill := math.Pow(plain, 1/float64(d.K))
	probes := float64(n) * float64(d.K) * min(1, modelBits/float64(d.Bits)) // of a model
	if plain >= 1 || d.mayIgnore(fill, plain) || float64(d.workLimit()) < probes {
		return plain
	}

	if d.Bits <= modelBits {
		mean, _ := d.modelRates(n)
		return mean
	}
	return min(1, max(0, plain+d.excess(float64(n))))
}

// workLimit returns the limit of the work of a call, in words read.
func (d Double) workLimit() int { return effort / max(d.Parts, 1) }

// mayIgnore reports whether the excess over the rate of independent probes is negligible. The excess is at most about
// 2/m·Σ q·f^q: there are at most q steps modulo m with which a key has q positions, and fewer keys cover many probes of
// another key.
func (d Double) mayIgnore(fill, plain float64) bool {
	var sum float64
	for q, f := 1, fill; q < d.K && f > 1e-20; q++ {
		sum += float64(float64(q) * f)
		f *= fill
	}
	return 2*sum/float64(d.Bits) < negligible*plain
}

// plainRate returns the rate of independent probes whose positions differ.
func (d Double) plainRate(n uint64) float64 {
	if uint64(d.K) >= d.Bits {
		return FPR(n, d.Bits, d.K)
	}
	return math.Pow(-math.Expm1(float64(n)*math.Log1p(-float64(d.K)/float64(d.Bits))), float64(d.K))
}

// Posterior returns the false-positive rate, in [0, 1], of a filter with these words, of which ones bits are set. Bits
// from Bits on must not be set. Up to 2^14 bits it tries all starts and steps modulo Bits, and samples sums above
// 2^Word. For larger filters it returns the rate of independent probes plus the excess of FPR. Equal arguments give
// equal results.
func (d Double) Posterior(words []uint64, ones uint64) float64 {
	fill := float64(ones) / float64(d.Bits)
	plain := math.Pow(fill, float64(d.K))
	switch {
	case ones == 0 || ones >= d.Bits:
		return fill
	case d.mayIgnore(fill, plain) || d.workLimit() < int(min(d.Bits, exactBits)):
		return plain
	case d.Bits <= exactBits:
		return d.sampler().sampledRate(newCover(words, d.Bits), rand.NewPCG(1, d.Bits), d.workLimit())
	}

	n := -math.Log1p(-fill) / -math.Log1p(-float64(d.K)/float64(d.Bits)) // the keys that give this fill; see plainRate
	return min(1, max(0, plain+d.excess(n)))
}

// excess returns the difference between the rate and the rate of independent probes for a filter of more than modelBits
// bits, from a model with the same load: at a constant load it is proportional to 1/Bits.
func (d Double) excess(n float64) float64 {
	model := d
	model.Bits = d.similarBits()
	scale := float64(model.Bits) / float64(d.Bits)
	keys := max(1, math.Round(n*scale))
	mean, plain := model.modelRates(uint64(keys))
	return (mean - plain) * scale * (n * scale / keys)
}

// similarBits returns a number of bits near modelBits whose steps revisit positions as often as the steps of d.Bits. As
// far as possible, the result has the same power of two as a divisor as d.Bits, and the same odd part or at least its
// factors 3 and 5.
func (d Double) similarBits() uint64 {
	odd, two := d.Bits, uint64(1)
	for odd%2 == 0 {
		odd, two = odd/2, 2*two
	}

	if odd > 127 {
		odd = map[uint64]uint64{1: 127, 3: 3 * 41, 5: 5 * 23, 15: 15 * 11}[gcd(odd, 15)]
	}

	if odd*two <= modelBits/3 {
		more := modelBits/(odd*two) | 1
		for gcd(more, 15) != 1 {
			more += 2
		}
		odd *= more
	}

	for two > 1 && odd*two > modelBits {
		two /= 2
	}
	return odd * two
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

const (
	most   = 1024 // the largest number of filters that a model consists of
	enough = 100  // enough filters for rates above 0.1% with at least ten keys, which scatter less
)

// models caches the results of modelRates, because a build, its forecast and its report need the same ones.
var models parallel.Memo[modelKey, [2]float64]

// modelKey contains all inputs of a model. It does not contain the Probe, which follows from Word, Pairs and Falls.
type modelKey struct {
	bits, keys uint64
	k, word    int
	pairs      int
	falls      bool
	parts      int
}

// modelRates returns the mean rate of random filters with n keys, and the rate with independent probes.
func (d Double) modelRates(n uint64) (mean, plain float64) {
	key := modelKey{d.Bits, n, d.K, int(d.Word), d.Pairs, d.Falls, d.Parts}
	v := models.Get(key, func() [2]float64 {
		mean, plain := d.computeModel(n)
		return [2]float64{mean, plain}
	})
	return v[0], v[1]
}

// computeModel computes the result of modelRates.
func (d Double) computeModel(n uint64) (mean, plain float64) {
	r := rand.New(rand.NewPCG(2, d.Bits)) // a fixed seed: equal arguments give equal results
	words := make([]uint64, (d.Bits+63)/64)
	filters, left, s := 0.0, d.workLimit(), d.sampler()
	for filters < most && left > 0 && !(n >= 10 && filters >= enough && mean > 1e-3*filters) {
		clear(words)
		var ones uint64
		for range n {
			start, step := d.randomPair(r), d.randomPair(r)
			for i := range d.K {
				at, _, _ := d.Probe(&start, &step, i, d.Bits)
				ones += 1 &^ (words[at/64] >> (at % 64))
				words[at/64] |= 1 << (at % 64)
			}
			if ones == d.Bits { // further keys change nothing
				break
			}
		}

		c := newCover(words, d.Bits)
		build := probeCost * int(n) * d.K
		mean += s.sampledRate(c, r, max(d.workLimit()/most, build/2))
		plain += math.Pow(float64(ones)/float64(d.Bits), float64(d.K))
		left -= c.work + build
		filters++
	}
	return mean / filters, plain / filters
}

// randomPair returns two random words.
func (d Double) randomPair(r rand.Source) [2]uint64 {
	return [2]uint64{r.Uint64() >> (64 - d.Word), r.Uint64() >> (64 - d.Word)}
}

// Limits of the size that Fit returns.
const (
	MaxBitsPerKey = 4096
	smallBits     = 1 << 16 // always allowed, 8 KiB
)

// Fit returns a number of bits, a multiple of unit, with which FPR(n) is at most 1% above p. If Bits suffices, Fit
// returns it. Otherwise Fit finds the number by bisection, with a rate of at least 0.97·p unless unit is too large. The
// error wraps filter.ErrConfig if more than MaxBitsPerKey·n bits and 8 KiB, or more than most bits, are needed; name is
// the name of the family.
func (d Double) Fit(name string, n uint64, p float64, unit, most uint64) (uint64, error) {
	const tolerance = 1.01
	keeps := func(m uint64) (float64, bool) {
		d.Bits = m
		rate := d.FPR(n)
		return rate, rate <= tolerance*p
	}

	up := func(m float64) uint64 { return (uint64(m) + unit - 1) / unit * unit }
	hi := d.Bits
	rate, ok := keeps(hi)
	if ok {
		return hi, nil
	}

	most = min(most, up(max(smallBits, MaxBitsPerKey*float64(n))))
	if most/unit%2 == 0 {
		most -= unit // a power of two has the highest rates
	}

	lo := hi
	for !ok {
		if hi >= most {
			return 0, tooFew(name, n, p, hi, rate)
		}
		lo, hi = hi, min(most, max(hi+unit, up(float64(hi)*min(2, math.Sqrt(rate/p)))))
		rate, ok = keeps(hi)
	}

	for hi-lo > unit && rate < 0.97*p {
		mid := up(float64(lo + (hi-lo)/2))
		if mid == hi {
			break
		}
		if at, ok := keeps(mid); ok {
			hi, rate = mid, at
		} else {
			lo = mid
		}
	}
	return hi, nil
}

// tooFew returns the error for n keys at a rate p that double hashing does not reach with bits bits. The error names
// the number of keys from which on it does: the rate is proportional to n/bits², so with MaxBitsPerKey it is p for
// rate/p·bits²/n/MaxBitsPerKey² keys.
func tooFew(name string, n uint64, p float64, bits uint64, rate float64) error {
	const text = "%s, whose probes follow from one step, has a rate of %.2g for %d keys in %d bytes; " +
		"make room for %.0f keys with capacity=, or take standard or fuse"
	perKey := float64(bits) / MaxBitsPerKey
	return family.Invalid("fpr", p, text, name, rate, n, bits/8, math.Ceil(rate/p*perKey*perKey/float64(n)))
}
