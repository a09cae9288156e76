package exact

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/drift"
)

// MaxUpdates is the largest number of updates in a file.
const MaxUpdates = 255

// tryPositions is the largest number of toggled keys for which an update tries positions. A set is smaller from 30 to
// 50 keys on, see docs/guides/exact.md.
const tryPositions = 64

// changed describes the changes that Build made to Config.Base: see Info.Changed.
type changed struct {
	Added, Removed uint64
	Bytes          uint64
	Positions      bool
	Entropy        float64
}

func errPartitioned(is bool) error {
	return &filter.ConfigError{Field: "partitioned", Value: is,
		Reason: "members, universe and Base must all have partitions, or none"}
}

// updatable returns an error if a set cannot have one more update.
func (s *Set) updatable() error {
	if len(s.records) > MaxUpdates {
		return ErrUpdates
	}
	return s.checkUsable()
}

// update returns Config.Base with an update.
func (b *Builder) update(ctx context.Context) (*Set, error) {
	old := b.config.Base
	c := comparison{Builder: b, batch: batch{set: old}, counts: make([]tally, b.partitions())}
	if b.config.Partitioned {
		c.next.partitions = uint64(len(c.counts))
	}

	last := old.records[len(old.records)-1]
	err := c.compareAll(ctx)
	if err == nil {
		err = c.checkShrink(last)
	}
	if err != nil {
		return nil, err
	}
	if len(c.toggled) == 0 && c.next.universe == last.universe && c.next.members == last.members &&
		c.next.partitions == last.partitions {
		return &Set{hasher: old.hasher, records: old.records}, nil
	}

	u := c.changed
	u.Entropy = toBits(log2Choose(c.next.universe, uint64(len(c.toggled))))
	r, err := c.smallest(ctx)
	if err != nil {
		return nil, err
	}

	u.Bytes, u.Positions = r.size, r.kind == kindPositions
	// Without spare capacity, append copies: two updates of one Base must not write to the same array.
	records := append(old.records[:len(old.records):len(old.records)], r)
	return &Set{hasher: old.hasher, records: records, changed: u}, nil
}

// checkShrink returns an error if the update loses a larger part of the members or of the universe than Config.Shrink
// allows, compared with the last record.
func (c *comparison) checkShrink(last *record) error {
	keys, _ := drift.AllowedShrink(c.config.Shrink, drift.ShrinkOfUniverse) // NewBuilder has checked Shrink
	members, _ := drift.AllowedShrink(c.config.Shrink, drift.ShrinkOfMembers)

	return errors.Join(drift.CheckShrink("members", last.members, c.next.members, members),
		drift.CheckShrink("keys of the universe", last.universe, c.next.universe, keys))
}

// comparison compares the answers of a set with the right ones.
type comparison struct {
	*Builder
	batch
	named   []filter.Hash // the hashes of the names of the partitions, by their numbers
	waiting []joined
	answers [batchLen]bool

	counts []tally // counts per partition: the number of keys, and of keys to toggle
	next   record  // record with the counts of the update
	changed
}

// compareAll queries the set for all keys, and lists the keys to toggle.
func (c *comparison) compareAll(ctx context.Context) error {
	c.named = make([]filter.Hash, len(c.counts))
	for name, id := range c.Builder.names.ids {
		c.named[id] = c.hasher.SumString(name)
	}

	toggled := []filter.Hash{} // not nil: nil means that the keys are not known yet
	flush := func() {
		c.answer(c.answers[:len(c.waiting)])
		for i, k := range c.waiting {
			toggle := c.answers[i] != k.member
			switch c.counts[k.partition].countKey(toggle); {
			case !toggle:
				continue
			case k.member:
				c.Added++
			default:
				c.Removed++
			}
			toggled = append(toggled, k.hash)
		}
		c.waiting = c.waiting[:0]
	}

	err := c.joinUniverse(ctx, func(k joined) error {
		c.next.universe++
		if k.member {
			c.next.members++
		}
		c.batch.names[len(c.waiting)], c.hashes[len(c.waiting)] = c.named[k.partition], k.hash
		if c.waiting = append(c.waiting, k); len(c.waiting) == batchLen {
			flush()
		}
		return nil
	})
	flush()
	c.toggled = toggled
	return err
}

// toggling wraps a callback of joinUniverse: it marks the keys to toggle as members, and no others.
func (b *Builder) toggling(inside func(joined) error) func(joined) error {
	left := b.toggled
	return func(k joined) error {
		// Both the list and the keys of the join ascend, so comparing with the first remaining key is enough.
		if k.member = len(left) > 0 && left[0] == k.hash; k.member {
			left = left[1:]
		}
		return inside(k)
	}
}

// smallest returns the smaller record of the update: a set of the keys to toggle, or their positions. With more than
// tryPositions keys it tries only the set.
func (c *comparison) smallest(ctx context.Context) (*record, error) {
	var listed *record
	if len(c.toggled) <= tryPositions {
		var err error
		// With nothing to toggle only the counts change, and a record without positions is the smallest that stores
		// them.
		if listed, err = c.listed(ctx); err != nil || len(c.toggled) == 0 {
			return listed, err
		}
	}

	r, err := c.record(ctx, c.counts)
	if err != nil {
		return nil, err
	}

	r.kind, r.members = kindUpdate, c.next.members
	if err := c.measure(r); err != nil || listed == nil || listed.size > r.size {
		return r, err
	}
	return listed, nil
}

// listed returns the record of the update as positions, or nil if no positions tell the keys from all others.
func (c *comparison) listed(ctx context.Context) (*record, error) {
	r := c.next
	r.kind, r.positions = kindPositions, &positions{}
	if len(c.toggled) > 0 {
		f := newFinder(c.toggled)
		err := c.joinUniverse(ctx, func(k joined) error {
			if !k.member {
				f.exclude(k.hash)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if r.positions = f.shortest(); r.positions == nil {
			return nil, nil
		}
	}
	return &r, c.measure(&r)
}

// measure sets the size of a record.
func (c *comparison) measure(r *record) error {
	return r.writeTo(io.Discard, place{hasher: c.hasher})
}

// buildDue returns Info.BuildDue.
func (i *Info) buildDue() string {
	base := i.Bytes - i.UpdateBytes
	switch {
	case i.Updates >= dueUpdates:
		return fmt.Sprintf("%d updates; every query asks all of them", i.Updates)
	case i.Updates > 0 && 3*i.UpdateBytes >= base:
		return fmt.Sprintf("the updates take %d bytes and the base %d", i.UpdateBytes, base)
	}
	return ""
}

// dueUpdates is the number of updates at which a rebuild is due.
const dueUpdates = 100
