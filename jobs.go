package bloomery

import (
	"context"
	"iter"

	"github.com/bloomery/bloomery/internal/bulk"
)

// Rate is an observed false-positive rate: the number of false positives among Trials absent keys.
type Rate = bulk.Rate

// NewRate returns the rate of that many false positives among trials absent keys.
func NewRate(falsePositives, trials uint64) Rate { return bulk.NewRate(falsePositives, trials) }

// MeasureFPR queries absent keys and returns the observed rate. The keys must be distinct and absent.
func (s *Set) MeasureFPR(absent iter.Seq[[]byte]) Rate {
	var trials, hits uint64
	for k := range absent {
		trials++
		if s.Contains(k) {
			hits++
		}
	}
	return NewRate(hits, trials)
}

// An Addition adds keys to a Set, those of a sharded Set shard by shard, so that each shard is loaded and written once.
type Addition = bulk.Addition

// Addition returns an Addition to s. For a sharded Set it keeps 16 bytes a key until Add: in memory up to c.Memory, by
// default 64 MiB, then in a temporary file in c.TempDir. For other Sets it keeps nothing: keys are added at once. Of c
// it also uses Progress. The error wraps errors.ErrUnsupported if the family is static. Close it when done.
func (s *Set) Addition(c Config) (*Addition, error) {
	if err := c.checkFields(); err != nil {
		return nil, err
	}
	return bulk.NewAddition(s, s.inner(), c.bulk())
}

// bulk returns the options of a job on a list.
func (c Config) bulk() bulk.Options {
	return bulk.Options{Workers: c.Workers, Memory: c.Memory, TempDir: c.TempDir, Progress: c.Progress}
}

// MaxStrangers is the value of Removed.Strangers from which a guarded removal changes nothing.
const MaxStrangers = bulk.MaxStrangers

// Removal removes a list of keys from a Set, after a look at the whole list.
type Removal = bulk.Removal

// Removed is the result of a Removal.
type Removed = bulk.Removed

// Removal returns a Removal of keys from s. Of c it uses Workers, Memory, TempDir and Progress. It keeps 16 bytes a
// key: in memory up to Config.Memory, by default 64 MiB, then in a temporary file. If the family has no Remove, the
// error wraps errors.ErrUnsupported. Close it when done.
func (s *Set) Removal(c Config) (*Removal, error) {
	if err := c.checkFields(); err != nil {
		return nil, err
	}
	return bulk.NewRemoval(s, s.inner(), c.bulk())
}

// RemoveMany removes keys, each as often as it comes, with the guard of Removal: if so many are not found that others
// may be lost, it changes nothing, and the error wraps filter.ErrStrangers.
func (s *Set) RemoveMany(keys [][]byte) (Removed, error) {
	r, err := s.Removal(Config{})
	if err != nil {
		return Removed{}, err
	}
	defer r.Close()
	if err := r.AddMany(keys); err != nil {
		return Removed{}, err
	}
	return r.Remove(context.Background(), false)
}

// A Verifier asks a Set for the keys that it was built from and for absent keys, and counts the wrong answers.
type Verifier = bulk.Verifier

// VerifierConfig are the options of a Verifier. The zero value keeps all keys in memory.
type VerifierConfig = bulk.VerifierConfig

// Verification is what a Verifier has counted.
type Verification = bulk.Verification

// NewVerifier returns a Verifier of the Set.
func (s *Set) NewVerifier(c VerifierConfig) *Verifier { return bulk.NewVerifier(s, c) }

// Allower makes a Set exact for a list of allowed keys, of which none is a member: the Set then answers false for all
// of them. A Set with exceptions cannot be changed: Add, Remove, Merge, Intersect, Optimize and Reset return
// filter.ErrExceptions. Config.Allow does the same for a Set that is built.
type Allower = bulk.Allower

// Allower returns an Allower of s, which must not change until Apply returns. If s has exceptions, Apply replaces them.
// like, if not nil, is an earlier version of s: the exceptions get the same geometry as its own if they need about as
// much, so that two versions differ in few bits.
//
// The error wraps errors.ErrUnsupported for a Set that is sharded or for many writers, and for one with the hash
// function of another system.
func (s *Set) Allower(like *Set) (*Allower, error) {
	return bulk.NewAllower(s, s.inner(), like.other(), s.follow)
}
