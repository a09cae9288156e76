package exact

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bloomery/bloomery/filter"
)

// TestSameBytes builds a set in different orders, from several goroutines, with duplicates, with little memory and with
// different numbers of workers. The bytes must be the same.
func TestSameBytes(t *testing.T) {
	l := newLayout(60_000, 40, 3)
	var partitions, keys, memberPartitions, members [][]byte
	l.keys(3, func(p, k []byte, member bool) bool {
		p, k = bytes.Clone(p), bytes.Clone(k)
		partitions, keys = append(partitions, p), append(keys, k)
		if member {
			memberPartitions, members = append(memberPartitions, p), append(members, k)
		}
		return true
	})
	want := must(l.build(t, 3, Config{}).appendTo(nil))
	for name, c := range map[string]Config{
		"all in memory": {}, "64 KiB": {Memory: 64 << 10, TempDir: t.TempDir()},
		"one worker": {Workers: 1}, "5 workers": {Workers: 5},
	} {
		c.Partitioned = true
		b, err := NewBuilder(c)
		check(t, err)
		r := rand.New(rand.NewPCG(9, 9))
		r.Shuffle(len(keys), func(i, j int) {
			partitions[i], partitions[j] = partitions[j], partitions[i]
			keys[i], keys[j] = keys[j], keys[i]
		})
		done := make(chan error)
		const parts = 4
		for i := range parts {
			go func() {
				lo, hi := i*len(keys)/parts, (i+1)*len(keys)/parts
				err := b.AddUniverse(keys[lo:hi], partitions[lo:hi]...)
				done <- errors.Join(err, b.AddUniverse(keys[lo:lo+10], partitions[lo:lo+10]...))
			}()
		}
		for range parts {
			err = errors.Join(err, <-done)
		}
		if err = errors.Join(err, b.AddMembers(members, memberPartitions...)); err != nil {
			t.Fatal(err)
		}
		if c.Memory > 0 != b.keys.Spilled() {
			t.Errorf("%s: spilled %t", name, b.keys.Spilled())
		}
		s := must(b.Build(t.Context()))
		if got, _ := s.appendTo(nil); !bytes.Equal(got, want) {
			t.Errorf("%s: another file, of %d bytes instead of %d", name, len(got), len(want))
		}
	}
}

func TestOutside(t *testing.T) {
	seq := func(keys ...string) iter.Seq[[]byte] {
		return func(yield func([]byte) bool) {
			for _, k := range keys {
				if !yield([]byte(k)) {
					return
				}
			}
		}
	}
	_, err := Build(t.Context(), seq("b", "x", "y", "x"), seq("a", "b", "c"), Config{})
	var e *OutsideError
	if !errors.As(err, &e) || e.Count != 2 {
		t.Fatal(err)
	}
	if slices.Sort(e.Keys); !slices.Equal(e.Keys, []string{`"x"`, `"y"`}) || !strings.Contains(err.Error(), `"x"`) {
		t.Errorf("%v", err)
	}
	pair := func(p, k string) iter.Seq2[[]byte, []byte] {
		return func(yield func(_, _ []byte) bool) { yield([]byte(p), []byte(k)) }
	}
	_, err = Build(t.Context(), pair("p", "k"), pair("q", "k"), Config{})
	if !errors.As(err, &e) || e.Count != 1 || !slices.Equal(e.Keys, []string{`"p": "k"`}) {
		t.Errorf("%v", err)
	}
	many := universeOf(1000)
	_, err = Build(t.Context(), many, seq("a"), Config{})
	if !errors.As(err, &e) || e.Count != 1000 || len(e.Keys) != maxNamed {
		t.Errorf("%v", err)
	}
}

// TestPartitionsApart builds a set with the same keys in several partitions, and with names and keys that are equal
// when concatenated.
func TestPartitionsApart(t *testing.T) {
	all := func(yield func(_, _ []byte, member bool) bool) {
		for _, p := range []string{"", "a", "ab", "b"} {
			for _, k := range []string{"", "b", "bc", "c", "ab"} {
				if !yield([]byte(p), []byte(k), (len(p)+len(k))%2 == 1 && p != "b") {
					return
				}
			}
		}
	}
	only := func(members bool) iter.Seq2[[]byte, []byte] {
		return func(yield func(_, _ []byte) bool) {
			all(func(p, k []byte, member bool) bool { return members && !member || yield(p, k) })
		}
	}
	s := must(Build(t.Context(), only(true), only(false), Config{}))
	all(func(p, k []byte, member bool) bool {
		if s.in(p, k) != member {
			t.Errorf("%q, %q: want %t", p, k, member)
		}
		return true
	})
	if s.Contains([]byte("b")) != s.in(nil, []byte("b")) {
		t.Error("Contains does not ask for the partition without a name")
	}
}

func TestMisuse(t *testing.T) {
	if _, err := NewBuilder(Config{Seed: 1, Secret: &vectorSecret}); !errors.Is(err, filter.ErrConfig) {
		t.Errorf("seed and secret: %v", err)
	}
	key := [][]byte{{1}}
	for _, partitioned := range []bool{false, true} {
		b := must(NewBuilder(Config{Partitioned: partitioned}))
		if err := b.AddUniverse(key); errors.Is(err, filter.ErrConfig) != partitioned {
			t.Errorf("partitioned %t, without partitions: %v", partitioned, err)
		}
		if err := b.AddMembers(key, key...); errors.Is(err, filter.ErrConfig) == partitioned {
			t.Errorf("partitioned %t, with partitions: %v", partitioned, err)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	b := must(NewBuilder(Config{}))
	cancel()
	if _, err := b.Build(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestCancelled ends the context at each stage of a build.
func TestCancelled(t *testing.T) {
	before := runtime.NumGoroutine()
	for at := range 7 {
		ctx, cancel := context.WithCancel(t.Context())
		calls := 0
		_, err := Build(ctx, chosen(50_000, .1, 1), universeOf(50_000), Config{Progress: func(p filter.Progress) {
			if calls == at {
				cancel()
			}
			calls++
		}})
		cancel()
		if at < 4 && !errors.Is(err, context.Canceled) {
			t.Errorf("call %d: %v", at, err)
		}
	}
	for end := time.Now().Add(20 * time.Second); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines, before %d", runtime.NumGoroutine(), before)
		}
	}
}

func TestProgress(t *testing.T) {
	last, calls := 0.0, 0
	report := func(p filter.Progress) {
		if p.Done < last || p.Done > 1 {
			t.Errorf("from %g to %g", last, p.Done)
		}
		last = p.Done
		calls++
	}
	_, err := Build(t.Context(), chosen(100_000, .01, 1), universeOf(100_000), Config{Progress: report})
	if err != nil || calls < 4 || last < .5 {
		t.Errorf("%d calls up to %g: %v", calls, last, err)
	}
}

// TestSteps checks that long stages count their steps, so that the progress advances.
func TestSteps(t *testing.T) {
	const n = 20_000
	want := func(what string, p *stages, least uint64) {
		t.Helper()
		if p.steps < least || p.steps > p.all {
			t.Errorf("%s: %d of %d steps, want at least %d", what, p.steps, p.all, least)
		}
	}
	filled := func(c Config) *Builder {
		b, err := NewBuilder(c)
		if err == nil {
			members, _ := sourceOf(chosen(n, .1, 1))
			err = feedKeys(t.Context(), members, false, func(_, k [][]byte) error { return b.AddMembers(k) })
		}
		if err == nil {
			universe, _ := sourceOf(universeOf(n))
			err = feedKeys(t.Context(), universe, false, func(_, k [][]byte) error { return b.AddUniverse(k) })
		}
		if e := b.finish(t.Context()); err != nil || e != nil {
			t.Fatal(err, e)
		}
		t.Cleanup(func() { b.Close() })
		return b
	}
	b := filled(Config{})
	counts := must(b.countKeys(t.Context()))
	want("count", &b.stages, n)
	l, err := b.newLevels(t.Context(), nil, counts)
	if err == nil {
		err = l.fillFirst(t.Context())
	}
	if err == nil {
		err = l.buildFirst(t.Context())
	}
	check(t, err)
	want("level 1", &b.stages, counts[0].members)
	check(t, l.fillLast(t.Context()))
	check(t, l.buildLast(t.Context()))
	want("level 2", &b.stages, 2*counts[0].members)

	old := mustBuild(t, n, .1, 1, Config{})
	c := comparison{Builder: filled(Config{Base: old}), batch: batch{set: old}, counts: make([]tally, 1)}
	if err := c.compareAll(t.Context()); err != nil || len(c.toggled) > 0 {
		t.Errorf("%d keys to toggle, %v", len(c.toggled), err)
	}
	want("comparison", &c.stages, n)
}

func TestVerifier(t *testing.T) {
	const n = 20_000
	s := mustBuild(t, n, .05, 1, Config{})
	calls, last := 0, 0.
	run := func(members, universe iter.Seq[[]byte]) Verification {
		v := s.NewVerifier(Config{Memory: 64 << 10, TempDir: t.TempDir(), Progress: func(p filter.Progress) {
			calls++
			last = p.Done
		}})
		for i, keys := range []iter.Seq[[]byte]{members, universe} {
			all, _ := sourceOf(keys)
			err := feedKeys(t.Context(), all, false, func(_, k [][]byte) error {
				if i == 0 {
					return v.AddMembers(k)
				}
				return v.AddUniverse(k)
			})
			check(t, err)
		}
		r := must(v.Commit(t.Context()))
		return r
	}
	r := run(chosen(n, .05, 1), universeOf(n))
	if calls < 4 || last < .8 || last > 1 {
		t.Errorf("%d reports of progress up to %g", calls, last)
	}
	if r.Wrong != 0 || r.Universe != n || r.Members != s.Info().Members || r.Outside != 0 {
		t.Errorf("%+v", r)
	}
	// If the Verifier is given other members, the members of the set are falsely present and the given ones are
	// missing.
	both, missing := uint64(0), uint64(0)
	for key := range chosen(n, .03, 2) {
		if s.Contains(key) {
			both++
		} else {
			missing++
		}
	}
	falsely := s.Info().Members - both
	want := Verification{Universe: n, Members: both + missing, Missing: missing, FalselyPresent: falsely,
		Wrong: missing + falsely}
	if r = run(chosen(n, .03, 2), universeOf(n)); r != want {
		t.Errorf("%+v, want %+v", r, want)
	}
	if r = run(universeOf(5), universeOf(3)); r.Outside != 2 {
		t.Errorf("%+v", r)
	}
}

// TestOutsideRate queries keys outside the universe.
func TestOutsideRate(t *testing.T) {
	for _, density := range []float64{.001, .05, .45, .9, 1} {
		s := mustBuild(t, 20_000, density, 1, Config{})
		const asked = 200_000
		yes := 0
		var key [9]byte
		for i := range asked {
			key[0], key[1], key[2] = byte(i), byte(i>>8), byte(i>>16)
			if s.Contains(key[:]) {
				yes++
			}
		}
		want := s.Info().OutsideRate
		sigma := math.Sqrt(want * (1 - want) / asked)
		// Level 2 answers all keys of a bucket from the same slots, so its rate is not exactly one half.
		if got := float64(yes) / asked; math.Abs(got-want) > 5*sigma+.03*min(want, 1-want) {
			t.Errorf("density %g: %g of the other keys are present, want %g", density, got, want)
		}
	}
}

// TestUnknownRate queries keys of unknown and known partitions, before and after updates.
func TestUnknownRate(t *testing.T) {
	for i, densities := range [][]float64{
		{.001, .001, .5}, {.1, .01, 2}, {-1, 2}, {.3}, {.7, .01, .5, .1, .2},
		{.001, .005, .01, .05, .1, .2, .3, .5, .7, .95, 2},
	} {
		v := vectorSet{name: "one-partition", n: 8000, densities: densities, updates: i % 3, changes: 40}
		s, _ := v.build(t)
		const asked = 100_000
		unknown, known := 0, 0
		for k := range asked {
			key := fmt.Appendf(nil, "outside %d", k)
			if s.in(fmt.Appendf(nil, "unknown %d", k), key) {
				unknown++
			}
			p := k % len(densities)
			if s.in(fmt.Append(nil, strings.Repeat("partition ", p%3), p), key) {
				known++
			}
		}
		info := s.Info()
		if got := float64(unknown) / asked; math.Abs(got-info.UnknownRate) > .025 {
			t.Errorf("%g: %g of the keys in other partitions are present, want %g", densities, got, info.UnknownRate)
		}
		// The partitions do not have the same number of keys.
		if got := float64(known) / asked; math.Abs(got-info.OutsideRate) > .03 {
			t.Errorf("%g: %g of the other keys are present, want %g", densities, got, info.OutsideRate)
		}
		t.Logf("%g: %.4f in other partitions, %.4f in these", densities, info.UnknownRate, info.OutsideRate)
	}
	if i := mustBuild(t, 1000, .1, 1, Config{}).Info(); i.UnknownRate != 0 {
		t.Errorf("%+v", i)
	}
}

func TestContainsMany(t *testing.T) {
	s := newLayout(30_000, 30, 1).build(t, 1, Config{})
	var partitions, keys [][]byte
	newLayout(30_000, 30, 1).keys(1, func(p, k []byte, _ bool) bool {
		partitions, keys = append(partitions, bytes.Clone(p)), append(keys, bytes.Clone(k))
		return true
	})
	for _, n := range []int{0, 1, 255, 256, 257, len(keys)} {
		got := make([]bool, n)
		s.manyIn(got, partitions[:n], keys[:n])
		for i := range got {
			if got[i] != s.in(partitions[i], keys[i]) {
				t.Fatalf("key %d of %d: %t", i, n, got[i])
			}
		}
		s.ContainsMany(got, keys[:n])
		for i := range got {
			if got[i] != s.Contains(keys[i]) {
				t.Fatalf("key %d of %d without a partition: %t", i, n, got[i])
			}
		}
	}
	key := []byte("key")
	if n := testing.AllocsPerRun(100, func() { s.in(key, key) }); n > 0 {
		t.Errorf("ContainsIn allocates %g times", n)
	}
}
