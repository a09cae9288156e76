package exact

import (
	"context"
	"iter"
	"maps"
	"math"
	"math/bits"
	"slices"
)

// code is what a class says about its partitions: 2·r, plus 1 if they are inverted.
type code uint8

const (
	constant = 32             // the r of partitions whose keys are all members, or all not
	maxCodes = 2*constant + 2 // codes are below it
)

// rate returns r: level 1 has a false-positive rate of 2^-r. 0: there is no level 1; constant: there is no level.
func (c code) rate() int { return int(c / 2) }

// inverted reports whether level 1 has the keys that are not members.
func (c code) inverted() bool { return c%2 == 1 }

// layered reports whether the class has a level 1.
func (c code) layered() bool { return c.rate() > 0 && c.rate() < constant }

// tally counts the keys of a partition or class.
type tally struct {
	keys, members uint64
}

// listed returns how many keys level 1 of a class with that code has.
func (t tally) listed(c code) uint64 {
	if c.inverted() {
		return t.keys - t.members
	}
	return t.members
}

// Costs are in units of 2^-16 bits, in whole numbers: the choice of classes decides the bytes of the file, and
// floating-point results differ between processors.
const (
	costBit    = 1 << 16
	costLevel2 = 65836 // a key of level 2: 1.0046 bits
	costSlack  = 300   // of a key of level 1, besides r bits
	costRate   = 26    // of a key of level 1, for each of its r bits
	costPart   = 300 * costBit
	costClass  = 56 * costBit
	costName   = 68800 // a bit of the class function for each partition: 1.05 bits
	impossible = math.MaxUint64 / 2
)

// cost returns the size of a partition with that code.
func (t tally) cost(c code) uint64 {
	few := t.listed(c)
	r := uint64(c.rate())
	switch {
	case r == constant && few > 0:
		return impossible
	case r == constant:
		return 0
	case r == 0:
		return t.keys * costLevel2
	}
	return few*(r*(costBit+costRate)+costSlack) + few*costLevel2 + (t.keys-few)*costLevel2>>r
}

// allCodes are the codes that a partition may want, those for equal sizes in the order of preference. r=0 is the same
// inverted or not.
var allCodes = func() []code {
	all := []code{2 * constant, 2*constant + 1, 0}
	for c := code(2); c < 2*constant; c++ {
		all = append(all, c)
	}
	return all
}()

// choose returns the codes to use, in ascending order, and for each partition the index of its code among them: the
// smaller of what reduce and grow find. A code costs a part of the file, and bits for each partition. If ctx ends
// first, it returns ctx.Err(). Time: a few microseconds for each partition.
func choose(ctx context.Context, partitions []tally, p *stages) (codes []code, index []uint8, err error) {
	groups := grouped(partitions)
	codes, least := reduce(ctx, groups, len(partitions), p)
	codes = grow(ctx, groups, len(partitions), codes, least, p)
	index = make([]uint8, len(partitions))
	for i, t := range each(ctx, partitions, p) {
		index[i] = uint8(slices.Index(codes, cheapest(t, codes)))
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	return codes, index, nil
}

// reduce starts with the best code for each partition, then removes one code after the other, always the one that is
// missed least, and returns the best set on the way, and its size. If ctx ends first, they mean nothing.
func reduce(ctx context.Context, groups []group, partitions int, p *stages) (best []code, least uint64) {
	n := uint64(len(groups))
	p.next(stagePick, n)
	used := map[code]bool{}
	for _, g := range each(ctx, groups, p) {
		used[cheapest(g.tally, allCodes)] = true
	}
	codes := slices.Sorted(maps.Keys(used))
	if len(codes) == 0 { // no partition
		codes = []code{2 * constant}
	}
	p.next(stageDrop, n*uint64(len(codes)))
	for least = math.MaxUint64; ; {
		total, drop := missed(ctx, groups, partitions, codes, p)
		if total < least {
			least, best = total, slices.Clone(codes)
		}
		if drop < 0 {
			return best, least
		}
		codes = slices.Delete(codes, drop, drop+1)
	}
}

// each returns the partitions or groups, each a step of a stage, until ctx ends.
func each[T tally | group](ctx context.Context, all []T, p *stages) iter.Seq2[int, T] {
	const block = 1 << 12
	return func(yield func(int, T) bool) {
		for i, t := range all {
			if i%block == 0 && ctx.Err() != nil {
				return
			}
			if !yield(i, t) {
				return
			}
			if n := i%block + 1; n == block || i+1 == len(all) {
				p.done(uint64(n))
			}
		}
	}
}

// cheapest returns the best of the codes for a partition, the first one if there are several.
func cheapest(t tally, codes []code) (best code) {
	least := uint64(math.MaxUint64)
	for _, c := range codes {
		if cost := t.cost(c); cost < least {
			best, least = c, cost
		}
	}
	return best
}

// missed returns the size of all partitions with these codes, and the position of the code without which they take
// least, or -1 if none can be left out.
func missed(ctx context.Context, groups []group, partitions int, codes []code, p *stages) (total uint64, drop int) {
	more := make([]uint64, len(codes)) // what the partitions take more without a code
	for _, g := range each(ctx, groups, p) {
		first, second, at := uint64(impossible), uint64(impossible), 0
		for i, c := range codes {
			switch cost := g.cost(c); {
			case cost < first:
				first, second, at = cost, first, i
			case cost < second:
				second = cost
			}
		}
		total = min(total+g.all(first), impossible)
		more[at] = min(more[at]+g.all(second)-g.all(first), impossible)
	}
	total += fixed(codes, partitions)
	drop = -1
	least := uint64(impossible)
	if len(codes) == 1 {
		return total, drop
	}
	for i, m := range more {
		rest := slices.Delete(slices.Clone(codes), i, i+1)
		if size := m + fixed(rest, partitions); m < impossible && size < least {
			drop, least = i, size
		}
	}
	return total, drop
}

// fixed returns the size of what does not depend on which partition has which code.
func fixed(codes []code, partitions int) (size uint64) {
	var layers [constant + 1]bool
	for _, c := range codes {
		size += costClass
		if c.layered() && !layers[c.rate()] {
			layers[c.rate()] = true
			size += costPart
		}
	}
	if n := indexBits(len(codes)); n > 0 {
		size += costPart + uint64(n)*uint64(partitions)*costName
	}
	return size
}

// indexBits returns the number of bits of an index of n classes.
func indexBits(n int) int { return bits.Len(uint(n - 1)) }
