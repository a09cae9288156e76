package lab

import (
	"slices"
	"testing"
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
	if got := names("ph-time", "ph-a*", "ph-t*"); !slices.Equal(got[:2], []string{"ph-time", "ph-anneal"}) || slices.Contains(got[2:], "ph-time") {
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
