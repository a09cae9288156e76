package settest_test

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/settest"
)

// TestJobsEnd checks that after Commit and after Close the other methods of a job return an error wrapping ErrClosed
// and change nothing, whether the Set is sharded or not.
func TestJobsEnd(t *testing.T) {
	ctx, all := t.Context(), settest.AsKeys(settest.Words(400))
	dir := filepath.Join(t.TempDir(), "set")
	for name, c := range map[string]bloomery.Config{
		"one":     {Spec: "rankindexed(capacity=4000,counting=1)"},
		"sharded": {Spec: "rankindexed(capacity=4000,counting=1)", Sharding: bloomery.Sharding{Dir: dir, Shards: 3}},
	} {
		s := settest.Build(t, append(settest.Words(400), settest.Words(400)...), c)
		want := s.Len()
		ended := func(job, call string, err error) {
			t.Helper()
			if !errors.Is(err, filter.ErrClosed) {
				t.Errorf("%s: %s of an ended %s: %v", name, call, job, err)
			}
		}
		for _, commit := range []bool{true, false} {
			r, err := s.Removal(bloomery.JobConfig{})
			v, err2 := s.Verifier(bloomery.JobConfig{})
			a, err3 := s.Addition(bloomery.JobConfig{})
			settest.Check(t, errors.Join(err, err2, err3, r.AddMany(all[:10])))
			if commit {
				_, err := r.Commit(ctx)
				_, err2 := v.Commit(ctx)
				settest.Check(t, errors.Join(err, err2, a.Commit(ctx)))
				want -= 10
			} else if err := errors.Join(r.Close(), v.Close(), a.Close()); err != nil {
				t.Fatal(err)
			}
			_, err = r.Commit(ctx)
			ended("Removal", "Commit", err)
			_, err = r.Look(ctx)
			ended("Removal", "Look", err)
			ended("Removal", "AddMany", r.AddMany(all))
			_, err = v.Commit(ctx)
			ended("Verifier", "Commit", err)
			ended("Verifier", "AskMembers", v.AskMembers(all))
			ended("Verifier", "AddAbsent", v.AddAbsent(all))
			ended("Verifier", "AskRandom", v.AskRandom(ctx, 1, 1, nil))
			ended("Addition", "Commit", a.Commit(ctx))
			ended("Addition", "AddMany", a.AddMany(all))
			if err := errors.Join(r.Close(), v.Close(), a.Close()); err != nil {
				t.Error(err)
			}
			if s.Len() != want {
				t.Errorf("%s: %d keys, want %d", name, s.Len(), want)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestAllowerEnds checks that an Allower can be committed only once. After a Commit that failed because members were
// missing, the missing members can be added.
func TestAllowerEnds(t *testing.T) {
	ctx := t.Context()
	s := settest.Build(t, settest.Words(500), bloomery.Config{Spec: "blocked(bits_per_key=6)"})
	members := settest.AsKeys(settest.Words(500))
	make := func() *bloomery.Allower {
		a, err := s.Allower(bloomery.JobConfig{})
		settest.Check(t, errors.Join(err, a.AllowMany(settest.AsKeys(settest.Words(3000))[500:])))
		return a
	}
	ended := func(a *bloomery.Allower) {
		t.Helper()
		for _, err := range []error{a.Commit(ctx), a.AllowMany(members), a.AddMembers(members)} {
			if !errors.Is(err, filter.ErrClosed) {
				t.Errorf("an ended Allower: %v", err)
			}
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
	a := make()
	settest.Check(t, errors.Join(a.AddMembers(members[:10])))
	if err := a.Commit(ctx); !errors.Is(err, filter.ErrKeys) {
		t.Fatal(err)
	}
	settest.Check(t, errors.Join(a.AddMembers(members[10:]), a.Commit(ctx)))
	ended(a)

	canceled, cancel := context.WithCancel(ctx)
	cancel()
	a = make()
	settest.Check(t, a.AddMembers(members))
	if err := a.Commit(canceled); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	ended(a)

	a = make()
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	ended(a)
	if _, err := s.Allower(bloomery.JobConfig{Building: bloomery.Building{Memory: -1}}); !errors.Is(err,
		filter.ErrConfig) {
		t.Error(err)
	}
}

// TestJobsOfReplacedSet checks that keys of a job are never lost. They must be added to the present filter of the Set,
// and after Close the job must return an error.
func TestJobsOfReplacedSet(t *testing.T) {
	ctx, all := t.Context(), settest.AsKeys(settest.Words(1000))
	old := settest.Build(t, settest.Words(100), bloomery.Config{Spec: "rankindexed(capacity=4000)"})
	file := settest.Must(old.MarshalBinary())
	jobs := func(s *bloomery.Set) (*bloomery.Addition, *bloomery.Removal, *bloomery.Verifier) {
		none := bloomery.JobConfig{}
		return settest.Must(s.Addition(none)), settest.Must(s.Removal(none)), settest.Must(s.Verifier(none))
	}
	s := settest.Must(bloomery.Read(bytes.NewReader(file)))
	a, r, v := jobs(s)
	settest.Check(t, errors.Join(s.UnmarshalBinary(file), a.AddMany(all), a.Commit(ctx), v.AskMembers(all)))
	for _, key := range all {
		if !s.Contains(key) {
			t.Fatalf("%q is lost", key)
		}
	}
	if n, err := v.Commit(ctx); err != nil || n.FalseNegatives != 0 {
		t.Error(n, err)
	}
	settest.Check(t, r.AddMany(all))
	if n, err := r.Commit(ctx); err != nil || n.Removed != 1000 {
		t.Error(n, err)
	}

	a, r, v = jobs(s)
	settest.Check(t, errors.Join(r.AddMany(all[:1]), s.Close()))
	_, err := r.Commit(ctx)
	err2 := v.AskMembers(all)
	_, err3 := v.Commit(ctx)
	for i, err := range []error{a.AddMany(all), err, errors.Join(err2, err3)} {
		if !errors.Is(err, filter.ErrClosed) {
			t.Errorf("job %d of a closed Set: %v", i, err)
		}
	}
}

// TestLongLines checks that a line of 1 MiB is a key, with or without a newline, and that a longer line is an error
// that is returned.
func TestLongLines(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for text, ok := range map[string]bool{
		long: true, long + "\nb\n": true, long + "x": false, "a\n" + long + "x\nb": false,
	} {
		s, err := bloomery.BuildFrom(t.Context(), bloomery.Lines(strings.NewReader(text)), bloomery.Config{})
		if (err == nil) != ok || (s != nil) != ok || ok && !s.ContainsString(long) {
			t.Errorf("%d bytes: %v, %v", len(text), s, err)
		}
	}
}
