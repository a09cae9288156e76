package container

import (
	"fmt"
	"strings"

	"github.com/bloomery/bloomery/family/blocked"
	"github.com/bloomery/bloomery/family/blockpartitioned"
	"github.com/bloomery/bloomery/family/counting"
	"github.com/bloomery/bloomery/family/dleft"
	"github.com/bloomery/bloomery/family/fuse"
	"github.com/bloomery/bloomery/family/partitioned"
	"github.com/bloomery/bloomery/family/rankindexed"
	"github.com/bloomery/bloomery/family/standard"
	"github.com/bloomery/bloomery/family/twochoice"
	"github.com/bloomery/bloomery/filter"
)

// Family is one entry of the list of families: all that the container and its callers need of it.
type Family struct {
	Name string
	ID   uint16 // part of the file format; never used twice
	// Hash is the only hash function of a family that another system has; 0 in our own. See TakesHash.
	Hash filter.HashID
	// Keyed says that the filters are filter.KeyFilters: New makes them, and NewBuilder fails.
	Keyed bool
	// New makes an empty filter that takes about that many keys one by one. It is nil in families that need all keys at once.
	New func(s filter.Spec, keys uint64) (filter.Filter, error)
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
	// Forecast returns the bits and the predicted rate of the filter that NewBuilder would make, without allocating it. A
	// family that is Searched tries a search on a sample of random keys.
	Forecast func(s filter.Spec, keys uint64) (bits uint64, fpr float64, err error)
	// Reoptimize starts a filter of the same geometry as one of this family, whose search goes on from the hash functions
	// of that. All keys are needed again; they may have changed. It is nil in families that are not Searched.
	Reoptimize func(f filter.Filter, e filter.Effort) (filter.Builder, error)
	// Trim returns the trimmed form of a filter of this family, in which it is sent: the same filter, sharing its content,
	// whose Encode leaves out what Decode makes again. It is nil in families without one.
	Trim func(f filter.Filter) filter.Filter
	// Inflated returns how many bytes Decode allocates beside the sections for the bits of a trimmed filter, and whether the
	// Spec is that of one. It is nil in families without Trim, whose filters lie in their sections.
	Inflated func(filter.Spec) (bytes uint64, trimmed bool, err error)
}

// Families lists every family there is, in the order in which tables show them. A new family joins here.
func Families() []Family {
	return append(ownFamilies(), foreignFamilies()...)
}

func ownFamilies() []Family {
	return []Family{
		{
			Name: standard.Family, ID: 1, New: empty(standard.ConfigFromSpec, standard.New), SectionWords: standard.SectionWords,
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
			Name: blocked.Family, ID: 2, New: empty(blocked.ConfigFromSpec, blocked.New), SectionWords: blocked.SectionWords,
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
			Reoptimize: func(f filter.Filter, e filter.Effort) (filter.Builder, error) {
				return orNil[filter.Builder](partitioned.NewBuilder(partitioned.Config{From: f.(*partitioned.Filter), Effort: e}))
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
			Reoptimize: func(f filter.Filter, e filter.Effort) (filter.Builder, error) {
				return orNil[filter.Builder](blockpartitioned.NewBuilder(blockpartitioned.Config{From: f.(*blockpartitioned.Filter), Effort: e}))
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
		{
			Name: twochoice.Family, ID: 6, New: empty(twochoice.ConfigFromSpec, twochoice.New), Searched: true, SectionWords: twochoice.SectionWords,
			Decode: func(e filter.Encoded) (filter.Filter, error) { return orNil[filter.Filter](twochoice.Decode(e)) },
			Check: func(s filter.Spec) error {
				_, err := twochoice.ConfigFromSpec(s, 0)
				return err
			},
			Reoptimize: func(f filter.Filter, e filter.Effort) (filter.Builder, error) {
				return orNil[filter.Builder](twochoice.NewBuilder(twochoice.Config{From: f.(*twochoice.Filter), Effort: e}))
			},
			NewBuilder: func(s filter.Spec, keys uint64) (filter.Builder, error) {
				return with(twochoice.ConfigFromSpec, twochoice.NewBuilder)(s, keys)
			},
			Forecast: func(s filter.Spec, keys uint64) (uint64, float64, error) {
				c, err := twochoice.ConfigFromSpec(s, keys)
				if err != nil {
					return 0, 0, err
				}
				return c.Forecast(keys)
			},
		},
		{
			Name: rankindexed.Family, ID: 7, New: empty(rankindexed.ConfigFromSpec, rankindexed.New), SectionWords: rankindexed.SectionWords,
			Decode: func(e filter.Encoded) (filter.Filter, error) { return orNil[filter.Filter](rankindexed.Decode(e)) },
			Check: func(s filter.Spec) error {
				_, err := rankindexed.ConfigFromSpec(s, 0)
				return err
			},
			NewBuilder: func(s filter.Spec, keys uint64) (filter.Builder, error) {
				return with(rankindexed.ConfigFromSpec, rankindexed.NewBuilder)(s, keys)
			},
			Forecast: func(s filter.Spec, keys uint64) (uint64, float64, error) {
				c, err := rankindexed.ConfigFromSpec(s, keys)
				if err != nil {
					return 0, 0, err
				}
				g, err := c.Plan()
				if err != nil {
					return 0, 0, err
				}
				return g.Bits(), g.FPR(keys), nil
			},
			Trim: func(f filter.Filter) filter.Filter {
				if whole, ok := f.(*rankindexed.Filter); ok {
					return whole.Trim()
				}
				return f // is trimmed
			},
			Inflated: func(s filter.Spec) (uint64, bool, error) {
				if !s.Has("trimmed") {
					return 0, false, nil
				}
				words, err := rankindexed.SectionWords(s.Without("trimmed"))
				if err != nil {
					return 0, true, err
				}
				bytes, err := sum(words)
				return bytes, true, err
			},
		},
		{
			Name: counting.Family, ID: 8, New: empty(counting.ConfigFromSpec, counting.New), SectionWords: counting.SectionWords,
			Decode: func(e filter.Encoded) (filter.Filter, error) { return orNil[filter.Filter](counting.Decode(e)) },
			Check: func(s filter.Spec) error {
				c, err := counting.ConfigFromSpec(s, 0)
				if err == nil {
					_, _, err = c.Geometry()
				}
				return err
			},
			NewBuilder: func(s filter.Spec, keys uint64) (filter.Builder, error) {
				return with(counting.ConfigFromSpec, counting.NewBuilder)(s, keys)
			},
			Forecast: func(s filter.Spec, keys uint64) (uint64, float64, error) {
				c, err := counting.ConfigFromSpec(s, keys)
				if err != nil {
					return 0, 0, err
				}
				return c.Forecast()
			},
		},
		{
			Name: dleft.Family, ID: 9, New: empty(dleft.ConfigFromSpec, dleft.New), SectionWords: dleft.SectionWords,
			Decode: func(e filter.Encoded) (filter.Filter, error) { return orNil[filter.Filter](dleft.Decode(e)) },
			Check: func(s filter.Spec) error {
				c, err := dleft.ConfigFromSpec(s, 0)
				if err == nil {
					_, _, err = c.Forecast()
				}
				return err
			},
			NewBuilder: func(s filter.Spec, keys uint64) (filter.Builder, error) {
				return with(dleft.ConfigFromSpec, dleft.NewBuilder)(s, keys)
			},
			Forecast: func(s filter.Spec, keys uint64) (uint64, float64, error) {
				c, err := dleft.ConfigFromSpec(s, keys)
				if err != nil {
					return 0, 0, err
				}
				return c.Forecast()
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

// sum returns the bytes of some sections, or an error wrapping filter.ErrTooLarge.
func sum(words []uint64) (bytes uint64, err error) {
	for _, w := range words {
		if w > maxWords {
			return 0, fmt.Errorf("%d words: %w", w, filter.ErrTooLarge)
		}
		bytes += 8 * w
	}
	return bytes, nil
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

// empty joins a family's reader of Specs and its maker of empty filters.
func empty[C any, F filter.Filter](config func(filter.Spec, uint64) (C, error), make func(C) (F, error)) func(filter.Spec, uint64) (filter.Filter, error) {
	return func(s filter.Spec, keys uint64) (filter.Filter, error) {
		c, err := config(s, keys)
		if err != nil {
			return nil, err
		}
		return orNil[filter.Filter](make(c))
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
