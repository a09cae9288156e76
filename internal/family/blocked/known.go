package blocked

import (
	"slices"
	"sync"

	"github.com/bloomery/bloomery/internal/stat"
)

// values are functions of the number of keys in a block, as lists of their values for 0, 1, ... keys.
type values struct {
	rates   [MaxK + 1][]float64 // of a line block, for each k
	squares [MaxK + 1][]float64 // of their squares; see scatter

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

// known has the longest lists that any formula has computed. A formula starts with them: they take most of the time of
// sizing a filter, and programs that make many filters make similar ones. All lists together take at most 544 KiB. A
// list never changes; it is only replaced by a longer one.
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

// remember makes the values of c known.
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
