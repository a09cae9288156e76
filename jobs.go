package bloomery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bulk"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/except"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/intake"
)

// JobConfig configures a job on a list of keys: an Addition, a Removal, an Allower, an Optimizer or a Verifier. A
// method of Set makes the job, which takes keys in batches, from any number of goroutines unless noted, and ends with
// Commit. Close it in any case: after Commit, Close only frees memory and temporary files. After Close, other methods
// return errors.
type JobConfig struct {
	// Building has the resources and reports of every job but an Allower. Memory is by default 64 MiB, and unlimited
	// for a Verifier and an Optimizer of one filter. Commit calls Progress. No job calls the planner: Chosen must be
	// nil.
	Building Building
	// Like.Set is, for an Allower, an earlier version of the Set, or nil. The exceptions get the geometry of the
	// exceptions of Like.Set if they need about as much, so that two versions differ in few bits. Like.Shrink limits,
	// for an Optimizer, the keys that the Set may lose.
	Like   Like
	Limits Limits        // limits of the new filter, for an Optimizer
	Absent uint64        // for a Verifier, the expected number of keys of AddAbsent, or 0 if it is unknown; not a limit
	Effort filter.Effort // effort of the search, for an Optimizer; the zero value is the default effort
}

// options returns the options of a job, such as "an Allower", or an error if a field is out of range or the job does
// not use it.
func (c JobConfig) options(job string) (bulk.Options, error) {
	only := func(user, field string, set bool) error {
		return family.Refused(field, set && job != user, job+" does not use it; leave it out")
	}

	b := c.Building
	o := bulk.Options{Workers: b.Workers, Memory: b.Memory, TempDir: b.TempDir, Progress: b.Progress}
	resources := b.Workers != 0 || b.Memory != 0 || b.TempDir != "" || b.Progress != nil
	return o, cmp.Or(
		Config{Building: b, Limits: c.Limits}.checkFields(),
		only("", "building.chosen", b.Chosen != nil),
		only("", "building", resources && job == "an Allower"), // it keeps exceptions only, which are in memory
		only("an Allower", "like.set", c.Like.Set != nil),
		only("an Optimizer", "like.shrink", c.Like.Shrink != 0),
		only("an Optimizer", "limits", c.Limits != (Limits{})),
		only("a Verifier", "absent", c.Absent != 0),
		only("an Optimizer", "effort", c.Effort != (filter.Effort{})),
	)
}

// Addition adds keys to a Set: to a sharded Set shard by shard, so that each shard is loaded and written once.
type Addition struct {
	set    *Set
	hasher filter.Hasher
	parts  engine.Parts // parts of a sharded Set, else nil
	spill  *bulk.Spill  // of its hashes
	report func(filter.Progress)
	ended  atomic.Bool // by Commit or Close
}

var errAdded = fmt.Errorf("bloomery: the Addition is %w, and takes no more keys", filter.ErrClosed)

// Addition returns an Addition to s. For a sharded Set it keeps 16 bytes per key until Commit; for others it adds keys
// at once. The error wraps errors.ErrUnsupported if the family is static.
func (s *Set) Addition(c JobConfig) (*Addition, error) {
	o, err := c.options("an Addition")
	if err != nil {
		return nil, err
	}
	if err := engine.Can(s.inner(), family.CanAdd); err != nil {
		return nil, err
	}

	a := &Addition{set: s, hasher: s.Hasher(), parts: s.inner().Parts(), report: c.Building.Progress}
	if a.parts != nil {
		a.spill = o.NewSpill(s.inner())
	}
	return a, nil
}

// AddMany adds keys. Several goroutines may call it at once only for a sharded Set or a Set for many writers. Errors
// come from Set.Add and the temporary file.
func (a *Addition) AddMany(keys [][]byte) error {
	switch {
	case a.ended.Load():
		return errAdded
	case a.spill == nil:
		return a.set.addMany(engine.Keys{Bytes: keys})
	}
	return intake.Hash(a.hasher, keys, a.spill.Add)
}

// Commit adds the keys that were kept. On error the Set may have some of the keys: do not write it back.
func (a *Addition) Commit(ctx context.Context) error {
	if a.ended.Swap(true) {
		return errAdded
	}
	if a.spill == nil {
		return nil
	}

	return a.spill.EachShard(func(i int, done float64) error {
		err := a.parts.Change(i, func(part engine.Engine) error {
			return a.spill.Each(ctx, i, func(hs []filter.Hash) error { return part.AddMany(engine.Keys{Hashes: hs}) })
		})
		if err == nil && a.report != nil {
			a.report(filter.Progress{Done: done})
		}
		return err
	})
}

// Close drops the keys that were not added.
func (a *Addition) Close() error {
	a.ended.Store(true)
	if a.spill == nil {
		return nil
	}
	return a.spill.Close()
}

// Allower makes a Set exact for a list of allowed keys, which must not be members: the Set then answers false for all
// of them. It stores the false positives among them with the Set; Info has their number and size, about
// 1.44·log2(members/exceptions) + 4.4 bits each if there are more members than exceptions. Other keys keep their
// false-positive rate. Call AllowMany for the list, then AddMembers for all members, then Commit. Peak memory: about
// 150 bytes and the key for each exception. Config.Allow does the same while a Set is built.
//
// A Set with exceptions cannot be changed: Add, Remove, Merge, Intersect, Optimizer and Reset return
// filter.ErrExceptions. It can be read, saved, trimmed, cloned and followed like any other.
type Allower struct {
	set  *Set
	on   engine.Engine   // the Engine of the Set when the Allower was made
	list *except.Builder // nil after it has built the exceptions, or failed to, and after Close
}

var errAllowed = fmt.Errorf("bloomery: the Allower is %w, and takes no more keys", filter.ErrClosed)

// Allower returns an Allower of s, which must not change until Commit returns. If s has exceptions, Commit replaces
// them. The error wraps errors.ErrUnsupported for a Set that is sharded or for many writers, and for hash functions of
// other systems.
func (s *Set) Allower(c JobConfig) (*Allower, error) {
	if _, err := c.options("an Allower"); err != nil {
		return nil, err
	}
	return s.allower(c.Like.Set)
}

// allower returns an Allower whose exceptions are like the exceptions of an earlier version, or nil.
func (s *Set) allower(like *Set) (*Allower, error) {
	on := s.inner()
	if err := on.Except(nil); err != nil {
		return nil, err
	}

	var sizes []except.Size
	if like != nil {
		if _, c := except.Split(like.inner().Facts().Filter); c != nil {
			sizes = c.Sizes()
		}
	}
	main, _ := except.Split(on.Facts().Filter)
	return &Allower{s, on, except.NewBuilder(main, on.Len(), sizes)}, nil
}

// AllowMany adds keys of the list. Duplicates are allowed and count. It keeps a copy of false positives. After the
// first AddMembers it returns an error.
func (a *Allower) AllowMany(keys [][]byte) error {
	return intake.Hash(a.on.Facts().Hasher, keys, func(hs []filter.Hash) error {
		return a.allowHashes(hs, func(i int) string { return string(keys[i]) })
	})
}

// allowHashes is AllowMany for hashed keys. Errors name the text of key i, or its hash if text is nil.
func (a *Allower) allowHashes(hs []filter.Hash, text func(i int) string) error {
	if a.list == nil {
		return errAllowed
	}
	return a.on.Guarded(func() error { return a.list.Allow(hs, text) })
}

// AddMembers adds keys that the Set was built from. Add all of them: a missing one may become absent.
func (a *Allower) AddMembers(keys [][]byte) error {
	return intake.Hash(a.on.Facts().Hasher, keys, a.addMemberHashes)
}

func (a *Allower) addMemberHashes(hs []filter.Hash) error {
	if a.list == nil {
		return errAllowed
	}
	return a.on.Guarded(func() error { return a.list.Members(hs) })
}

// Commit makes the Set answer false for the keys of the list. It needs exclusive use of the Set. If keys of the list
// are members, the error is a *filter.AllowedError. It wraps filter.ErrKeys if AddMembers got fewer keys than Set.Len,
// or keys that are not in the Set; add the missing members and call it again. On error the Set is unchanged.
func (a *Allower) Commit(ctx context.Context) error {
	if a.list == nil {
		return errAllowed
	}
	if err := a.set.inner().Except(nil); err != nil { // it was closed
		return err
	}

	const advice = "give all keys that it was built from"
	if seen, missing := a.list.Seen(); missing > 0 {
		return fmt.Errorf("%d of the %d members are not in the set: %w; "+advice, missing, seen, filter.ErrKeys)
	} else if n := a.on.Len(); seen < n {
		return fmt.Errorf("%d members for a set of %d keys: %w; "+advice, seen, n, filter.ErrKeys)
	}

	c, err := a.list.Build(ctx)
	if !errors.Is(err, filter.ErrAllowed) { // a sharded build reads from this error which keys are members
		a.list = nil
	}
	if err != nil {
		return err
	}

	a.set.begin()
	defer a.set.end()
	return a.on.Except(c)
}

// Close drops the list.
func (a *Allower) Close() error {
	a.list = nil
	return nil
}

// Verifier asks a Set for the keys that it was built from and for absent keys, and counts the wrong answers. First give
// it the absent keys, with AddAbsent or AskRandom, then the members with AskMembers or AskValues; then call Commit. The
// Set must not change meanwhile.
//
// It leaves out absent keys that are members too, and counts each once. For that it keeps 16 bytes for each key of
// AddAbsent, and 16 for each member that may be one of them.
type Verifier struct{ job *bulk.Verifier }

// Verification is what a Verifier has counted.
type Verification struct {
	Members, FalseNegatives uint64 // keys of AskMembers, and how many of them the Set does not contain
	WrongValues             uint64 // keys of AskValues for which the Set has another value
	Rate                    Rate   // rate of the distinct keys that are not members
}

// Rate is an observed false-positive rate: the number of false positives among Trials absent keys.
type Rate struct {
	Trials, FalsePositives uint64
	Observed               float64 // FalsePositives / Trials, 0 without trials
	Low, High              float64 // the exact 95% interval (Clopper and Pearson) of the true rate
}

// Holds reports whether the observation agrees with a promised rate. It is false if a filter with the promised rate
// would have this many or more false positives with a probability below 1 in 10,000.
func (r Rate) Holds(promised float64) bool { return bulk.Holds(r.FalsePositives, r.Trials, promised) }

// Verifier returns a Verifier of s.
func (s *Set) Verifier(c JobConfig) (*Verifier, error) {
	o, err := c.options("a Verifier")
	if err != nil {
		return nil, err
	}
	return &Verifier{bulk.NewVerifier(s.Hasher(), s.inner, o, c.Absent)}, nil
}

// AddAbsent asks for keys that should all be absent. After AskMembers it returns an error. Other errors of the methods
// that take keys come from the temporary file.
func (v *Verifier) AddAbsent(keys [][]byte) error { return v.job.AddAbsent(keys) }

// AskRandom asks for n random keys, which are the same for every n and seed. When ctx ends, AskRandom returns the cause
// of ctx. progress, if not nil, is called with the number of keys so far.
func (v *Verifier) AskRandom(ctx context.Context, n, seed uint64, progress func(keys uint64)) error {
	return v.job.AskRandom(ctx, n, seed, progress)
}

// AskMembers asks for keys that the Set was built from. Duplicates count each time.
func (v *Verifier) AskMembers(keys [][]byte) error { return v.job.AskMembers(keys) }

// AskValues is AskMembers for keys with values, and compares them: values[i] belongs to keys[i]. The error wraps
// errors.ErrUnsupported if the Set stores no values. It panics if keys and values differ in length.
func (v *Verifier) AskValues(keys [][]byte, values []uint64) error {
	return v.job.AskValues(keys, values)
}

// Commit returns the counts. No other method may run at the same time. The error comes from the temporary file, from
// ctx, or from Set.Err.
func (v *Verifier) Commit(ctx context.Context) (Verification, error) {
	n, err := v.job.Commit(ctx)
	return Verification{n.Members, n.FalseNegatives, n.WrongValues, Rate(n.Rate)}, err
}

// Close frees the memory and removes the temporary file.
func (v *Verifier) Close() error { return v.job.Close() }
