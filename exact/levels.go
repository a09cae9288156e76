package exact

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/bloomery/bloomery/filter"
)

// finish ends the adding of keys.
func (b *Builder) finish(ctx context.Context) error {
	b.beginStage(stageSort, 0)
	n, err := b.keys.Finish(ctx)
	switch {
	case err != nil:
		return err
	case n/2 > MaxKeys:
		return fmt.Errorf("%d keys: %w; the limit is %d", n, filter.ErrTooLarge, uint64(MaxKeys))
	}
	b.beginStage(stageCount, n)
	return nil
}

// record makes a record from the keys, given the counts of each partition.
func (b *Builder) record(ctx context.Context, counts []tally) (*record, error) {
	l, err := b.newLevels(ctx, slices.Sorted(maps.Keys(b.names.ids)), counts)
	defer l.closeParts()
	for _, step := range []func(context.Context) error{l.fillFirst, l.buildFirst, l.fillLast, l.buildLast} {
		if err == nil {
			err = step(ctx)
		}
	}
	return l.record, err
}

// levels is a record that is being built.
type levels struct {
	*Builder
	record *record
	class  []code // class of each partition, by its number
	first  [constant]*partBuilder
	last   *partBuilder
	index  *partBuilder
}

// newLevels chooses the classes of the partitions, whose keys were counted, and begins their parts. The names are
// sorted: the result does not depend on the order of the keys. Also after an error it must be closed.
func (b *Builder) newLevels(ctx context.Context, names []string, counts []tally) (*levels, error) {
	r := &record{}
	sorted, ids := counts, []uint32{0}
	if b.config.Partitioned {
		sorted, ids = nil, nil
		for _, name := range names {
			id := b.names.ids[name]
			sorted, ids = append(sorted, counts[id]), append(ids, id)
		}
		// All partitions have keys of the universe, since all members are in it. But there may be no keys at all.
		r.partitions = uint64(max(len(names), 1))
	}

	l := &levels{Builder: b, record: r, class: make([]code, len(counts))}
	codes, index, err := choose(ctx, sorted, &b.stages)
	if err != nil {
		return l, err
	}

	for _, c := range codes {
		r.classes = append(r.classes, class{code: c})
	}

	var entropy uint64
	for i, t := range eachTally(ctx, sorted, &b.stages) {
		r.classes[index[i]].addCounts(t)
		r.universe += t.keys
		r.members += t.members
		entropy += log2Choose(t.keys, t.members)
	}
	if err := ctx.Err(); err != nil {
		return l, err
	}
	if r.partitions > 0 {
		r.entropy = (entropy + 1<<(outBits-1)) >> outBits
	}

	for i, id := range ids {
		l.class[id] = codes[index[i]]
	}
	if err := l.beginParts(); err != nil || l.index == nil {
		return l, err
	}

	for i, name := range names {
		if err := l.index.addValue(b.hasher.SumString(name), uint64(index[i])); err != nil {
			return l, err
		}
	}
	return l, nil
}

func (t *tally) addCounts(other tally) {
	t.keys += other.keys
	t.members += other.members
}

// beginParts makes the builders of all parts.
func (l *levels) beginParts() error {
	r, c := l.record, l.config
	var listed [constant]uint64 // keys of level 1, by r
	last := uint64(0)           // keys of level 2
	for _, class := range r.classes {
		n := class.listed(class.code)
		switch at := class.rate(); {
		case at == constant:
		case at == 0:
			last += class.keys
		default:
			listed[at] += n
			last += n + (class.keys-n)>>at
		}
	}

	forms, memory := r.partForms(), c.Memory/2
	for _, f := range forms {
		part, keys, share := &l.index, r.partitions, memory
		switch {
		case f.r > 0: // these gather keys at the same time
			part, keys, share = &l.first[f.r], listed[f.r], memory/int64(len(forms)-1)
		case f.part == &r.last:
			part, keys = &l.last, last
		}
		var err error
		if *part, err = newPart(f, keys, c, share); err != nil {
			return err
		}
	}
	return nil
}

func (l *levels) fillFirst(ctx context.Context) error {
	l.beginStage(stageList, l.record.universe)
	return l.joinUniverse(ctx, func(k joined) error {
		if c := l.class[k.partition]; c.layered() && k.member != c.inverted() {
			return l.first[c.rate()].addKey(k.hash)
		}
		return nil
	})
}

func (l *levels) buildFirst(ctx context.Context) (err error) {
	keys := uint64(0)
	for _, part := range l.first {
		keys += part.expected()
	}

	l.beginStage(stageFirst, keys)
	for at, part := range l.first {
		if part == nil {
			continue
		}
		if l.record.first[at], err = part.build(ctx, &l.stages); err != nil {
			return err
		}
	}
	return nil
}

// fillLast adds the keys of level 2: the keys for which level 1 is true or does not exist.
func (l *levels) fillLast(ctx context.Context) error {
	l.beginStage(stageAsk, l.record.universe)
	const batch = 1 << 10
	var waiting [constant][]filter.Hash // keys that level 1 does not list
	hits := make([]bool, batch)
	flush := func(at int) error {
		hs := waiting[at]
		waiting[at] = hs[:0]
		l.record.first[at].HasMany(hits[:len(hs)], hs)
		for i, h := range hs {
			if hits[i] {
				if err := l.last.addValue(rehash(h), 0); err != nil {
					return err
				}
			}
		}
		return nil
	}

	err := l.joinUniverse(ctx, func(k joined) error {
		c := l.class[k.partition]
		listed := k.member != c.inverted()
		switch {
		case c.rate() == constant:
			return nil
		case listed:
			return l.last.addValue(rehash(k.hash), 1)
		case c.rate() == 0:
			return l.last.addValue(rehash(k.hash), 0)
		}
		if waiting[c.rate()] = append(waiting[c.rate()], k.hash); len(waiting[c.rate()]) < batch {
			return nil
		}
		return flush(c.rate())
	})
	for at := range waiting {
		if err == nil && len(waiting[at]) > 0 {
			err = flush(at)
		}
	}
	return err
}

// buildLast builds level 2 and the class function. The keys are not needed any more.
func (l *levels) buildLast(ctx context.Context) error {
	l.beginStage(stageLast, l.last.expected()+l.index.expected())
	err := l.keys.Close()
	if err == nil {
		l.record.last, err = l.last.build(ctx, &l.stages)
	}
	if err == nil && l.index != nil {
		l.record.index, err = l.index.build(ctx, &l.stages)
	}
	return err
}

// closeParts drops the keys of parts that were not built.
func (l *levels) closeParts() {
	for _, p := range append(l.first[:], l.last, l.index) {
		if p != nil {
			// The record was returned, or an error is on its way; files that stay behind change neither.
			_ = p.close()
		}
	}
}
