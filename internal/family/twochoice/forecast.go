package twochoice

import (
	_ "embed"
	"math"
	"sync"

	"github.com/bloomery/bloomery/internal/anneal"
)

//go:generate go test -run TestTable -update -timeout 1h

// The grid of the table. Its values are the yields of searches: -ln(1-f)/λ, where f is the share of set bits after the
// search and λ the number of distinct positions per bit, of one group of every key. With one choice it would be 1.
func tableAxes() []anneal.Axis {
	return []anneal.Axis{
		anneal.Logs(2, 4, 8, 16, 32, 64),                         // passes
		anneal.Logs(2, 3, 4, 6, 10, 16),                          // choices
		anneal.Logs(1, 2, 3, 5, 8, 13, 22, 38, 64),               // k
		anneal.Logs(0.02, 0.1, 0.25, 0.5, 0.75, 1, 1.4, 2, 3, 5), // λ
	}
}

//go:embed choices.table
var tableText []byte

// yieldTable parses the table at its first call. A package variable would link the table into programs that never
// search.
func yieldTable() anneal.Table {
	readTable.once.Do(func() {
		var err error
		if readTable.Table, err = anneal.ParseTable(tableText, tableAxes()...); err != nil {
			panic(err) // the table is embedded; TestTable reads it
		}
	})
	return readTable.Table
}

var readTable struct {
	once sync.Once
	anneal.Table
}

// distinctPositions returns the mean number of distinct positions among k random positions in a filter of bits bits.
func distinctPositions(k int, bits float64) float64 {
	return -bits * math.Expm1(float64(k)*math.Log1p(-1/bits))
}

// maxPasses bounds the number of passes in the choice of k and in its forecast. The rate of a longer search is lower
// than its forecast, by about 5%.
const maxPasses = 64

// problem describes the requirements for which k is chosen.
type problem struct {
	keys    float64 // of the filter
	inShard float64 // keys of a shard
	choices int
	k       int          // 0 if free
	online  bool         // one pass, without a search
	yields  anneal.Table // of k and λ
}

// problem returns the problem of a filter of n keys.
func (c Config) problem(n uint64) problem {
	keys := float64(max(n, 1))
	p := problem{keys: keys, inShard: keys / float64(c.shards(n)), choices: c.choices(), k: c.K}
	passes := maxPasses
	if x := anneal.Passes(c.Effort); x != 0 {
		passes = min(x, maxPasses)
	}

	if p.online = passes == 1; p.online {
		return p
	}

	p.yields = yieldTable().First(math.Log(float64(passes))).First(math.Log(float64(p.choices)))
	return p
}

// forecast is a k, its rate, and the luck of the keys: the standard deviation of the rate over the rate.
type forecast struct {
	k          int
	rate, luck float64
}

// bestForecast looks for the k with the lowest forecast with per bits per key.
func (p problem) bestForecast(per float64) forecast {
	per = min(per, maxBitsPerKey)
	switch {
	case p.k != 0:
		return p.forecastOf(p.k, per)
	case p.online:
		return p.forecastOf(bestK(per, p.choices), per)
	}

	best := p.forecastOf(1, per)
	for k := 2; k <= MaxK; k++ {
		if f := p.forecastOf(k, per); f.rate < best.rate {
			best = f
		}
	}
	return best
}

// The spread is the variance of the number of set bits over the variance of as many independent bits: after a search,
// and after online insertion.
const (
	searchSpread = 0.12
	onlineSpread = 0.3
)

// smaller/bits is the share by which a small filter is fuller after a search than a large one, measured from 80 bits
// on.
const smaller = 2.7

// forecastOf forecasts a number of functions.
func (p problem) forecastOf(k int, per float64) forecast {
	fill, spread, bits := 0.0, searchSpread, max(per*p.keys, float64(p.choices))
	// Few windows reach the bits at the ends of a shard, so the others are fuller: as in a shard without ends of this
	// size.
	ends := 2./3*float64(p.choices) - 1
	per = max(1, bits*p.inShard/p.keys-ends) / p.inShard
	if p.online {
		fill, spread = Fill(per, k, p.choices), onlineSpread
	} else {
		load := distinctPositions(k, bits) / per
		fill = anneal.Fill(p.yields.At(math.Log(float64(k)), math.Log(load)), load) * (1 + smaller/bits)
	}

	fill = min(1, fill)                         // with few bits the estimate exceeds 1
	luck := spread * (1 - fill) / fill / bits   // the variance of the fill over its square
	fill = min(1, fill*(1+float64(k-1)/2*luck)) // so that fill^k is the mean of the power
	rate := FPR(fill, k, p.choices)
	if !p.online {
		rate = searchedRate(fill, k, p.choices)
	}
	return forecast{k, rate, float64(k) * math.Sqrt(max(0, luck))}
}
