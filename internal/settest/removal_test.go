package settest_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/settest"
)

// removable are specs whose filters can remove keys.
var removable = []string{
	"counting(fpr=0.01)", "rankindexed(fpr=0.01)", "rankindexed(fpr=0.01,counting=1)",
}

// keysOf returns keys from..to-1 of a list that depends on the seed.
func keysOf(seed, from, to int) [][]byte {
	var keys [][]byte
	for i := from; i < to; i++ {
		keys = append(keys, fmt.Appendf(nil, "%d/%d", seed, i))
	}
	return keys
}

// TestRemovalEstimate removes lists with strangers by force. Summed over the seeds, the number of lost members must
// agree with the estimate.
func TestRemovalEstimate(t *testing.T) {
	const n, seeds = 20_000, 3
	for _, spec := range removable {
		for _, list := range []struct{ members, strangers int }{{0, n}, {n / 2, n}, {n * 9 / 10, 4 * n}, {0, 10}} {
			var lost, want float64
			for seed := range seeds {
				keys := keysOf(seed, 0, n)
				s := settest.Build(t, keys, bloomery.Config{Spec: spec})
				before := settest.Must(s.Clone())
				r, err := s.Removal(bloomery.JobConfig{Building: bloomery.Building{Memory: 1 << 20}}) // some go to a file
				settest.Check(t, err)
				defer r.Close()
				settest.Check(t, r.AddMany(append(keysOf(seed, n, n+list.strangers), keys[:list.members]...)))
				seen := settest.Must(r.Look(t.Context()))
				if !s.Equal(before) {
					t.Fatal("Look changes the set")
				}
				if list.strangers < 30 { // 0.1 to 0.3 strangers that look present
					if seen.Strangers >= bloomery.MaxStrangers {
						t.Errorf("%s: %+v", spec, seen)
					}
					continue
				}
				if got, err := r.Commit(t.Context()); !errors.Is(err, filter.ErrStrangers) || got != seen || !s.Equal(before) {
					t.Errorf("%s: %+v, %v; changed: %t", spec, got, err, !s.Equal(before))
				}
				r.Force()
				got := settest.Must(r.Commit(t.Context()))
				if got.Lost != seen.Lost || got.Removed+got.NotFound != uint64(list.members+list.strangers) ||
					s.Len() != n-got.Removed {
					t.Errorf("%s: %+v after %+v, %d keys are left", spec, got, seen, s.Len())
				}
				want += got.Lost
				hits := make([]bool, n-list.members)
				bloomery.Keyed[[]byte](s).ContainsMany(hits, keys[list.members:])
				for _, hit := range hits {
					if !hit {
						lost++
					}
				}
			}
			// Removing a stranger from a counting filter may lose up to seven members. The estimate itself is
			// wrong by up to 8%.
			if bound := 4*math.Sqrt(7*want) + 0.08*want; math.Abs(lost-want) > bound {
				t.Errorf("%s, %+v: %g members are lost, want %g within %.0f", spec, list, lost, want, bound)
			}
			t.Logf("%s, %+v: %g lost, estimate %.0f", spec, list, lost, want)
		}
	}
}

// TestRemoveMany removes correct lists, lists of keys that were added several times, and lists with one unknown key.
func TestRemoveMany(t *testing.T) {
	keys := keysOf(0, 0, 20_000)
	for _, spec := range removable {
		for _, twice := range []int{0, 5000} {
			s := settest.Build(t, keys, bloomery.Config{Spec: spec})
			list := slices.Clone(keys[:15_000])
			for _, k := range keys[:twice] {
				if err := s.Add(k); err != nil {
					if errors.Is(err, filter.ErrFull) {
						break
					}
					t.Fatal(err)
				}
				list = append(list, k)
			}
			was := s.Len()
			rand.New(rand.NewPCG(1, 2)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
			got, err := settest.RemoveMany(s, append(list, []byte("unknown")))
			if err != nil || got.NotFound != 1 || got.Unknown != 1 || got.Removed != uint64(len(list)) || got.Strangers > 0.02 {
				t.Errorf("%s: %+v, %v", spec, got, err)
			}
			if s.Len() != was-uint64(len(list)) {
				t.Errorf("%s: %d keys are left", spec, s.Len())
			}
			for _, k := range keys[15_000:] {
				if !s.Contains(k) {
					t.Fatalf("%s: %s is lost", spec, k)
				}
			}
		}
	}
}

// TestRemoveTooOften removes keys more often than they were added. Such a list must count as a list with strangers, and
// a repeated key as one unknown key.
func TestRemoveTooOften(t *testing.T) {
	keys := keysOf(0, 0, 20_000)
	for _, spec := range removable {
		s := settest.Build(t, keys, bloomery.Config{Spec: spec})
		before := settest.Must(s.Clone())
		list := slices.Concat(keys[:10_000], keys[:10_000], keys[:10_000])
		got, err := settest.RemoveMany(s, list)
		if !errors.Is(err, filter.ErrStrangers) || !s.Equal(before) || got.Unknown < 9900 || got.Unknown > 10_000 ||
			got.Strangers < 30 || got.Strangers > 200 {
			t.Errorf("%s: %+v, %v", spec, got, err)
		}
		once := slices.Concat(keys[:1], keys[:1], keys[:1], keys[:1], keys[:1], keys[:1])
		if got, err := settest.RemoveMany(s, once); err != nil || got.Unknown != 1 || got.Removed != 1 || got.NotFound != 5 {
			t.Errorf("%s: one key: %+v, %v", spec, got, err)
		}
	}
	s := settest.Build(t, keys, bloomery.Config{Spec: "fuse"})
	if _, err := settest.RemoveMany(s, keys); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("fuse: %v", err)
	}
	var empty bloomery.Set
	if _, err := settest.RemoveMany(&empty, keys); err == nil {
		t.Error("the zero Set removes keys")
	}
}

// TestRemovalForms removes from a mapped file and from a Set for many writers.
func TestRemovalForms(t *testing.T) {
	keys := keysOf(0, 0, 400_000)
	for _, spec := range removable {
		plain := settest.Build(t, keys, bloomery.Config{Spec: spec})
		shared := settest.Build(t, keys, bloomery.Config{Spec: spec, Concurrent: true})
		path := t.TempDir() + "/f.bloom"
		settest.Check(t, plain.Save(t.Context(), path))
		mapped := settest.Must(bloomery.Open(t.Context(), path))
		defer mapped.Close()
		list := append(keysOf(1, 0, 20_000), keys[:1000]...)
		want, err := settest.RemoveMany(plain, list)
		if !errors.Is(err, filter.ErrStrangers) {
			t.Fatalf("%s: %v", spec, err)
		}
		for form, s := range map[string]*bloomery.Set{"mapped": mapped, "concurrent": shared} {
			if got, err := settest.RemoveMany(s, list); got != want || !errors.Is(err, filter.ErrStrangers) {
				t.Errorf("%s, %s: %+v, %v; want %+v", spec, form, got, err, want)
			}
			if got, err := settest.RemoveMany(s, keys[:1000]); got.Removed != 1000 || err != nil {
				t.Errorf("%s, %s: %+v, %v", spec, form, got, err)
			}
		}
	}
}

// TestStrangers removes lists of 50 keys of which all, or nearly all, are strangers. The expected loss is below half a
// member, but one of three lists has a stranger that looks present. No list may remove a member, in any family, sharded
// or not. Without the rule for wrong lists, most of these seeds would.
func TestStrangers(t *testing.T) {
	const n, size, seeds = 2000, 50, 40
	for _, spec := range removable {
		refused, unsure := 0, 0
		for seed := range seeds {
			keys := keysOf(seed, 0, n)
			known := seed % 4 // keys of the list that were added
			list := slices.Concat(keys[:known], keysOf(seed, n, n+size-known))
			s := settest.Build(t, keys, bloomery.Config{Spec: spec, Hashing: bloomery.Hashing{Seed: uint64(seed)}})
			hits := make([]bool, size)
			bloomery.Keyed[[]byte](s).ContainsMany(hits, list)
			looks := slices.Contains(hits[known:], true)
			if looks {
				unsure++
			}
			got, err := settest.RemoveMany(s, list)
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

// TestRemovalClosed checks the texts of the errors of a Removal after Look and after Close.
func TestRemovalClosed(t *testing.T) {
	s := settest.Build(t, settest.Words(10), bloomery.Config{Spec: "rankindexed"})
	r := settest.Must(s.Removal(bloomery.JobConfig{}))
	settest.Must(r.Look(t.Context()))
	if err := r.AddMany(keysOf(0, 0, 1)); err == nil ||
		err.Error() != "bloomery: the Removal has looked at its list, which is closed to more keys" {
		t.Errorf("after Look: %v", err)
	}
	settest.Check(t, r.Close())
	if err := r.AddMany(keysOf(0, 0, 1)); err == nil ||
		err.Error() != "bloomery: the Removal has looked at its list, which is closed to more keys" {
		t.Errorf("after Close: %v", err)
	}
}

// TestHalfStrangers checks that a list with half of its keys in the Set does not count as the wrong list. With force,
// any list is removed.
func TestHalfStrangers(t *testing.T) {
	keys := keysOf(0, 0, 1000)
	s := settest.Build(t, keys, bloomery.Config{Spec: "rankindexed(fpr=1e-6)"})
	for unknown, ok := range map[int]bool{9: true, 10: true, 11: false} {
		list := slices.Concat(keys[:10], keys[:10], keysOf(1, 0, unknown)) // the repeated keys are known
		c := settest.Must(s.Clone())
		got, err := settest.RemoveMany(c, list)
		if ok != (err == nil) || !ok && (!errors.Is(err, filter.ErrStrangers) || !c.Equal(s)) {
			t.Errorf("10 keys and %d strangers: %+v, %v", unknown, got, err)
		}
	}
	r := settest.Must(s.Removal(bloomery.JobConfig{}))
	defer r.Close()
	settest.Check(t, r.AddMany(append(keysOf(1, 0, 90), keys[0])))
	r.Force()
	if got, err := r.Commit(t.Context()); got.Removed != 1 || err != nil {
		t.Errorf("by force: %+v, %v", got, err)
	}
	dir := filepath.Join(t.TempDir(), "set")
	settest.Must(settest.BuildShards(t.Context(), slices.Values(keys), dir,
		bloomery.Config{Spec: "rankindexed(fpr=1e-6)", Sharding: bloomery.Sharding{Shards: 4}}))
	l := settest.Must(bloomery.Lock(t.Context(), dir))
	defer l.Close()
	if got, err := settest.RemoveMany(l.Set, append(keysOf(1, 0, 3), keys[:2]...)); !errors.Is(err, filter.ErrStrangers) {
		t.Errorf("shards: %+v, %v", got, err)
	}
}
