package bloomery

import (
	"context"
	"encoding/binary"
	"fmt"
	"iter"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bulk"
	"github.com/bloomery/bloomery/internal/engine"
)

// Contains reports whether key may be in the set. If it is false, the key is absent. For an absent key it is true with
// probability Info().FPRPosterior. If the file of a mapped Set or a shard cannot be read, it is true, and Err returns
// an error; see ContainsContext.
func (s *Set) Contains(key []byte) bool {
	if s.filter != nil {
		h := s.hasher.Sum(key) // before s.filter is read: one word less on the stack, a cycle faster
		return s.filter.Has(h)
	}
	return s.inner().Contains(s.key(key))
}

// ContainsString is Contains for a string.
func (s *Set) ContainsString(key string) bool {
	if s.filter != nil {
		h := s.hasher.SumString(key)
		return s.filter.Has(h)
	}
	return s.inner().Contains(s.keyOfString(key))
}

// ContainsUint64 is Contains for the eight bytes of key, little endian.
func (s *Set) ContainsUint64(key uint64) bool {
	if s.filter != nil {
		h := s.hasher.SumUint64(key)
		return s.filter.Has(h)
	}
	return s.inner().Contains(s.keyOfUint64(key))
}

// Has is Contains for a key hashed by Hasher. A filter that takes raw keys has more false positives here.
func (s *Set) Has(h filter.Hash) bool {
	if s.filter != nil {
		return s.filter.Has(h)
	}
	return s.inner().Contains(h, nil)
}

// ContainsContext is Contains that also returns an error: if the answer cannot be known, because a shard or the mapped
// file cannot be read or ctx has ended, it returns true and the error. In a sharded Set it may load a shard.
func (s *Set) ContainsContext(ctx context.Context, key []byte) (bool, error) {
	if ctx.Err() != nil {
		return true, context.Cause(ctx)
	}
	return s.inner().Ask(s.key(key))
}

// ContainsMany sets dst[i] to Contains(keys[i]) for every i. If the filter is larger than the processor's caches, this
// is several times as fast as single queries. It panics if dst and keys differ in length.
func (s *Set) ContainsMany(dst []bool, keys [][]byte) {
	sameLength("ContainsMany", len(dst), len(keys))
	s.inner().ContainsMany(dst, engine.Keys{Bytes: keys})
}

// ContainsManyStrings is ContainsMany for strings.
func (s *Set) ContainsManyStrings(dst []bool, keys []string) {
	sameLength("ContainsMany", len(dst), len(keys))
	s.inner().ContainsMany(dst, engine.Keys{Strings: keys})
}

// ContainsManyUint64 is ContainsMany for integers.
func (s *Set) ContainsManyUint64(dst []bool, keys []uint64) {
	sameLength("ContainsMany", len(dst), len(keys))
	s.inner().ContainsMany(dst, engine.Keys{Uint64s: keys})
}

// HasMany is ContainsMany for keys hashed by Hasher. A filter that takes raw keys has more false positives here.
func (s *Set) HasMany(dst []bool, hs []filter.Hash) {
	sameLength("HasMany", len(dst), len(hs))
	s.inner().HasMany(dst, hs)
}

// sameLength panics if the numbers of results and keys differ.
func sameLength(what string, dst, keys int) {
	if dst != keys {
		panic(fmt.Sprintf("bloomery: %s: dst has %d places for %d keys", what, dst, keys))
	}
}

// key returns what the Engine takes of a key: its hash, or a copy of its bytes, so that key does not escape.
func (s *Set) key(key []byte) (h filter.Hash, raw []byte) {
	switch s.takes {
	case engine.Hashes:
		h = s.hasher.Sum(key)
	case engine.RawKeys:
		raw = make([]byte, len(key))
		copy(raw, key)
	}
	return h, raw
}

// keyOfString is key for a string.
func (s *Set) keyOfString(key string) (h filter.Hash, raw []byte) {
	switch s.takes {
	case engine.Hashes:
		h = s.hasher.SumString(key)
	case engine.RawKeys:
		raw = []byte(key)
	}
	return h, raw
}

// keyOfUint64 is key for the eight bytes of key, little endian.
func (s *Set) keyOfUint64(key uint64) (h filter.Hash, raw []byte) {
	switch s.takes {
	case engine.Hashes:
		h = s.hasher.SumUint64(key)
	case engine.RawKeys:
		raw = binary.LittleEndian.AppendUint64(nil, key)
	}
	return h, raw
}

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

// RandomKeys returns random names of 24 letters and digits without end. They have 120 random bits, so that none of them
// is in a list of keys. The memory of a name is reused for the next one.
func RandomKeys(seed uint64) iter.Seq[[]byte] { return bulk.RandomKeys(seed) }
