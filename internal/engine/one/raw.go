package one

// Families that take raw keys hash them themselves, so that they need their bytes.

// hasKey reports whether a raw key may be in the set.
func (s *Set) hasKey(key []byte) (present bool) {
	present = true
	s.guard(func() { present = s.raw.HasKey(key) })
	return present
}

// testAndAddKey is TestAndAdd for a raw key.
func (s *Set) testAndAddKey(key []byte) (present bool, err error) {
	if err := s.Own(); err != nil {
		return false, err
	}
	if s.raw.HasKey(key) {
		return true, nil
	}
	return false, s.raw.AddKey(key)
}
