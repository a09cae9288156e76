package families

import (
	"context"
	"slices"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// Family is one entry of the list.
type Family struct {
	Format
	family.About
	// Check returns an error if a Spec is invalid for every number of keys. It allocates no filter. The error wraps
	// filter.ErrConfig or filter.ErrTooLarge.
	Check func(filter.Spec) error
	// Forecast returns the size in bits of the filter that NewBuilder or New would make for this number of keys, and
	// its predicted false-positive rate with these keys. It allocates no filter.
	Forecast func(s filter.Spec, keys uint64) (bits uint64, fpr float64, err error)
	// New returns an empty filter with room for about this number of keys, to be added one by one. It is nil without
	// family.CanStartEmpty.
	New func(s filter.Spec, keys uint64) (family.Filter, error)
	// NewBuilder returns a Builder for about this number of keys. It is nil with family.CanRawKeys.
	NewBuilder func(s filter.Spec, keys uint64) (family.Builder, error)

	// Foldable returns the Spec of the filter that NewBuilder would make, or of a larger one with more divisors: a
	// family.Folder from which filters for fewer keys are folded. It is nil without family.CanFold.
	Foldable func(s filter.Spec, keys uint64) (filter.Spec, error)

	// NewBuilderLike returns a Builder of a filter with the geometry of f, a filter of the family, for other keys. The
	// choices of a search of f stay, so that filters of similar keys have similar bits. A family that cannot do that,
	// such as fuse, keeps the width of its fingerprints. f must not change before Build has returned. NewBuilderLike is
	// nil with family.CanRawKeys.
	NewBuilderLike func(f family.Filter) (family.Builder, error)
}

// config is a family's Config. If the errors of Forecast depend on the number of keys, it also has a method Check: if
// the family has a search, or if a size in bytes may be too small for some numbers of keys.
type config interface {
	Forecast(keys uint64) (bits uint64, fpr float64, err error)
}

// entryOf returns the family with this id and the functions of its package. empty or build may be nil.
func entryOf[C config](
	id uint16, about func() family.About, fromSpec func(s filter.Spec, keys uint64) (C, error),
	empty func(C) (family.Filter, error), build func(C) (family.Builder, error),
) Family {
	format, err := formatByID(id)
	if err != nil {
		panic(err) // formats and makeList have the same ids; TestList reads both
	}

	f := Family{Format: format, About: about()}
	f.Check = func(s filter.Spec) error {
		c, err := fromSpec(s, 0)
		if err != nil {
			return err
		}
		// The pointer, because some families set defaults in Check.
		if own, ok := any(&c).(interface{ Check() error }); ok {
			return own.Check()
		}
		_, _, err = c.Forecast(0)
		return err
	}

	f.Forecast = func(s filter.Spec, keys uint64) (uint64, float64, error) {
		c, err := fromSpec(s, keys)
		if err != nil {
			return 0, 0, err
		}
		return c.Forecast(keys)
	}
	if f.Can.Has(family.CanFold) {
		f.Foldable = func(s filter.Spec, keys uint64) (filter.Spec, error) {
			c, err := fromSpec(s, keys)
			if err != nil {
				return s, err
			}
			return any(c).(interface{ Foldable() (filter.Spec, error) }).Foldable()
		}
	}
	if empty != nil {
		f.New = func(s filter.Spec, keys uint64) (family.Filter, error) {
			c, err := fromSpec(s, keys)
			if err != nil {
				return nil, err
			}
			return empty(c)
		}
	}
	if build != nil {
		f.NewBuilder = func(s filter.Spec, keys uint64) (family.Builder, error) {
			c, err := fromSpec(s, keys)
			if err != nil {
				return nil, err
			}
			return build(c)
		}
		f.NewBuilderLike = f.builderLike
	}
	return f
}

// asEmpty returns a function that makes an empty filter as an interface.
func asEmpty[C any, F family.Filter](f func(C) (F, error)) func(C) (family.Filter, error) {
	return func(c C) (family.Filter, error) { return family.As[family.Filter](f(c)) }
}

// asBuilder returns a function that makes a Builder as an interface.
func asBuilder[C any, B family.Builder](f func(C) (B, error)) func(C) (family.Builder, error) {
	return func(c C) (family.Builder, error) { return family.As[family.Builder](f(c)) }
}

// liker is a filter, of redisbloom or a concurrent one of twochoice, whose Spec alone does not determine its geometry.
type liker interface {
	// Like returns a Builder of a filter of the same geometry for other keys. Without keys it builds an empty filter.
	Like() (family.Builder, error)
}

// builderLike is NewBuilderLike for all families.
func (f Family) builderLike(old family.Filter) (family.Builder, error) {
	switch old := old.(type) {
	case family.Reoptimizer:
		return old.Reoptimize(filter.Effort{Level: filter.Keep})
	case liker:
		return old.Like()
	}
	return f.NewBuilder(family.Without(family.SpecOf(old), "trimmed"), 0) // a builder makes the plain form
}

// Empty returns a filter without keys that has the geometry of old, a filter of the family. The family must have New.
func (f Family) Empty(old family.Filter) (family.Filter, error) {
	switch old.(type) {
	case family.Reoptimizer, liker: // the Spec does not determine the geometry
		b, err := f.builderLike(old)
		if err != nil {
			return nil, err
		}
		return b.Build(context.Background())
	}
	return f.New(family.SpecOf(old), 0)
}

// Form returns the form of a filter that a planner chose. It compares the parameters of the Spec except the size, the
// room for later keys and the number of value bits. It returns false if no form matches.
func (f Family) Form(s filter.Spec) (family.Form, bool) {
	bare := func(s filter.Spec) filter.Spec {
		for _, size := range []string{"bits_per_key", "fpr", "bytes", "capacity", "later"} {
			s = family.Without(s, size)
		}
		if family.Given(s, "value_bits") {
			s = s.With("value_bits", 1)
		}
		return s
	}

	i := slices.IndexFunc(f.Forms, func(form family.Form) bool { return bare(form.Spec) == bare(s) })
	if i < 0 {
		return family.Form{}, false
	}
	return f.Forms[i], true
}
