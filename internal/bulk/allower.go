package bulk

import (
	"context"
	"errors"
	"fmt"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/except"
	"github.com/bloomery/bloomery/internal/intake"
)

// Allower is the job of bloomery.Allower.
type Allower struct {
	set Target
	b   *except.Builder // nil after it has built the exceptions, or failed to, and after Close
}

// NewAllower returns an Allower of a Set; like is nil or the Engine of an earlier version.
func NewAllower(set Target, like engine.Engine) (*Allower, error) {
	if err := set.Except(nil); err != nil {
		return nil, err
	}
	var sizes []except.Size
	if like != nil {
		if _, c := except.Split(like.Facts().Filter); c != nil {
			sizes = c.Sizes()
		}
	}
	main, _ := except.Split(set.Facts().Filter)
	return &Allower{set, except.NewBuilder(main, set.Len(), sizes)}, nil
}

// AllowMany adds keys of the list. Duplicates are allowed and count. It keeps a copy of those that are false positives.
// It returns an error after the first call of AddMembers.
func (a *Allower) AllowMany(keys [][]byte) error {
	return intake.Hash(a.set.hasher(), keys, func(hs []filter.Hash) error {
		return a.open(func(b *except.Builder) error { return b.Allow(hs, func(i int) string { return string(keys[i]) }) })
	})
}

// AllowHashes is AllowMany for keys hashed by Hasher. Errors then name the hash of a key.
func (a *Allower) AllowHashes(hs []filter.Hash) error {
	return a.open(func(b *except.Builder) error { return b.Allow(hs, nil) })
}

// AddMembers adds keys that the Set was built from. All of them must be added: one that is not may become absent.
func (a *Allower) AddMembers(keys [][]byte) error {
	return intake.Hash(a.set.hasher(), keys, a.AddMemberHashes)
}

// AddMemberHashes is AddMembers for keys hashed by Hasher.
func (a *Allower) AddMemberHashes(hs []filter.Hash) error {
	return a.open(func(b *except.Builder) error { return b.Members(hs) })
}

// open calls f, unless the Allower is closed.
func (a *Allower) open(f func(*except.Builder) error) error {
	if a.b == nil {
		return errAllowed
	}
	return a.set.Guarded(func() error { return f(a.b) })
}

var errAllowed = fmt.Errorf("bloomery: the Allower is %w, and takes no more keys", filter.ErrClosed)

// Commit makes the Set answer false for the keys of the list. On error the Set is unchanged. It may be
// called again only after an error wrapping filter.ErrKeys, when the missing members were added.
func (a *Allower) Commit(ctx context.Context) error {
	if a.b == nil {
		return errAllowed
	}
	if err := a.set.Now().Except(nil); err != nil { // it was closed
		return err
	}
	seen, missing := a.b.Seen()
	if missing > 0 {
		return fmt.Errorf("%d of the %d members are not in the set: %w; give all keys that it was built from",
			missing, seen, filter.ErrKeys)
	}
	if seen < a.set.Len() {
		return fmt.Errorf("%d members for a set of %d keys: %w; give all keys that it was built from",
			seen, a.set.Len(), filter.ErrKeys)
	}
	c, err := a.b.Build(ctx)
	if !errors.Is(err, filter.ErrAllowed) { // for Both
		a.b = nil
	}
	if err != nil {
		return err
	}
	a.set.Begin()
	defer a.set.End()
	return a.set.Except(c)
}

// Close drops the list.
func (a *Allower) Close() error {
	a.b = nil
	return nil
}

// Both returns the members so far that are in the list, with their text.
func Both(a *Allower) map[filter.Hash]string { return a.b.Both() }
