package publish

import (
	"errors"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
)

// TestFollowTrimmed: trimmed filters and sets take deltas, and so does the first full one after a trimmed one.
func TestFollowTrimmed(t *testing.T) {
	for what, shards := range map[string]int{File: 0, Set: 3} {
		s, src := newSite(t), t.TempDir()
		c := bloomery.Config{Spec: "rankindexed(capacity=2500,fpr=0.01)"}
		f := s.follower(s.dir)
		for v := range 4 {
			file := build(t, src, v, shards, c)
			r := mustPublish(t, s.dir, file, Options{Name: "x", Sign: s.keys, Trim: v < 3})
			e, ok := mustPoll(t, f).is(Updated)
			if p := r.record.Previous; !ok || e.Delta != (p != nil && p.Delta != nil) || e.Unused != nil {
				t.Errorf("%s, release %d: %v", what, r.Release.Number, e)
			}
			if v == 1 && !e.Delta {
				t.Errorf("%s: no delta", what)
			}
		}
	}
}

// TestTrimmedLimit: a trimmed filter that is too large in memory is refused.
func TestTrimmedLimit(t *testing.T) {
	s := newSite(t)
	file := build(t, t.TempDir(), 1, 0, bloomery.Config{Spec: "rankindexed(capacity=20000,fpr=0.01)"})
	r := mustPublish(t, s.dir, file, Options{Sign: s.keys, Trim: true})
	f := s.follower(s.dir, WithMaxBytes(r.Release.Total+1000))
	if _, err := f.Poll(t.Context()); !errors.Is(err, filter.ErrTooLarge) {
		t.Error(err)
	}
}
