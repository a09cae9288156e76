package job

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/bloomery/bloomery/internal/steps"
)

// unread is a Store of which nothing can be read.
type unread struct{ steps.Store }

func (unread) Stat(context.Context, string) (steps.Object, error) {
	return steps.Object{}, errors.New("no answer")
}

// TestMark: a mark ends the watch of its attempt, also one that begins later, and no other attempt. The tally counts what
// is finished. Finish removes the mark, which ends the watches that are left; after it none is written. An output that
// cannot be read ends no watch.
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
	if err := mark(t.Context(), p, out, "one"); err != nil {
		t.Fatal(err)
	}
	<-one.Done()
	if !errors.Is(context.Cause(one), errCancelled) || !errors.Is(cause(out, "one"), errCancelled) || two.Err() != nil {
		t.Errorf("%v; a late worker %v; another attempt %v", context.Cause(one), cause(out, "one"), two.Err())
	}
	if err := cause(unread{out}, "one"); err != nil {
		t.Errorf("an output that cannot be read: %v", err)
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
	if err := mark(t.Context(), p, out, "three"); err != nil || len(markFiles(t, c)) != 0 {
		t.Errorf("a late mark: %v, %q", err, markFiles(t, c))
	}
}
