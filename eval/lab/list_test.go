package lab

import (
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/bloomery/bloomery/eval/lab/figure"
)

func TestMatch(t *testing.T) {
	names := func(patterns ...string) (names []string) {
		found, err := Match(patterns...)
		if err != nil {
			t.Error(err)
		}
		for _, e := range found {
			names = append(names, e.Name)
		}
		return names
	}
	if got := names("ph-time", "ph-a*", "ph-t*"); !slices.Equal(got[:2], []string{"ph-time", "ph-anneal"}) ||
		slices.Contains(got[2:], "ph-time") {
		t.Errorf("%q", got)
	}
	if got := names("*"); len(got) != len(Experiments()) {
		t.Errorf("%q", got)
	}
	for _, bad := range []string{"nothing*", "ph-[", ""} {
		if found, err := Match("ph-time", bad); err == nil {
			t.Errorf("%q is %d experiments", bad, len(found))
		}
	}
}

// TestCores requires the same results on one core and on several.
func TestCores(t *testing.T) {
	all, err := Match("plank-findinck", "saha-spam", "plank-tester", "saha-universal", "onehit", "hashes", "ribbon",
		"flows")
	if err != nil {
		t.Fatal(err)
	}
	if testing.Short() {
		all = all[:2]
	}
	for _, e := range all {
		run := func(cores int) figure.Result {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
			r, err := e.Do(t.Context(), Config{Quick: true, Trials: 2, Seed: 5})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		if !reflect.DeepEqual(run(1), run(4)) {
			t.Errorf("%s: other results on other cores", e.Name)
		}
	}
}
