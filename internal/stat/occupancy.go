package stat

import "math"

// fullAfter is a number of throws per bin after which some bin is empty with a probability below 1e-80. A file may
// claim any number of keys, so Occupancy must not follow the chain further.
const fullAfter = 200

// Occupancy returns the function j -> E[(X/m)^k], where X is the number of occupied bins, of m, after j·k throws.
// Calls must pass j in non-decreasing order. m is at least 1, k at least 0. The function follows the distribution of
// X throw by throw: see Bins.
func Occupancy(m, k int) func(j uint64) float64 {
	pow, bins, done := Powers(m, k), NewBins(m), uint64(0)
	rate := pow[0]
	return func(j uint64) float64 {
		switch {
		case rate > 1-1e-12:
			return 1
		case k > 0 && j-done > uint64(fullAfter*m):
			rate = 1
			return rate
		}

		for range (j - done) * uint64(k) {
			bins.throw()
			bins.rows, bins.lo = append(bins.rows[:0], bins.rows[1]), append(bins.lo[:0], bins.lo[1])
		}
		done, rate = j, bins.Mean(0, pow)
		return rate
	}
}

// Bins keeps the distributions of the number of occupied bins, of m, after 0, 1, ... throws. It gives the values of
// Occupancy for many k with one chain. It drops states less likely than 1e-20: for m = 512 about 60 states remain.
type Bins struct {
	m    int
	rows [][]float64 // the probabilities after each number of throws
	lo   []int       // the number of occupied bins of the first of them
	slab []float64   // room for further rows
	// stay[x] is the probability that a throw leaves x bins occupied; join[x] is the probability that it makes x bins
	// occupied.
	stay, join []float64
}

// NewBins returns the Bins for m, which is at least 1.
func NewBins(m int) *Bins {
	b := &Bins{m: m, rows: [][]float64{{1}}, lo: []int{0}, stay: make([]float64, m+1), join: make([]float64, m+1)}
	for x := range b.stay {
		b.stay[x], b.join[x] = float64(x)/float64(m), float64(m-x+1)/float64(m)
	}
	return b
}

// MostThrows is the largest number of throws that Bins keeps: about 10 MB for m = 512.
const MostThrows = 1 << 14

// Mean returns E[pow[X]], where X is the number of occupied bins after the given number of throws, at most MostThrows.
func (b *Bins) Mean(throws int, pow []float64) (mean float64) {
	for len(b.rows) <= throws {
		b.throw()
	}
	pow = pow[b.lo[throws]:]
	for i, w := range b.rows[throws] {
		mean += float64(w * pow[i]) // not fused, so that all machines agree
	}
	return mean
}

// throw adds the distribution after one more throw.
func (b *Bins) throw() {
	last := len(b.rows) - 1
	lo, before := b.lo[last], b.rows[last]
	n := min(lo+len(before), b.m) - lo + 1 // states now
	if len(b.slab) < n {
		b.slab = make([]float64, max(n, 1<<14))
	}

	next := b.slab[:n]
	stay, join := b.stay[lo:lo+n], b.join[lo:lo+n]
	below := 0.0
	for i, p := range before {
		next[i] = float64(p*stay[i]) + float64(below*join[i])
		below = p
	}
	if n > len(before) {
		next[n-1] = below * join[n-1]
	}

	from, to := 0, n
	for from < to-1 && next[from] < 1e-20 {
		from++
	}

	for to > from+1 && next[to-1] < 1e-20 {
		to--
	}
	b.slab = b.slab[to:]
	b.rows, b.lo = append(b.rows, next[from:to]), append(b.lo, lo+from)
}

// Powers returns (x/m)^k for every x from 0 to m.
func Powers(m, k int) []float64 {
	pow := make([]float64, m+1)
	for x := range pow {
		pow[x] = math.Pow(float64(x)/float64(m), float64(k))
	}
	return pow
}
