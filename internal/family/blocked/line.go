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

// at returns the value for j keys. bins is used for values that are not known yet; j·k is at most stat.MostThrows.
func (m *moment) at(j uint64, bins *bins) float64 {
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

// known has the longest values of each moment that any formula has computed. A formula starts with them: the chain
// takes most of the time of sizing a filter, and programs that make many filters make similar ones. All lists together
// take at most 2 MiB.
var known struct {
	sync.Mutex
	rates, squares [MaxK + 1][]float64 // never changed, only replaced by longer ones
}

// newFormula returns a formula with the values that are known. Call keep after use.
func newFormula() *formula {
	c := new(formula)
	known.Lock()
	defer known.Unlock()
	for k := range c.rates {
		// Clipped: this formula must not append to the array of another one.
		c.rates[k] = moment{k: k, e: k, values: slices.Clip(known.rates[k])}
		c.squares[k] = moment{k: k, e: 2 * k, values: slices.Clip(known.squares[k])}
	}
	return c
}

// keep makes the values of c known.
func (c *formula) keep() {
	known.Lock()
	defer known.Unlock()
	for k := range c.rates {
		if v := c.rates[k].values; len(v) > len(known.rates[k]) {
			known.rates[k] = v
		}
		if v := c.squares[k].values; len(v) > len(known.squares[k]) {
			known.squares[k] = v
		}
	}
}
