package bloomery_test

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/shardtest"
)

// TestStrangers removes lists of 50 keys that are all, or nearly all, strangers: too few for an expected loss of half a
// member, but in one of three lists a stranger looks present. No list loses a member, in any family, in shards too.
// Before the rule for wrong lists, most of these seeds lost some.
func TestStrangers(t *testing.T) {
	const n, size, seeds = 2000, 50, 40
	for _, spec := range removable {
		refused, unsure := 0, 0
		for seed := range seeds {
			keys := keysOf(seed, 0, n)
			known := seed % 4 // keys of the list that were added
			list := slices.Concat(keys[:known], keysOf(seed, n, n+size-known))
			s := build(t, keys, bloomery.Config{Spec: spec, Seed: uint64(seed)})
			hits := make([]bool, size)
			bloomery.Keyed[[]byte](s).ContainsMany(hits, list)
			looks := slices.Contains(hits[known:], true)
			if looks {
				unsure++
			}
			got, err := bloomery.RemoveMany(s, list)
			switch {
			case errors.Is(err, filter.ErrStrangers):
				refused++
			case err != nil || got.Removed > 0 || known > 0 || looks:
				t.Errorf("%s, seed %d, %d known: %+v, %v", spec, seed, known, got, err)
			}
			bloomery.Keyed[[]byte](s).ContainsMany(hits, keys[:size])
			if s.Len() != n || slices.Contains(hits, false) {
				t.Fatalf("%s, seed %d: a member is lost", spec, seed)
			}
		}
		if unsure < seeds/10 || refused < seeds*3/4 {
			t.Errorf("%s: %d of %d lists have a stranger that looks present, and %d were refused", spec, unsure, seeds, refused)
		}
	}
}

// TestRemovalClosed: errors say what is wrong in the words of a user.
func TestRemovalClosed(t *testing.T) {
	s := build(t, words(10), bloomery.Config{Spec: "rankindexed"})
	r, err := s.Removal(bloomery.JobConfig{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.AddMany(keysOf(0, 0, 1)); err == nil ||
		err.Error() != "bloomery: the Removal has looked at its list, which is closed to more keys" {
		t.Errorf("after Look: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := r.AddMany(keysOf(0, 0, 1)); err == nil ||
		err.Error() != "bloomery: the Removal has looked at its list, which is closed to more keys" {
		t.Errorf("after Close: %v", err)
	}
}

// TestHalfStrangers: with half of the keys known a list is not the wrong one. By force any list is removed.
func TestHalfStrangers(t *testing.T) {
	keys := keysOf(0, 0, 1000)
	s := build(t, keys, bloomery.Config{Spec: "rankindexed(fpr=1e-6)"})
	for unknown, ok := range map[int]bool{9: true, 10: true, 11: false} {
		list := slices.Concat(keys[:10], keys[:10], keysOf(1, 0, unknown)) // keys that come too often are known
		c, err := s.Clone()
		if err != nil {
			t.Fatal(err)
		}
		got, err := bloomery.RemoveMany(c, list)
		if ok != (err == nil) || !ok && (!errors.Is(err, filter.ErrStrangers) || !c.Equal(s)) {
			t.Errorf("10 keys and %d strangers: %+v, %v", unknown, got, err)
		}
	}
	r, err := s.Removal(bloomery.JobConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.AddMany(append(keysOf(1, 0, 90), keys[0])); err != nil {
		t.Fatal(err)
	}
	r.Force()
	if got, err := r.Commit(t.Context()); got.Removed != 1 || err != nil {
		t.Errorf("by force: %+v, %v", got, err)
	}
	dir := filepath.Join(t.TempDir(), "set")
	_, err = shardtest.Build(t.Context(), slices.Values(keys), dir,
		bloomery.Config{Spec: "rankindexed(fpr=1e-6)", Shards: 4})
	if err != nil {
		t.Fatal(err)
	}
	l, err := bloomery.Lock(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if got, err := bloomery.RemoveMany(l.Set, append(keysOf(1, 0, 3), keys[:2]...)); !errors.Is(err, filter.ErrStrangers) {
		t.Errorf("shards: %+v, %v", got, err)
	}
}
