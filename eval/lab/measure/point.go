package measure

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/intake"
	"github.com/bloomery/bloomery/internal/kernel"
)

// Queries is the number of queries of one time measurement: a few milliseconds.
const Queries = 200_000

// searchedKeys is the largest number of keys for which families that search do so at their default effort. Larger
// filters are searched for one pass: the time of a query does not depend on the search.
const searchedKeys = 1_000_000

// measure measures one point. repeats is the number of measurements of each query. If builds is true, the time of a
// build is the shortest of three builds, otherwise the time of one build. It is 0 if the search was cut short.
func measure(
	ctx context.Context, kind filter.Spec, keys uint64, fpr float64, repeats int, builds bool,
) (families.CostPoint, error) {
	of, err := families.ByName(kind.Family())
	if err != nil {
		return families.CostPoint{}, err
	}
	spec := kind.With("fpr", fpr)
	cut := of.Can.Has(family.CanSearch) && keys > searchedKeys
	if cut { // one pass, in the size that the default search would need
		bits, _, err := of.Forecast(spec, keys)
		if err != nil {
			return families.CostPoint{}, err
		}
		spec = kind.With("bytes", bits/8).With("passes", 1)
	}
	h := filter.NewHasher(7)
	r := rand.New(rand.NewPCG(1, keys))
	p := families.CostPoint{Keys: keys, FPR: fpr, Present: math.Inf(1), Absent: math.Inf(1), Build: math.Inf(1)}
	present := Random(r, keys)
	var f family.Filter
	times := 1
	if builds {
		times = 3
	}
	for range times {
		start := time.Now()
		if f, err = Build(ctx, of, spec, present, h); err != nil {
			return p, err
		}
		p.Build = min(p.Build, float64(time.Since(start).Nanoseconds())/float64(keys))
	}
	if cut {
		p.Build = 0
	}
	// The queries are in random order and differ each time: repeated queries would find their part of a large filter in
	// the caches.
	asked, absent := make([][]uint64, repeats), make([][]uint64, repeats)
	for i := range repeats {
		asked[i], absent[i] = Questions(r, present)
	}
	for i := range repeats {
		start := time.Now()
		if n := Count(f, asked[i], h); n != Queries {
			return p, fmt.Errorf("%d of %d present keys were found", n, Queries)
		}
		p.Present = min(p.Present, float64(time.Since(start).Nanoseconds())/Queries)
		start = time.Now()
		Count(f, absent[i], h)
		p.Absent = min(p.Absent, float64(time.Since(start).Nanoseconds())/Queries)
	}
	return p, nil
}

// Random returns n random keys.
func Random(r *rand.Rand, n uint64) []uint64 {
	keys := make([]uint64, n)
	for i := range keys {
		keys[i] = r.Uint64()
	}
	return keys
}

// Questions returns Queries present keys, drawn from keys, and Queries absent keys.
func Questions(r *rand.Rand, keys []uint64) (present, absent []uint64) {
	present, absent = make([]uint64, Queries), make([]uint64, Queries)
	for i := range present {
		present[i], absent[i] = keys[r.IntN(len(keys))], r.Uint64()
	}
	return present, absent
}

// Build builds a filter of integer keys as bloomery.Build does, hashing included.
func Build(
	ctx context.Context, kind families.Family, spec filter.Spec, keys []uint64, h filter.Hasher,
) (family.Filter, error) {
	b, err := kind.NewBuilder(spec, uint64(len(keys)))
	if err != nil {
		return nil, err
	}
	to := intake.Family(b, kind, spec, family.BuildOptions{})
	if err := intake.Feed(ctx, intake.New(h, to), slices.Values(keys)); err != nil {
		return nil, err
	}
	return to.Build(ctx)
}

// Count returns how many of the integer keys f contains. It queries like a Set.
func Count(f family.Filter, keys []uint64, h filter.Hasher) (n int) {
	q := kernel.NewQuery(h, f, nil)
	for _, k := range keys {
		if q.Uint64(k) {
			n++
		}
	}
	return n
}
