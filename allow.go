package bloomery

import (
	"context"
	"errors"
	"fmt"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/except"
	"github.com/bloomery/bloomery/internal/intake"
	"github.com/bloomery/bloomery/internal/run"
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
	set *Set
	b   *except.Builder
}

// Allower returns an Allower of s, which must not change until Apply returns. If s has exceptions, Apply replaces them.
// like, if not nil, is an earlier version of s: the exceptions get the same geometry as its own if they need about as
// much, so that two versions differ in few bits.
//
// The error wraps errors.ErrUnsupported for a Set that is sharded or for many writers, and for one with the hash
// function of another system.
func (s *Set) Allower(like *Set) (*Allower, error) {
	if err := s.inner().Except(nil); err != nil {
		return nil, err
	}
	var sizes []except.Size
	if like != nil {
		if _, c := except.Split(like.Filter()); c != nil {
			sizes = c.Sizes()
		}
	}
	main, _ := except.Split(s.Filter())
	return &Allower{s, except.NewBuilder(main, s.Len(), sizes)}, nil
}

// hasExceptions reports whether s, which may be nil, has exceptions; of a sharded Set, any shard.
func (s *Set) hasExceptions() bool { return s != nil && s.Info().ExceptionBits > 0 }

// AllowMany adds keys of the list. Duplicates are allowed and count. It keeps a copy of those that are false positives.
// It returns an error after the first call of AddMembers.
func (a *Allower) AllowMany(keys [][]byte) error {
	return intake.Hash(a.set.hasher, keys, func(hs []filter.Hash) error {
		return a.set.Guarded(func() error { return a.b.Allow(hs, func(i int) string { return string(keys[i]) }) })
	})
}

// AllowHashes is AllowMany for keys hashed by Hasher. Errors then name the hash of a key.
func (a *Allower) AllowHashes(hs []filter.Hash) error {
	return a.set.Guarded(func() error { return a.b.Allow(hs, nil) })
}

// AddMembers adds keys that the Set was built from. All of them must be added: one that is not may become absent.
func (a *Allower) AddMembers(keys [][]byte) error {
	return intake.Hash(a.set.hasher, keys, a.AddMemberHashes)
}

// AddMemberHashes is AddMembers for keys hashed by Hasher.
func (a *Allower) AddMemberHashes(hs []filter.Hash) error {
	return a.set.Guarded(func() error { return a.b.Members(hs) })
}

// Apply makes the Set answer false for the keys of the list. It needs exclusive use of the Set. If keys of the list are
// members, the error is a *filter.AllowedError. It wraps filter.ErrKeys if the members were fewer than Set.Len or some
// are not in the Set, and so are not those that it was built from. On error the Set is unchanged. Call it once.
func (a *Allower) Apply(ctx context.Context) error {
	s := a.set
	switch seen, missing := a.b.Seen(); {
	case missing > 0:
		return fmt.Errorf("%d of the %d members are not in the set: %w; give all keys that it was built from",
			missing, seen, filter.ErrKeys)
	case seen < s.Len():
		return fmt.Errorf("%d members for a set of %d keys: %w; give all keys that it was built from",
			seen, s.Len(), filter.ErrKeys)
	}
	c, err := a.b.Build(ctx)
	if err != nil {
		return err
	}
	err = s.inner().Except(c)
	s.follow()
	return err
}

// checkAllow returns an error if sets with that hash function cannot have exceptions.
func (c Config) checkAllow(h filter.Hasher) error {
	bad := func(value, reason string) error {
		return &filter.ConfigError{Field: "allow", Value: value, Reason: reason}
	}
	switch {
	case c.Allow == nil && c.Like.hasExceptions():
		return bad("none", "the set that the new one is like is exact for a list: give the list again")
	case c.Allow == nil:
		return nil
	case c.Needs.Add || c.Needs.Remove || c.Needs.Count || c.Needs.Merge || c.Needs.Writers:
		return bad("list", "the exceptions hold only for the keys of the build, so that no key can be added, removed or "+
			"merged, and no count can change; leave out the list or these needs")
	case c.Concurrent:
		return bad("list", "a set for many writers takes further keys, which may be in the list; leave one out")
	case h.ID().Foreign():
		return bad("list", "filters of other systems have no exceptions, and "+h.ID().String()+
			" is the hash function of one; take another family")
	}
	return nil
}

// allow applies Config.Allow to a set that was built from the kept keys.
func (b *Builder) allow(ctx context.Context, set *Set) error {
	a, err := set.Allower(b.config.Like)
	if err != nil {
		return err
	}
	if err := intake.Copies(ctx, b.config.Allow, a.AllowMany); err != nil {
		return err
	}
	if err := b.in.Members(ctx, a.AddMemberHashes); err != nil {
		return err
	}
	return a.Apply(ctx)
}

// readAllowed hashes the keys of Config.Allow.
func (b *ShardBuilder) readAllowed(ctx context.Context) (err error) {
	if b.config.Allow != nil {
		spill := run.NewSpill(b.config.Shards, b.memory(), b.config.TempDir)
		b.in.OnClose(spill.Close)
		b.allowed, err = intake.NewList(ctx, b.config.Allow, b.Hasher(), spill)
	}
	return err
}

// except gives exceptions to a shard. Keys that are members are no error yet, so that all of them are found.
func (b *ShardBuilder) except(ctx context.Context, set *Set, s int, like *Set) error {
	if b.allowed == nil {
		return nil
	}
	a, err := set.Allower(like)
	if err != nil {
		return err
	}
	if err := b.allowed.Each(ctx, s, a.AllowHashes); err != nil {
		return err
	}
	if err := b.spill.Each(ctx, s, a.AddMemberHashes); err != nil {
		return err
	}
	if err = a.Apply(ctx); errors.Is(err, filter.ErrAllowed) {
		b.allowed.Both(a.b.Both())
		return nil
	}
	return err
}
