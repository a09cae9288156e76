package container

import (
	"fmt"
	"strings"

	"github.com/bloomery/bloomery/family/blocked"
	"github.com/bloomery/bloomery/family/blockpartitioned"
	"github.com/bloomery/bloomery/family/fuse"
	"github.com/bloomery/bloomery/family/partitioned"
	"github.com/bloomery/bloomery/family/standard"
	"github.com/bloomery/bloomery/filter"
)

// Family is one entry of the list of families: all that the container and its callers need of it.
type Family struct {
	Name string
	ID   uint16 // part of the file format; never used twice
	// Growing says that New makes filters that take keys one by one.
	Growing bool
	// Searched says that a search fits the filter to its keys: Info's prior rate is that before the search, Forecast's
	// that after it.
	Searched bool
	// SectionWords and Decode read a stored filter; see the standard family.
	SectionWords func(filter.Spec) ([]uint64, error)
	Decode       func(filter.Encoded) (filter.Filter, error)
	// Check returns what is wrong with a Spec however many keys there are, without allocating.
	Check func(filter.Spec) error
	// NewBuilder starts a filter of about that many keys. The Spec may fix the geometry or leave it open.
	NewBuilder func(s filter.Spec, keys uint64) (filter.Builder, error)
	// Forecast returns the bits and the predicted rate of the filter that NewBuilder would make, without allocating.
	Forecast func(s filter.Spec, keys uint64) (bits uint64, fpr float64, err error)
}

// Families lists every family there is, in the order in which tables show them. A new family joins here.
func Families() []Family {
	return []Family{
		{
			Name: standard.Family, ID: 1, Growing: true, SectionWords: standard.SectionWords,
			Decode: func(e filter.Encoded) (filter.Filter, error) { return orNil[filter.Filter](standard.Decode(e)) },
			Check: func(s filter.Spec) error {
				c, err := standard.ConfigFromSpec(s, 0)
				if err == nil {
					_, _, err = c.Geometry()
				}
				return err
			},
			NewBuilder: func(s filter.Spec, keys uint64) (filter.Builder, error) {
				return with(standard.ConfigFromSpec, standard.NewBuilder)(s, keys)
			},
			Forecast: func(s filter.Spec, keys uint64) (uint64, float64, error) {
				c, err := standard.ConfigFromSpec(s, keys)
				if err != nil {
					return 0, 0, err
				}
				m, k, err := c.Geometry()
				if err != nil {
					return 0, 0, err
				}
				return m, standard.FPR(keys, m, k), nil
			},
		},
		{
			Name: blocked.Family, ID: 2, Growing: true, SectionWords: blocked.SectionWords,
			Decode: func(e filter.Encoded) (filter.Filter, error) { return orNil[filter.Filter](blocked.Decode(e)) },
			Check: func(s filter.Spec) error {
				c, err := blocked.ConfigFromSpec(s, 0)
				if err == nil {
					_, _, err = c.Geometry()
				}
				return err
			},
			NewBuilder: func(s filter.Spec, keys uint64) (filter.Builder, error) {
				return with(blocked.ConfigFromSpec, blocked.NewBuilder)(s, keys)
			},
			Forecast: func(s filter.Spec, keys uint64) (uint64, float64, error) {
				c, err := blocked.ConfigFromSpec(s, keys)
				if err != nil {
					return 0, 0, err
				}
				n, k, err := c.Geometry()
				if err != nil {
					return 0, 0, err
				}
				return n * c.Layout.BlockBits(), blocked.FPR(keys, n, k, c.Layout), nil
			},
		},
		{
			Name: fuse.Family, ID: 3, SectionWords: fuse.SectionWords,
			Decode: func(e filter.Encoded) (filter.Filter, error) { return orNil[filter.Filter](fuse.Decode(e)) },
			Check: func(s filter.Spec) error {
				c, err := fuse.ConfigFromSpec(s, 0)
				if err == nil {
					_, _, err = c.Geometry(0)
				}
				return err
			},
			NewBuilder: func(s filter.Spec, keys uint64) (filter.Builder, error) {
				return with(fuse.ConfigFromSpec, fuse.NewBuilder)(s, keys)
			},
			Forecast: func(s filter.Spec, keys uint64) (uint64, float64, error) {
				c, err := fuse.ConfigFromSpec(s, keys)
				if err != nil {
					return 0, 0, err
				}
				slots, width, err := c.Geometry(keys)
				if err != nil {
					return 0, 0, err
				}
				return slots * uint64(width), fuse.FPR(width), nil
			},
		},
		{
			Name: partitioned.Family, ID: 4, Searched: true, SectionWords: partitioned.SectionWords,
			Decode: func(e filter.Encoded) (filter.Filter, error) { return orNil[filter.Filter](partitioned.Decode(e)) },
			Check: func(s filter.Spec) error { // not the geometry: a search finds that
				_, err := partitioned.ConfigFromSpec(s, 0)
				return err
			},
			NewBuilder: func(s filter.Spec, keys uint64) (filter.Builder, error) {
				return with(partitioned.ConfigFromSpec, partitioned.NewBuilder)(s, keys)
			},
			Forecast: func(s filter.Spec, keys uint64) (uint64, float64, error) {
				c, err := partitioned.ConfigFromSpec(s, keys)
				if err != nil {
					return 0, 0, err
				}
				return c.Forecast(keys)
			},
		},
		{
			Name: blockpartitioned.Family, ID: 5, Searched: true, SectionWords: blockpartitioned.SectionWords,
			Decode: func(e filter.Encoded) (filter.Filter, error) {
				return orNil[filter.Filter](blockpartitioned.Decode(e))
			},
			Check: func(s filter.Spec) error {
				_, err := blockpartitioned.ConfigFromSpec(s, 0)
				return err
			},
			NewBuilder: func(s filter.Spec, keys uint64) (filter.Builder, error) {
				return with(blockpartitioned.ConfigFromSpec, blockpartitioned.NewBuilder)(s, keys)
			},
			Forecast: func(s filter.Spec, keys uint64) (uint64, float64, error) {
				c, err := blockpartitioned.ConfigFromSpec(s, keys)
				if err != nil {
					return 0, 0, err
				}
				return c.Forecast(keys)
			},
		},
	}
}

// FamilyByName returns a family, or an error wrapping ErrFamily that lists those there are.
func FamilyByName(name string) (Family, error) {
	var names []string
	for _, f := range Families() {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return Family{}, fmt.Errorf("%w %q; there are %s", ErrFamily, name, strings.Join(names, ", "))
}

// with joins a family's reader of Specs and its maker of builders.
func with[C any, B filter.Builder](config func(filter.Spec, uint64) (C, error), make func(C) (B, error)) func(filter.Spec, uint64) (filter.Builder, error) {
	return func(s filter.Spec, keys uint64) (filter.Builder, error) {
		c, err := config(s, keys)
		if err != nil {
			return nil, err
		}
		return orNil[filter.Builder](make(c))
	}
}

// orNil keeps a nil pointer from becoming an interface that is not nil.
func orNil[I any, T any](v T, err error) (I, error) {
	var none I
	if err != nil {
		return none, err
	}
	return any(v).(I), nil
}
