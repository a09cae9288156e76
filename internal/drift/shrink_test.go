package drift

import (
	"errors"
	"math"
	"testing"

	"github.com/bloomery/bloomery/filter"
)

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		before, after uint64
		allowed       float64
		ok            bool
	}{
		{0, 0, 0, true}, {0, 5, 0, true}, {5, 5, 0, true}, {5, 6, 0, true}, {5, 4, 0, false},
		{100, 50, ShrinkOfList, true}, {100, 49, ShrinkOfList, false}, {100, 0, ShrinkOfList, false},
		{1, 0, ShrinkOfList, false},
		{100, 90, ShrinkOfMembers, true}, {100, 89, ShrinkOfMembers, false},
		{100, 0, 0.999, false}, {100, 0, AnyShrink, true}, {math.MaxUint64, 1, 0.99, false},
	} {
		err := CheckShrink("keys", c.before, c.after, c.allowed)
		var e *ShrinkError
		if (err == nil) != c.ok || !c.ok && (!errors.As(err, &e) || !errors.Is(err, filter.ErrShrunk)) {
			t.Errorf("%d keys after %d with %v: %v", c.after, c.before, c.allowed, err)
		}
	}
	err := CheckShrink("members", 60000, 9736, ShrinkOfMembers)
	if want := "members: 9736, and 60000 before: 50264 are lost, and at most 10% may be"; err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestAllowed(t *testing.T) {
	for _, wrong := range []float64{-0.1, 1.1, math.NaN(), math.Inf(1)} {
		if _, err := AllowedShrink(wrong, ShrinkOfList); !errors.Is(err, filter.ErrConfig) {
			t.Errorf("%v: %v", wrong, err)
		}
	}
	for option, want := range map[float64]float64{0: ShrinkOfList, 0.2: 0.2, 1: AnyShrink} {
		if got, err := AllowedShrink(option, ShrinkOfList); got != want || err != nil {
			t.Errorf("%v: %v, %v; want %v", option, got, err, want)
		}
	}
}
