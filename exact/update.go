package exact

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/shrink"
)

const (
	// MaxUpdates is the largest number of updates in a file.
	MaxUpdates = 255
	// tryPositions is the largest number of toggled keys for which Update tries positions. A set is smaller from 30 to
	// 50 keys on, see docs/exact.md.
	tryPositions = 64
)

// ErrUpdates means that a file has as many updates as it may: build it anew.
var ErrUpdates = errors.New("the set has as many updates as a file may have; build it anew, by exact build")

// Updated says what Update did.
type Updated struct {
	// Added is the number of keys for which the answer is true from now on and was false, and Removed that of the
	// converse. Keys that are new in the universe count if the old answer, which meant nothing, was wrong.
	Added, Removed uint64
	// Bytes is the size of the record that was appended, 0 if neither answers nor counts have changed.
	Bytes uint64
	// Positions says that the record has coded positions. Else it has a small exact set, or there is none.
	Positions bool
	// Entropy is log2 C(universe, Added+Removed): no coding of the changed keys takes fewer bits on average that knows
	// nothing but the universe.
	Entropy float64
}

// Config returns c with the hash function and the partitioning of s, for a Builder whose Update takes s. The secret of
// a keyed hash is that of s.
func (s *Set) Config(c Config) Config {
	if len(s.records) > 0 {
		c.hashed, c.Partitioned = &s.hasher, s.Partitioned()
	}
	return c
}

// Update returns old with one more record, so that its answers are those of members in universe, which need not be the
// universe of old. The record takes about log2(universe/toggled) + 2 bits for each key whose answer it toggles, and 30
// to 50 bytes besides. If nothing has changed, the result is old, else it has the newest version of the file format.
// The same input gives the same bytes.
//
// A list that was cut would take away members: if there are fewer members or keys of the universe than in old, by more
// than c.Shrink allows, the error wraps filter.ErrShrunk. Their numbers are compared, not the keys: a set does not
// have the keys of its universe.
//
// The hash function is that of old, whatever c says. Memory and other errors are those of Build, and 16 bytes for each
// key that is toggled; or the error is ErrUpdates.
func Update(ctx context.Context, old *Set, members, universe iter.Seq[[]byte], c Config) (*Set, Updated, error) {
	return update(ctx, old, alone(members), alone(universe), c, false)
}

// UpdatePartitioned is Update for pairs of a partition and a key.
func UpdatePartitioned(
	ctx context.Context, old *Set, members, universe iter.Seq2[[]byte, []byte], c Config,
) (*Set, Updated, error) {
	return update(ctx, old, members, universe, c, true)
}

func update(
	ctx context.Context, old *Set, members, universe iter.Seq2[[]byte, []byte], c Config, partitioned bool,
) (s *Set, u Updated, err error) {
	if is := old.Partitioned(); is != partitioned {
		return nil, u, errPartitioned(is)
	}
	err = gathered(ctx, members, universe, old.Config(c), func(b *Builder) error {
		s, u, err = b.Update(ctx, old)
		return err
	})
	return s, u, err
}

func errPartitioned(is bool) error {
	return &filter.ConfigError{Field: "partitioned", Value: is, Reason: "an update is partitioned if the set is"}
}

// Update is Build for an update of old. The Builder must have its hash function and partitioning: see Set.Config.
func (b *Builder) Update(ctx context.Context, old *Set) (*Set, Updated, error) {
	s, u, err := b.update(ctx, old)
	if err = errors.Join(err, b.Close()); err != nil {
		return nil, Updated{}, err
	}
	return s, u, nil
}

func (b *Builder) update(ctx context.Context, old *Set) (s *Set, u Updated, err error) {
	if err := old.empty(); err != nil {
		return nil, u, err
	}
	switch {
	case b.hasher != old.hasher:
		return nil, u, &filter.ConfigError{Field: "seed", Value: b.hasher.Seed(),
			Reason: "an update needs the hash function of the set; make the Builder with Set.Config"}
	case b.config.Partitioned != old.Partitioned():
		return nil, u, errPartitioned(old.Partitioned())
	case len(old.records) > MaxUpdates:
		return nil, u, ErrUpdates
	}
	if err := b.finish(ctx); err != nil {
		return nil, u, err
	}
	c := comparison{Builder: b, batch: batch{set: old}, counts: make([]tally, b.partitions())}
	if b.config.Partitioned {
		c.next.partitions = uint64(len(c.counts))
	}
	last := old.records[len(old.records)-1]
	err = c.run(ctx)
	if err == nil {
		err = c.lost(last)
	}
	if err != nil {
		return nil, u, err
	}
	if len(c.toggled) == 0 && c.next.universe == last.universe && c.next.members == last.members &&
		c.next.partitions == last.partitions {
		return old, c.Updated, nil
	}
	u = c.Updated
	u.Entropy = ldexp(log2Choose(c.next.universe, uint64(len(c.toggled))))
	r, err := c.smallest(ctx)
	if err != nil {
		return nil, u, err
	}
	u.Bytes, u.Positions = r.size, r.kind == kindPositions
	records := append(old.records[:len(old.records):len(old.records)], r)
	return &Set{version: version, hasher: old.hasher, records: records}, u, nil
}

// lost returns an error if more members or keys of the universe are lost since the last record than Config.Shrink
// allows.
func (c *comparison) lost(last *record) error {
	keys, err := shrink.Allowed(c.config.Shrink, shrink.Universe)
	if err != nil {
		return err
	}
	members, err := shrink.Allowed(c.config.Shrink, shrink.Members)
	if err != nil {
		return err
	}
	return errors.Join(shrink.Check("members", last.members, c.next.members, members),
		shrink.Check("keys of the universe", last.universe, c.next.universe, keys))
}

// comparison compares the answers of a set with what they should be.
type comparison struct {
	*Builder
	batch
	named   []filter.Hash // the hashes of the names of the partitions, by their numbers
	waiting []joined
	answers [batchLen]bool

	counts []tally // of each partition: keys, and keys to toggle
	next   record  // with the counts of the update
	Updated
}

// run asks the set for all keys, and lists those to toggle.
func (c *comparison) run(ctx context.Context) error {
	c.named = make([]filter.Hash, len(c.counts))
	for name, id := range c.Builder.names.ids {
		c.named[id] = c.hasher.SumString(name)
	}
	toggled := []filter.Hash{} // not nil, so that it is known
	flush := func() {
		c.answer(c.answers[:len(c.waiting)])
		for i, k := range c.waiting {
			toggle := c.answers[i] != k.member
			switch c.counts[k.partition].count(toggle); {
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
	err := c.join(ctx, func(k joined) error {
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

// toggling returns inside with the keys to toggle as members, for a join.
func (b *Builder) toggling(inside func(joined) error) func(joined) error {
	left := b.toggled
	return func(k joined) error {
		if k.member = len(left) > 0 && left[0] == k.hash; k.member {
			left = left[1:]
		}
		return inside(k)
	}
}

// smallest returns the record of the update, as a set or as positions.
func (c *comparison) smallest(ctx context.Context) (*record, error) {
	var listed *record
	if len(c.toggled) <= tryPositions {
		var err error
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

// listed returns the record of the update as positions, or nil if there are none that no other key has.
func (c *comparison) listed(ctx context.Context) (*record, error) {
	r := c.next
	r.kind, r.positions = kindPositions, &positions{}
	if len(c.toggled) > 0 {
		f := newFinder(c.toggled)
		err := c.join(ctx, func(k joined) error {
			if !k.member {
				f.see(k.hash)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if r.positions = f.best(); r.positions == nil {
			return nil, nil
		}
	}
	return &r, c.measure(&r)
}

// measure sets the size of a record.
func (c *comparison) measure(r *record) error {
	return r.writeTo(io.Discard, place{version: version, hasher: c.hasher})
}

// BuildDue returns why a set with its updates should be built anew, or an empty text. That is due when the updates take
// a third of the bytes of the base, or when there are 100 of them: every query asks all records. Readers then load the
// whole file once.
func (i Info) BuildDue() string {
	base := i.Bytes - i.UpdateBytes
	switch {
	case i.Updates >= dueUpdates:
		return fmt.Sprintf("%d updates; every query asks all of them", i.Updates)
	case i.Updates > 0 && 3*i.UpdateBytes >= base:
		return fmt.Sprintf("the updates take %d bytes and the base %d", i.UpdateBytes, base)
	}
	return ""
}

// dueUpdates is the number of updates from which on a build is due.
const dueUpdates = 100
