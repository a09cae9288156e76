package anneal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/bloomery/bloomery/filter"
)

// rated is a filter whose rate follows from its bits and the passes of its search.
type rated struct{ bits, keys, passes int }

func (f *rated) Has(filter.Hash) bool { return true }
func (f *rated) Info() filter.Info    { return filter.Info{} }

// ratedJob builds rated filters and records the calls of Build. Its geometry is a number of bits. The rate of a search
// is 64/(bits·passes), or 0 once it may return rates of ended searches.
type ratedJob struct {
	asked  filter.Effort
	most   int // bits
	log    []string
	before func() // called before each part
}

func (j *ratedJob) Geometry(n uint64) (int, filter.Effort, error) {
	j.log = append(j.log, fmt.Sprintf("geometry of %d", n))
	return 100, j.asked, nil
}

func (j *ratedJob) New(bits int, n uint64) (*rated, error) {
	return &rated{bits: bits, keys: int(n)}, nil
}

func (j *ratedJob) Parts(int) (uint64, func(filter.Hash) uint64) {
	return 4, func(h filter.Hash) uint64 { return h.Hi >> 62 }
}

func (j *ratedJob) Worker(f *rated, pace *Pace) func(uint64, []filter.Hash) error {
	return func(_ uint64, keys []filter.Hash) error {
		if j.before != nil {
			j.before()
		}
		pace.Take(uint64(len(keys)))
		f.passes = pace.passes
		f.keys -= len(keys)
		return nil
	}
}

func (j *ratedJob) Rate(f *rated) float64 {
	j.log = append(j.log, fmt.Sprintf("%d bits, %d passes, %d keys left out", f.bits, f.passes, f.keys))
	return 64 / float64(f.bits*max(f.passes, 1))
}

func (j *ratedJob) Longer(_ int, was filter.Effort, n uint64) (filter.Effort, bool) {
	return Longer(j.asked, was, n)
}

func (j *ratedJob) Larger(bits int, _ uint64, rate, more float64) (int, error) {
	if bits += 1 + int(more); bits > j.most {
		return 0, &filter.ConfigError{Field: "fpr", Value: rate, Reason: "too low"}
	}
	return bits, nil
}

// gathered returns a Builder of some keys.
func gathered(t *testing.T, n uint64, goal Goal, j *ratedJob) *Builder[int, *rated] {
	t.Helper()
	b := NewBuilder(Common{Workers: 1}, j)
	b.Goal = goal
	for i := range n {
		if err := b.AddMany([]filter.Hash{{Hi: i << 54}}); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// TestBuild checks the order of the attempts to keep a rate: the forecast size, two longer searches, then larger sizes
// until the rate is kept or the family has no larger size.
func TestBuild(t *testing.T) {
	for _, c := range []struct {
		name   string
		asked  filter.Effort
		goal   Goal
		keys   uint64
		most   int
		failed bool
		want   []string
	}{
		{"no rate", filter.Effort{}, Goal{}, 1000, 0, false, []string{"geometry of 1000", "100 bits, 64 passes, 0 keys left out"}},
		{"kept at once", filter.Effort{}, Goal{Rate: 0.01}, 1000, 0, false,
			[]string{"geometry of 1000", "100 bits, 64 passes, 0 keys left out"}},
		{"no keys", filter.Effort{}, Goal{Rate: 1e-9}, 0, 0, false, []string{"geometry of 0", "100 bits, 0 passes, 0 keys left out"}},
		{"longer", filter.Effort{}, Goal{Rate: 0.003}, 1000, 0, false, []string{"geometry of 1000",
			"100 bits, 64 passes, 0 keys left out", "100 bits, 128 passes, 0 keys left out", "100 bits, 256 passes, 0 keys left out"}},
		// 1.5 · 1000 · log2(0.0025/0.002) / 0.85 = 568.1
		{"longer, then larger", filter.Effort{}, Goal{Rate: 0.002}, 1000, 1000, false, []string{"geometry of 1000",
			"100 bits, 64 passes, 0 keys left out", "100 bits, 128 passes, 0 keys left out", "100 bits, 256 passes, 0 keys left out",
			"669 bits, 256 passes, 0 keys left out"}},
		// The later keys also need room, so the size doubles.
		{"later keys", filter.Effort{Passes: 256}, Goal{Rate: 0.002, Later: 1000}, 1000, 2000, false, []string{"geometry of 1000",
			"100 bits, 256 passes, 0 keys left out", "1237 bits, 256 passes, 0 keys left out"}},
		{"no room", filter.Effort{Passes: 256}, Goal{Rate: 0.002}, 1000, 500, true, []string{"geometry of 1000",
			"100 bits, 256 passes, 0 keys left out"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := &ratedJob{asked: c.asked, most: c.most}
			f, err := gathered(t, c.keys, c.goal, j).Build(t.Context())
			if errors.Is(err, filter.ErrConfig) != c.failed || (f == nil) != c.failed || err != nil && !c.failed {
				t.Errorf("%v, %v", f, err)
			}
			if !slices.Equal(j.log, c.want) {
				t.Errorf("got\n%q, want\n%q", j.log, c.want)
			}
		})
	}
}

// TestBuildStopped ends the context in the first part of a search that misses its rate.
func TestBuildStopped(t *testing.T) {
	for _, cause := range []error{filter.ErrEnough, errors.New("another cause")} {
		ctx, cancel := context.WithCancelCause(t.Context())
		j := &ratedJob{asked: filter.Effort{Passes: 1}, before: func() { cancel(cause) }}
		f, err := gathered(t, 1000, Goal{Rate: 1e-9}, j).Build(ctx)
		switch {
		case cause == filter.ErrEnough && (err != nil || !slices.Equal(j.log[1:], []string{"100 bits, 1 passes, 0 keys left out"})):
			t.Errorf("enough: %v, %q", err, j.log)
		case cause != filter.ErrEnough && (f != nil || err != context.Canceled || len(j.log) != 1):
			t.Errorf("%v: %v, %v, %q", cause, f, err, j.log)
		}
	}
}

// TestRunSmallInTime runs a part of many small states with a time limit, on a clock that counts work. The part must use
// up its time, and each state must get about the same number of passes.
func TestRunSmallInTime(t *testing.T) {
	const states, perKey, passes = 200, 10 * time.Nanosecond, 50
	s := fresh(geometries[1], 4, 5, 1)
	keys := int(s.starts[len(s.starts)-1])
	all := uint64(states * keys)
	clock := NewClock(perKey)
	start := clock.Now()
	budget := time.Duration(all) * perKey * passes
	part := newPace(t.Context(), clock, filter.Effort{Budget: budget}, start, all, 1).Take(all)
	for i := range states {
		s.Reset(s.Geometry, []uint32{uint32(keys)})
		rnd := Random(i)
		before := part.spent
		part.RunSmall(s, &rnd, keys, false)
		if made := (part.spent - before) / float64(keys); i > 0 && (made < passes-1 || made > passes+2) {
			t.Errorf("state %d got %g passes, want about %d", i, made, passes)
		}
		part.Advance(float64(i+1) / states)
	}
	if took := clock.Now().Sub(start); took > budget || took < budget*9/10 {
		t.Errorf("%v took %v", budget, took)
	}
}
