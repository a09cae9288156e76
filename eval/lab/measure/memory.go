package measure

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/klauspost/cpuid/v2"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
)

// heldKeys is the number of keys for which the memory of builds is measured.
const heldKeys = 1_000_000

// heldByBuild returns the peak memory of a build, minus the filter, in bytes per key. It samples the growth of the heap
// every 300 µs while the collector runs often (GOGC=2). Searches run for one pass: their memory does not depend on the
// passes.
func heldByBuild(ctx context.Context, kind filter.Spec, keys uint64) (float64, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // a second core for the sampling goroutine
	of, err := families.ByName(kind.Family())
	if err != nil {
		return 0, err
	}
	spec := kind.With("bits_per_key", 12)
	if of.Can.Has(family.CanSearch) {
		spec = spec.With("passes", 1)
	}
	for _, form := range of.Forms {
		if form.Spec == kind && form.Can&(family.CanCount|family.CanValues) != 0 {
			spec = kind.With("fpr", 0.01) // 12 bits per key are too few for counters and values
		}
	}
	present := Random(rand.New(rand.NewPCG(1, keys)), keys)
	runtime.GC()
	defer debug.SetGCPercent(debug.SetGCPercent(2))
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	heap := func() uint64 { metrics.Read(sample); return sample[0].Value.Uint64() }
	before, done, most := heap(), make(chan struct{}), make(chan uint64)
	go func() {
		var peak uint64
		for {
			select {
			case <-done:
				most <- peak
				return
			case <-time.After(300 * time.Microsecond):
				peak = max(peak, heap())
			}
		}
	}()
	f, err := Build(ctx, of, spec, present, filter.NewHasher(7))
	close(done)
	peak := max(<-most, heap())
	if err != nil {
		return 0, err
	}
	held := float64(peak) - float64(before) - float64(f.Info().Bits)/8
	runtime.KeepAlive(present)
	return max(0, held) / float64(keys), nil
}

// machine describes the processor, the system and the number of cores.
func machine() string {
	name := cmp.Or(cpuid.CPU.BrandName, runtime.GOARCH)
	return fmt.Sprintf("%s, %s, %d cores", name, runtime.GOOS, runtime.NumCPU())
}
