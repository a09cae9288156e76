package family

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestFoldTo compares FoldTo with a search of all divisors.
func TestFoldTo(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		places := 1 + rng.Uint64N(3000)
		least := rng.Uint64N(places + 10)
		want := uint64(1)
		for d := uint64(1); d <= places; d++ {
			if places%d == 0 && places/d >= max(least, 1) {
				want = d
			}
		}
		if d := FoldTo(places, least); d != want {
			t.Fatalf("FoldTo(%d, %d) = %d, want %d", places, least, d, want)
		}
	}
}

// TestFoldable checks how large folded filters are compared with the needed size, for all fractions of the capacity.
func TestFoldable(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, bits := range []uint64{1, 256, 512} {
		sums, counts := [2]float64{}, [2]float64{}
		for range 300 {
			direct := uint64(math.Exp(math.Log(20) + rng.Float64()*18))
			places := Foldable(direct, bits)
			if places*bits > (direct*bits+foldMemory)*81/80+bits {
				t.Fatalf("Foldable(%d, %d) = %d", direct, bits, places)
			}

			for keys := 1.0; keys > 0.002; keys *= 0.97 {
				least := uint64(math.Ceil(float64(direct) * keys))
				ratio := float64(places/FoldTo(places, least)) / float64(least)
				if ratio < 1 || ratio > 2.03 {
					t.Errorf("%d places of %d bits, made for %d, folded to %.3f times %d", places, bits, direct, ratio, least)
				}
				few := 0
				if keys < 0.1 {
					few = 1
				}
				sums[few], counts[few] = sums[few]+ratio, counts[few]+1
			}

			for _, d := range []uint64{1, 2, 3, 4} {
				least := (direct + d - 1) / d
				if folded := places / FoldTo(places, least); direct > 16_000 && folded > least+least/50 {
					t.Errorf("%d places, made for %d, folded to %d, want %d", places, direct, folded, least)
				}
			}
		}
		mean := [2]float64{sums[0] / counts[0], sums[1] / counts[1]}
		t.Logf("places of %d bits: folded filters are %.3f times as large, below a tenth %.3f times", bits, mean[0], mean[1])
		if mean[0] > 1.25 || mean[1] > 1.1 {
			t.Errorf("places of %d bits: %.3f and %.3f times on average", bits, mean[0], mean[1])
		}
	}
}
