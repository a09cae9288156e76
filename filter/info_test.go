package filter_test

import (
	"fmt"
	"testing"

	"github.com/bloomery/bloomery/filter"
)

// TestInfoString checks the text for an empty filter, for a usual one, and for one with all fields set.
func TestInfoString(t *testing.T) {
	spec, err := filter.ParseSpec("rankindexed(fpr=0.01)")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		info filter.Info
		want string
	}{
		{filter.Info{Spec: spec},
			"rankindexed(fpr=0.01): 0 keys, 0 bytes\nfalse-positive rate 0%, predicted 0%; fill 0%"},
		{filter.Info{Spec: spec, Keys: 1000, Bits: 9301, FPRPrior: 0.0099, FPRPosterior: 0.00981, FPRPlanned: 0.01,
			Fill: 0.5},
			"rankindexed(fpr=0.01): 1000 keys, 1163 bytes, 9.301 bits per key\n" +
				"false-positive rate 0.981%, predicted 0.99%, planned 1%; fill 50%"},
		{filter.Info{Spec: spec, Keys: 10, Bits: 80, Capacity: 20, Late: 2, Fill: 0.5, FillSearched: 0.4,
			Allowed: 7, Exceptions: 1, ExceptionBits: 9, Pools: []filter.Pool{{Size: 8, Used: 3}}},
			"rankindexed(fpr=0.01): 10 keys, 10 bytes, 8 bits per key, capacity 20 keys\n" +
				"false-positive rate 0%, predicted 0%; fill 50%, 40% before the last 2 keys\n" +
				"exact for 7 allowed keys: 1 exceptions, 2 bytes\nextensions of level 2: 3 of 8 in use"},
	} {
		if got := fmt.Sprint(c.info); got != c.want {
			t.Errorf("%s\nwant\n%s", got, c.want)
		}
	}
}
