package bloomery_test

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
)

// unread is a filter for many writers that must not be read as a whole.
type unread struct {
	family.Concurrent
	t *testing.T
}

func (u unread) Info() filter.Info {
	u.t.Error("Info is called")
	return u.Concurrent.Info()
}

func (u unread) Snapshot() (family.Filter, error) {
	u.t.Error("Snapshot is called")
	return u.Concurrent.Snapshot()
}

// TestConcurrentUnread: what describes a Set for many writers, and every error of what its family cannot do, neither
// reads the filter nor waits for its writers.
func TestConcurrentUnread(t *testing.T) {
	for _, name := range families.With(family.CanConcurrent) {
		s, err := bloomery.New(bloomery.Config{Spec: name, Keys: 1000, Concurrent: true})
		if err != nil {
			t.Fatal(name, err)
		}
		want := s.Info().Spec
		quiet := bloomery.SetOf(unread{Concurrent: bloomery.FilterOf(s).(family.Concurrent), t: t}, s.Hasher())
		if got := quiet.Spec(); got != want {
			t.Errorf("%s: Spec is %s, of Info %s", name, got, want)
		}
		_ = fmt.Sprintf("%v %+v %s", quiet, quiet, slog.AnyValue(quiet).Resolve())
		if n := quiet.Len(); n != 0 {
			t.Errorf("%s: %d keys", name, n)
		}
		key := []byte("key")
		_, _, errGet := quiet.Get(key)
		_, errBits := quiet.ValueBits()
		_, _, errCount := quiet.Count(key)
		_, errRemoval := quiet.Removal(bloomery.JobConfig{})
		_, errAllower := s.Allower(bloomery.JobConfig{Like: quiet})
		var errTrimmed, errIntersect, errOverlap error
		f, err := families.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		if !f.Can.Has(family.CanTrim) {
			_, errTrimmed = quiet.Trimmed()
		}
		if !f.Can.Has(family.CanIntersect) {
			errIntersect = quiet.Intersect(s)
		}
		if !f.Can.Has(family.CanEstimate) {
			_, errOverlap = quiet.EstimateOverlap(s)
		}
		for what, err := range map[string]error{
			"Get": errGet, "ValueBits": errBits, "Put": quiet.Put(key, 1), "Count": errCount, "Removal": errRemoval,
			"Allower": errAllower, "Trimmed": errTrimmed, "Intersect": errIntersect, "EstimateOverlap": errOverlap,
			"Remove": quiet.Remove(key), "Upsert": quiet.Upsert(key, 1),
			"Optimize": bloomery.Optimize(t.Context(), quiet, slices.Values([][]byte{key})),
		} {
			if err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, filter.ErrNotFound) {
				t.Errorf("%s: %s: %v", name, what, err)
			}
		}
	}
}
