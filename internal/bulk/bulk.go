// Package bulk has the jobs on a Set and a list of keys: adding, removing and verifying them.
package bulk

import (
	"cmp"
	"math"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/hashes"
)

// Target is the Set that a job works on.
type Target struct {
	engine.Engine                      // on which the Set stood when the job was made
	Now           func() engine.Engine // returns the Engine of the Set, another one after Close and UnmarshalBinary
	Begin, End    func()               // called before and after each change
}

func (t Target) hasher() filter.Hasher { return t.Facts().Hasher }

func (t Target) add(keys engine.Keys) error {
	t.Begin()
	defer t.End()
	return t.Now().AddMany(keys)
}

func (t Target) remove(h filter.Hash) error {
	t.Begin()
	defer t.End()
	one, err := t.Now().At(h, true)
	if err == nil {
		err = one.Remove(h)
	}
	return err
}

// copies returns how often a key that looks present can be removed, or more.
func (t Target) copies(h filter.Hash) uint64 {
	if one, err := t.Now().At(h, false); err == nil {
		if n, saturated, err := one.Count(h); err == nil && !saturated {
			return n
		}
	}
	return math.MaxUint64
}

func (t Target) value(key []byte) (value uint64, ok bool, err error) {
	h := t.hasher().Sum(key)
	one, err := t.Now().At(h, false)
	if err != nil {
		return 0, false, err
	}
	return one.Get(h)
}

// Options are those of a job that keeps the hashes of a list.
type Options struct {
	Workers  int
	Memory   int64 // limit in bytes of the hashes in memory; 0: hashes.DefaultMemory
	TempDir  string
	Progress func(filter.Progress)
}

func (o Options) memory() int64 { return cmp.Or(o.Memory, hashes.DefaultMemory) }

// NewSpill returns a store of hashes for the shards of e.
func (o Options) NewSpill(e engine.Engine) *hashes.ByShard {
	return hashes.NewByShard(e.Facts().Stored.Shards, o.memory(), o.TempDir)
}
