package container

import (
	"fmt"

	"github.com/bloomery/bloomery/family/bitsandblooms"
	"github.com/bloomery/bloomery/family/blocked"
	"github.com/bloomery/bloomery/family/guava"
	"github.com/bloomery/bloomery/family/redisbloom"
	"github.com/bloomery/bloomery/filter"
)

// foreignFamilies are those whose bits another system reads and writes, ids from 20 on. Parquet's filters are of family
// blocked, with another hash.
func foreignFamilies() []Family {
	return []Family{
		{
			Name: guava.Family, ID: 20, Hash: filter.Murmur3, New: empty(guava.ConfigFromSpec, guava.New), SectionWords: guava.SectionWords,
			Decode: func(e filter.Encoded) (filter.Filter, error) { return orNil[filter.Filter](guava.Decode(e)) },
			Check: func(s filter.Spec) error {
				c, err := guava.ConfigFromSpec(s, 0)
				if err == nil {
					_, _, err = c.Geometry()
				}
				return err
			},
			NewBuilder: func(s filter.Spec, keys uint64) (filter.Builder, error) {
				return with(guava.ConfigFromSpec, guava.NewBuilder)(s, keys)
			},
			Forecast: func(s filter.Spec, keys uint64) (uint64, float64, error) {
				c, err := guava.ConfigFromSpec(s, keys)
				if err != nil {
					return 0, 0, err
				}
				return c.Forecast()
			},
		},
		{
			Name: bitsandblooms.Family, ID: 21, Hash: filter.Murmur3Twice, Keyed: true,
			New: empty(bitsandblooms.ConfigFromSpec, bitsandblooms.New), SectionWords: bitsandblooms.SectionWords,
			Decode: func(e filter.Encoded) (filter.Filter, error) { return orNil[filter.Filter](bitsandblooms.Decode(e)) },
			Check: func(s filter.Spec) error {
				c, err := bitsandblooms.ConfigFromSpec(s, 0)
				if err == nil {
					_, _, _, err = c.Geometry()
				}
				return err
			},
			NewBuilder: func(filter.Spec, uint64) (filter.Builder, error) {
				return nil, fmt.Errorf("family %s takes keys, not their hashes, one by one: %w", bitsandblooms.Family, filter.ErrUnsupported)
			},
			Forecast: func(s filter.Spec, keys uint64) (uint64, float64, error) {
				c, err := bitsandblooms.ConfigFromSpec(s, keys)
				if err != nil {
					return 0, 0, err
				}
				return c.Forecast()
			},
		},
		{
			Name: redisbloom.Family, ID: 22, Hash: filter.Murmur64A, New: empty(redisbloom.ConfigFromSpec, redisbloom.New), SectionWords: redisbloom.SectionWords,
			Decode: func(e filter.Encoded) (filter.Filter, error) { return orNil[filter.Filter](redisbloom.Decode(e)) },
			Check: func(s filter.Spec) error {
				c, err := redisbloom.ConfigFromSpec(s, 0)
				if err == nil {
					_, _, err = c.Forecast()
				}
				return err
			},
			NewBuilder: func(s filter.Spec, keys uint64) (filter.Builder, error) {
				return with(redisbloom.ConfigFromSpec, redisbloom.NewBuilder)(s, keys)
			},
			Forecast: func(s filter.Spec, keys uint64) (uint64, float64, error) {
				c, err := redisbloom.ConfigFromSpec(s, keys)
				if err != nil {
					return 0, 0, err
				}
				return c.Forecast()
			},
		},
	}
}

// TakesHash reports whether a filter of that Spec may have keys hashed so: that of its own system if it has one, else XXH3
// and SipHash; and XXH64 in blocked(layout=split), which then is a filter of Parquet.
func (f Family) TakesHash(s filter.Spec, id filter.HashID) bool {
	switch {
	case f.Hash != 0:
		return id == f.Hash
	case id == filter.XXH64:
		return f.Name == blocked.Family && s.Reader().Text("layout", "") == string(blocked.Split)
	}
	return id == filter.XXH3 || id == filter.SipHash
}
