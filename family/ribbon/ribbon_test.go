package ribbon

import (
	"fmt"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/filtertest"
)

func build(t testing.TB, spec string, hs []filter.Hash) *Filter {
	t.Helper()
	s, err := filter.ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	c, err := ConfigFromSpec(s, uint64(len(hs)))
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewBuilder(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.AddMany(hs); err != nil {
		t.Fatal(err)
	}
	f, err := b.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return f.(*Filter)
}

func TestFirst(t *testing.T) {
	for _, spec := range []string{"ribbon", "ribbon(r=1,w=128)", "ribbon(fpr=0.01)"} {
		for _, n := range []int{0, 1, 100, 257, 1000, 10000, 100000, 1000000} {
			hs := filtertest.Hashes(n, 1)
			f := build(t, spec, hs)
			for i, h := range hs {
				if !f.Has(h) {
					t.Fatalf("%d keys: %d missing", n, i)
				}
			}
			in := f.Info()
			fmt.Println(n, in.Spec, in.BitsPerKey()/float64(f.r), in.FPRPosterior, in.FPRPrior)
		}
	}
}
