package settest_test

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/drift"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/settest"
)

// TestShrink checks that a Set built like another one may lose at most half of its keys, or the share that Shrink
// allows, in every family.
func TestShrink(t *testing.T) {
	keys := settest.Words(1000)
	for _, f := range families.All() {
		old := settest.Build(t, keys, bloomery.Config{Spec: settest.SpecOf(f)})
		for _, c := range []struct {
			left   int
			shrink float64
			ok     bool
		}{
			{1000, 0, true}, {510, 0, true}, {480, 0, false}, {0, 0, false},
			{910, 0.1, true}, {890, 0.1, false}, {0, 0.999, false}, {1, 1, true}, {0, 1, true},
		} {
			_, err := bloomery.Build(t.Context(), slices.Values(keys[:c.left]),
				bloomery.Config{Like: bloomery.Like{Set: old, Shrink: c.shrink}})
			if lost := (*drift.ShrinkError)(nil); c.ok != (err == nil) || !c.ok && !errors.As(err, &lost) {
				t.Errorf("%s: %d of 1000 keys with %g: %v", f.Name, c.left, c.shrink, err)
			}
		}
	}
	for _, shrink := range []float64{-0.1, 1.1} {
		c := bloomery.Config{Like: bloomery.Like{Set: settest.Build(t, keys, bloomery.Config{}), Shrink: shrink}}
		_, err := bloomery.NewBuilder(t.Context(), c)
		if !errors.Is(err, filter.ErrConfig) || !errors.Is(c.Check(), filter.ErrConfig) {
			t.Errorf("shrink %g: %v", shrink, err)
		}
	}
	for _, c := range []bloomery.Config{{Like: bloomery.Like{Shrink: 0.5}},
		{Like: bloomery.Like{Shrink: 0.5}, Capacity: 10}} {
		if err := c.Check(); !errors.Is(err, filter.ErrConfig) {
			t.Errorf("without Like: %v", err)
		}
	}
}

// TestShrinkDuplicates checks that repeated keys count once in the old Set and in the new one, where the bits of the
// filter show it.
func TestShrinkDuplicates(t *testing.T) {
	keys := settest.Words(3000)
	for _, spec := range []string{"standard", "blocked", "counting"} {
		old := settest.Build(t, slices.Concat(keys, keys, keys, keys), bloomery.Config{Spec: spec + "(capacity=12000)"})
		if spec != "counting" { // a counting filter would lose counts
			if _, err := bloomery.Build(t.Context(), slices.Values(keys),
				bloomery.Config{Like: bloomery.Like{Set: old}}); err != nil {
				t.Errorf("%s: each key once: %v", spec, err)
			}
		}
		cut := slices.Concat(keys[:700], keys[:700], keys[:700], keys[:700])
		_, err := bloomery.Build(t.Context(), slices.Values(cut), bloomery.Config{Like: bloomery.Like{Set: old}})
		if !errors.Is(err, filter.ErrShrunk) {
			t.Errorf("%s: 700 of 3000 keys four times: %v", spec, err)
		}
	}
}

// TestShrinkSharded checks that the limit applies to the whole set, and that a refused build leaves the folder
// unchanged.
func TestShrinkSharded(t *testing.T) {
	keys := settest.Words(200) // so few that some shards lose more than half
	dir := filepath.Join(t.TempDir(), "set")
	settest.Must(settest.BuildShards(t.Context(), slices.Values(keys), dir,
		bloomery.Config{Spec: "standard", Sharding: bloomery.Sharding{Shards: 50}}))
	old := settest.Must(bloomery.Open(t.Context(), dir))
	defer old.Close()
	before, err := os.ReadDir(dir)
	settest.Check(t, err)
	c := bloomery.Config{Like: bloomery.Like{Set: old}}
	for _, left := range []int{0, 99} {
		_, err = settest.BuildShards(t.Context(), slices.Values(keys[:left]), dir, c)
		var lost *drift.ShrinkError
		if !errors.As(err, &lost) || lost.Before != 200 || lost.After != uint64(left) {
			t.Errorf("%d keys: %v", left, err)
		}
		after, err := os.ReadDir(dir)
		if err != nil || fmt.Sprint(after) != fmt.Sprint(before) {
			t.Errorf("%v, %v: the folder has changed: %v", left, err, after)
		}
	}
	if _, err = settest.BuildShards(t.Context(), slices.Values(keys[:120]), dir, c); err != nil {
		t.Error(err)
	}
}

// TestShrinkCounts checks that a new list that contains each key once is an error if counts would be lost.
func TestShrinkCounts(t *testing.T) {
	keys := settest.Words(10_000)
	log := func(times int) iter.Seq[string] {
		return func(yield func(string) bool) {
			for i, k := range keys {
				for range 1 + i%10/8*times { // a fifth of the keys is added more than once
					if !yield(k) {
						return
					}
				}
			}
		}
	}
	for _, spec := range []string{
		"counting", "rankindexed(counting=1)", "rankindexed(counting=1,fpr=0.3)",
	} {
		build := func(times int, c bloomery.Config) (*bloomery.Set, error) {
			return bloomery.Build(t.Context(), log(times), c)
		}
		set := settest.Must(build(2, bloomery.Config{Spec: spec}))
		for times, ok := range map[int]bool{0: false, 1: true, 2: true} {
			_, err := build(times, bloomery.Config{Like: bloomery.Like{Set: set}})
			if ok != (err == nil) || !ok && !errors.Is(err, filter.ErrShrunk) {
				t.Errorf("%s, %d more: %v", spec, times, err)
			}
		}
		if _, err := build(0, bloomery.Config{Like: bloomery.Like{Set: set, Shrink: 1}}); err != nil {
			t.Errorf("%s: %v", spec, err)
		}
		dir := filepath.Join(t.TempDir(), "set")
		settest.Must(settest.BuildShards(t.Context(), log(2), dir,
			bloomery.Config{Spec: spec, Sharding: bloomery.Sharding{Shards: 20}}))
		old := settest.Must(bloomery.Open(t.Context(), dir))
		defer old.Close()
		for times, ok := range map[int]bool{0: false, 1: true} {
			_, err := settest.BuildShards(t.Context(), log(times), dir, bloomery.Config{Like: bloomery.Like{Set: old}})
			if ok != (err == nil) || !ok && !errors.Is(err, filter.ErrShrunk) {
				t.Errorf("%s, shards, %d more: %v", spec, times, err)
			}
		}
		once, err := build(0, bloomery.Config{Spec: spec}) // counts only keys that look alike
		settest.Check(t, err)
		if _, err := bloomery.Build(t.Context(), slices.Values(keys[:6000]),
			bloomery.Config{Like: bloomery.Like{Set: once}}); err != nil {
			t.Errorf("%s, each key once: %v", spec, err)
		}
	}
}

// TestShrinkAllowed checks that the limit also applies to the allowed keys of a Set built like another one.
func TestShrinkAllowed(t *testing.T) {
	allowed := func(n int) iter.Seq[[]byte] {
		return func(yield func([]byte) bool) {
			for i := range n {
				if !yield(fmt.Appendf(nil, "allowed-%d", i)) {
					return
				}
			}
		}
	}
	keys := settest.Words(1000)
	old := settest.Build(t, keys, bloomery.Config{Allow: allowed(1000)})
	for n, ok := range map[int]bool{0: false, 400: false, 600: true} {
		_, err := bloomery.Build(t.Context(), slices.Values(keys),
			bloomery.Config{Like: bloomery.Like{Set: old}, Allow: allowed(n)})
		if ok != (err == nil) || !ok && !errors.Is(err, filter.ErrShrunk) {
			t.Errorf("%d allowed keys: %v", n, err)
		}
	}
	dir := filepath.Join(t.TempDir(), "set")
	c := bloomery.Config{Spec: "standard", Sharding: bloomery.Sharding{Shards: 3}, Allow: allowed(1000)}
	settest.Must(settest.BuildShards(t.Context(), slices.Values(keys), dir, c))
	set, err := bloomery.Open(t.Context(), dir)
	settest.Check(t, err)
	defer set.Close()
	_, err = settest.BuildShards(t.Context(), slices.Values(keys), dir,
		bloomery.Config{Like: bloomery.Like{Set: set}, Allow: allowed(100)})
	if !errors.Is(err, filter.ErrShrunk) {
		t.Errorf("100 of 1000 allowed keys in shards: %v", err)
	}
}
