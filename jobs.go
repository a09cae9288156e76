package bloomery

import (
	"context"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bulk"
)

// JobConfig configures a job on a list of keys: an Addition, a Removal, an Allower, an Optimizer or a Verifier. A
// method of Set makes the job, which takes keys in batches, from any number of goroutines unless noted, and ends with
// Commit. Close it in any case: after Commit, Close only frees memory and temporary files. After Close, other methods
// return errors.
type JobConfig struct {
	// Memory is the limit in bytes of the hashes of keys in memory. Further ones go to a temporary file in
	// TempDir. Default: 64 MiB, and no limit for a Verifier and an Optimizer of one filter.
	Memory  int64
	TempDir string // default: os.TempDir()
	// Workers is the number of goroutines that search and sort. Default: GOMAXPROCS.
	Workers int
	// Progress, if not nil, is called by Commit about ten times per second.
	Progress func(filter.Progress)
	// Like is, for an Allower, an earlier version of the Set, or nil. The exceptions get the geometry of
	// those of Like if they need about as much, so that two versions differ in few bits.
	Like *Set
	// Absent is, for a Verifier, the expected number of keys of AddAbsent, 0 if it is not known. It is no
	// limit.
	Absent uint64
	// Effort is that of the search of an Optimizer. The zero value is the default effort.
	Effort filter.Effort
	// MaxFPR and Shrink limit the result of an Optimizer, as in Config.
	MaxFPR, Shrink float64
}

// options returns the options of a job on a list.
func (c JobConfig) options() (bulk.Options, error) {
	o := bulk.Options{Workers: c.Workers, Memory: c.Memory, TempDir: c.TempDir, Progress: c.Progress}
	return o, Config{Workers: c.Workers, Memory: c.Memory, MaxFPR: c.MaxFPR}.checkFields()
}

// target returns the Set for a job.
func (s *Set) target() bulk.Target {
	return bulk.Target{Engine: s.inner(), Now: s.inner, Begin: s.begin, End: s.end}
}

// Addition adds keys to a Set: to a sharded Set shard by shard, so that each shard is loaded and written once.
type Addition struct{ job *bulk.Addition }

// Addition returns an Addition to s. For a sharded Set it keeps 16 bytes a key until Commit; for others it adds keys at
// once. The error wraps errors.ErrUnsupported if the family is static.
func (s *Set) Addition(c JobConfig) (*Addition, error) {
	o, err := c.options()
	if err != nil {
		return nil, err
	}
	job, err := bulk.NewAddition(s.target(), o)
	if err != nil {
		return nil, err
	}
	return &Addition{job}, nil
}

// AddMany adds keys. Only for a sharded Set, or one for many writers, may several goroutines call it at once. Errors
// are those of Set.Add and of the temporary file.
func (a *Addition) AddMany(keys [][]byte) error { return a.job.AddMany(keys) }

// Commit adds the keys that were kept. On error the Set may have some of the keys: do not write it back.
func (a *Addition) Commit(ctx context.Context) error { return a.job.Commit(ctx) }

// Close drops the keys that were not added.
func (a *Addition) Close() error { return a.job.Close() }

// MaxStrangers, 0.5, is the value of Removed.Strangers from which a Removal changes nothing.
const MaxStrangers = bulk.MaxStrangers

// Removal removes a list of keys from a Set, after a look at the whole list. Remove only keys that were added: the
// removal of others, strangers, makes keys absent that look like them. Keys that are not found prove that the list has
// strangers, and their number tells how many others look present. From [MaxStrangers] on, or if more than half of the
// distinct keys of the list are not in the Set, Commit changes nothing, unless Force was called.
type Removal struct{ job *bulk.Removal }

// Removed is the result of a Removal.
type Removed struct {
	Removed  uint64 // keys, each as often as it was removed; after Look, as often as it would be
	NotFound uint64 // keys that were not found, each as often as that happened
	// Unknown is the number of distinct keys of the list that are not in the Set, or fewer times than in
	// the list.
	Unknown uint64
	// Strangers is the expected number of distinct keys of the list that were never added, or not as often,
	// and look present nevertheless.
	Strangers float64
	// Lost is the expected number of keys outside the list that become absent. It assumes that each of them
	// was added once: keys that were added more often are lost less often.
	Lost float64
}

// Removal returns a Removal of keys from s. It keeps 16 bytes a key. The error wraps errors.ErrUnsupported if the
// family has no Remove.
func (s *Set) Removal(c JobConfig) (*Removal, error) {
	o, err := c.options()
	if err != nil {
		return nil, err
	}
	job, err := bulk.NewRemoval(s.target(), o)
	if err != nil {
		return nil, err
	}
	return &Removal{job}, nil
}

// AddMany adds keys to the list. A key that was added to the Set several times is removed as often as it is in the
// list. After Look it returns an error.
func (r *Removal) AddMany(keys [][]byte) error { return r.job.AddMany(keys) }

// Look returns what Commit would do, and changes nothing. If strangers look like keys of the list, Commit finds a few
// keys fewer.
func (r *Removal) Look(ctx context.Context) (Removed, error) {
	seen, err := r.job.Look(ctx)
	return Removed(seen), err
}

// Force makes Commit remove keys although strangers are among them.
func (r *Removal) Force() { r.job.Force() }

// Commit removes the keys of the list. If it refuses, it returns the result of Look and an error wrapping
// filter.ErrStrangers; it may be called again after Force. If it finds none of the keys, it changes nothing and returns
// no error. If ctx ends, some of the keys may be removed. It needs exclusive use of the Set, unless that is one for
// many writers.
func (r *Removal) Commit(ctx context.Context) (Removed, error) {
	removed, err := r.job.Commit(ctx)
	return Removed(removed), err
}

// Close drops the list.
func (r *Removal) Close() error { return r.job.Close() }

// Allower makes a Set exact for a list of allowed keys, none of which is a member: the Set then answers false for all
// of them. It stores with the Set which of them would be false positives; Info has their number and size, about
// 1.44·log2(members/exceptions) + 4.4 bits each if there are more members than exceptions. Other keys keep their
// false-positive rate. Call AllowMany for the list, then AddMembers for all members, then Commit. Peak memory: about
// 150 bytes and the key for each exception. Config.Allow does the same for a Set that is built.
//
// A Set with exceptions cannot be changed: Add, Remove, Merge, Intersect, Optimizer and Reset return
// filter.ErrExceptions. It can be read, saved, trimmed, cloned and followed like any other.
type Allower struct{ job *bulk.Allower }

// Allower returns an Allower of s, which must not change until Commit returns. If s has exceptions, Commit replaces
// them. The error wraps errors.ErrUnsupported for a Set that is sharded or for many writers, and for hash functions of
// other systems.
func (s *Set) Allower(c JobConfig) (*Allower, error) {
	if _, err := c.options(); err != nil {
		return nil, err
	}
	job, err := bulk.NewAllower(s.target(), c.Like.other())
	if err != nil {
		return nil, err
	}
	return &Allower{job}, nil
}

// AllowMany adds keys of the list. Duplicates are allowed and count. It keeps a copy of false positives. After the
// first AddMembers it returns an error.
func (a *Allower) AllowMany(keys [][]byte) error { return a.job.AllowMany(keys) }

// AddMembers adds keys that the Set was built from. Add all of them: one that is missing may become absent.
func (a *Allower) AddMembers(keys [][]byte) error { return a.job.AddMembers(keys) }

// Commit makes the Set answer false for the keys of the list. It needs exclusive use of the Set. If keys of the list
// are members, the error is a *filter.AllowedError. It wraps filter.ErrKeys if AddMembers got fewer keys than Set.Len,
// or keys that are not in the Set. On error the Set is unchanged.
func (a *Allower) Commit(ctx context.Context) error { return a.job.Commit(ctx) }

// Close drops the list.
func (a *Allower) Close() error { return a.job.Close() }

// Verifier asks a Set for the keys that it was built from and for absent keys, and counts the wrong answers. First give
// it the absent keys, with AddAbsent or AskRandom, then the members with AskMembers or AskValues; then call Commit. The
// Set must not change meanwhile.
//
// It leaves out absent keys that are members too, and counts each once. For that it keeps 16 bytes for each key of
// AddAbsent, and 16 for each member that may be one of them.
type Verifier struct{ job *bulk.Verifier }

// Verification is what a Verifier has counted.
type Verification struct {
	Members, FalseNegatives uint64 // keys of AskMembers, and those of them that the Set does not contain
	WrongValues             uint64 // keys of AskValues for which the Set has another value
	Rate                    Rate   // of the distinct keys that are no members
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
	o, err := c.options()
	if err != nil {
		return nil, err
	}
	return &Verifier{bulk.NewVerifier(s.target(), o, c.Absent)}, nil
}

// AddAbsent asks for keys of which none should be a member. After AskMembers it returns an error. Other errors of the
// methods that take keys are those of the temporary file.
func (v *Verifier) AddAbsent(keys [][]byte) error { return v.job.AddAbsent(keys) }

// AskRandom asks for n random keys, which are the same for every n and seed. When ctx ends, it returns its cause.
// progress, if not nil, is called with the number of keys so far.
func (v *Verifier) AskRandom(ctx context.Context, n, seed uint64, progress func(keys uint64)) error {
	return v.job.AskRandom(ctx, n, seed, progress)
}

// AskMembers asks for keys that the Set was built from. Each counts as often as it comes.
func (v *Verifier) AskMembers(keys [][]byte) error { return v.job.AskMembers(keys) }

// AskValues is AskMembers for keys with values, and compares them: values[i] belongs to keys[i]. The error wraps
// errors.ErrUnsupported if the Set stores no values. It panics if keys and values differ in length.
func (v *Verifier) AskValues(keys [][]byte, values []uint64) error {
	return v.job.AskValues(keys, values)
}

// Commit returns the counts. No other method may run at the same time. The error is that of the temporary file, of ctx,
// or of Set.Err.
func (v *Verifier) Commit(ctx context.Context) (Verification, error) {
	n, err := v.job.Commit(ctx)
	if err != nil {
		return Verification{}, err
	}
	r := Rate{Trials: n.Absent, FalsePositives: n.FalsePositives}
	r.Observed, r.Low, r.High = bulk.Interval(r.FalsePositives, r.Trials)
	return Verification{n.Members, n.FalseNegatives, n.WrongValues, r}, nil
}

// Close frees the memory and removes the temporary file.
func (v *Verifier) Close() error { return v.job.Close() }
