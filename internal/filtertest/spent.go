package filtertest

import (
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// spent wants errors of a Builder that has built: its keys would be lost, or would change the filter.
func spent(t *testing.T, f Family, spec string) {
	s, err := filter.ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	hs := Hashes(20, 1)
	b := builder(t, f, s, 10)
	built := finish(t, b, hs[:10])
	before := built.(family.Encoder).Encode().Keys
	if b.AddMany(hs[10:]) == nil {
		t.Error("AddMany after Build gave no error")
	}
	if _, err := b.Build(t.Context()); err == nil {
		t.Error("a second Build gave no error")
	}
	if after := built.(family.Encoder).Encode().Keys; after != before {
		t.Errorf("the built filter has %d keys, %d before", after, before)
	}
}
