package blocked

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/bloomery/bloomery/internal/family"
)

// TestKnown: sizes and rates are the same whatever was computed before, also by several goroutines at a time.
func TestKnown(t *testing.T) {
	type size struct {
		blocks uint64
		k      int
		fpr    float64
	}
	r := rand.New(rand.NewPCG(7, 7))
	configs := make([]Config, 60)
	for i := range configs {
		configs[i].Keys = uint64(math.Exp(r.Float64() * 16))
		configs[i].Size.FPR = math.Exp(-1 - 12*r.Float64())
		if i%4 == 1 {
			configs[i].Layout = Split
		}
		if i%3 == 0 {
			configs[i].Size = family.Sizing{BitsPerKey: 1 + 20*r.Float64()}
		}
	}
	sizeOf := func(c Config) (s size) {
		var err error
		if s.blocks, s.k, err = c.Geometry(); err != nil {
			t.Error(err)
			return s
		}
		s.fpr = FPR(c.Keys, s.blocks, s.k, c.Layout)
		return s
	}
	forget := func() {
		known.Lock()
		defer known.Unlock()
		known.values = values{}
	}
	want := make([]size, len(configs))
	for i, c := range configs {
		forget()
		want[i] = sizeOf(c)
	}
	forget()
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for _, i := range rand.New(rand.NewPCG(8, uint64(g))).Perm(len(configs)) {
				if got := sizeOf(configs[i]); got != want[i] {
					t.Errorf("%+v: %+v after others, %+v alone", configs[i], got, want[i])
				}
			}
		})
	}
	all.Wait()
}

// BenchmarkGeometry measures the search for the fewest blocks that keep a rate.
func BenchmarkGeometry(b *testing.B) {
	for _, layout := range []Layout{Line, Split} {
		for _, fpr := range []float64{0.5, 0.01, 1e-4, 1e-9} {
			b.Run(fmt.Sprintf("layout=%s/fpr=%g", layout, fpr), func(b *testing.B) {
				for b.Loop() {
					c := Config{Keys: 1_000_000, Size: family.Sizing{FPR: fpr}, Layout: layout}
					if _, _, err := c.Geometry(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
