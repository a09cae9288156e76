package lab

import (
	"context"
	"fmt"
	"math"
	"sort"

	"github.com/bloomery/bloomery/family/rankindexed"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/figure"
	"github.com/bloomery/bloomery/internal/stat"
)

// rankIndexed is the document of the rih experiments.
const rankIndexed = "rank-indexed hashing (Hua, Zhao, Lin and Xu, 2008)"

// What all tables of the paper share.
const (
	rihKeys     = 100_000
	rihOverflow = 1e-10
)

// rihConfig is a row of Table II, and what Tables III to V have for it.
type rihConfig struct {
	fpr           float64
	lambda        float64 // printed with two digits behind the point
	r, chains     int
	cells         [3]int
	second, third float64 // J2/B and J3/B, in percent
	plain, counts rihBits
	packed        rihPacked
}

// rihBits are bits a key, as Table III or IV prints them.
type rihBits struct{ standard, dleft, rank float64 }

// rihPacked is Table V: bits a key once what is empty is left out, and those of a Bloom filter that compresses to as many; 0 where
// there is none.
type rihPacked struct{ rank, beforeRank, dleft, beforeDleft float64 }

var rihConfigs = []rihConfig{
	{1e-2, 0.64, 6, 60, [3]int{45, 8, 45}, 17.9, 2.7, rihBits{9.6, 15.0, 10.6}, rihBits{38.3, 17.6, 13.0}, rihPacked{8.6, 30, 11.7, 0}},
	{1e-3, 0.92, 10, 64, [3]int{63, 17, 50}, 36.0, 1.7, rihBits{14.6, 18.0, 14.4}, rihBits{58.4, 22.3, 16.8}, rihPacked{12.1, 150, 15.2, 0}},
	{1e-4, 0.86, 13, 61, [3]int{59, 13, 48}, 23.3, 1.8, rihBits{19.1, 22.2, 18.2}, rihBits{76.3, 26.4, 20.6}, rihPacked{15.2, 1300, 18.3, 27}},
}

func (c rihConfig) String() string { return percent(c.fpr) }

// percent writes a rate.
func percent(rate float64) string { return fmt.Sprintf("ε = %g%%", 100*rate) }

// rate is the λ/2^r that the configuration comes to.
func (c rihConfig) rate() float64 { return math.Ldexp(c.lambda, -c.r) }

// geometry returns the configuration as sizes, which the paper leaves in shares. Keys other than rihKeys make it smaller.
func (c rihConfig) geometry(keys int, counting bool) rankindexed.Geometry {
	b := math.Round(float64(keys) / (c.lambda * float64(c.chains)))
	share := func(of float64) uint64 { return uint64(math.Ceil(of/100*b - 1e-9)) }
	return rankindexed.Geometry{
		Capacity: uint64(keys), Buckets: uint64(b), Chains: c.chains, Cells: c.cells,
		Pools: [3]uint64{0, share(c.second), share(c.third)}, Remainder: c.r, Counting: counting,
	}
}

// rounded returns the least and the greatest of what f gives for a λ that is printed as this one.
func (c rihConfig) rounded(f func(c rihConfig) float64) (low, high float64) {
	below, above := c, c
	below.lambda, above.lambda = c.lambda-0.005, c.lambda+0.005
	x, y := f(below), f(above)
	return min(x, y), max(x, y)
}

// digits compares f of the configuration with what the paper prints to half a unit of its last digit, and λ as well.
func (c rihConfig) digits(label string, published, unit float64, f func(c rihConfig) float64) figure.Row {
	v := f(c)
	low, high := c.rounded(f)
	return figure.Exact(label, v).Against(published, max(v-low, high-v)+unit/2).Noted("λ = %.2f may be any from %.3f to %.3f, which give %.4g to %.4g", c.lambda, c.lambda-0.005, c.lambda+0.005, low, high)
}

// share returns the J/B, in percent, that the bound of equation 1 wants for buckets with more than so many cells, at a probability of
// rihOverflow.
func (c rihConfig) share(cells int) float64 {
	b, p := c.buckets(cells)
	j := sort.Search(int(b), func(j int) bool { return 2*stat.UpperTail(uint64(j)+1, b, p) <= rihOverflow })
	return 100 * float64(j) / float64(b)
}

// overflow is that bound for the J/B that is printed.
func (c rihConfig) overflow(cells int, percent float64) float64 {
	b, p := c.buckets(cells)
	return 2 * stat.UpperTail(uint64(percent/100*float64(b))+1, b, p)
}

// buckets returns B and the probability that a bucket has more keys than cells.
func (c rihConfig) buckets(cells int) (b uint64, p float64) {
	load := c.lambda * float64(c.chains)
	return uint64(math.Round(rihKeys / load)), stat.PoissonTail(load, cells)
}

// published compares share with the J/B that is printed, and says how small the bound is with that.
func (c rihConfig) published(label string, cells int, percent float64) figure.Row {
	r := c.digits(label, percent, 0.1, func(c rihConfig) float64 { return c.share(cells) })
	low, high := c.rounded(func(c rihConfig) float64 { return c.overflow(cells, percent) })
	r.Note += fmt.Sprintf("; with what is published the bound is %.2g to %.2g", low, high)
	return r
}

// rihOrder is what we want of our own searches.
func rihOrder(keys int, fpr float64, counting bool) rankindexed.Config {
	return rankindexed.Config{Keys: uint64(keys), Size: filter.Sizing{FPR: fpr}, Overflow: rihOverflow, Counting: counting}
}

// rihSearches returns the geometries with the fewest bits: of the paper's form, and of ours with larger buckets in whole words.
func rihSearches(keys int, fpr float64, counting bool) (word, line rankindexed.Geometry, err error) {
	o := rihOrder(keys, fpr, counting)
	if word, err = o.PlanPublished(); err == nil {
		line, err = o.Plan()
	}
	return word, line, err
}

// described writes a geometry as Table II does.
func described(g rankindexed.Geometry) string {
	b := float64(g.Buckets)
	return fmt.Sprintf("λ = %.3f, r = %d, L = %d, Z = %d/%d/%d, J2/B = %.1f%%, J3/B = %.1f%%, B = %d; bound on an overflow %.2g, rate %.3g",
		float64(g.Capacity)/b/float64(g.Chains), g.Remainder, g.Chains, g.Cells[0], g.Cells[1], g.Cells[2],
		100*float64(g.Pools[1])/b, 100*float64(g.Pools[2])/b, g.Buckets, g.Overflow(), g.FPR(g.Capacity))
}

// filled is what a filter with all its keys takes and lets through.
type filled struct {
	bits   float64 // a key: all words of all its arrays
	prior  float64 // p_b
	p      float64 // p_a
	absent tally
}

// fill adds the first n keys to an empty filter and asks for the others.
func fill(f stored, hs []filter.Hash, n int) (filled, error) {
	if err := addAll(f, hs[:n]); err != nil {
		return filled{}, err
	}
	info := f.Info()
	return filled{
		bits: encodedBits(f) / float64(n), prior: info.FPRPrior, p: info.FPRPosterior,
		absent: tally{uint64(count(f, hs[n:])), uint64(len(hs) - n)},
	}, nil
}

// encoder is a filter that can be stored.
type encoder interface{ Encode() filter.Encoded }

// stored is one that grows.
type stored interface {
	growing
	encoder
}

// encodedBits returns the bits of all arrays.
func encodedBits(f encoder) (bits float64) {
	for _, s := range f.Encode().Sections {
		bits += 64 * float64(len(s))
	}
	return bits
}

// fills fills one filter a trial, with keys of its own.
func (c *Config) fills(ctx context.Context, w *work, n, absent int, empty func() (stored, error)) ([]filled, error) {
	return each(ctx, w, 1, c.Trials, func(_ context.Context, trial int) (filled, error) {
		f, err := empty()
		if err != nil {
			return filled{}, err
		}
		return fill(f, c.hashes(n+absent, trial), n)
	})
}

// rihRows are the rows of what filters of one kind take and let through, and a point (p_o, bits).
func rihRows(label string, fpr float64, trials []filled) (rows []figure.Row, point [2]float64) {
	var bits, p []float64
	var absent tally
	for _, t := range trials {
		bits, p, absent = append(bits, t.bits), append(p, t.p), absent.plus(t.absent)
	}
	expected := figure.Mean("", p).Measured
	observed := absent.row(label+", p_o", expected)
	if promise := trials[0].prior; promise <= fpr*(1+1e-9) {
		observed.Note += fmt.Sprintf("; p_b = %.3g keeps ε", promise)
	} else {
		observed.Note += fmt.Sprintf("; p_b = %.3g is above ε", promise)
	}
	return []figure.Row{figure.Mean(label+", bits a key", bits), observed}, [2]float64{observed.Measured, bits[0]}
}
