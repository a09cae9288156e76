package blocked

import (
	"math"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/stat"
)

// FPR returns p_b, the predicted false-positive probability, in [0, 1], of a filter of blocks blocks after n distinct
// keys were added with k probes each. The split layout ignores k and has 8 probes. An empty layout is Line, as in
// Config. blocks must not be 0.
//
// FPR averages the rate of one block over the number of keys in the block, which is binomial; Putze, Sanders and
// Singler, equation 3, use its Poisson limit. The rate of a line block of B bits with j keys is exact: E[(X/B)^k],
// where X is the number of bits that j·k throws occupy, from the Markov chain of X. The usual (1-(1-1/B)^(jk))^k is the
// k-th power of the mean instead of the mean of the k-th power: a tenth too low at 16 bits per key.
func FPR(n, blocks uint64, k int, layout Layout) float64 {
	x := newFormula()
	defer x.remember()
	return x.predictFPR(n, blocks, k, layout)
}

// formula computes FPR for many sizes and numbers of probes, and keeps intermediate results.
type formula struct {
	values
	bins    *stat.Bins            // the Markov chain of X, made on first use
	powers  [2*MaxK + 1][]float64 // stat.Powers, made on first use
	counted [MaxK + 1]uint64      // for each k: predictFPR has used the rates of blocks with fewer keys

	n, blocks uint64 // number of keys and blocks of means
	means     [MaxK + 1]struct {
		fpr  float64
		done bool
	}
}

// predictFPR is FPR, and remembers the last rate for each k.
func (c *formula) predictFPR(n, blocks uint64, k int, layout Layout) float64 {
	if layout == Split {
		return stat.BinomialMean(n, 1/float64(blocks), c.splitRate)
	}

	if n != c.n || blocks != c.blocks {
		c.n, c.blocks = n, blocks
		clear(c.means[:])
	}

	mean := &c.means[k]
	if !mean.done {
		mean.fpr, mean.done = c.lineFPR(n, blocks, k), true
	}
	return mean.fpr
}

// lineFPR is FPR in the line layout.
func (c *formula) lineFPR(n, blocks uint64, k int) float64 {
	load := float64(n) / float64(blocks)
	// The chain would take too long for the fullest blocks that BinomialMean requests.
	if (load+12*math.Sqrt(load)+61)*float64(k) > stat.MostThrows {
		return stat.BinomialMean(n, 1/float64(blocks), stat.Occupancy(lineBits, k))
	}
	rate := c.moment(k, k)
	return stat.BinomialMean(n, 1/float64(blocks), func(j uint64) float64 {
		c.counted[k] = max(c.counted[k], j+1)
		return valueAt(&c.rates[k], j, rate)
	})
}

// splitRate is the function splitRate with a list of known values.
func (c *formula) splitRate(j uint64) float64 { return valueAt(&c.splitRates, j, splitRate) }

// splitRate returns the rate of a split block with j keys. Each key sets one bit in each of its eight words of 32 bits.
// The words fill independently, so the mean of the product is the product of the means. All eight bits follow from 32
// bits of the hash: an absent key has the 32 bits of a key in the block with a probability of 2^-32, which is the
// larger part of rates below about 1e-9.
func splitRate(j uint64) float64 {
	return min(1, math.Pow(-math.Expm1(float64(j)*math.Log1p(-1./32)), splitK)+float64(splitAlike*float64(j)))
}

// splitAlike is the probability that two keys of a split block have the same bits of the hash.
const splitAlike = 1. / (1 << 32)

// leastFPR returns a lower bound of the rate of a filter of bits bits with any number of probes: the best rate of a
// standard filter. FPR is larger because it is a mean of powers of the fill, and the rate of a standard filter is the
// power of the mean.
func leastFPR(n uint64, bits float64) float64 {
	least, empty := 1.0, float64(n)*math.Log1p(-1/bits)
	for k := 1; k <= MaxK; k++ {
		least = min(least, math.Pow(-math.Expm1(float64(k)*empty), float64(k)))
	}
	return least * (1 - 1e-9) // less than the rounding errors of both formulas
}

// optimalK returns the number of probes, 1 to MaxK, that minimizes FPR(n, blocks, k, Line).
func (c *formula) optimalK(n, blocks uint64) int {
	load := float64(n) / float64(blocks)
	k := max(1, min(MaxK, int(0.5*lineBits/max(load, 1))))
	best := c.predictFPR(n, blocks, k, Line)
	for _, step := range []int{1, -1} {
		for k+step >= 1 && k+step <= MaxK {
			r := c.predictFPR(n, blocks, k+step, Line)
			if r >= best {
				break
			}
			best, k = r, k+step
		}
	}
	return k
}

// infoFor describes a filter with this number of keys. It counts the set bits of every block, which reads the whole
// filter. Other goroutines may add keys at the same time.
func (f *Filter) infoFor(keys uint64) filter.Info {
	rates := stat.Powers(lineBits, f.K) // of a line block with 0, 1, ... set bits
	ones, sum, size := 0, 0.0, f.blockWords()
	for i := 0; i < len(f.Words); i += size {
		split, n := 1.0, 0
		for j := range size {
			x := atomic.LoadUint64(&f.Words[i+j])
			a, b := bits.OnesCount32(uint32(x)), bits.OnesCount32(uint32(x>>32))
			n += a + b
			split *= float64(a) * float64(b) / (32 * 32)
		}

		ones += n
		if f.split {
			sum += split
		} else {
			sum += rates[n]
		}
	}

	posterior := sum / float64(f.blocks)
	if f.split {
		posterior = min(1, posterior+float64(splitAlike*float64(keys)/float64(f.blocks)))
	}

	total := f.blocks * f.layout().BlockBits()
	return filter.Info{
		Spec: f.Spec, Keys: keys, Bits: total, Fill: float64(ones) / float64(total),
		FPRPrior: FPR(keys, f.blocks, f.K, f.layout()), FPRPosterior: posterior,
	}
}

// Cells describes the bits. A key chooses one of the blocks, and in it k bits independently in the line layout, or one
// bit of each word of 32 bits in the split layout. This gives four kinds of pairs: a bit with itself, bits in the
// same word (split), in the same block, and in different blocks. No key sets bits in different blocks.
func (f *Filter) Cells() family.Cells {
	blocks, bits := float64(f.blocks), float64(f.layout().BlockBits())
	m := blocks * bits
	free := math.Pow(1-1./lineBits, float64(f.K))     // a bit of the block of a key
	together := math.Pow(1-2./lineBits, float64(f.K)) // two of them
	if f.split {
		free, together = 31./32, 31./32*31/32
	}

	hit := (1 - free) / blocks
	// pair returns the share of a number of pairs whose two bits per key both sets with probability both.
	pair := func(number, both float64) family.CellPair {
		return family.CellPair{Share: number / m, Both: math.Log1p((both - hit*hit) / ((1 - hit) * (1 - hit)))}
	}

	apart := (1 - 2*free + together) / blocks // two bits of a block
	pairs := []family.CellPair{pair(1, hit), pair(m-bits, 0)}
	if f.split {
		pairs = append(pairs, pair(31, 0), pair(bits-32, apart))
	} else {
		pairs = append(pairs, pair(bits-1, apart))
	}
	return family.Cells{Number: f.blocks * f.layout().BlockBits(), Free: math.Log1p(-hit), Pairs: pairs}
}

// values stores functions of the number of keys in a block, as lists of their values for 0, 1, ... keys.
type values struct {
	rates   [MaxK + 1][]float64 // of a line block, for each k
	squares [MaxK + 1][]float64 // means of their squares; see scatter

	splitRates, splitSquares []float64 // the same for a split block
}

// mostValues is the largest number of values of a list. Blocks with more keys have a rate near 1.
const mostValues = 1 << 10

// valueAt returns the value for j keys: from the list, which it extends, or beyond mostValues from the function.
func valueAt(list *[]float64, j uint64, function func(j uint64) float64) float64 {
	if j >= mostValues {
		return function(j)
	}
	for n := uint64(len(*list)); n <= j; n++ {
		*list = append(*list, function(n))
	}
	return (*list)[j]
}

// moment returns the function j -> E[(X/B)^e] of a line block of B bits with j keys of k probes each, where X is the
// number of bits that are set. j·k is at most stat.MostThrows.
func (c *formula) moment(k, e int) func(j uint64) float64 {
	return func(j uint64) float64 {
		if c.bins == nil {
			c.bins = stat.NewBins(lineBits)
		}
		if c.powers[e] == nil {
			c.powers[e] = stat.Powers(lineBits, e)
		}
		return c.bins.Mean(int(j)*k, c.powers[e])
	}
}

// known stores the longest lists that any formula has computed. A formula starts with these lists, because computing
// them takes most of the time of sizing a filter, and programs that make many filters make similar ones. All lists
// together take at most 544 KiB. A list never changes; it is only replaced by a longer one.
var known struct {
	sync.Mutex
	values
}

// newFormula returns a formula with the values that are known. Call remember after use.
func newFormula() *formula {
	known.Lock()
	defer known.Unlock()
	c := &formula{values: known.values}
	c.eachList(func(list, _ *[]float64) { *list = slices.Clip(*list) }) // so that it does not append to a known list
	return c
}

// remember stores the lists of c in known.
func (c *formula) remember() {
	known.Lock()
	defer known.Unlock()
	c.eachList(func(list, known *[]float64) {
		if len(*list) > len(*known) {
			*known = *list
		}
	})
}

// eachList calls do with each list of c and the known one.
func (c *formula) eachList(do func(list, known *[]float64)) {
	for k := range c.rates {
		do(&c.rates[k], &known.rates[k])
		do(&c.squares[k], &known.squares[k])
	}
	do(&c.splitRates, &known.splitRates)
	do(&c.splitSquares, &known.splitSquares)
}
