package exact

import (
	"encoding/binary"
	"flag"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"testing"
)

var long = flag.Bool("long", false, "run the long forms of tests")

// layout is a universe in partitions. Their sizes are proportional to 1/i, and their densities are spread evenly on a
// logarithmic scale from 0.01% to 60%.
type layout struct {
	sizes     []int
	densities []float64
}

func newLayout(n, partitions int, seed uint64) (l layout) {
	r := rand.New(rand.NewPCG(seed, 1))
	sum := 0.0
	for i := range partitions {
		sum += 1 / float64(i+1)
	}
	for i := range partitions {
		l.sizes = append(l.sizes, int(math.Round(float64(n)/sum/float64(i+1))))
		l.densities = append(l.densities, math.Exp(math.Log(1e-4)+r.Float64()*math.Log(.6/1e-4)))
	}
	return l
}

// keys calls f with each key of all partitions, partition by partition, and whether the key is a member.
func (l layout) keys(seed uint64, f func(partition, key []byte, member bool) bool) {
	r := rand.New(rand.NewPCG(seed, 2))
	var key [8]byte
	for p, size := range l.sizes {
		name := fmt.Appendf(nil, "partition %d", p)
		for i := range size {
			binary.LittleEndian.PutUint64(key[:], uint64(i)) // the same keys in each partition
			if !f(name, key[:], r.Float64() < l.densities[p]) {
				return
			}
		}
	}
}

// seq yields the universe, or only its members.
func (l layout) seq(seed uint64, members bool) iter.Seq2[[]byte, []byte] {
	return func(yield func(partition, key []byte) bool) {
		l.keys(seed, func(partition, key []byte, member bool) bool {
			return members && !member || yield(partition, key)
		})
	}
}

// build builds the set and checks all of its answers.
func (l layout) build(t *testing.T, seed uint64, c Config) *Set {
	t.Helper()
	s := must(Build(t.Context(), l.seq(seed, true), l.seq(seed, false), c))
	wrong := 0
	l.keys(seed, func(partition, key []byte, member bool) bool {
		if s.in(partition, key) != member {
			wrong++
		}
		return true
	})
	if wrong > 0 {
		t.Errorf("seed %d: %d wrong answers", seed, wrong)
	}
	return s
}

// TestPartitionSize bounds the size of sets with partitions, the class function included. The bound is for the worst of
// the seeds.
func TestPartitionSize(t *testing.T) {
	n, seeds, bound := 300_000, 5, 1.13
	switch {
	case *long:
		n, seeds, bound = 10_000_000, 20, 1.10
	case testing.Short():
		n, seeds, bound = 100_000, 1, 1.2
	}
	worst := 0.0
	for seed := range uint64(seeds) {
		s := newLayout(n, 300, seed).build(t, seed, Config{})
		i := s.Info()
		ratio := float64(i.Bits) / i.PartitionEntropy
		t.Logf("seed %d: %d members, %.4f of the entropy, file %.4f, without partitions %.3f, %d classes",
			seed, i.Members, ratio, float64(8*i.Bytes)/i.PartitionEntropy, i.Entropy/i.PartitionEntropy, len(i.Classes))
		worst = max(worst, ratio)
	}
	t.Logf("worst %.4f", worst)
	if worst > bound {
		t.Errorf("worst %.4f of the entropy, want at most %g", worst, bound)
	}
}

// TestEntropyUpdated removes most members, and checks that EntropyPerMember uses the entropy and the members of the
// base.
func TestEntropyUpdated(t *testing.T) {
	v := vectorSet{name: "few", n: 2000, densities: []float64{.05, .1}}
	s, all := v.build(t)
	before := s.Info()
	for i := range all[50:] {
		all[50+i].is = false
	}
	s = must(updated(t, s, all))
	i, want := s.Info(), before.EntropyPerMember
	if got := i.EntropyPerMember; i.Members >= before.Members/2 || got != want || want == 0 {
		t.Errorf("%g bits per member of %d, then %g of %d", want, before.Members, got, i.Members)
	}
}
