package families

import (
	"fmt"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// Accept returns an error unless a stored filter of that family, Spec and hash function has sections of these numbers
// of words. It is called before memory is allocated for them. The error wraps filter.ErrFamily if there is no such
// family, filter.ErrTooLarge if Decode would allocate more than maxBytes besides the sections.
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
		err = fmt.Errorf("a trimmed filter that takes %d bytes when it is read, over the limit of %d: %w", inflated, maxBytes, filter.ErrTooLarge)
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
