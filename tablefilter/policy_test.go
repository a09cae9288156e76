package tablefilter

import (
	"errors"
	"testing"

	"github.com/bloomery/bloomery/filter"
)

func TestNames(t *testing.T) {
	for _, spec := range specs {
		p, err := New(spec)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse(p.Name())
		if err != nil || again.Name() != p.Name() || again.spec.String() != p.spec.String() {
			t.Errorf("%s: name %s is %v, %v", spec, p.Name(), again, err)
		}
	}
}

func TestErrors(t *testing.T) {
	for spec, want := range map[string]error{
		"blocked(":                             filter.ErrSpec,
		"bloom":                                filter.ErrFamily,
		"standard":                             filter.ErrFamily,
		"rankindexed":                          filter.ErrFamily,
		"blocked(bytes=1000)":                  filter.ErrConfig,
		"blocked(blocks=10,k=7,layout=line)":   filter.ErrConfig,
		"blocked(bits_per_key=10,capacity=9)":  filter.ErrConfig,
		"partitioned(bits_per_key=8,later=10)": filter.ErrConfig,
		"partitioned(budget=1s)":               filter.ErrConfig,
		"blocked(bits_per_key=-1)":             filter.ErrConfig,
		"blocked(size=1)":                      filter.ErrConfig,
		"fuse(width=33)":                       filter.ErrConfig,
		"ribbon(r=33)":                         filter.ErrConfig,
		"ribbon(r=8,value_bits=3)":             filter.ErrConfig,
		"ribbon(r=8,tail=3)":                   filter.ErrConfig,
	} {
		if _, err := New(spec); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", spec, err, want)
		}
		if _, err := Parse(Prefix + spec); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", Prefix+spec, err, want)
		}
	}
	for _, name := range []string{"", "none", "rocksdb.BuiltinBloomFilter", "blocked"} {
		if _, err := Parse(name); !errors.Is(err, filter.ErrSpec) {
			t.Errorf("%q: %v", name, err)
		}
	}
}
