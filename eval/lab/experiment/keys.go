package experiment

import (
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// Hashes returns n random hashes, which are distinct with overwhelming probability and differ between trials.
func (c *Config) Hashes(n, trial int) []filter.Hash {
	r := rand.New(rand.NewPCG(c.Seed, uint64(trial)))
	hs := make([]filter.Hash, n)
	for i := range hs {
		hs[i] = filter.Hash{Hi: r.Uint64(), Lo: r.Uint64()}
	}
	return hs
}

// Build adds the keys to a new builder and builds its filter. Its parameters b and err are the results of NewBuilder.
func Build[B family.Builder](ctx context.Context, b B, err error, hs []filter.Hash) (family.Filter, error) {
	if err != nil {
		return nil, err
	}
	if err := b.AddMany(hs); err != nil {
		return nil, err
	}
	return b.Build(ctx)
}

// Growing is a filter to which keys can be added one by one.
type Growing interface {
	family.Filter
	family.Adder
}

// AddAll adds the keys to f.
func AddAll(f family.Adder, hs []filter.Hash) error {
	for _, h := range hs {
		if err := f.Add(h); err != nil {
			return err
		}
	}
	return nil
}

// Count returns how many of the keys f contains.
func Count(f family.Filter, hs []filter.Hash) (n int) {
	for _, h := range hs {
		if f.Has(h) {
			n++
		}
	}
	return n
}

// Observed adds the first n keys to a new filter and returns the share of the other keys that it contains. Its
// parameters f and err are the results of New.
func Observed(f Growing, err error, hs []filter.Hash, n int) (rate float64, _ error) {
	if err != nil {
		return 0, err
	}
	if err := AddAll(f, hs[:n]); err != nil {
		return 0, err
	}
	return float64(Count(f, hs[n:])) / float64(len(hs)-n), nil
}

// Values returns what of returns for each item.
func Values[T any](items []T, of func(item T) float64) []float64 {
	v := make([]float64, len(items))
	for i, item := range items {
		v[i] = of(item)
	}
	return v
}

// Columns transposes a table with a row for each trial. There must be at least one trial.
func Columns(trials [][]float64) [][]float64 {
	out := make([][]float64, len(trials[0]))
	for _, t := range trials {
		for i, v := range t {
			out[i] = append(out[i], v)
		}
	}
	return out
}

// Sigma returns the standard deviation of x - m, where x counts the events among n trials with probability p each, and
// m is the mean of others further counts of this kind.
func Sigma(n, p float64, others int) float64 {
	return math.Sqrt(n * p * (1 - p) * (1 + 1/float64(others)))
}

// FillRandom fills b with random bytes.
func FillRandom(r *rand.Rand, b []byte) {
	for len(b) >= 8 {
		binary.LittleEndian.PutUint64(b, r.Uint64())
		b = b[8:]
	}
	for i := range b {
		b[i] = byte(r.Uint32())
	}
}

// Throw maps 32 random bits to one of m < 2^32 bins.
func Throw(random uint32, m int) uint64 { return uint64(random) * uint64(m) >> 32 }
