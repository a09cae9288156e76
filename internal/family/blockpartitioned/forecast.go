package blockpartitioned

import (
	"cmp"
	"math"
	"slices"

	"github.com/bloomery/bloomery/internal/anneal"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/stat"
)

// problem describes the requirements for which a block geometry is chosen.
type problem struct {
	block  uint64
	blocks float64
	k      int     // 0 for any
	load   float64 // keys per block, on average
	later  float64 // keys per block that are added after the search, on average
	passes int
	search *anneal.Forecast // forecast of a search of these passes
}

func (c Config) problem(n uint64, blocks float64) problem {
	passes := c.tunePasses()
	return problem{c.Block, blocks, c.K, float64(n) / blocks, float64(c.Later) / blocks, passes, anneal.Words(passes)}
}

// forecast is a block geometry, its rate, and the luck of the keys: the standard deviation of the rate over the rate.
type forecast struct {
	blockGeometry
	rate, luck float64
}

// kept is the number of geometries that best returns.
const kept = 8

// bestGeometries returns the geometries with the lowest forecasts, the lowest first. It tries all plausible numbers of
// slots and of payload words, each with as many groups as fit into the rest of the block. It forecasts all of them for
// three numbers of keys per block, and the best ones for all numbers.
func (p problem) bestGeometries() []blockGeometry {
	mean, deviation := p.load, math.Sqrt(3*p.load)
	var tried []forecast
	// Points at 0 and ±√3 standard deviations with the weights 1, 4, 1 are the rule of Gauss and Hermite for a mean.
	for _, s := range p.candidates() {
		rate, later := 0.0, p.laterLots(s)
		for i, j := range []float64{max(mean-deviation, mean/4), mean, mean + deviation} {
			rate += [...]float64{1, 4, 1}[i] * p.blockRate(s, p.fillAfter(s, j, p.yieldOf(s, j)), later[len(later)/2:][:1])
		}
		tried = append(tried, forecast{s, rate, 0})
	}

	byRate := func(a, b forecast) int { return cmp.Compare(a.rate, b.rate) }
	slices.SortStableFunc(tried, byRate)
	tried = tried[:min(kept, len(tried))]
	for i := range tried {
		tried[i] = p.forecastOf(tried[i].blockGeometry)
	}

	slices.SortStableFunc(tried, byRate)
	geometries := make([]blockGeometry, len(tried))
	for i := range tried {
		geometries[i] = tried[i].blockGeometry
	}
	return geometries
}

// candidates returns all plausible geometries of a block.
func (p problem) candidates() (all []blockGeometry) {
	per := min(maxBitsPerKey, float64(p.block)/(p.load+p.later)) // bits per key that are of use
	least, most := max(1, int(0.4*per)), min(maxK, int(1.1*per)+2)
	if p.k != 0 {
		least, most = p.k, p.k
	}

	for k := least; k <= most; k++ {
		for width := anneal.MinWords; width <= maxWidth; width++ {
			for words := p.block / 32 / 2; words < p.block/32; words++ {
				s := blockGeometry{block: p.block, groups: (p.block - 32*words) / uint64(k*width), k: k, width: width}
				if s.payloadBits() == 32*words && s.isValid() && p.load <= anneal.MaxSize*float64(s.groups) {
					all = append(all, s)
				}
			}
		}
	}
	return all
}

// fillAfter returns the share of set bits of a block of j keys after a search with the given yield.
func (p problem) fillAfter(s blockGeometry, j, yield float64) float64 {
	bits := float64(s.payloadBits())
	return min(1, anneal.Fill(yield, j*float64(s.k)/bits)*(1+smaller*(1/bits-1./anneal.WordsBits)))
}

// smaller/bits is the share by which a small block is fuller than a large one, measured with blocks of 288 to 960 bits.
const smaller = 5

// yieldOf returns the yield of a search of a block of j keys.
func (p problem) yieldOf(s blockGeometry, j float64) float64 {
	return p.search.Yield(s.width, float64(s.groups), j/float64(s.groups), j*float64(s.k)/float64(s.payloadBits()))
}

// lot describes a number of later keys of a block: the probability of this number, the share of empty bits that the
// keys leave empty, and their throws per bit.
type lot struct{ weight, stay, throws float64 }

// laterLots returns representative numbers of later keys of a block. The number is Poisson distributed: the lots are
// points of the normal distribution (Gauss and Hermite), corrected for the skew of Poisson (Cornish and Fisher).
func (p problem) laterLots(s blockGeometry) (all [len(normal)]lot) {
	bits := float64(s.payloadBits())
	for i, x := range normal {
		keys := max(0, p.later+math.Sqrt(p.later)*x.at+(x.at*x.at-1)/6)
		throws := keys * float64(s.k)
		all[i] = lot{x.weight, math.Exp(throws * math.Log1p(-1/bits)), throws / bits}
	}
	return all
}

// blockRate returns the rate of a block once the later keys are in it; fill is the share of set bits after the search.
// The number of bits that the later keys set has the mean and the variance of throws among the empty bits.
func (p problem) blockRate(s blockGeometry, fill float64, later []lot) (sum float64) {
	bits, k := float64(s.payloadBits()), float64(s.k)
	variance := anneal.Spread * fill * (1 - fill) / bits
	if p.later == 0 {
		return moment(fill, variance, k)
	}
	for _, x := range later {
		luck := (1 - fill) * x.stay * (1 - x.stay - (1-fill)*x.stay*x.throws) / bits
		sum += x.weight * moment(1-float64((1-fill)*x.stay), float64(variance*x.stay*x.stay)+max(0, luck), k)
	}
	return sum
}

// normal are points and weights with the first ten moments of the normal distribution.
var normal = [...]struct{ at, weight float64 }{
	{-2.856970013872806, 0.011257411327720691}, {-1.355626179974266, 0.22207592200561266}, {0, 0.5333333333333333},
	{1.355626179974266, 0.22207592200561266}, {2.856970013872806, 0.011257411327720691},
}

// moment returns E[f^k] for a share f of set bits with the given mean and variance, if its logarithm is normal.
func moment(mean, variance, k float64) float64 {
	if mean == 0 {
		return 0
	}
	return min(1, math.Exp(float64(k*math.Log(mean))+float64(k*(k-1)/2*variance/(mean*mean))))
}

// forecastOf forecasts a block geometry: the mean over the number of keys of a block, which is Poisson.
func (p problem) forecastOf(s blockGeometry) forecast {
	deviation := math.Sqrt(p.load)
	from, to := math.Floor(max(0, p.load-5*deviation-2)), math.Ceil(p.load+7*deviation+4)
	stride := math.Ceil((to - from) / 20) // about 20 numbers of keys suffice, since rates change smoothly with them
	yields, later := p.yields(s, max(1, from), to), p.laterLots(s)
	var sum, squares, all float64
	for j := from; j <= to; j += stride {
		gamma, _ := math.Lgamma(j + 1)
		weight := math.Exp(float64(j*math.Log(p.load)) - p.load - gamma)
		rate := p.blockRate(s, p.fillAfter(s, j, yields(j)), later[:])
		sum, squares, all = sum+float64(weight*rate), squares+float64(weight*rate*rate), all+weight
	}

	sum, squares = sum/all, squares/all
	return forecast{s, min(1, sum), math.Sqrt(max(0, squares-sum*sum)/p.blocks) / sum}
}

// yields returns a function that interpolates yield between first and last keys per block.
func (p problem) yields(s blockGeometry, first, last float64) func(j float64) float64 {
	const points = 7
	var at, yields [points]float64
	for i := range points {
		j := first * math.Pow(last/first, float64(i)/(points-1))
		at[i], yields[i] = math.Log(j), p.yieldOf(s, j)
	}

	return func(j float64) float64 {
		x, i := math.Log(max(j, first)), 0
		for i < points-2 && at[i+1] < x {
			i++
		}
		return yields[i] + float64((yields[i+1]-yields[i])*(x-at[i])/(at[i+1]-at[i]))
	}
}

// priorRate returns p_b, the rate before the search: the rate of n keys with random shifts. It is the mean rate of a
// block over the number of its keys, which is binomial; see family blocked. Late keys move the rate towards p_b.
// Config.Forecast predicts the rate after a search.
func (g geometry) priorRate(n uint64) float64 {
	return stat.BinomialMean(n, 1/float64(g.blocks), stat.Occupancy(int(g.payloadBits()), g.k))
}

// census returns the number of set bits and p_a. An absent key has a random block and random base positions, from which
// any shift leads to a random bit. So p_a is the mean over the blocks of (x/bits)^k, x the set bits of the payload.
func (f *Filter) census() (ones uint64, rate float64) {
	pow := stat.Powers(int(f.bits), f.k)
	var sum float64
	for b := range f.blocks {
		n := f.setBits(b)
		ones += n
		sum += pow[n]
	}
	return ones, sum / float64(f.blocks)
}

// rateAfter returns the expected posterior rate after further keys are added with the present shifts. The number of
// late keys in a block is Poisson, and each leaves an empty bit empty with probability (1-1/bits)^k.
func (f *Filter) rateAfter(keys float64) float64 {
	perBlock := keys / float64(f.blocks)
	if perBlock == 0 {
		_, p := f.census()
		return p
	}

	// Average over the number of keys that a block gets, which is Poisson.
	spread := 6*math.Sqrt(perBlock) + 6
	var weights []float64
	from := math.Floor(max(0, perBlock-spread))
	for j := from; j <= perBlock+spread; j++ {
		g, _ := math.Lgamma(j + 1)
		weights = append(weights, math.Exp(j*math.Log(perBlock)-perBlock-g))
	}

	rates := make([]float64, f.bits+1)
	for x := range rates {
		for i, w := range weights {
			empty := (1 - float64(x)/float64(f.bits)) * math.Exp((from+float64(i))*float64(f.k)*math.Log1p(-1/float64(f.bits)))
			rates[x] += w * math.Pow(1-empty, float64(f.k))
		}
	}

	var sum float64
	for b := range f.blocks {
		sum += rates[f.setBits(b)]
	}
	return min(1, sum/float64(f.blocks))
}

// setBits returns the number of set bits of a block's payload.
func (f *Filter) setBits(block uint64) uint64 {
	return bitvec.OnesIn(f.words, block*f.block+f.first, (block+1)*f.block)
}
