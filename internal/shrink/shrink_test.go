package shrink

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
		{100, 50, List, true}, {100, 49, List, false}, {100, 0, List, false}, {1, 0, List, false},
		{100, 90, Members, true}, {100, 89, Members, false},
		{100, 0, 0.999, false}, {100, 0, Any, true}, {math.MaxUint64, 1, 0.99, false},
	} {
		err := Check("keys", c.before, c.after, c.allowed)
		var e *Error
		if (err == nil) != c.ok || !c.ok && (!errors.As(err, &e) || !errors.Is(err, filter.ErrShrunk)) {
			t.Errorf("%d keys after %d with %v: %v", c.after, c.before, c.allowed, err)
		}
	}
	err := Check("members", 60000, 9736, Members)
	if want := "members: 9736, and 60000 before: 50264 are lost, and at most 10% may be"; err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestAllowed(t *testing.T) {
	for _, wrong := range []float64{-0.1, 1.1, math.NaN(), math.Inf(1)} {
		if _, err := Allowed(wrong, List); !errors.Is(err, filter.ErrConfig) {
			t.Errorf("%v: %v", wrong, err)
		}
	}
	for option, want := range map[float64]float64{0: List, 0.2: 0.2, 1: Any} {
		if got, err := Allowed(option, List); got != want || err != nil {
			t.Errorf("%v: %v, %v; want %v", option, got, err, want)
		}
	}
}
