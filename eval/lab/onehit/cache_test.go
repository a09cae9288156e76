package onehit

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/bloomery/bloomery/eval/lab/traffic"
	"github.com/bloomery/bloomery/filter"
)

// TestAger requires that an object is remembered for one to two generations and then forgotten.
func TestAger(t *testing.T) {
	const capacity = 100
	a, err := newAger(capacity, 10*capacity)
	if err != nil {
		t.Fatal(err)
	}
	h := filter.NewHasher(1)
	see := func(object int) (says, does bool) {
		says, does, err := a.see(uint32(object), h.SumUint64(uint64(object)))
		if err != nil {
			t.Fatal(err)
		}
		return says, does
	}
	see(0)
	if says, does := see(0); !says || !does {
		t.Error("an object is not known at once")
	}
	for i := 1; i < 2*capacity-10; i++ {
		see(i)
	}
	if says, does := see(0); !says || !does {
		t.Error("an object is forgotten within two generations")
	}
	for i := 2 * capacity; i < 5*capacity; i++ {
		see(i)
	}
	if _, does := see(0); does {
		t.Error("an object is never forgotten")
	}
	if p := a.rate(); p < 0.9*agerFPR || p > 2.1*agerFPR {
		t.Errorf("rate %g predicted", p)
	}
	if a.absent < 5*capacity-20 || a.expected > a.absent*2*agerFPR {
		t.Errorf("%g absent, %g mistakes expected", a.absent, a.expected)
	}
}

// TestAgerRate compares the number of false positives over many generations with the prediction.
func TestAgerRate(t *testing.T) {
	const capacity, generations = 5000, 40
	a, err := newAger(capacity, generations*capacity)
	if err != nil {
		t.Fatal(err)
	}
	h := filter.NewHasher(3)
	for i := range uint32(generations * capacity) {
		for range 2 { // the second time adds nothing
			if _, _, err := a.see(i, h.SumUint64(uint64(i))); err != nil {
				t.Fatal(err)
			}
		}
	}
	if a.absent != generations*capacity || math.Abs(a.mistaken-a.expected) > 4.5*math.Sqrt(2*a.expected) ||
		a.number < generations-2 ||
		a.number > generations+2 {
		t.Errorf("%g mistakes, %.0f expected of %g, generation %d", a.mistaken, a.expected, a.absent, a.number)
	}
}

// TestOnehitReplay compares the counts of both caches with a replay by hand: the stream a b a c a a, with room for one
// object.
func TestOnehitReplay(t *testing.T) {
	s := traffic.Stream{Requests: []uint32{0, 1, 0, 2, 0, 0}, Objects: 3}
	sizes := []float64{6, 600, 60_000}
	n, err := replay(t.Context(), s, sizes, setting{size: 0.4, memory: 4}, filter.NewHasher(1))
	if err != nil {
		t.Fatal(err)
	}
	// If all is stored, only the last request is a hit. With the filter, a is stored at its second request and stays.
	if want := (counts{
		hits: 1. / 6, writes: 5. / 6, filteredHits: 2. / 6, filteredWrites: 1. / 6, predicted: n.predicted,
		bytes: (3*6 + 600 + 60_000) / 6., filteredBytes: 1,
	}); n != want {
		t.Errorf("%+v, want %+v", n, want)
	}
	// On a long stream, the filter has the predicted rate.
	z := traffic.Zipf(rand.New(rand.NewPCG(1, 2)), 100_000)
	n, err = replay(t.Context(), z, make([]float64, z.Objects), setting{size: 0.01, memory: 4}, filter.NewHasher(1))
	if err != nil || math.Abs(n.fpr/n.predicted-1) > 0.25 || n.predicted > 2*agerFPR || n.predicted < agerFPR/2 ||
		n.mistaken > n.fpr {
		t.Errorf("%+v, %v", n, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := replay(ctx, s, sizes, setting{size: 0.4, memory: 4}, filter.NewHasher(1)); !errors.Is(
		err,
		context.Canceled,
	) {
		t.Errorf("cancelled: %v", err)
	}
}
