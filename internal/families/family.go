package families

import (
	"context"
	"slices"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// Family is one entry of the list.
type Family struct {
	family.About
	// ID is the family's number in files.
	ID uint16
	// Check returns an error if a Spec is invalid for every number of keys. It allocates no filter. The error wraps
	// filter.ErrConfig or filter.ErrTooLarge.
	Check func(filter.Spec) error
	// Forecast returns the size in bits of the filter that NewBuilder or New would make for that number of keys, and
	// its predicted false-positive rate with these keys. It allocates no filter.
	Forecast func(s filter.Spec, keys uint64) (bits uint64, fpr float64, err error)
	// New returns an empty filter with room for about that number of keys, to be added one by one. It is nil without
	// family.CanStartEmpty.
	New func(s filter.Spec, keys uint64) (family.Filter, error)
	// NewBuilder returns a Builder for about that number of keys. It is nil with family.CanRawKeys.
	NewBuilder func(s filter.Spec, keys uint64) (family.Builder, error)

	// NewBuilderLike returns a Builder of a filter with the geometry of f, a filter of the family, for other keys. What
	// a search of f has chosen stays, so that filters of similar keys have similar bits. A family that cannot do that,
	// such as fuse, keeps the width of its fingerprints. f must not change before Build has returned. It is nil with
	// family.CanRawKeys.
	NewBuilderLike func(f family.Filter) (family.Builder, error)

	// SectionWords returns the number of words of each section of a stored filter. The error wraps filter.ErrConfig or
	// filter.ErrTooLarge if the Spec does not fix a geometry.
	SectionWords func(filter.Spec) ([]uint64, error)
	// Decode returns the filter of a stored form and keeps the sections. It validates the whole stored form.
	Decode func(family.Encoded) (family.Filter, error)
	// Inflated returns the number of bytes that Decode allocates besides the sections. It is nil if that is always 0.
	Inflated func(filter.Spec) (bytes uint64, err error)
	// Chains reports whether Decode returns a family.ChainTable.
	Chains bool
}

// config is a family's Config. It has a method Check if what Forecast does depends on the number of keys: if it has a
// search, or a size in bytes may be too small for some numbers of keys.
type config interface {
	Forecast(keys uint64) (bits uint64, fpr float64, err error)
}

// entry returns a Family with the functions of a family's package. empty or build may be nil.
func entry[C config, F family.Filter, B family.Builder](
	id uint16, about family.About,
	fromSpec func(s filter.Spec, keys uint64) (C, error),
	empty func(C) (F, error), build func(C) (B, error),
	sectionWords func(filter.Spec) ([]uint64, error), decode func(family.Encoded) (F, error),
) Family {
	f := Family{About: about, ID: id, SectionWords: sectionWords}
	f.Check = func(s filter.Spec) error {
		c, err := fromSpec(s, 0)
		if err != nil {
			return err
		}
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
	if empty != nil {
		f.New = func(s filter.Spec, keys uint64) (family.Filter, error) {
			c, err := fromSpec(s, keys)
			if err != nil {
				return nil, err
			}
			return family.As[family.Filter](empty(c))
		}
	}
	if build != nil {
		f.NewBuilder = func(s filter.Spec, keys uint64) (family.Builder, error) {
			c, err := fromSpec(s, keys)
			if err != nil {
				return nil, err
			}
			return family.As[family.Builder](build(c))
		}
		f.NewBuilderLike = f.like
	}
	var none F
	_, f.Chains = any(none).(family.ChainTable)
	f.Decode = func(e family.Encoded) (family.Filter, error) { return family.As[family.Filter](decode(e)) }
	return f
}

// like is NewBuilderLike.
func (f Family) like(old family.Filter) (family.Builder, error) {
	switch old := old.(type) {
	case family.Reoptimizer:
		return old.Reoptimize(filter.Effort{Level: filter.Keep})
	case family.Like:
		return old.Like()
	}
	return f.NewBuilder(family.SpecOf(old).Without("trimmed"), 0)
}

// Empty returns a filter with the geometry of f, a filter of the family, and without keys. The family needs New.
func (f Family) Empty(old family.Filter) (family.Filter, error) {
	switch old.(type) {
	case family.Reoptimizer, family.Like: // the Spec does not determine the geometry
		b, err := f.like(old)
		if err != nil {
			return nil, err
		}
		return b.Build(context.Background())
	}
	return f.New(family.SpecOf(old), 0)
}

// inflating sets Inflated.
func (f Family) inflating(bytes func(filter.Spec) (uint64, error)) Family {
	f.Inflated = bytes
	return f
}

// Foreign reports whether the family belongs to another system.
func (f Family) Foreign() bool { return f.Hash != 0 }

// Form returns the form of a filter that a planner chose: that with the parameters of the Spec, apart from its size, its
// room for later keys and the number of its value bits. It returns false if a planner has no such form.
func (f Family) Form(s filter.Spec) (family.Form, bool) {
	bare := func(s filter.Spec) filter.Spec {
		for _, size := range []string{"bits_per_key", "fpr", "bytes", "capacity", "later"} {
			s = s.Without(size)
		}
		if s.Has("value_bits") {
			s = s.With("value_bits", 1)
		}
		return s
	}
	i := slices.IndexFunc(f.Forms, func(form family.Form) bool { return bare(form.Spec).Equal(bare(s)) })
	if i < 0 {
		return family.Form{}, false
	}
	return f.Forms[i], true
}

// BuildValueBits returns how many bits the values have that the Builder of that Spec takes with the keys, or 0 if it
// takes none. See NeedsValues.
func (f Family) BuildValueBits(s filter.Spec) int {
	if !f.Can.Has(family.CanBuildValues) {
		return 0
	}
	return int(min(family.Reader(s).Uint("value_bits"), 32))
}

// NeedsValues reports whether each key of a build of that Spec must come with a value, since values cannot be set
// later.
func (f Family) NeedsValues(s filter.Spec) bool {
	return f.BuildValueBits(s) > 0 && !f.Can.Has(family.CanValues)
}

// TakesHash reports whether a filter of that Spec takes keys hashed by a hash function: in a family of another system
// that of the system; in our families XXH3, SipHash and About.Also.
func (f Family) TakesHash(s filter.Spec, id filter.HashID) bool {
	switch {
	case f.Hash != 0:
		return id == f.Hash
	case id == filter.XXH3 || id == filter.SipHash:
		return true
	}
	return id != 0 && id == f.Also.Hash && s.Contains(f.Also.Spec)
}

// Hasher returns the hasher of the keys of a filter of that Spec. If id is 0 it chooses the hash function: that of the
// other system, else SipHash if there is a secret, else XXH3 with the seed. Errors wrap filter.ErrConfig.
func (f Family) Hasher(s filter.Spec, id filter.HashID, seed uint64, secret *[filter.SecretSize]byte) (filter.Hasher, error) {
	if id == 0 {
		id = f.Hash
	}
	bad := func(field string, value any, reason string, args ...any) (filter.Hasher, error) {
		return filter.Hasher{}, family.Invalid(field, value, reason, args...)
	}
	if id != 0 && !f.TakesHash(s, id) {
		return bad("hash", id, "%s takes another hash function; %s is that of %s", s, id, usersOf(id))
	}
	switch {
	case id.Foreign() && secret != nil:
		return bad("secret", "***", "%s, the hash function of another system, takes no secret; leave it out", id)
	case id.Foreign() && seed != 0:
		return bad("seed", seed, "%s, the hash function of another system, takes no seed; leave it out", id)
	case id.Foreign():
		return filter.ForeignHasher(id)
	case secret != nil && seed != 0:
		return bad("seed", seed, "a keyed hash has a secret in place of a seed; leave one out")
	case secret != nil && id == filter.XXH3:
		return bad("hash", id, "takes no secret; leave out the secret or the hash function")
	case secret == nil && id == filter.SipHash:
		return bad("hash", id, "needs a secret")
	case secret != nil:
		return filter.NewKeyedHasher(*secret), nil
	}
	return filter.NewHasher(seed), nil
}

// OwnHasher is Family.Hasher for any of our families, before the planner has chosen one: all use the same hash
// functions.
func OwnHasher(id filter.HashID, seed uint64, secret *[filter.SecretSize]byte) (filter.Hasher, error) {
	return Family{}.Hasher(filter.Spec{}, id, seed, secret)
}

// UserOf returns the family that takes a hash function of another system, with the parameters that its filters need for
// that; the zero Spec if there is none.
func UserOf(id filter.HashID) filter.Spec {
	for _, f := range list {
		switch id {
		case f.Hash:
			return filter.NewSpec(f.Name)
		case f.Also.Hash:
			return f.Also.Spec
		}
	}
	return filter.Spec{}
}

// usersOf describes the filters that take a hash function of another system.
func usersOf(id filter.HashID) string {
	if s := UserOf(id); s.Family() != "" {
		return s.String()
	}
	return "none of these filters"
}
