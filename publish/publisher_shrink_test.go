package publish

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/exact"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/drift"
)

// list builds a filter of n keys, or a sharded set if shards is not 0, and returns its path.
func list(t *testing.T, n, shards int) string {
	t.Helper()
	c := bloomery.Config{Spec: "standard(k=2,m=65536)"}
	if shards > 0 {
		c.Spec = "standard(bytes=4096)"
	}
	return save(t, filepath.Join(t.TempDir(), fmt.Sprint("list", n)), keys(n, 0), shards, c)
}

// TestShrink checks that a list that has lost too many keys is refused with both counts in the error, and that the
// folder is unchanged.
func TestShrink(t *testing.T) {
	for what, shards := range map[string]int{File: 0, Set: 2} {
		dir := filepath.Join(t.TempDir(), "list")
		mustPublish(t, dir, list(t, 1000, shards), Options{})
		for _, c := range []struct {
			keys   int
			shrink float64
			ok     bool
		}{
			{0, 0, false}, {499, 0, false}, {500, 0, true}, {499, 0.001, false}, {498, 0.01, true}, {0, 0.999, false},
			{10, 0.9, false}, {10, 1, true}, {2000, 0.001, true}, {0, 1, true}, {1000, 0, true},
		} {
			if c.keys == 0 && shards > 0 {
				continue // a sharded set without keys is not built
			}
			before := names(t, filepath.Join(dir, ObjectsName))
			r, err := Publish(t.Context(), dir, list(t, c.keys, shards), Options{Shrink: c.shrink})
			var e *drift.ShrinkError
			switch {
			case c.ok && err == nil && r.Release.Keys == uint64(c.keys):
			case c.ok || !errors.As(err, &e) || e.After != uint64(c.keys):
				t.Errorf("%s of %d keys, shrink %v: %v", what, c.keys, c.shrink, err)
			case fmt.Sprint(names(t, filepath.Join(dir, ObjectsName))) != fmt.Sprint(before):
				t.Errorf("%s of %d keys: objects have changed", what, c.keys)
			}
		}
	}
	for _, wrong := range []float64{-1, 1.5} {
		_, err := Publish(t.Context(), t.TempDir(), list(t, 10, 0), Options{Shrink: wrong})
		if !errors.Is(err, ErrOptions) {
			t.Errorf("%v: %v", wrong, err)
		}
	}
}

// TestShrinkRollback restores an older release with fewer keys, or removes release.json. The new list must be compared
// with the last signed release.
func TestShrinkRollback(t *testing.T) {
	s, dir := newSigner(t, "A"), filepath.Join(t.TempDir(), "list")
	mustPublish(t, dir, list(t, 100, 0), s.Options)
	back := keep(t, dir)
	mustPublish(t, dir, list(t, 1000, 0), Options{Sign: s.Sign, State: s.State, Now: s.Now})
	cut := list(t, 90, 0)
	refused := func(what string, o Options) {
		t.Helper()
		if _, err := Publish(t.Context(), dir, cut, o); !errors.Is(err, filter.ErrShrunk) {
			t.Errorf("%s: %v", what, err)
		}
	}
	refused("the newest release is there", s.Options)
	back()
	refused("an older one is there", s.Options)
	o := s.Options
	o.Name, o.Number = "list", 9
	refused("name and number are stated", o)
	must(t, os.Remove(filepath.Join(dir, ReleaseName)))
	refused("none is there", s.Options)
	o.Shrink = 1
	if r := mustPublish(t, dir, cut, o); r.Release.Number != 9 {
		t.Errorf("%+v", r)
	}
}

// TestShrinkExact checks the limits for the members and the universe of an exact set.
func TestShrinkExact(t *testing.T) {
	file := func(members, universe int) string {
		s, err := exact.Build(t.Context(), exactKeys(0, members), exactKeys(0, universe), exact.Config{})
		path := filepath.Join(t.TempDir(), "set")
		if err == nil {
			err = s.Save(t.Context(), path)
		}
		must(t, err)
		return path
	}
	s, dir := newSigner(t, "A"), filepath.Join(t.TempDir(), "list")
	mustPublish(t, dir, file(100, 2000), s.Options)
	for what, cut := range map[string]string{"members": file(40, 2000), "keys of the universe": file(100, 900)} {
		for _, lost := range []bool{false, true} {
			if lost {
				must(t, os.Rename(dir, dir+".kept"))
			}
			var e *drift.ShrinkError
			if _, err := Publish(t.Context(), dir, cut, s.Options); !errors.As(err, &e) || e.What != what {
				t.Errorf("%s, folder lost: %v: %v", what, lost, err)
			}
			if lost {
				must(t, errors.Join(os.RemoveAll(dir), os.Rename(dir+".kept", dir)))
			}
		}
	}
	mustPublish(t, dir, file(60, 1100), s.Options)
}
