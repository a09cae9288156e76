package publish

import (
	"fmt"
	"slices"
)

// The number of a release must not go down: else a mirror could serve an old one. But a thief of a key can sign the
// largest number there is. So the number counts for the keys that signed it, and the floor of the next release is the
// largest number of the keys that are pinned now. A reader that pins only the next key of the publisher is free of what
// the stolen key alone has signed.

// newest is the newest release that a key has verified.
type newest struct {
	Release uint64 `json:"release"`
	SHA256  Hash   `json:"sha256"`
}

// unchecked stands for a key in state.Seen: releases that were taken without a check.
const unchecked = "unchecked"

// ids returns the ids of the pinned keys, or unchecked if there are none.
func (f *Follower) ids() []string {
	if len(f.options.keys) == 0 {
		return []string{unchecked}
	}
	var ids []string
	for _, k := range f.options.keys {
		ids = append(ids, k.ID())
	}
	return ids
}

// signers returns the ids of all pinned keys that have signed a release.json. Errors are those of Verify.
func (f *Follower) signers(text []byte) (ids []string, err error) {
	if _, err := Verify(text, f.options.keys...); err != nil {
		return nil, err
	}
	for _, k := range f.options.keys {
		if _, err := Verify(text, k); err == nil {
			ids = append(ids, k.ID())
		}
	}
	return ids, nil
}

// seenBefore returns what a state of an older version has seen. It names one key of several that may have signed the
// release. So that no release before it is accepted, it counts for every key that is pinned now, and for none.
func (f *Follower) seenBefore(s *state) map[string]newest {
	seen := map[string]newest{unchecked: {s.Release, s.SHA256}}
	for _, id := range append(f.ids(), s.Key) {
		if id != "" {
			seen[id] = newest{s.Release, s.SHA256}
		}
	}
	return seen
}

// mayFollow returns an error wrapping ErrOlder or ErrConflict unless a release may follow what the pinned keys have
// verified. was may be nil.
func (f *Follower) mayFollow(was *state, number uint64, sum Hash) error {
	if was == nil {
		return nil
	}
	floor, by := newest{}, ""
	for _, id := range f.ids() {
		seen, ok := was.Seen[id]
		if ok && number == seen.Release && sum != seen.SHA256 {
			return fmt.Errorf("%w: %d has SHA-256 %.8s, and %.8s was seen before",
				ErrConflict, number, sum, seen.SHA256)
		}
		if seen.Release > floor.Release {
			floor, by = seen, id
		}
	}
	if number >= floor.Release {
		return nil
	}
	if by != unchecked {
		by = "signed by key " + by
	}
	return fmt.Errorf("%w: %d, and %d was seen before, %s", ErrOlder, number, floor.Release, by)
}

// stands reports whether the release of a state would be accepted again: a key that is pinned has signed what the state
// says of it, and the name and number are right. Only then may a server answer that nothing has changed.
func (f *Follower) stands(s *state) bool {
	by := s.Key
	if by == "" {
		by = unchecked
	}
	return slices.Contains(f.ids(), by) && f.mayFollow(s, s.Release, s.SHA256) == nil &&
		(f.options.name == "" || f.options.name == s.Name)
}
