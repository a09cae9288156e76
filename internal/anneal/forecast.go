package anneal

import (
	_ "embed"
	"math"
	"sync"
)

// tables is the version of the tables that geometries and forecasts come from: the parameter table= of a Spec. A change
// of a table, or of the way a family uses it, needs a new version, and the old version must stay, because the same keys
// and the same Spec must give the same bytes.
const tables = 1

//go:generate go test -run TestTables -update -timeout 1h

// The grids of the tables. A table is the yield of a search: -ln(1-f)/λ, where f is the share of set bits after the
// search and λ the number of throws per bit: keys times slots over bits. It is 1 without a search, and falls as the
// search puts more throws on bits that others set.
var (
	groupsAxis = Axis{0, 1 - 1./8} // 1 - 1/groups
	widthAxis  = Axis{1, 2, 3, 4, 5}
)

func passesAxis() Axis { return Logs(1, 3, 8, 24, 64, 150, 600, 2500) }

func loadAxis() Axis { // λ
	return Logs(0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.35, 0.6, 0.9, 1.3, 1.8, 2.6, 4)
}

func sizeAxis() Axis { return Logs(1, 2, 4, 7, 11, 16, 24, 36) } // keys per group

func windowsAxes() []Axis { return []Axis{widthAxis, passesAxis(), sizeAxis(), loadAxis()} }

func wordsAxes() []Axis { // at most 150 passes
	return []Axis{widthAxis[2:], passesAxis()[:6], groupsAxis, sizeAxis(), loadAxis()}
}

//go:embed windows.table
var windowsTable []byte

//go:embed words.table
var wordsTable []byte

// The tables are parsed at first use, by functions, because initialized variables would link the tables into programs
// that never search.
var windowsRead, wordsRead table

func windowsYields() Table { return windowsRead.parseOnce(windowsTable, windowsAxes) }

func wordsYields() Table { return wordsRead.parseOnce(wordsTable, wordsAxes) }

type table struct {
	once sync.Once
	Table
}

// parseOnce parses the text at the first call.
func (t *table) parseOnce(text []byte, axes func() []Axis) Table {
	t.once.Do(func() {
		var err error
		if t.Table, err = ParseTable(text, axes()...); err != nil {
			panic(err) // the table is embedded; TestTables reads it
		}
	})
	return t.Table
}

// Forecast predicts searches of a number of passes from the tables.
type Forecast struct {
	words  bool
	tables [2][MaxWidth + 1]Table // by width, of size and load: [0] for windows; for words [0] one group, [1] many groups
}

// Windows returns the forecast of searches whose shifts lead to the next 2^Width bits.
func Windows(passes int) *Forecast {
	f := new(Forecast)
	for i, width := range widthAxis {
		f.tables[0][int(width)] = windowsYields().Pick(i).First(math.Log(float64(passes)))
	}
	return f
}

// Words is Windows for searches of many small States with Geometry.Words, of MinWords bits of a shift or more.
func Words(passes int) *Forecast {
	f := &Forecast{words: true}
	for i, width := range widthAxis[2:] {
		t := wordsYields().Pick(i).First(math.Log(float64(passes)))
		f.tables[0][int(width)], f.tables[1][int(width)] = t.Pick(0), t.Pick(1)
	}
	return f
}

// WordsBits is the number of bits of the States that forecasts by Words were measured with.
const WordsBits = 384

// MinWords is the smallest Width of a forecast by Words.
const MinWords = 3

// MaxSize is the most keys of a group, on average, that forecasts were measured with.
const MaxSize = 36

// Yield returns the yield of a search with groups of size keys on average, and load throws per bit. groups is the
// number of groups of a State; it matters only with Words.
func (f *Forecast) Yield(width int, groups, size, load float64) float64 {
	if width == 0 {
		return 1
	}
	x, y := math.Log(size), math.Log(load)
	if !f.words {
		return f.tables[0][width].At(x, y)
	}
	one, many := f.tables[0][width].At(x, y), f.tables[1][width].At(x, y)
	return one + float64((many-one)*(1-1/groups)/groupsAxis[1])
}

// Fill returns the share of set bits after a search with the given yield.
func Fill(yield, load float64) float64 { return -math.Expm1(-yield * load) }

// Spread is the variance of the set bits of a filter after a search, over the variance of as many independent bits.
// Searches even out the luck of the throws.
const Spread = 0.06

// slope is the approximate decrease of the binary logarithm of the rate with one more bit per key.
const slope = 0.85

// moreBits returns the number of bits to add to a filter whose rate is too high by a factor: 1.5 times the estimate of
// the missing bits.
func moreBits(factor, keys float64) float64 { return 1.5 * keys * math.Log2(factor) / slope }

// Margin is the factor by which a forecast with k functions should be below a planned rate, so that few builds miss the
// rate: one standard deviation of the luck of the keys, and the error of the tables, 0.2% of the share of set bits.
func Margin(luck float64, k int) float64 { return 1 + luck + 0.002*float64(k) }

// LeastBits returns the fewest bits per key in [least, most], in steps of 1/1024, whose rate is at most fpr. If even
// most bits do not reach fpr, it returns +Inf and their rate. The rate must fall as bits are added; it may be more than
// 1 if the bits are too few for any filter. LeastBits calls rate about eight times, because the logarithm of the rate
// is almost linear in bits per key.
func LeastBits(fpr, least, most float64, rate func(per float64) float64) (per, nearest float64) {
	want := -math.Log2(fpr)
	// The logarithm of a rate of 0 would be infinite, which the secant cannot use.
	got := func(step float64) float64 { return -math.Log2(max(rate(step*sizeStep), 1e-300)) - want }
	lo, hi := math.Ceil(least/sizeStep), math.Floor(most/sizeStep) // in steps; lo misses fpr, hi reaches it
	over := got(hi)
	if over < 0 {
		return math.Inf(1), rate(most)
	}

	under := got(lo)
	if under >= 0 {
		return lo * sizeStep, rate(lo * sizeStep)
	}

	// The Illinois method: the secant, with half the weight for an end that stays. Every third step takes the middle,
	// so that a rate that is far from linear costs at most three times the steps of a bisection.
	side := 0
	for turn := 1; hi-lo > 1; turn++ {
		next := math.Round(hi - over*(hi-lo)/(over-under))
		if turn%3 == 0 {
			next = math.Round((lo + hi) / 2)
		}

		next = min(max(next, lo+1), hi-1) // rounding may have reached an end
		switch x := got(next); {
		case x >= 0:
			if hi, over = next, x; side > 0 {
				under /= 2
			}
			side = 1
		default:
			if lo, under = next, x; side < 0 {
				over /= 2
			}
			side = -1
		}
	}
	return hi * sizeStep, rate(hi * sizeStep)
}

// sizeStep is the resolution of sizes in bits per key. Machines whose logarithms differ in the last digit get the same
// size.
const sizeStep = 1. / 1024
