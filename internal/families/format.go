package families

import (
	"cmp"
	"fmt"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// Format is the part of a Family that readers of files need. A program that only opens and queries filters links no
// other part.
type Format struct {
	family.Traits
	// ID is the family's number in files.
	ID uint16
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

// format returns a Format with the functions of a family's package.
func format[F family.Filter](
	id uint16, traits family.Traits, sectionWords func(filter.Spec) ([]uint64, error),
	decode func(family.Encoded) (F, error),
) Format {
	f := Format{Traits: traits, ID: id, SectionWords: sectionWords}
	var none F
	f.Can |= family.AbilitiesOf(none)
	_, f.Chains = any(none).(family.ChainTable)
	f.Decode = func(e family.Encoded) (family.Filter, error) { return family.As[family.Filter](decode(e)) }
	return f
}

// inflating sets Inflated.
func (f Format) inflating(bytes func(filter.Spec) (uint64, error)) Format {
	f.Inflated = bytes
	return f
}

// Foreign reports whether the family belongs to another system.
func (f Format) Foreign() bool { return f.Hash != 0 }

// BuildValueBits returns the number of bits of the values that are added with the keys of a build of this Spec, or 0 if
// its keys have no values. See NeedsValues.
func (f Format) BuildValueBits(s filter.Spec) int {
	if !f.Can.Has(family.CanBuildValues) {
		return 0
	}
	return int(min(family.Reader(s).Uint("value_bits"), 32)) // the Spec is not checked yet
}

// NeedsValues reports whether each key of a build of this Spec needs a value, since values cannot be set later.
func (f Format) NeedsValues(s filter.Spec) bool {
	return f.BuildValueBits(s) > 0 && !f.Can.Has(family.CanValues)
}

// TakesHash reports whether the keys of a filter of this Spec may be hashed with a hash function: in a family of
// another system only with the hash function of the system; in our families with XXH3, SipHash and Traits.Also.
func (f Format) TakesHash(s filter.Spec, id filter.HashID) bool {
	switch {
	case f.Hash != 0:
		return id == f.Hash
	case id == filter.XXH3 || id == filter.SipHash:
		return true
	}
	return id != 0 && id == f.Also.Hash && family.Includes(s, f.Also.Spec)
}

// Hashing is bloomery.Hashing.
type Hashing struct {
	ID     filter.HashID
	Seed   uint64
	Secret *filter.Secret
	Form   filter.KeyForm
}

// Hasher returns the hasher of the keys of a filter of this Spec. If ID is 0, it chooses the hash function: the
// function of the other system in its families, else SipHash with a secret, and XXH3 with the seed without one. Errors
// wrap filter.ErrConfig.
func (f Format) Hasher(s filter.Spec, c Hashing) (h filter.Hasher, err error) {
	id, seed, secret := c.ID, c.Seed, c.Secret
	if id == 0 {
		id = f.Hash
	}

	bad := func(field string, value any, reason string, args ...any) (filter.Hasher, error) {
		return filter.Hasher{}, family.Invalid(field, value, reason, args...)
	}
	if id != 0 && !f.TakesHash(s, id) {
		return bad("hash", id, "%s takes another hash function; %s belongs to %s", s, id, usersOf(id))
	}

	switch {
	case family.Foreign(id) && secret != nil:
		return bad("secret", "REDACTED", "%s, the hash function of another system, takes no secret; leave it out", id)
	case family.Foreign(id) && seed != 0:
		return bad("seed", seed, "%s, the hash function of another system, takes no seed; leave it out", id)
	case family.Foreign(id):
		if h, err = filter.ForeignHasher(id); err != nil {
			return h, err
		}
	case secret != nil && seed != 0:
		return bad("seed", seed, "a keyed hash has a secret in place of a seed; leave one out")
	case secret != nil && id == filter.XXH3:
		return bad("hash", id, "takes no secret; leave out the secret or the hash function")
	case secret == nil && id == filter.SipHash:
		return bad("hash", id, "needs a secret")
	case secret != nil:
		h = filter.NewKeyedHasher(*secret)
	default:
		h = filter.NewHasher(seed)
	}
	c.Form.Type = cmp.Or(c.Form.Type, f.KeyType)
	return h.WithForm(c.Form)
}

// OwnHasher is Format.Hasher for any of our families, before the planner has chosen one: all use the same hash
// functions.
func OwnHasher(c Hashing) (filter.Hasher, error) { return Format{}.Hasher(filter.Spec{}, c) }

// UserOf returns the family whose keys may be hashed with a hash function of another system, with the parameters that
// its filters then need. It returns the zero Spec for any other function.
func UserOf(id filter.HashID) filter.Spec {
	for _, f := range formats {
		switch id {
		case f.Hash:
			return family.NewSpec(f.Name)
		case f.Also.Hash:
			return f.Also.Spec
		}
	}
	return filter.Spec{}
}

// usersOf describes the filters of a hash function of another system, for an error.
func usersOf(id filter.HashID) string {
	if s := UserOf(id); s.Family() != "" {
		return s.String()
	}
	return "none of these filters"
}

// Accept returns an error unless a stored filter with this family, Spec and hash function has sections of these numbers
// of words. Call it before memory is allocated for the sections. The error wraps filter.ErrFamily for an unknown
// family, and filter.ErrTooLarge if Decode would allocate more than maxBytes besides the sections.
func Accept(id uint16, s filter.Spec, hash filter.HashID, words []uint64, maxBytes uint64) error {
	f, err := formatByID(id)
	if err != nil {
		return err
	}
	if f.Name != s.Family() {
		return fmt.Errorf("spec %s in a file of family %s", s, f.Name)
	}
	if !f.TakesHash(s, hash) {
		return fmt.Errorf("hash %s for a filter %s", hash, s)
	}

	want, err := f.SectionWords(s)
	if err != nil {
		return fmt.Errorf("spec %s: %v", s, err)
	}
	if len(words) != len(want) {
		return fmt.Errorf("%d sections, want %d for %s", len(words), len(want), s)
	}

	for i, w := range words {
		if w != want[i] {
			return fmt.Errorf("section %d has %d words, want %d for %s", i, w, want[i], s)
		}
	}
	if f.Inflated == nil {
		return nil
	}

	inflated, err := f.Inflated(s)
	if err == nil && inflated > maxBytes {
		err = fmt.Errorf("a trimmed filter that takes %d bytes when it is read, over the limit of %d: %w",
			inflated, maxBytes, filter.ErrTooLarge)
	}
	return err
}

// Decode returns the filter of a stored form. It keeps the sections and validates them.
func Decode(e family.Encoded) (family.Filter, error) {
	f, err := FormatOf(e.Spec.Family())
	if err != nil {
		return nil, err
	}
	return f.Decode(e)
}
