package bloomery

import (
	"context"
	"errors"
	"fmt"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bulk"
	"github.com/bloomery/bloomery/internal/intake"
)

// MaxStrangers, 0.5, is the value of Removed.Strangers from which a Removal changes nothing.
const MaxStrangers = 0.5

// Removal removes a list of keys from a Set, after it has checked the whole list. Remove only keys that were added:
// removing other keys, called strangers, makes present keys absent that have the same fingerprint. Keys that are not
// found prove that the list has strangers, and from their number the Removal estimates how many other strangers look
// present. From [MaxStrangers] on, or if more than half of the distinct keys of the list are not in the Set, Commit
// changes nothing, unless Force was called.
type Removal struct {
	set    *Set
	hasher filter.Hasher
	list   bulk.List
	force  bool
	looked bool
	ended  bool // by Close, or by a Commit that was not refused
	seen   bulk.Look
}

var (
	errRemoved = fmt.Errorf("bloomery: the Removal is %w, and removes no more keys", filter.ErrClosed)
	errLooked  = fmt.Errorf("bloomery: the Removal has looked at its list, which is %w to more keys", filter.ErrClosed)
)

// Removed is the result of a Removal.
type Removed struct {
	Removed  uint64 // number of removals, duplicates included; after Look, the removals that Commit would make
	NotFound uint64 // number of removals that found no key, duplicates included
	// Unknown is the number of distinct keys of the list that are not in the Set, or were added fewer times than they
	// are in the list.
	Unknown uint64
	// Strangers is the expected number of distinct keys of the list that look present but were never added, or were
	// added fewer times than they are in the list.
	Strangers float64
	// Lost is the expected number of keys outside the list that become absent. It assumes that each of them
	// was added once: keys that were added more often are lost less often.
	Lost float64
}

// Removal returns a Removal of keys from s. It keeps 16 bytes per key. The error wraps errors.ErrUnsupported if the
// family has no Remove.
func (s *Set) Removal(c JobConfig) (*Removal, error) {
	o, err := c.options("a Removal")
	if err != nil {
		return nil, err
	}
	list, err := bulk.NewList(s.inner(), o)
	if err != nil {
		return nil, err
	}
	return &Removal{set: s, hasher: s.Hasher(), list: list}, nil
}

// AddMany adds keys to the list. A key that was added to the Set several times is removed as often as it is in the
// list. After Look it returns an error.
func (r *Removal) AddMany(keys [][]byte) error {
	switch {
	case r.looked:
		return errLooked
	case r.ended:
		return errRemoved
	}
	return intake.Hash(r.hasher, keys, r.list.AddMany)
}

// Look returns what Commit would do, and changes nothing. If strangers share a fingerprint with keys of the list,
// Commit finds a few keys fewer.
func (r *Removal) Look(ctx context.Context) (Removed, error) {
	switch {
	case r.ended:
		return Removed{}, errRemoved
	case r.looked:
		return Removed(r.seen.Removed), nil
	}
	if err := r.list.Finish(ctx); err != nil {
		return Removed{}, err
	}

	look, err := bulk.LookAt(ctx, r.list, r.set.inner)
	if err != nil {
		return Removed{}, err
	}
	r.seen, r.looked = look, true
	return Removed(look.Removed), nil
}

// Force makes Commit remove keys although strangers are among them.
func (r *Removal) Force() { r.force = true }

// Commit removes the keys of the list. If it refuses, it returns the result of Look and an error wrapping
// filter.ErrStrangers; it may be called again after Force. If it finds none of the keys, it changes nothing and returns
// no error. If ctx ends, some of the keys may be removed. It needs exclusive use of the Set, unless the Set is for many
// writers.
func (r *Removal) Commit(ctx context.Context) (Removed, error) {
	seen, err := r.Look(ctx)
	if err != nil {
		return Removed{}, err
	}
	if err := r.seen.Refusal(); err != nil && !r.force {
		return seen, err
	}

	r.ended = true // removing the list again would remove other keys
	seen.Removed, seen.NotFound = 0, 0
	err = r.list.Each(ctx, 0.5, func(hs []filter.Hash) error {
		for _, h := range hs {
			err := r.set.remove(h, nil)
			switch {
			case err == nil:
				seen.Removed++
			case errors.Is(err, filter.ErrNotFound):
				seen.NotFound++
			default:
				return err
			}
		}
		return nil
	})
	return seen, err
}

// Close drops the list.
func (r *Removal) Close() error {
	r.ended = true
	return r.list.Close()
}
