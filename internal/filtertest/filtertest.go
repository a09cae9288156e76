// Package filtertest is the conformance suite for the filters of all families. Run runs all tests. Model tests filters
// with removal, and Concurrent tests filters that many goroutines may change at the same time.
package filtertest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/stat"
)

// Family describes a family for the suite.
type Family struct {
	// New returns an empty filter for that number of keys. It is nil if filters of the family cannot start empty.
	New        func(s filter.Spec, keys uint64) (family.Filter, error)
	NewBuilder func(s filter.Spec, keys uint64) (family.Builder, error)
	// NewBuilderLike returns a Builder of a filter like another one of the family.
	NewBuilderLike func(family.Filter) (family.Builder, error)
	// Moves means that a filter like another one keeps neither its geometry nor its bits.
	Moves        bool
	SectionWords func(filter.Spec) ([]uint64, error)
	Decode       func(family.Encoded) (family.Filter, error)
	Specs        []string // sizes to try, from few bits per key to many
	// Searched means that the prior rate is only an upper bound, because a search lowers the rate.
	Searched bool
}

// Hashes returns n random hashes, determined by the seed. Different seeds give different hashes.
func Hashes(n int, seed uint64) []filter.Hash {
	r := rand.New(rand.NewPCG(seed, 0x626c6f6f6d657279))
	hs := make([]filter.Hash, n)
	for i := range hs {
		hs[i] = filter.Hash{Hi: r.Uint64(), Lo: r.Uint64()}
	}
	return hs
}

// Build builds a filter of the keys hs. It fails the test on error.
func Build(t testing.TB, f Family, spec string, hs []filter.Hash) family.Filter {
	t.Helper()
	s, err := filter.ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	return finish(t, builder(t, f, s, len(hs)), hs)
}

// builder returns a Builder for that many keys.
func builder(t testing.TB, f Family, s filter.Spec, keys int) family.Builder {
	t.Helper()
	b, err := f.NewBuilder(s, uint64(keys))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// finish adds keys to a Builder and builds the filter.
func finish(t testing.TB, b family.Builder, parts ...[]filter.Hash) family.Filter {
	t.Helper()
	for _, hs := range parts {
		if err := b.AddMany(hs); err != nil {
			t.Fatal(err)
		}
	}
	out, err := b.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Run runs the whole suite as subtests.
func Run(t *testing.T, f Family) {
	sizes := []int{0, 1, 2, 63, 1000, 50_000}
	if testing.Short() {
		sizes = sizes[:5]
		f.Specs = f.Specs[:min(3, len(f.Specs))]
	}
	for _, spec := range f.Specs {
		for _, n := range sizes {
			t.Run(fmt.Sprintf("%s/n=%d", spec, n), func(t *testing.T) {
				hs := Hashes(n, 1)
				built := Build(t, f, spec, hs)
				noFalseNegative(t, built, hs)
				encodeDecode(t, f, built, hs)
				shuffled(t, f, spec, built, hs)
				noAllocation(t, built)
				batched(t, built, hs)
				like(t, f, built, hs)
			})
		}
		t.Run(spec+"/spent", func(t *testing.T) { spent(t, f, spec) })
		t.Run(spec+"/rate", func(t *testing.T) { observedRate(t, f, spec) })
		t.Run(spec+"/merge", func(t *testing.T) { merge(t, f, spec) })
		t.Run(spec+"/concurrent", func(t *testing.T) { concurrent(t, f, spec) })
		t.Run(spec+"/remove", func(t *testing.T) { remove(t, f, spec) })
		shared(t, f, spec)
	}
	t.Run("batches of wrong lengths", func(t *testing.T) { wrongBatches(t, f) })
	t.Run("cancelled", func(t *testing.T) {
		s, _ := filter.ParseSpec(f.Specs[0])
		b := builder(t, f, s, 10)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := b.Build(ctx); err == nil {
			t.Error("Build with a context that is done gave no error")
		}
	})
}

// shared runs Concurrent if the filters of the family are Sharers.
func shared(t *testing.T, f Family, spec string) {
	if f.New == nil {
		return
	}
	s, err := filter.ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	start := func(keys uint64) family.Filter {
		out, err := f.New(s, keys)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if _, ok := start(1).(family.Sharer); ok {
		t.Run(spec+"/shared", func(t *testing.T) { Concurrent(t, start, f.Decode) })
	}
}

func noFalseNegative(t *testing.T, f family.Filter, hs []filter.Hash) {
	t.Helper()
	for i, h := range hs {
		if !f.Has(h) {
			t.Fatalf("key %d of %d is lost", i, len(hs))
		}
	}
}

func encodeDecode(t *testing.T, f Family, built family.Filter, hs []filter.Hash) {
	e := built.(family.Encoder).Encode()
	words, err := f.SectionWords(e.Spec)
	if err != nil || len(words) != len(e.Sections) {
		t.Fatalf("SectionWords(%s) = %v, %v", e.Spec, words, err)
	}
	for i, s := range e.Sections {
		if uint64(len(s)) != words[i] {
			t.Errorf("section %d has %d words, the spec %s says %d", i, len(s), e.Spec, words[i])
		}
	}
	again, err := f.Decode(e)
	if err != nil {
		t.Fatal(err)
	}
	noFalseNegative(t, again, hs)
	if a, b := built.Info(), again.Info(); fmt.Sprint(a) != fmt.Sprint(b) {
		t.Errorf("decoded %v, encoded %v", b, a)
	}
}

func equal(a, b family.Filter) bool {
	x, y := a.(family.Encoder).Encode(), b.(family.Encoder).Encode()
	return x.Keys == y.Keys && x.Spec == y.Spec && slices.EqualFunc(x.Sections, y.Sections, slices.Equal[[]uint64])
}

// shuffled builds the filter again from the keys in another order. The result must be identical.
func shuffled(t *testing.T, f Family, spec string, built family.Filter, hs []filter.Hash) {
	other := slices.Clone(hs)
	rand.New(rand.NewPCG(3, 4)).Shuffle(len(other), func(i, j int) { other[i], other[j] = other[j], other[i] })
	if !equal(built, Build(t, f, spec, other)) {
		t.Error("the filter depends on the order of the keys")
	}
}

func noAllocation(t *testing.T, f family.Filter) {
	h := filter.Hash{Hi: 1, Lo: 2}
	if n := testing.AllocsPerRun(100, func() { f.Has(h) }); n != 0 {
		t.Errorf("Has allocates %v times", n)
	}
}

func batched(t *testing.T, f family.Filter, hs []filter.Hash) {
	b := f.(family.Batcher)
	forms := []func(dst []bool, hs []filter.Hash){b.HasMany}
	if cold, ok := f.(family.ColdBatcher); ok {
		cold.Prefetch(nil)
		forms = append(forms, func(dst []bool, hs []filter.Hash) {
			cold.Prefetch(hs)
			cold.HasManyCold(dst, hs)
		})
	}
	if spreader, ok := f.(family.Spreader); ok {
		forms = append(forms, alone(t, spreader)...)
	}
	mixed := append(slices.Clone(hs), Hashes(len(hs)+77, 2)...)
	for _, n := range []int{0, 1, 31, 32, 33, len(mixed)} {
		n = min(n, len(mixed))
		for form, hasMany := range forms {
			dst := make([]bool, n)
			hasMany(dst, mixed[:n])
			for i, got := range dst {
				if got != f.Has(mixed[i]) {
					t.Fatalf("form %d of HasMany of %d differs from Has at %d", form, n, i)
				}
			}
		}
	}
}

// alone returns forms of HasMany by a Spread in which every third filter is f.
func alone(t *testing.T, f family.Spreader) []func(dst []bool, hs []filter.Hash) {
	const filters = 9
	s := f.Spread(filters)
	if s == nil {
		return nil
	}
	for i := 0; i < filters; i += 3 {
		if !s.SetFilter(i, f) {
			t.Fatal("a Spread refuses the filter that made it")
		}
	}
	return []func(dst []bool, hs []filter.Hash){func(dst []bool, hs []filter.Hash) {
		at := make([]uint32, len(hs))
		for i := range at {
			at[i] = uint32(i % 3 * 3)
		}
		s.HasManySpread(dst, hs, at)
	}}
}

// wrongBatches calls HasMany with a dst that is too short or too long. It must panic and write nothing.
func wrongBatches(t *testing.T, f Family) {
	b, ok := Build(t, f, f.Specs[0], Hashes(100, 1)).(family.Batcher)
	if !ok {
		t.Skip("the family has no batches")
	}
	const keys = 40
	hs := Hashes(keys, 1) // all of them present
	for _, places := range []int{0, keys - 1, keys + 1} {
		dst := make([]bool, 2*keys)
		func() {
			defer func() {
				want := fmt.Sprintf("filter: HasMany: dst has %d places for %d keys", places, keys)
				if got := recover(); got != want {
					t.Errorf("HasMany with %d places for %d keys: panic %v, want %q", places, keys, got, want)
				}
			}()
			b.HasMany(dst[:places], hs)
		}()
		if slices.Contains(dst, true) {
			t.Errorf("HasMany with %d places for %d keys wrote an answer", places, keys)
		}
	}
}

// trials is the number of absent keys that observedRate asks of each filter.
const trials = 300_000

// absentKeys has the results of absent: all filters are asked for the same keys.
var absentKeys sync.Map

// absent returns Hashes(trials, seed), the same slice each time.
func absent(seed uint64) []filter.Hash {
	hs, _ := absentKeys.LoadOrStore(seed, sync.OnceValue(func() []filter.Hash { return Hashes(trials, seed) }))
	return hs.(func() []filter.Hash)()
}

// Count returns how many of the keys f contains. It asks in batches, which take a fraction of the time and have the
// answers of Has: Run checks it for all families.
func Count(f family.Filter, hs []filter.Hash) (found uint64) {
	var room [1024]bool
	for part := range slices.Chunk(hs, len(room)) {
		answers := room[:len(part)]
		f.(family.Batcher).HasMany(answers, part)
		for _, yes := range answers {
			if yes {
				found++
			}
		}
	}
	return found
}

// observedRate requires that the observed rate is within 4.5 standard deviations of the posterior rate, over several
// seeds, and the posterior rate near the prior one.
func observedRate(t *testing.T, f Family, spec string) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, n := range []int{1000, 30_000} {
		var seen, want, prior float64
		for seed := uint64(10); seed < 14; seed++ {
			built := Build(t, f, spec, Hashes(n, seed))
			info := built.Info()
			count := Count(built, absent(seed+100))
			if tail := stat.UpperTail(count, trials, info.FPRPosterior); tail < 1e-6 || tail > 1-1e-6 && 0 < count && count < trials {
				t.Errorf("n=%d seed=%d %s: observed %d of %d, posterior rate %g (tail %g)", n, seed, info.Spec, count, trials, info.FPRPosterior, tail)
			}
			seen += float64(count)
			want += info.FPRPosterior * trials
			prior += info.FPRPrior * trials
		}
		// 4.5 standard deviations of the trials. The posterior rate varies around the prior one with the load of the
		// blocks: there are about 4n/32 blocks, and the standard deviation of the rate of each is about that rate.
		if d := 4.5*math.Sqrt(want) + 1; seen < want-d || seen > want+d {
			t.Errorf("n=%d %s: observed %g false positives, posterior %g ± %g", n, spec, seen, want, d)
		}
		if d := 4.5*prior*math.Sqrt(8/float64(n)) + 1; want < prior-d && !f.Searched || want > prior+d {
			t.Errorf("n=%d %s: posterior %g false positives, prior %g", n, spec, want, prior)
		}
	}
}

func merge(t *testing.T, f Family, spec string) {
	a, b := Hashes(500, 21), Hashes(500, 22)
	s, _ := filter.ParseSpec(spec)
	build := func(parts ...[]filter.Hash) family.Filter { return finish(t, builder(t, f, s, 1000), parts...) }
	x := build(a)
	m, ok := x.(family.Merger)
	if !ok {
		t.Skip("the family does not merge")
	}
	if err := m.Merge(build(b), nil); err != nil {
		t.Fatal(err)
	}
	if !equal(x, build(b, a)) {
		t.Error("the merged filter differs from one built from both sets of keys")
	}
	if err := m.Merge(Build(t, f, spec, Hashes(5000, 1)), nil); err == nil {
		t.Error("a filter of another size merged")
	}
}

// remove removes keys one by one. No other key may become absent.
func remove(t *testing.T, f Family, spec string) {
	hs := Hashes(2000, 41)
	built := Build(t, f, spec, hs)
	r, ok := built.(family.Remover)
	if !ok {
		t.Skip("the family does not remove")
	}
	gone, stay := hs[:1500], hs[1500:]
	for i, h := range gone {
		if err := r.Remove(h); err != nil {
			t.Fatalf("key %d: %v", i, err)
		}
	}
	noFalseNegative(t, built, stay)
	if n := built.Info().Keys; n != uint64(len(stay)) {
		t.Errorf("%d keys are left, want %d", n, len(stay))
	}
	encodeDecode(t, f, built, stay)
	for _, h := range Hashes(1000, 42) {
		if built.Has(h) {
			continue // a false positive
		}
		if err := r.Remove(h); !errors.Is(err, filter.ErrNotFound) {
			t.Fatalf("removing an absent key: %v", err)
		}
	}
	noFalseNegative(t, built, stay)
}

// concurrent adds keys to a builder from several goroutines. The result must be the same as from one goroutine.
func concurrent(t *testing.T, f Family, spec string) {
	hs := Hashes(20_000, 31)
	s, _ := filter.ParseSpec(spec)
	b := builder(t, f, s, len(hs))
	var wg sync.WaitGroup
	for part := range slices.Chunk(hs, len(hs)/4) {
		wg.Go(func() {
			for piece := range slices.Chunk(part, 700) {
				if err := b.AddMany(piece); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	built := finish(t, b)
	noFalseNegative(t, built, hs)
	if !equal(built, Build(t, f, spec, hs)) {
		t.Error("the filter depends on the number of goroutines")
	}
}
