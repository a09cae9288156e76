package blocked

import (
	"slices"
	"sync"

	"github.com/bloomery/bloomery/internal/stat"
)

// moment is E[(X/B)^e] of a line block of B bits with 0, 1, ... keys of k probes each, where X is the number of bits
// that are set. It is computed as far as it is asked for.
type moment struct {
	k, e   int
	powers []float64 // stat.Powers of e
	values []float64
}

// valueAt returns the value for j keys. bins is used for values that are not known yet; j·k is at most stat.MostThrows.
func (m *moment) valueAt(j uint64, bins *bins) float64 {
	if j >= uint64(len(m.values)) {
		m.extend(j, bins)
	}
	return m.values[j]
}

func (m *moment) extend(j uint64, bins *bins) {
	if m.powers == nil {
		m.powers = stat.Powers(lineBits, m.e)
	}
	chain := bins.get()
	for n := len(m.values); n <= int(j); n++ {
		m.values = append(m.values, chain.Mean(n*m.k, m.powers))
	}
}

// bins is the Markov chain of X, made on first use.
type bins struct{ *stat.Bins }

func (b *bins) get() *stat.Bins {
	if b.Bins == nil {
		b.Bins = stat.NewBins(lineBits)
	}
	return b.Bins
}

// series are the values of a function of the number of keys in a split block.
type series struct {
	of     func(j uint64) float64
	values []float64
}

// mostSeries is the most values that a series keeps. Blocks with more keys have a rate near 1.
const mostSeries = 1 << 10

// valueAt returns the value for j keys.
func (s *series) valueAt(j uint64) float64 {
	if j >= mostSeries {
		return s.of(j)
	}
	for n := uint64(len(s.values)); n <= j; n++ {
		s.values = append(s.values, s.of(n))
	}
	return s.values[j]
}

// known has the longest values that any formula has computed. A formula starts with them: they take most of the time of
// sizing a filter, and programs that make many filters make similar ones. All lists together take at most 2 MiB. A list
// never changes; it is only replaced by a longer one.
var known struct {
	sync.Mutex
	rates, squares           [MaxK + 1][]float64
	splitRates, splitSquares []float64
}

// newFormula returns a formula with the values that are known. Call remember after use.
func newFormula() *formula {
	c := new(formula)
	known.Lock()
	defer known.Unlock()
	// Clipped: this formula must not append to the array of another one.
	for k := range c.rates {
		c.rates[k] = moment{k: k, e: k, values: slices.Clip(known.rates[k])}
		c.squares[k] = moment{k: k, e: 2 * k, values: slices.Clip(known.squares[k])}
	}
	c.splitRates = series{splitRate, slices.Clip(known.splitRates)}
	c.splitSquares = series{splitSquare, slices.Clip(known.splitSquares)}
	return c
}

// remember makes the values of c known.
func (c *formula) remember() {
	known.Lock()
	defer known.Unlock()
	for k := range c.rates {
		longer(&known.rates[k], c.rates[k].values)
		longer(&known.squares[k], c.squares[k].values)
	}
	longer(&known.splitRates, c.splitRates.values)
	longer(&known.splitSquares, c.splitSquares.values)
}

// longer replaces list by values if they are longer.
func longer(list *[]float64, values []float64) {
	if len(values) > len(*list) {
		*list = values
	}
}
