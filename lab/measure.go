package lab

import (
	"encoding/binary"
	"math"
	"math/rand/v2"

	"github.com/bloomery/bloomery/filter"
)

// growing is a filter that takes keys one by one.
type growing interface {
	filter.Filter
	filter.Adder
}

// addAll adds keys to a filter.
func addAll(f filter.Adder, hs []filter.Hash) error {
	for _, h := range hs {
		if err := f.Add(h); err != nil {
			return err
		}
	}
	return nil
}

// count returns how many of the keys the filter lets through.
func count(f filter.Filter, hs []filter.Hash) (n int) {
	for _, h := range hs {
		if f.Has(h) {
			n++
		}
	}
	return n
}

// observed adds the first n keys to an empty filter and returns the share of the others that it lets through.
func observed(f growing, hs []filter.Hash, n int) (rate float64, err error) {
	if err := addAll(f, hs[:n]); err != nil {
		return 0, err
	}
	return float64(count(f, hs[n:])) / float64(len(hs)-n), nil
}

// columns turns a table of trials into lists, one a column, of what the trials gave.
func columns(trials [][]float64) [][]float64 {
	out := make([][]float64, len(trials[0]))
	for _, t := range trials {
		for i, v := range t {
			out[i] = append(out[i], v)
		}
	}
	return out
}

// sigma returns the standard deviation of the difference between one count of n chances of p each and the mean of others.
func sigma(n, p float64, others int) float64 {
	return math.Sqrt(n * p * (1 - p) * (1 + 1/float64(others)))
}

// fillRandom fills b with random bytes.
func fillRandom(r *rand.Rand, b []byte) {
	for len(b) >= 8 {
		binary.LittleEndian.PutUint64(b, r.Uint64())
		b = b[8:]
	}
	for i := range b {
		b[i] = byte(r.Uint32())
	}
}
