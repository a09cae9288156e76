package exact

import (
	"context"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/hashes"
)

// Verification is what a Verifier found.
type Verification struct {
	Universe, Members uint64 // distinct keys that were queried
	Missing           uint64 // members for which the answer is false
	FalselyPresent    uint64 // keys of the universe that are not members, for which the answer is true
	Wrong             uint64 // wrong answers: Missing + FalselyPresent
	Outside           uint64 // members that are not in the universe, which are not among Members
}

// Verifier queries a set for every key of its universe. Add all members and all keys of the universe, in any order and
// from any number of goroutines, then call Commit once, or Close.
//
// It identifies keys by hashes of 96 bits, under another seed than the set has. So it also finds errors from keys with
// equal hashes in the set.
type Verifier struct {
	progress func(filter.Progress) // may be nil

	set    *Set
	hasher filter.Hasher
	keys   *hashes.Sorted
}

// presentBit is set in the Lo of a gathered hash if the set contains the key.
const presentBit = 2

// NewVerifier returns a Verifier of s. It uses only the fields Memory, TempDir, Workers and Progress of c; each key of
// the universe and each member take 16 bytes of memory.
func (s *Set) NewVerifier(c Config) *Verifier {
	return &Verifier{progress: c.Progress, set: s, hasher: filter.NewHasher(^s.hasher.Seed()),
		keys: hashes.NewSorted(hashes.Config{Memory: c.Memory, Dir: c.TempDir, Workers: c.Workers})}
}

// AddMembers adds members. It returns an error if keys cannot be written to a temporary file. See Builder.AddMembers
// for partitions.
func (v *Verifier) AddMembers(keys [][]byte, partitions ...[]byte) error {
	return v.addKeys(partitionsOf(keys, partitions), keys, memberBit)
}

// AddUniverse adds keys of the universe. Arguments and errors are as for AddMembers.
func (v *Verifier) AddUniverse(keys [][]byte, partitions ...[]byte) error {
	return v.addKeys(partitionsOf(keys, partitions), keys, 0)
}

func (v *Verifier) addKeys(partitions, keys [][]byte, bit uint64) error {
	hits := make([]bool, len(keys))
	v.set.containsMany(hits, partitions, keys)
	hs := sumAll(v.hasher, partitions, keys)
	for i := range hs {
		// The answer travels with the hash, so that Commit needs no second reading of the keys.
		if hs[i].Lo |= bit; hits[i] {
			hs[i].Lo |= presentBit
		}
	}
	return v.keys.AddMany(hs)
}

// Close drops the keys and removes their file. Commit calls it.
func (v *Verifier) Close() error { return v.keys.Close() }

// Commit compares the answers. If ctx ends first, Commit returns ctx.Err().
func (v *Verifier) Commit(ctx context.Context) (result Verification, err error) {
	defer v.Close()
	v.report(0)
	n, err := v.keys.Finish(ctx)
	if err != nil {
		return result, err
	}

	err = joinKeys(ctx, v.keys, func(k joined) error {
		present := k.partition == presentBit>>1
		if result.Universe++; result.Universe%(1<<12) == 0 { // sorting takes about as long
			v.report(.5 + .5*min(float64(result.Universe+result.Members)/float64(n), 1))
		}
		if k.member {
			result.Members++
		}
		switch {
		case k.member && !present:
			result.Missing++
		case !k.member && present:
			result.FalselyPresent++
		}
		return nil
	}, func(filter.Hash) { result.Outside++ })
	result.Wrong = result.Missing + result.FalselyPresent
	return result, err
}

func (v *Verifier) report(done float64) {
	if v.progress != nil {
		v.progress(filter.Progress{Done: done})
	}
}
