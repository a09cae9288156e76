package bloomery_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/plan"
)

// TestKeepsRate builds what the objective Lasting chooses for few keys at all rates, and for all needs: the filter
// keeps the rate, and has the size that was planned. Bits of the Bloom families scatter, so that for them the mean over
// the seeds counts.
func TestKeepsRate(t *testing.T) {
	for name, needs := range map[string]plan.Needs{
		"none": {}, "add": {Add: true}, "remove": {Remove: true}, "count": {Count: true}, "line": {OneLine: true},
		"merge": {Merge: true}, "remove, merge": {Remove: true, Merge: true}, "values": {ValueBits: 3},
	} {
		for _, n := range []uint64{1, 10, 100, 1000} {
			for _, fpr := range []float64{0.9, 0.4, 0.1, 0.01, 1e-4, 1e-6, 1e-9, 1e-10, 1e-12} {
				needs.Keys, needs.FPR, needs.Unpatented = n, fpr, true
				choice, err := lasting(t.Context(), needs)
				if err != nil {
					t.Errorf("%s, %d keys, rate %g: %v", name, n, fpr, err)
					continue
				}
				if choice.FPRPrior > fpr*1.02 || !(choice.FPRPrior > 0) || choice.Bits == 0 {
					t.Errorf("%s, %d keys, rate %g: %s with rate %g in %d bits", name, n, fpr, choice.Spec,
						choice.FPRPrior, choice.Bits)
				}
				const seeds = 8
				mean, most := 0.0, 0.0
				for seed := range uint64(seeds) {
					info, bytes := planned(t, choice.Spec, n, seed)
					if off := math.Abs(float64(bytes) - float64(choice.FileBytes)); off > 128+0.05*float64(bytes) {
						t.Errorf("%s, %d keys: a file of %d bytes, planned %d", choice.Spec, n, bytes, choice.FileBytes)
					}
					mean += info.FPRPosterior / seeds
					most = max(most, info.FPRPosterior)
					if info.Bits > choice.Bits*11/10+256 {
						t.Errorf("%s, %d keys: %d bits, planned %d", choice.Spec, n, info.Bits, choice.Bits)
					}
				}
				switch choice.Spec.Family() {
				case "standard", "counting", "blocked": // up to three standard deviations, as Exceeded has it
					info := filter.Info{Spec: choice.Spec, Keys: n * seeds, FPRPrior: choice.FPRPrior, FPRPosterior: mean,
						FPRChosen: fpr}
					if info.Exceeded() {
						t.Errorf("%s, %d keys: mean rate %g", choice.Spec, n, mean)
					}
				default:
					if family.Given(choice.Spec, "counting") { // at high rates, keys that look alike share a cell or not
						fpr *= 1.05
					}
					if most > fpr*(1+1e-9) {
						t.Errorf("%s, %d keys: rate %g", choice.Spec, n, most)
					}
				}
			}
		}
	}
}

// TestBelowRibbon: at rates below 2^-32 a static build takes the form with the fewest bits of those that there are,
// about 40 at 1e-12 and not the 57 of a Bloom filter.
func TestBelowRibbon(t *testing.T) {
	for _, c := range []struct {
		keys uint64
		fpr  float64
		most float64 // bits a key
	}{{100, 1e-12, 45}, {5000, 1e-10, 44}, {1_000_000, 1e-12, 46.5}, {1_000_000, 2.4e-10, 32.2}} {
		choice, err := lasting(t.Context(), plan.Needs{Keys: c.keys, FPR: c.fpr, Unpatented: true})
		if err != nil || choice.BitsPerKey > c.most {
			t.Errorf("%+v: %s, %.4g bits a key, %v", c, choice.Spec, choice.BitsPerKey, err)
		}
	}
	for _, n := range []plan.Needs{
		{Keys: 1000, BitsPerKey: 48}, {Keys: 1000, Bytes: 6000}, {Keys: 100, BitsPerKey: 2000},
	} {
		n.Unpatented = true
		choice, err := lasting(t.Context(), n)
		asked := max(n.BitsPerKey, float64(n.Bytes)*8/float64(n.Keys))
		if err != nil || choice.BitsPerKey < 0.95*asked || choice.BitsPerKey > asked*1.01 {
			t.Errorf("%+v: %s, %.4g bits a key, %v", n, choice.Spec, choice.BitsPerKey, err)
		}
	}
}

// TestOverBound: what the plan says about the distance of a static filter to the smallest possible size is so in the
// file that is built.
func TestOverBound(t *testing.T) {
	for _, n := range []uint64{1, 100, 1000, 30_000} {
		for _, fpr := range []float64{0.9, 0.4, 0.01, 1. / 65536} {
			choice, err := lasting(t.Context(), plan.Needs{Keys: n, FPR: fpr, Unpatented: true})
			if err != nil {
				t.Fatal(err)
			}
			_, bytes := planned(t, choice.Spec, n, 1)
			times := 8 * float64(bytes) / (float64(n) * math.Log2(1/fpr))
			var said float64
			if _, err := fmt.Sscanf(choice.Reason, "static, %f times the smallest possible size", &said); err != nil {
				if _, err := fmt.Sscanf(choice.Reason, "static, %f%% over the smallest possible size", &said); err != nil {
					t.Fatalf("%s: %v", choice.Reason, err)
				}
				said = 1 + said/100
			}
			if slack := 160 * 8 / (float64(n) * math.Log2(1/fpr)); math.Abs(said-times) > 0.01*times+slack {
				t.Errorf("%d keys, rate %g: %s, and it is %.3g times", n, fpr, choice.Reason, times)
			}
		}
	}
}

// lasting returns the choice of the objective Lasting.
func lasting(ctx context.Context, n plan.Needs) (plan.Choice, error) {
	n.For = plan.Lasting
	p, err := plan.For(ctx, n)
	if err != nil {
		return plan.Choice{}, err
	}
	return p.Choices[0], nil
}

// planned returns the Info of a filter of n keys, and the length of its file.
func planned(t *testing.T, s filter.Spec, n, seed uint64) (filter.Info, uint64) {
	t.Helper()
	keys := func(yield func(string) bool) {
		for i := range n {
			if !yield(fmt.Sprint("key-", i)) {
				return
			}
		}
	}
	set, err := bloomery.Build(t.Context(), keys, bloomery.Config{Spec: s.String(), Seed: seed})
	if err != nil {
		t.Fatalf("%s, %d keys: %v", s, n, err)
	}
	return set.Info(), fileBytes(t, set)
}
