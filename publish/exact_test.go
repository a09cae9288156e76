package publish

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/exact"
	"github.com/bloomery/bloomery/filter"
)

// exactKeys yields the keys of a universe from number first to number end-1.
func exactKeys(first, end int) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for i := first; i < end; i++ {
			if !yield(fmt.Appendf(nil, "key%d", i)) {
				return
			}
		}
	}
}

// exactSet returns the set of a version: its members are keys [version, 100 + version) of 2,000. If old is not nil, the
// set is an update of old.
func exactSet(t testing.TB, old *exact.Set, version int, c exact.Config) *exact.Set {
	t.Helper()
	c.Base = old
	s, err := exact.Build(t.Context(), exactKeys(version, 100+version), exactKeys(0, 2000), c)
	must(t, err)
	return s
}

// wrong returns the number of wrong answers of a set of exactSet for its universe.
func wrong(s *exact.Set, version int) (n int) {
	i := 0
	for key := range exactKeys(0, 2000) {
		if s.Contains(key) != (i >= version && i < 100+version) {
			n++
		}
		i++
	}
	return n
}

// TestPublishExact publishes updates of an exact set, and follows them.
func TestPublishExact(t *testing.T) {
	secret := filter.Secret{1}
	for _, c := range []exact.Config{{Seed: 5}, {Secret: &secret}} {
		dir, file := filepath.Join(t.TempDir(), "revoked"), filepath.Join(t.TempDir(), "new.exact")
		f := newFollower(t, dir, filepath.Join(t.TempDir(), "copy.exact"), WithSecret(c.Secret))
		var s *exact.Set
		for version := range 4 {
			before := uint64(0)
			if s != nil {
				before = s.Info().Bytes
			}
			s = exactSet(t, s, version, c)
			must(t, s.Save(t.Context(), file))
			r := mustPublish(t, dir, file, Options{Now: start.Add(time.Duration(version) * day)})
			if r.Release.Kind != Exact || r.Release.Keys != 100 || r.Release.Number != uint64(version+1) ||
				!strings.HasPrefix(r.Release.Spec, "exact(universe=2000,") {
				t.Errorf("%+v", r.Release)
			}
			e, ok := polled(t, f).is(Updated)
			if !ok || e.Delta != (version > 0) {
				t.Errorf("version %d: %+v", version, e)
			}
			if d := r.record.Previous; d != nil && d.Delta.Bytes != s.Info().Bytes-before+24+20 { // with the trailer
				t.Errorf("a delta of %d bytes", d.Delta.Bytes)
			}
			got, err := exact.Open(t.Context(), f.file, exact.WithSecret(c.Secret))
			must(t, err)
			if n := wrong(got, version); n > 0 {
				t.Errorf("version %d: %d wrong answers", version, n)
			}
		}
		checked, err := Check(t.Context(), dir, nil, nil)
		if err != nil || checked.Deltas != 3 {
			t.Errorf("%+v, %v", checked, err)
		}
		fresh := exactSet(t, nil, 9, c) // not an update: the whole file
		must(t, fresh.Save(t.Context(), file))
		if r := mustPublish(t, dir, file, Options{Now: start.Add(9 * day)}); r.record.Previous.Delta != nil {
			t.Errorf("%+v", r.record.Previous)
		}
		if e, ok := polled(t, f).is(Updated); !ok || e.Delta {
			t.Errorf("%+v", e)
		}
		other := build(t, t.TempDir(), 0, 0, bloomery.Config{})
		if _, err := Publish(t.Context(), dir, other, Options{}); !errors.Is(err, ErrName) {
			t.Errorf("a filter after an exact set: %v", err)
		}
		if _, err := Publish(t.Context(), dir, file, Options{Trim: true}); !errors.Is(err, filter.ErrUnsupported) {
			t.Errorf("trimmed: %v", err)
		}
	}
}

// polled polls a release that may have expired.
func polled(t *testing.T, f *Follower) Event {
	t.Helper()
	e, err := f.Poll(t.Context())
	if err != nil && !errors.Is(err, ErrExpired) {
		t.Fatal(err)
	}
	return e
}

// TestFollowExactDamaged checks that an object published as an exact set is verified before the file is replaced.
func TestFollowExactDamaged(t *testing.T) {
	s := newSite(t)
	s.forge = func(r *record) { r.Kind = Exact }
	good := encoded(t, exactSet(t, nil, 0, exact.Config{}))
	f := s.follower(s.dir)
	s.publish(good)
	mustPoll(t, f)
	damaged := encoded(t, exactSet(t, exactSet(t, nil, 0, exact.Config{}), 1, exact.Config{}))
	damaged[len(damaged)-6] ^= 1
	for _, b := range [][]byte{
		damaged, damaged[:len(damaged)-1], good[:len(good)/2], filterOf(t, 1000, 0), []byte("x"),
	} {
		s.publish(b)
		if _, err := f.Poll(t.Context()); err == nil || !strings.Contains(err.Error(), "this program cannot open it") {
			t.Errorf("%d bytes: %v", len(b), err)
		}
		holds(t, f, good)
	}
	s.forge = nil
	s.publish(good) // as a filter file
	s.publish(append(bytes.Clone(good), encoded(t, exactSet(t, nil, 3, exact.Config{}))...))
	if _, err := f.Poll(t.Context()); err == nil {
		t.Error("an exact set that is published as a filter file")
	}
	holds(t, f, good)
}

// TestFollowExact checks that a Live loads each new release. Follow refuses exact sets, and FollowExact refuses
// filters.
func TestFollowExact(t *testing.T) {
	s := newSite(t)
	s.deltas, s.forge = true, func(r *record) { r.Kind = Exact }
	web := s.serve()
	file := filepath.Join(t.TempDir(), "f.exact")
	set := exactSet(t, nil, 0, exact.Config{})
	s.publish(encoded(t, set))
	o := []FollowOption{WithKeys(s.keys[0].Public()), WithInterval(10 * time.Millisecond)}
	if _, err := Follow(t.Context(), web.URL, file, o...); !errors.Is(err, ErrKind) {
		t.Errorf("Follow: %v", err)
	}
	live, err := FollowExact(t.Context(), web.URL, file, o...)
	must(t, err)
	for version := 1; version < 4; version++ {
		set = exactSet(t, set, version, exact.Config{})
		s.publish(encoded(t, set))
		eventually(t, "no new release", func() bool { return live.Set().Info().Updates == version })
		if n := wrong(live.Set(), version); n > 0 || live.Err() != nil {
			t.Errorf("%d wrong answers, %v", n, live.Err())
		}
	}
	if err := live.Close(); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	other := newSite(t)
	other.publish(filterOf(t, 1000, 0))
	if _, err := FollowExact(ctx, other.dir, filepath.Join(t.TempDir(), "f"), o...); !errors.Is(err, ErrKind) {
		t.Errorf("FollowExact: %v", err)
	}
	write(t, file, []byte("x"), 0o666)
	if live, err = FollowExact(ctx, web.URL, file, o...); err != nil { // the file is loaded again
		t.Fatal(err)
	}
	if n := wrong(live.Set(), 3); n > 0 {
		t.Errorf("%d wrong answers after damage", n)
	}
	if err := live.Close(); err != nil {
		t.Error(err)
	}
}
