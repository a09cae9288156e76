package rankindexed

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// BenchmarkBuild compares the build of the smallest filters with builds of the default form. Pairs are built in turn,
// so that a disturbance of the machine meets both.
func BenchmarkBuild(b *testing.B) {
	const n = 1_000_000
	hs := filtertest.Hashes(n, 1)
	for _, fpr := range []float64{0.01, 0.001} {
		b.Run(fmt.Sprintf("op=build/n=%d/fpr=%g", n, fpr), func(b *testing.B) {
			var ratios, ns, sizes [2][]float64
			for b.Loop() {
				var took [2]float64
				for i, bucket := range []int{0, 16384} {
					start := time.Now()
					f := buildBench(b, Config{Size: family.Sizing{FPR: fpr}, Bucket: bucket}, hs)
					took[i] = float64(time.Since(start).Nanoseconds()) / n
					ns[i] = append(ns[i], took[i])
					sizes[i] = append(sizes[i], float64(f.Info().Bits)/n)
				}
				ratios[0] = append(ratios[0], took[1]/took[0])
			}
			b.ReportMetric(middle(ns[0]), "default-ns/key")
			b.ReportMetric(middle(ns[1]), "16384-ns/key")
			b.ReportMetric(middle(ratios[0]), "ratio")
			b.ReportMetric(sizes[1][0], "bits/key")
		})
	}
}

// middle returns the median.
func middle(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}

func buildBench(b *testing.B, c Config, hs []filter.Hash) *Filter {
	b.Helper()
	to, err := NewBuilder(c)
	if err != nil {
		b.Fatal(err)
	}
	if err := to.AddMany(hs); err != nil {
		b.Fatal(err)
	}
	f, err := to.Build(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	return f.(*Filter)
}
