package job

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bloomery/bloomery/internal/shardset"
	"github.com/bloomery/bloomery/internal/steps"
)

// looked is a Store that implements only Stat. It contains objects with these names, or does not answer.
type looked struct {
	steps.Store
	mu    sync.Mutex
	names map[string]bool // nil: no answer
	looks int
}

func (l *looked) Stat(_ context.Context, name string) (steps.Object, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.looks++
	switch {
	case l.names == nil:
		return steps.Object{}, errors.New("no answer")
	case !l.names[name]:
		return steps.Object{}, fs.ErrNotExist
	}
	return steps.Object{Name: name}, nil
}

func (l *looked) set(name string, there bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.names[name] = there
}

// TestWatchMark checks that a mark ends the watch of its attempt within a second, and no other watch. The removal of
// the plan must end the other watches within five seconds. An output that does not answer must end no watch, and a
// stopped watch must not read.
func TestWatchMark(t *testing.T) {
	p := new(steps.Plan)
	plan := shardset.WorkName(p.ID(), steps.PlanName)
	synctest.Test(t, func(t *testing.T) {
		out := &looked{names: map[string]bool{plan: true}}
		one, stopOne := watchMark(t.Context(), p, out, "one")
		two, stopTwo := watchMark(t.Context(), p, out, "two")
		defer stopOne()
		defer stopTwo()
		time.Sleep(time.Minute + time.Second/2) // not at a tick
		if one.Err() != nil || two.Err() != nil {
			t.Fatal(context.Cause(one), context.Cause(two))
		}

		for _, c := range []struct {
			name    string
			there   bool
			watched context.Context
			most    time.Duration
			want    error
		}{
			{markName(p, "one"), true, one, time.Second, errCancelled}, {plan, false, two, 5 * time.Second, steps.ErrNoPlan},
		} {
			start := time.Now()
			out.set(c.name, c.there)
			<-c.watched.Done()
			if took, err := time.Since(start), context.Cause(c.watched); took > c.most || !errors.Is(err, c.want) {
				t.Errorf("after %v: %v, want %v", took, err, c.want)
			}
			if c.watched == one && two.Err() != nil {
				t.Errorf("another attempt: %v", context.Cause(two))
			}
		}
	})
	synctest.Test(t, func(t *testing.T) {
		out := new(looked)
		watched, stop := watchMark(t.Context(), p, out, "one")
		time.Sleep(time.Minute)
		if watched.Err() != nil {
			t.Errorf("an output that does not answer: %v", context.Cause(watched))
		}
		stop()
		synctest.Wait()
		looks := out.looks
		time.Sleep(time.Minute)
		if out.looks != looks || errors.Is(context.Cause(watched), errCancelled) {
			t.Errorf("%d looks after the stop; %v", out.looks-looks, context.Cause(watched))
		}
	})
}

// TestMark checks that a mark ends the watches of its attempt, including watches that begin later, and no watch of
// another attempt. The tally counts finished steps. Finish removes the mark and ends the remaining watches. After
// Finish, no mark may be written.
func TestMark(t *testing.T) {
	pattern, _ := plain(t, 30_000)
	c := config(pattern, filepath.Join(t.TempDir(), "set"), "blocked(fpr=0.01)")
	_, p, out, err := c.plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cause := func(out steps.Store, attempt string) error {
		watched, stop := watchMark(t.Context(), p, out, attempt)
		defer stop()
		return context.Cause(watched)
	}
	one, stopOne := watchMark(t.Context(), p, out, "one")
	two, stopTwo := watchMark(t.Context(), p, out, "two")
	defer stopOne()
	defer stopTwo()
	if err := writeMark(t.Context(), p, out, "one"); err != nil {
		t.Fatal(err)
	}
	<-one.Done()
	if !errors.Is(context.Cause(one), errCancelled) || !errors.Is(cause(out, "one"), errCancelled) || two.Err() != nil {
		t.Errorf("%v; a late worker %v; another attempt %v", context.Cause(one), cause(out, "one"), two.Err())
	}

	var before, want tally
	count := func() {
		t.Helper()
		got, err := newTally(t.Context(), p, out, before)
		if err != nil || got != want {
			t.Errorf("%+v, %v; want %+v", got, err, want)
		}
		before = got
	}
	count()
	for i := range p.Ranges {
		d, err := p.Range(t.Context(), steps.Files(), out, i, steps.Options{})
		if err != nil {
			t.Fatal(err)
		}
		packed := encodeDone(d)
		if back, err := decodeDone(packed); err != nil || !reflect.DeepEqual(back, d) {
			t.Errorf("%+v is %+v after it was packed, %v", d, back, err)
		}
		for n := range 8 {
			if _, err := decodeDone(packed[:len(packed)-n]); (err == nil) != (n == 0) {
				t.Errorf("a result without its last %d bytes: %v", n, err)
			}
		}
		want.ranges, want.keys = want.ranges+1, want.keys+d.Keys
		count()
	}
	for s := range p.Shards {
		if _, err := p.Build(t.Context(), out, s, steps.Options{}); err != nil {
			t.Fatal(err)
		}
		want.shards++
		count()
	}

	if _, err := p.Finish(t.Context(), out, steps.Options{}); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	<-two.Done()
	if took := time.Since(start); took > 10*time.Second || !errors.Is(context.Cause(two), steps.ErrNoPlan) {
		t.Errorf("after %v: %v", took, context.Cause(two))
	}
	if err := cause(out, "one"); !errors.Is(err, steps.ErrNoPlan) {
		t.Errorf("a late worker after Finish: %v", err)
	}
	if err := writeMark(t.Context(), p, out, "three"); err != nil || len(markFiles(t, c)) != 0 {
		t.Errorf("a late mark: %v, %q", err, markFiles(t, c))
	}
}
