package bulk

import (
	"context"
	"fmt"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/except"
	"github.com/bloomery/bloomery/internal/intake"
)

// Allower makes a Set exact for a list of allowed keys, of which none is a member: the Set then answers false for all
// of them. It stores with the Set which of them would be false positives; Info has their number and their size, about
// 1.44·log2(members/exceptions) + 4.4 bits each if there are more members than exceptions. Other keys keep their
// false-positive rate.
//
// A Set with exceptions cannot be changed: Add, Remove, Merge, Intersect, Optimize and Reset return
// filter.ErrExceptions. It can be read, saved, trimmed, cloned and followed like any other. Its file has format version
// 3.
//
//	a, err := set.Allower(nil)
//	if err != nil { ... }
//	err = a.AllowMany(allowed) // any number of times, from any number of goroutines
//	if err != nil { ... }
//	err = a.AddMembers(keys) // then all keys of the set, in the same way
//	if err != nil { ... }
//	err = a.Apply(ctx)
//
// Peak memory, besides the set: about 150 bytes and the key for each exception. Config.Allow does the same for a set
// that is built.
type Allower struct {
	set    Set
	engine engine.Engine
	b      *except.Builder
	follow func()
}

// NewAllower returns an Allower of set, which stands on e; like is nil or the Engine of an earlier version. Apply calls
// follow when e has other exceptions.
func NewAllower(set Set, e, like engine.Engine, follow func()) (*Allower, error) {
	if err := e.Except(nil); err != nil {
		return nil, err
	}
	var sizes []except.Size
	if like != nil {
		if _, c := except.Split(like.Facts().Filter); c != nil {
			sizes = c.Sizes()
		}
	}
	main, _ := except.Split(e.Facts().Filter)
	return &Allower{set, e, except.NewBuilder(main, e.Len(), sizes), follow}, nil
}

// AllowMany adds keys of the list. Duplicates are allowed and count. It keeps a copy of those that are false positives.
// It returns an error after the first call of AddMembers.
func (a *Allower) AllowMany(keys [][]byte) error {
	return intake.Hash(a.set.Hasher(), keys, func(hs []filter.Hash) error {
		return a.set.Guarded(func() error { return a.b.Allow(hs, func(i int) string { return string(keys[i]) }) })
	})
}

// AllowHashes is AllowMany for keys hashed by Hasher. Errors then name the hash of a key.
func (a *Allower) AllowHashes(hs []filter.Hash) error {
	return a.set.Guarded(func() error { return a.b.Allow(hs, nil) })
}

// AddMembers adds keys that the Set was built from. All of them must be added: one that is not may become absent.
func (a *Allower) AddMembers(keys [][]byte) error {
	return intake.Hash(a.set.Hasher(), keys, a.AddMemberHashes)
}

// AddMemberHashes is AddMembers for keys hashed by Hasher.
func (a *Allower) AddMemberHashes(hs []filter.Hash) error {
	return a.set.Guarded(func() error { return a.b.Members(hs) })
}

// Apply makes the Set answer false for the keys of the list. It needs exclusive use of the Set. If keys of the list are
// members, the error is a *filter.AllowedError. It wraps filter.ErrKeys if the members were fewer than Set.Len or some
// are not in the Set, and so are not those that it was built from. On error the Set is unchanged. Call it once.
func (a *Allower) Apply(ctx context.Context) error {
	switch seen, missing := a.b.Seen(); {
	case missing > 0:
		return fmt.Errorf("%d of the %d members are not in the set: %w; give all keys that it was built from",
			missing, seen, filter.ErrKeys)
	case seen < a.engine.Len():
		return fmt.Errorf("%d members for a set of %d keys: %w; give all keys that it was built from",
			seen, a.engine.Len(), filter.ErrKeys)
	}
	c, err := a.b.Build(ctx)
	if err != nil {
		return err
	}
	err = a.engine.Except(c)
	a.follow()
	return err
}

// Both returns the members so far that are in the list, with their text.
func Both(a *Allower) map[filter.Hash]string { return a.b.Both() }
