package exact

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bloomery/bloomery/filter"
)

// build makes the base from the keys.
func (b *Builder) build(ctx context.Context) (*record, error) {
	p, err := b.finish(ctx)
	if err != nil {
		return nil, err
	}
	counts, err := b.count(ctx, p)
	if err != nil {
		return nil, err
	}
	return b.record(ctx, p, counts)
}

// finish ends the adding of keys.
func (b *Builder) finish(ctx context.Context) (*stages, error) {
	p := &stages{report: b.config.Progress}
	p.next(stageSort, 0)
	n, err := b.keys.Finish(ctx)
	if err != nil {
		return nil, err
	}
	if n/2 > MaxKeys {
		return nil, fmt.Errorf("%d keys: %w; the limit is %d", n, filter.ErrTooLarge, uint64(MaxKeys))
	}
	p.next(stageCount, n)
	return p, nil
}

// record makes a record from the keys, given the counts of each partition.
func (b *Builder) record(ctx context.Context, p *stages, counts []tally) (*record, error) {
	l, err := b.newLevels(ctx, p, b.names.sorted(), counts)
	defer l.close()
	if err != nil {
		return nil, err
	}
	p.next(stageList, l.record.universe)
	if err := l.list(ctx, b, p); err != nil {
		return nil, err
	}
	if err := l.buildFirst(ctx, p); err != nil {
		return nil, err
	}
	p.next(stageAsk, l.record.universe)
	if err := l.ask(ctx, b, p); err != nil {
		return nil, err
	}
	return l.finish(ctx, b, p)
}

// levels is a record that is being built.
type levels struct {
	record *record
	class  []code // of each partition, by its number
	first  [constant]*partBuilder
	last   *partBuilder
	index  *partBuilder
}

// sorted returns the numbers of the partitions in the order of their names, which does not depend on the order of the
// keys.
func (n *names) sorted() (all []named) {
	for name, id := range n.ids {
		all = append(all, named{name, id})
	}
	slices.SortFunc(all, func(a, b named) int { return strings.Compare(a.name, b.name) })
	return all
}

type named struct {
	name string
	id   uint32
}

// newLevels chooses the classes of the partitions, whose keys were counted, and begins their parts. Also after an error
// the result must be closed.
func (b *Builder) newLevels(ctx context.Context, p *stages, partitions []named, counts []tally) (*levels, error) {
	r := &record{}
	sorted := make([]tally, 0, len(counts))
	for _, named := range partitions {
		sorted = append(sorted, counts[named.id])
	}
	if !b.config.Partitioned {
		sorted = counts
	}
	l := &levels{record: r, class: make([]code, len(counts))}
	codes, index, err := choose(ctx, sorted, p)
	if err != nil {
		return l, err
	}
	for _, c := range codes {
		r.classes = append(r.classes, class{code: c})
	}
	var entropy uint64
	for i, t := range each(ctx, sorted, p) {
		r.classes[index[i]].add(t)
		r.universe += t.keys
		r.members += t.members
		entropy += log2Choose(t.keys, t.members)
	}
	if err := ctx.Err(); err != nil {
		return l, err
	}
	if !b.config.Partitioned {
		l.class[0] = codes[0]
		return l, l.begin(b.config)
	}
	// A partition without keys of the universe cannot be here: its members would be outside. But there may be no keys.
	r.partitions = uint64(max(len(partitions), 1))
	r.entropy = (entropy + 1<<(outBits-1)) >> outBits
	for i, named := range partitions {
		l.class[named.id] = codes[index[i]]
	}
	if err := l.begin(b.config); err != nil || l.index == nil {
		return l, err
	}
	for i, named := range partitions {
		if err := l.index.addValue(b.hasher.SumString(named.name), uint64(index[i])); err != nil {
			return l, err
		}
	}
	return l, nil
}

// add adds the keys of a partition.
func (t *tally) add(other tally) {
	t.keys += other.keys
	t.members += other.members
}

// begin makes the builders of all parts.
func (l *levels) begin(c Config) (err error) {
	r := l.record
	var listed [constant]uint64
	last, layered := uint64(0), uint64(0) // keys of level 2, and parts of level 1
	for _, class := range r.classes {
		n := class.listed(class.code)
		switch at := class.rate(); {
		case at == constant:
		case at == 0:
			last += class.keys
		default:
			if listed[at] += n; l.first[at] == nil {
				layered++
				l.first[at] = &partBuilder{}
			}
			last += n + (class.keys-n)>>at
		}
	}
	memory := c.Memory / 2
	for at := range l.first {
		if l.first[at] == nil {
			continue
		}
		if l.first[at], err = newPart(form{at, 0}, listed[at], c, memory/int64(layered)); err != nil {
			return err
		}
	}
	if l.last, err = newPart(form{0, 1}, last, c, memory); err != nil {
		return err
	}
	if n := indexBits(len(r.classes)); n > 0 {
		l.index, err = newPart(form{0, n}, r.partitions, c, memory)
	}
	return err
}

// list adds the keys of level 1.
func (l *levels) list(ctx context.Context, b *Builder, p *stages) error {
	return b.join(ctx, func(k joined) error {
		p.done(1)
		if c := l.class[k.partition]; c.layered() && k.member != c.inverted() {
			return l.first[c.rate()].add(k.hash)
		}
		return nil
	})
}

// buildFirst builds level 1.
func (l *levels) buildFirst(ctx context.Context, p *stages) (err error) {
	keys := uint64(0)
	for _, part := range l.first {
		keys += part.expected()
	}
	p.next(stageFirst, keys)
	for at, part := range l.first {
		if part == nil {
			continue
		}
		if l.record.first[at], err = part.build(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// ask adds the keys of level 2: those for which level 1 is true, or that have none.
func (l *levels) ask(ctx context.Context, b *Builder, p *stages) error {
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
	err := b.join(ctx, func(k joined) error {
		p.done(1)
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

// finish builds level 2 and the class function. The keys are not needed any more.
func (l *levels) finish(ctx context.Context, b *Builder, p *stages) (*record, error) {
	p.next(stageLast, l.last.expected()+l.index.expected())
	r := l.record
	err := b.keys.Close()
	if err == nil {
		r.last, err = l.last.build(ctx, p)
	}
	if err == nil && l.index != nil {
		r.index, err = l.index.build(ctx, p)
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// close drops the keys of parts that were not built.
func (l *levels) close() {
	for _, p := range append(l.first[:], l.last, l.index) {
		if p != nil {
			_ = p.close()
		}
	}
}
