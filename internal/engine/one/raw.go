package one

// Families that take raw keys hash them themselves, so that they need their bytes.

// hasKey reports whether a raw key may be in the set.
func (s *Set) hasKey(key []byte) (present bool) {
	present = true
	s.guard(func() { present = s.raw.HasKey(key) })
	return present
}
