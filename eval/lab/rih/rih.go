// Package rih contains the experiments on rank-indexed hashing: N. Hua, H. Zhao, B. Lin and J. Xu, "Rank-indexed
// hashing: a compact construction of Bloom filters and variants", ICNP 2008. Letters are as in the paper; see
// internal/family/rankindexed.
package rih

import (
	"context"
	"fmt"
	"math"
	"sort"

	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/figure"
	"github.com/bloomery/bloomery/eval/lab/paper"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/family/rankindexed"
	"github.com/bloomery/bloomery/internal/stat"
)

// Experiments returns the experiments of this room in the order in which they are shown.
func Experiments() []experiment.Experiment {
	return []experiment.Experiment{table1, table2, table3, table4, table5, fig5, fig6}
}

// Paper names the paper: the sources of experiments begin with it.
const Paper = experiment.RankIndexed

// Parameters of all tables of the paper.
const (
	paperKeys     = 100_000
	paperOverflow = 1e-10
)

// config is a row of Table II, with its values in Tables III to V.
type config struct {
	fpr           float64
	lambda        float64 // printed with two decimals
	r, chains     int
	cells         [3]int
	second, third float64 // J2/B and J3/B, in percent
	plain, counts bitsAKey
	packed        packedBits
	// savings over d-left as printed in Table III, in percent, if the printed size of d-left is a misprint; else 0
	savings float64
}

// bitsAKey holds the bits per key of one row of Table III or IV.
type bitsAKey struct{ standard, dleft, rank float64 }

// packedBits is a row of Table V: packed bits per key, and the bits per key of a Bloom filter that compresses to the
// same size, or 0 if there is none.
type packedBits struct{ rank, beforeRank, dleft, beforeDleft float64 }

var configs = []config{
	{
		1e-2, 0.64, 6, 60, [3]int{45, 8, 45}, 17.9, 2.7,
		bitsAKey{9.6, 15.0, 10.6}, bitsAKey{38.3, 17.6, 13.0}, packedBits{8.6, 30, 11.7, 0}, 0,
	},
	{
		1e-3, 0.92, 10, 64, [3]int{63, 17, 50}, 36.0, 1.7,
		bitsAKey{14.6, 18.0, 14.4}, bitsAKey{58.4, 22.3, 16.8}, packedBits{12.1, 150, 15.2, 0}, 26.3,
	},
	{
		1e-4, 0.86, 13, 61, [3]int{59, 13, 48}, 23.3, 1.8,
		bitsAKey{19.1, 22.2, 18.2}, bitsAKey{76.3, 26.4, 20.6}, packedBits{15.2, 1300, 18.3, 27}, 23.2,
	},
}

func (c config) String() string { return percent(c.fpr) }

// percent formats a rate.
func percent(rate float64) string { return fmt.Sprintf("ε = %g%%", 100*rate) }

// rate returns λ/2^r, the rate of the configuration.
func (c config) rate() float64 { return math.Ldexp(c.lambda, -c.r) }

// geometry returns the configuration for a number of keys as a geometry. The paper gives pools as shares of the
// buckets.
func (c config) geometry(keys int, counting bool) rankindexed.Geometry {
	b := math.Round(float64(keys) / (c.lambda * float64(c.chains)))
	share := func(of float64) uint64 { return uint64(math.Ceil(of/100*b - 1e-9)) }
	return rankindexed.Geometry{
		Capacity: uint64(keys), Buckets: uint64(b), Chains: c.chains, Cells: c.cells,
		Pools: [3]uint64{0, share(c.second), share(c.third)}, Remainder: c.r, Counting: counting,
	}
}

// rounded returns the lowest and the highest value of f over all λ that round to the printed one.
func (c config) rounded(f func(c config) float64) (low, high float64) {
	below, above := c, c
	below.lambda, above.lambda = c.lambda-0.005, c.lambda+0.005
	x, y := f(below), f(above)
	return min(x, y), max(x, y)
}

// digits compares f of the configuration with a published value. The tolerance is half a unit of the last digit, plus
// the rounding of λ.
func (c config) digits(label string, published, unit float64, f func(c config) float64) figure.Row {
	v := f(c)
	low, high := c.rounded(f)
	return figure.Exact(label, v).
		Against(published, max(v-low, high-v)+unit/2).
		Noted("λ = %.2f may be any from %.3f to %.3f, which give %.4g to %.4g", c.lambda, c.lambda-0.005,
			c.lambda+0.005, low, high)
}

// share returns the J/B, in percent, that the bound of equation 1 requires so that a bucket overflows the given number
// of cells with a probability of at most paperOverflow.
func (c config) share(cells int) float64 {
	b, p := c.buckets(cells)
	j := sort.Search(int(b), func(j int) bool { return 2*stat.UpperTail(uint64(j)+1, b, p) <= paperOverflow })
	return 100 * float64(j) / float64(b)
}

// overflow returns the bound of equation 1 for the printed J/B.
func (c config) overflow(cells int, percent float64) float64 {
	b, p := c.buckets(cells)
	return 2 * stat.UpperTail(uint64(percent/100*float64(b))+1, b, p)
}

// buckets returns B and the probability that a bucket has more keys than cells.
func (c config) buckets(cells int) (b uint64, p float64) {
	load := c.lambda * float64(c.chains)
	return uint64(math.Round(paperKeys / load)), stat.PoissonTail(load, cells)
}

// published compares share with the printed J/B. The note gives the bound for the printed J/B.
func (c config) published(label string, cells int, percent float64) figure.Row {
	r := c.digits(label, percent, 0.1, func(c config) float64 { return c.share(cells) })
	low, high := c.rounded(func(c config) float64 { return c.overflow(cells, percent) })
	r.Note += fmt.Sprintf("; with the published value the bound is %.2g to %.2g", low, high)
	return r
}

// wordSized returns the requirements of a search in the form of the paper, in which the index of a bucket is one word.
// lineSized is our form: larger buckets of whole words.
func wordSized(keys int, fpr float64, counting bool) paper.RankIndexed {
	return paper.RankIndexed{Keys: uint64(keys), FPR: fpr, Overflow: paperOverflow, Counting: counting}
}

func lineSized(keys int, fpr float64, counting bool) rankindexed.Config {
	return rankindexed.Config{
		Keys: uint64(keys), Size: family.Sizing{FPR: fpr}, Overflow: paperOverflow, Counting: counting,
	}
}

// searches returns the geometries with the fewest bits of both forms.
func searches(keys int, fpr float64, counting bool) (word, line rankindexed.Geometry, err error) {
	if word, err = wordSized(keys, fpr, counting).Plan(); err == nil {
		line, err = lineSized(keys, fpr, counting).Plan()
	}
	return word, line, err
}

// described formats a geometry like Table II.
func described(g rankindexed.Geometry) string {
	b := float64(g.Buckets)
	return fmt.Sprintf(
		"λ = %.3f, r = %d, L = %d, Z = %d/%d/%d, J2/B = %.1f%%, J3/B = %.1f%%, B = %d; bound on an overflow %.2g, "+
			"rate %.3g", float64(g.Capacity)/b/float64(g.Chains), g.Remainder, g.Chains, g.Cells[0], g.Cells[1], g.Cells[2],
		100*float64(g.Pools[1])/b, 100*float64(g.Pools[2])/b, g.Buckets, paper.OverflowBound(g), g.FPR(g.Capacity),
	)
}

// sized returns the row of the bits per key of a geometry for paperKeys.
func sized(label string, g rankindexed.Geometry, bits uint64) figure.Row {
	return figure.Exact(label, float64(bits)/paperKeys).Noted("%s", described(g))
}

// filled holds the size and the rates of a filter to which all its keys were added.
type filled struct {
	bits   float64 // bits per key, of all words of all arrays
	prior  float64 // p_b
	p      float64 // p_a
	absent experiment.Tally
}

// encoder is a filter that can be encoded.
type encoder interface{ Encode() family.Encoded }

// stored is an encoder that takes keys one by one.
type stored interface {
	experiment.Growing
	encoder
}

// encodedBits returns the bits of all arrays.
func encodedBits(f encoder) (bits float64) {
	for _, s := range f.Encode().Sections {
		bits += 64 * float64(len(s))
	}
	return bits
}

// fills adds n keys to an empty filter for each trial and queries absent ones.
func fills(
	ctx context.Context, c experiment.Config, w *experiment.Work, n, absent int, empty func() (stored, error),
) ([]filled, error) {
	return experiment.Each(ctx, w, 1, c.Trials, func(_ context.Context, trial int) (filled, error) {
		f, err := empty()
		if err != nil {
			return filled{}, err
		}
		hs := c.Hashes(n+absent, trial)
		if err := experiment.AddAll(f, hs[:n]); err != nil {
			return filled{}, err
		}
		info := f.Info()
		return filled{
			bits: encodedBits(f) / float64(n), prior: info.FPRPrior, p: info.FPRPosterior,
			absent: experiment.Tally{Hits: uint64(experiment.Count(f, hs[n:])), Of: uint64(absent)},
		}, nil
	})
}

// observedRows returns the rows of the size and the observed rate of filters of one kind, and the point (p_o, bits).
func observedRows(label string, fpr float64, trials []filled) (rows []figure.Row, point [2]float64) {
	bits := experiment.Values(trials, func(t filled) float64 { return t.bits })
	expected := figure.Mean("", experiment.Values(trials, func(t filled) float64 { return t.p })).Measured
	var absent experiment.Tally
	for _, t := range trials {
		absent = absent.Plus(t.absent)
	}
	observed := absent.Row(label+", p_o", expected)
	verdict := "keeps"
	if trials[0].prior > fpr*(1+1e-9) {
		verdict = "is above"
	}
	observed.Note += fmt.Sprintf("; p_b = %.3g %s ε", trials[0].prior, verdict)
	return []figure.Row{figure.Mean(label+", bits per key", bits), observed}, [2]float64{observed.Measured, bits[0]}
}
