package exact

import (
	"context"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/gather"
)

// Verification is what a Verifier found.
type Verification struct {
	Universe, Members uint64 // distinct keys that were asked for
	Missing           uint64 // members for which the answer is false
	FalselyPresent    uint64 // keys of the universe that are not members, for which the answer is true
	Outside           uint64 // members that are not in the universe, which are not among Members
}

// Wrong returns the number of wrong answers.
func (v Verification) Wrong() uint64 { return v.Missing + v.FalselyPresent }

// Verifier asks a set for every key of its universe. Add all members and all keys of the universe, in any order and
// from any number of goroutines, then call Result once, or Close.
//
// It finds out which keys are members by hashes of 96 bits under another seed than that of the set. So it also finds
// keys that the hash function of the set takes for the same.
type Verifier struct {
	Progress func(filter.Progress) // if not nil, Result calls it now and then

	set    *Set
	hasher filter.Hasher
	keys   *gather.Keys
}

// presentBit is set in the Lo of a gathered hash if the set has the key.
const presentBit = 2

// NewVerifier returns a Verifier of s. memory is the number of bytes of key hashes to keep in memory, 16 for each key
// of the universe and each member, 0 for no limit; further ones go to a temporary file in dir, os.TempDir() if empty.
func (s *Set) NewVerifier(memory int64, dir string) *Verifier {
	return &Verifier{
		set: s, hasher: filter.NewHasher(^s.hasher.Seed()), keys: gather.New(gather.Config{Memory: memory, Dir: dir}),
	}
}

// AddMembers adds members. partitions is nil for a set without partitions. It returns an error if keys cannot be
// written to a temporary file.
func (v *Verifier) AddMembers(partitions, keys [][]byte) error {
	return v.add(partitions, keys, memberBit)
}

// AddUniverse adds keys of the universe. Arguments and errors are those of AddMembers.
func (v *Verifier) AddUniverse(partitions, keys [][]byte) error { return v.add(partitions, keys, 0) }

func (v *Verifier) add(partitions, keys [][]byte, bit uint64) error {
	hits := make([]bool, len(keys))
	v.set.containsMany(hits, partitions, keys)
	hs := sumAll(v.hasher, partitions, keys)
	for i := range hs {
		if hs[i].Lo |= bit; hits[i] {
			hs[i].Lo |= presentBit
		}
	}
	return v.keys.AddMany(hs)
}

// Close drops the keys and removes their file. Result calls it.
func (v *Verifier) Close() error { return v.keys.Close() }

// Result compares the answers. If ctx ends first, it returns ctx.Err().
func (v *Verifier) Result(ctx context.Context) (result Verification, err error) {
	defer v.Close()
	v.report(0)
	n, err := v.keys.Finish(ctx)
	if err != nil {
		return result, err
	}
	err = join(ctx, v.keys, func(k joined) error {
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
	return result, err
}

func (v *Verifier) report(done float64) {
	if v.Progress != nil {
		v.Progress(filter.Progress{Done: done})
	}
}
