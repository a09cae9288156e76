package families

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// TestFewSlots builds with numbers of slots of the caller: larger filters of the same rate, of which a key changes
// fewer bits. The rate holds after the later keys.
func TestFewSlots(t *testing.T) {
	const keys, later = 40_000, 4000
	hs := filtertest.Hashes(keys+later, 3)
	for _, name := range []string{"partitioned", "blockpartitioned"} {
		kind, err := ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		last := uint64(0)
		for _, k := range []int{7, 5, 4, 3} {
			s, err := filter.ParseSpec(fmt.Sprintf("%s(effort=fast,fpr=0.01,k=%d,later=%d)", name, k, later))
			if err != nil {
				t.Fatal(err)
			}
			b, err := kind.NewBuilder(s, keys)
			if err != nil {
				t.Fatal(err)
			}
			if err := b.AddMany(hs[:keys]); err != nil {
				t.Fatal(err)
			}
			f, err := b.Build(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range hs[keys:] {
				if err := f.(family.Adder).Add(h); err != nil {
					t.Fatal(err)
				}
			}
			i := f.Info()
			if family.Reader(i.Spec).Uint("k") != uint64(k) || i.FPRPosterior > 0.0101 || i.Bits <= last {
				t.Errorf("k=%d: %+v, after %d bits", k, i, last)
			}
			last = i.Bits
		}
		for _, k := range []string{"0", "65", "99999999999"} {
			s, err := filter.ParseSpec(name + "(k=" + k + ")")
			if err != nil || !errors.Is(kind.Check(s), filter.ErrConfig) {
				t.Errorf("%s, k=%s: %v", name, k, err)
			}
		}
		for _, spec := range []string{"bits_per_key=2", "fpr=0.01"} {
			s, err := filter.ParseSpec(name + "(k=64," + spec + ")")
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := kind.Forecast(s, keys); err != nil && !errors.Is(err, filter.ErrConfig) {
				t.Errorf("%s: %v", s, err)
			}
		}
	}
}
