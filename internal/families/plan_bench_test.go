//go:build unix

package families_test

import (
	"fmt"
	"syscall"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// benchSpecs returns specs of a family for benchmarks of small builds: its default, a low rate, and the parameters that
// change how it is planned.
func benchSpecs(f families.Family) (specs []filter.Spec) {
	plain := family.NewSpec(f.Name)
	specs = append(specs, plain, plain.With("fpr", 0.01), plain.With("fpr", 1e-6))
	if f.Can.Has(family.CanLater) {
		specs = append(specs, plain.With("fpr", 0.01).With("later", 100))
	}
	if f.Can.Has(family.CanSearch) {
		specs = append(specs, plain.With("bits_per_key", 12).With("effort", "fast"))
	}
	return specs
}

// cpu returns the CPU time of the process in nanoseconds: a busy machine does not change it much.
func cpu(b *testing.B) int64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return r.Utime.Nano() + r.Stime.Nano()
}

// loop runs f as a benchmark that reports CPU time.
func loop(b *testing.B, f func()) {
	start := cpu(b)
	for b.Loop() {
		f()
	}
	b.ReportMetric(float64(cpu(b)-start)/float64(b.N)/1e6, "cpu-ms/op")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkPlan measures Forecast, which every build calls for its geometry. It must take less than 2 ms of CPU time.
func BenchmarkPlan(b *testing.B) {
	for _, f := range families.All() {
		for _, spec := range benchSpecs(f) {
			for _, n := range []uint64{1000, 1_000_000} {
				if _, _, err := f.Forecast(spec, n); err != nil {
					continue // a rate that the family does not have
				}
				b.Run(fmt.Sprintf("spec=%s/n=%g", spec, float64(n)), func(b *testing.B) {
					keys := n // another number each time: no family has the result from before
					loop(b, func() {
						keys++
						if _, _, err := f.Forecast(spec, keys); err != nil {
							b.Fatal(err)
						}
					})
				})
			}
		}
	}
}

// BenchmarkSmallBuild measures builds of 1000 keys. They must take less than 10 ms of CPU time.
func BenchmarkSmallBuild(b *testing.B) {
	hs := filtertest.Hashes(1000, 1)
	for _, f := range families.All() {
		for _, spec := range benchSpecs(f) {
			if _, _, err := f.Forecast(spec, 1000); err != nil || f.NewBuilder == nil {
				continue
			}
			b.Run(fmt.Sprintf("spec=%s", spec), func(b *testing.B) {
				loop(b, func() {
					builder, err := f.NewBuilder(spec, uint64(len(hs)))
					if err != nil {
						b.Fatal(err)
					}
					if err := builder.AddMany(hs); err != nil {
						b.Fatal(err)
					}
					if _, err := builder.Build(b.Context()); err != nil {
						b.Fatal(err)
					}
				})
			})
		}
	}
}
