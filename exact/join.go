package exact

import (
	"context"
	"fmt"
	"slices"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/hashes"
)

// maxNamed is the largest number of keys that an OutsideError names.
const maxNamed = 10

// addNames adds the members that are among the keys to name. partitions is nil for a set without partitions.
func (e *OutsideError) addNames(partitions, members [][]byte) {
	for i, h := range sumAll(e.hasher, partitions, members) {
		if !slices.Contains(e.hashes, h) {
			continue
		}
		text := fmt.Sprintf("%.60q", members[i])
		if partitions != nil {
			text = fmt.Sprintf("%.60q: %s", partitions[i], text)
		}
		// The list is read a second time and may name a member twice.
		if !slices.Contains(e.Keys, text) {
			e.Keys = append(e.Keys, text)
		}
	}
}

// joined is a key of the universe.
type joined struct {
	hash      filter.Hash
	partition uint32
	member    bool
}

// joinKeys reads sorted hashes of a universe and of members, with the bits of the Builder. It calls inside for each
// distinct key of the universe, in order of the hash, and outside for each distinct member that is not in it.
func joinKeys(ctx context.Context, keys *hashes.Sorted, inside func(joined) error, outside func(filter.Hash)) error {
	var k joined
	any, in := false, false // whether there is a key in k, and whether it is in the universe
	end := func() error {
		switch {
		case !any:
			return nil
		case !in:
			outside(k.hash)
			return nil
		}
		return inside(k)
	}

	// The low bits of Lo are partition and flags, so the entries of one key are neighbours in the sorted hashes.
	err := keys.Blocks(ctx, func(hs []filter.Hash) error {
		for _, h := range hs {
			if id := clearUnused(h); !any || id != k.hash {
				if err := end(); err != nil {
					return err
				}
				k = joined{hash: id, partition: uint32(h.Lo&partitionMask) >> 1}
				any, in = true, false
			}
			if h.Lo&memberBit != 0 {
				k.member = true
			} else {
				in = true
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return end()
}

// joinUniverse calls joinKeys with the keys of the Builder, each a step of a stage. If a member is not in the universe,
// the error is an *OutsideError, and inside was called for all keys of the universe. In an update, once the keys to
// toggle are known, they replace the members.
func (b *Builder) joinUniverse(ctx context.Context, inside func(joined) error) error {
	if b.toggled != nil {
		inside = b.toggling(inside)
	}

	e := &OutsideError{hasher: b.hasher}
	err := joinKeys(ctx, b.keys, func(k joined) error {
		b.countSteps(1)
		return inside(k)
	}, func(h filter.Hash) {
		if e.Count++; len(e.hashes) < maxNamed {
			e.hashes = append(e.hashes, h)
		}
	})
	if err == nil && e.Count > 0 {
		err = e
	}
	return err
}

// partitions returns the number of partitions, or 1 for a set without partitions.
func (b *Builder) partitions() int { return max(len(b.names.ids), 1) }

func (b *Builder) countKeys(ctx context.Context) ([]tally, error) {
	counts := make([]tally, b.partitions())
	return counts, b.joinUniverse(ctx, func(k joined) error {
		counts[k.partition].countKey(k.member)
		return nil
	})
}

func (t *tally) countKey(member bool) {
	t.keys++
	if member {
		t.members++
	}
}
