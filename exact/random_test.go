package exact

import (
	"bytes"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"testing"
)

// random is a universe of random partitions, and random ways to change it and to build its sets.
type random struct {
	*rand.Rand
	keys      map[[2]string]bool // partition and key: whether it is a member
	densities []float64          // densities of partitions
	c         Config
}

func newRandom(t *testing.T, seed uint64) *random {
	r := &random{Rand: rand.New(rand.NewPCG(seed, 99)), keys: map[[2]string]bool{}}
	r.c = Config{TempDir: t.TempDir(), Shrink: 1}
	r.c.Partitioned = r.IntN(2) == 0
	if r.c.Seed = uint64(r.IntN(2)); r.IntN(4) == 0 {
		r.c.Seed, r.c.Secret = 0, &vectorSecret
	}
	for range 1 + r.IntN(1+int(math.Exp(r.Float64()*6))) {
		r.densities = append(r.densities, []float64{0, 1, .5, .9, math.Exp(-r.Float64() * 8)}[r.IntN(5)])
	}
	r.grow(int(math.Exp(r.Float64() * 7)))
	return r
}

// grow adds up to n keys, or changes existing keys.
func (r *random) grow(n int) {
	for range n {
		p, name := r.IntN(len(r.densities)), ""
		if r.c.Partitioned && p > 0 {
			name = fmt.Sprint(p)
		}
		r.keys[[2]string{name, fmt.Sprint(r.IntN(3 * n))}] = r.Float64() < r.densities[p]
	}
}

// change changes the universe in one of several ways.
func (r *random) change(way int) {
	for k, is := range r.keys {
		switch {
		case way == 0 && len(k[1]) == 2, way == 1: // toggle the same keys each time, or all keys
			r.keys[k] = !is
		case way == 2 && r.IntN(10) == 0:
			delete(r.keys, k)
		}
	}
	if way == 3 {
		r.grow(len(r.keys)/10 + 1)
	}
}

// seq yields all keys, or only the members, in a different order each time and some of them twice.
func (r *random) seq(members bool) iter.Seq2[[]byte, []byte] {
	return func(yield func(partition, key []byte) bool) {
		for k, is := range r.keys {
			for n := 0; n <= r.IntN(8)/7; n++ {
				if (is || !members) && !yield([]byte(k[0]), []byte(k[1])) {
					return
				}
			}
		}
	}
}

// set builds the set, or if old is not nil updates it, with random limits of memory and workers.
func (r *random) set(t *testing.T, old *Set) (s *Set) {
	t.Helper()
	c := r.c
	c.Workers = r.IntN(4)
	if r.IntN(2) == 0 {
		c.Memory = 1 + r.Int64N(10_000)
	}
	c.Base = old
	s = must(built(t.Context(), r.seq(true), r.seq(false), c))
	return s
}

// TestRandom queries all keys of the universe of random sets after each of several updates. The updates toggle the same
// keys, toggle all keys, remove keys or add keys. The bytes of a set must not depend on anything else.
func TestRandom(t *testing.T) {
	for seed := range uint64(60) {
		r := newRandom(t, seed)
		way, s := r.IntN(4), (*Set)(nil)
		for day := range 2 + r.IntN(6) {
			old := s
			s = r.set(t, old)
			data := bytesOf(t, s)
			if !bytes.Equal(data, bytesOf(t, r.set(t, old))) {
				t.Fatalf("seed %d, day %d: the bytes differ", seed, day)
			}
			read := must(FromBytes(data, WithSecret(r.c.Secret)))
			if i := read.Info(); i.Universe != uint64(len(r.keys)) || i.Bytes != uint64(len(data)) {
				t.Errorf("seed %d, day %d: %+v", seed, day, i)
			}
			for k, is := range r.keys {
				if read.in([]byte(k[0]), []byte(k[1])) != is {
					t.Fatalf("seed %d, day %d, way %d: wrong for %q", seed, day, way, k)
				}
			}
			r.change(way)
		}
	}
}
