package exact

import (
	"cmp"
	"context"
	"iter"
	"math"
	"math/bits"
	"slices"
)

// code is the code of a class of partitions: 2·r, plus 1 if they are inverted.
type code uint8

const (
	constant = 32             // the r of partitions in which all keys or no keys are members
	maxCodes = 2*constant + 2 // codes are below it
)

// rate returns r: level 1 has a false-positive rate of 2^-r. 0: no level 1; constant: no level.
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

// Costs are integers in units of 2^-16 bits: the choice of classes decides the bytes of the file, and floating-point
// results differ between processors.
const (
	costBit    = 1 << 16
	costLevel2 = 65836 // a key of level 2: 1.0046 bits
	costSlack  = 300   // cost per key of level 1, in addition to r bits
	costRate   = 26    // cost per key of level 1 and per bit of r
	costPart   = 300 * costBit
	costClass  = 56 * costBit
	costName   = 68800 // a bit of the class function for each partition: 1.05 bits
	impossible = math.MaxUint64 / 2
)

// costWith returns the size of a partition with that code.
func (t tally) costWith(c code) uint64 {
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

// allCodes are the codes that a partition may use. For equal sizes, an earlier code is preferred. r=0 is the same
// inverted or not.
var allCodes = func() []code {
	all := []code{2 * constant, 2*constant + 1, 0}
	for c := code(2); c < 2*constant; c++ {
		all = append(all, c)
	}
	return all
}()

// choose returns the codes to use, in ascending order, and for each partition the index of its code among them. If ctx
// ends first, it returns ctx.Err(). It takes at most 0.1 ms per group of partitions with the same counts.
//
// Each code adds a part to the file, and bits to the index of each partition. So for many small partitions few codes
// are best, perhaps a single one that is not the best code of any partition. choose adds codes one by one, and returns
// the best set of codes it has seen. In trials, some sets had 3.6 times the bytes with only one code, and 11 times the
// bytes with the best code of each partition.
func choose(ctx context.Context, partitions []tally, p *stages) (codes []code, index []uint8, err error) {
	groups := grouped(partitions)
	c := chooser{ctx: ctx, groups: groups, partitions: len(partitions), candidates: candidates(groups),
		sizes: make([]uint64, len(groups)), p: p}
	p.beginStage(stagePick, uint64(4*len(c.groups)*len(c.candidates)))

	// The index of a class takes one more bit from 3, 5 and 9 codes on, which may pay off only with the second added
	// code.
	const misses = 2
	least := uint64(math.MaxUint64)
	var tried []code
	for missed := 0; missed < misses && len(tried) < len(c.candidates) && ctx.Err() == nil; missed++ {
		var size uint64
		if tried, size = c.growCodes(tried); size < least {
			codes, least, missed = slices.Sorted(slices.Values(tried)), size, -1
		}
	}

	index = make([]uint8, len(partitions))
	for i, t := range eachTally(ctx, partitions, p) {
		index[i] = uint8(slices.Index(codes, cheapest(t, codes)))
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	return codes, index, nil
}

// chooser searches for the best codes of groups.
type chooser struct {
	ctx        context.Context
	groups     []group
	partitions int
	candidates []code   // codes to choose from
	sizes      []uint64 // sizes[i] is the smallest size of one partition of groups[i] with the codes chosen so far
	p          *stages
}

// group is partitions with the same counts.
type group struct {
	tally
	n uint64 // number of partitions
}

// grouped returns the groups of partitions, in the order of their counts.
func grouped(partitions []tally) (groups []group) {
	sorted := slices.Clone(partitions)
	slices.SortFunc(sorted, func(a, b tally) int {
		return cmp.Or(cmp.Compare(a.keys, b.keys), cmp.Compare(a.members, b.members))
	})
	for _, t := range sorted {
		if last := len(groups) - 1; last >= 0 && groups[last].tally == t {
			groups[last].n++
		} else {
			groups = append(groups, group{t, 1})
		}
	}
	return groups
}

// allSizes returns the size of all partitions of a group, given the size of one, capped at impossible.
func (g group) allSizes(one uint64) uint64 {
	if one >= impossible {
		return impossible
	}
	return g.n * one
}

// candidates returns the codes that may save something, in the order of allCodes.
func candidates(groups []group) (codes []code) {
	if len(groups) == 0 {
		return []code{2 * constant}
	}

	keys := uint64(0)
	var wanted [2]bool // whether inverted codes, and others, may save something
	for _, g := range groups {
		keys += g.n * g.keys
		// An inverted class lists the keys that are not members, which pays off only if they are the smaller half.
		wanted[0] = wanted[0] || 2*g.members <= g.keys
		wanted[1] = wanted[1] || 2*g.members > g.keys
	}

	for _, c := range allCodes {
		// With more bits level 1 has less than one false positive.
		if useful := c.rate() == constant || c.rate() <= bits.Len64(keys); useful && (wanted[c%2] || c == 0) {
			codes = append(codes, c)
		}
	}
	return codes
}

// growCodes returns codes with one more code, and the size with them. It adds the code that saves most. With few codes,
// it then replaces codes as long as a replacement saves 1/256: the best single code is often not one of the best two.
func (c *chooser) growCodes(codes []code) ([]code, uint64) {
	const few = 6 // with more codes, replacing saved nothing in trials
	added, size := c.bestAddition(codes)
	codes = append(codes, added)
	if len(codes) > few {
		return codes, size
	}

	for at, kept := 0, 1; c.ctx.Err() == nil && kept < len(codes); at, kept = at+1, kept+1 {
		rest := slices.Delete(slices.Clone(codes), at%len(codes), at%len(codes)+1)
		if other, with := c.bestAddition(rest); with < size-size/256 {
			codes, size, kept = append(rest, other), with, 0
		}
	}
	return codes, size
}

// bestAddition returns the code that saves most besides others, and the size with it.
func (c *chooser) bestAddition(codes []code) (best code, least uint64) {
	for i, g := range c.groups {
		c.sizes[i] = impossible
		for _, has := range codes {
			c.sizes[i] = min(c.sizes[i], g.costWith(has))
		}
	}

	least = math.MaxUint64
	for _, candidate := range c.candidates {
		if slices.Contains(codes, candidate) {
			continue
		}
		if c.ctx.Err() != nil {
			break
		}
		size := uint64(0)
		for i, g := range c.groups {
			// impossible is half of the largest uint64, so the sum of two capped sizes cannot overflow.
			size = min(size+g.allSizes(min(c.sizes[i], g.costWith(candidate))), impossible)
		}
		c.p.countSteps(uint64(len(c.groups)))
		if size += fixedCost(append(slices.Clone(codes), candidate), c.partitions); size < least {
			best, least = candidate, size
		}
	}
	return best, least
}

// eachTally returns the partitions, each a step of a stage, until ctx ends.
func eachTally(ctx context.Context, all []tally, p *stages) iter.Seq2[int, tally] {
	return func(yield func(int, tally) bool) {
		for i, t := range all {
			if i%(1<<12) == 0 && ctx.Err() != nil || !yield(i, t) {
				return
			}
			p.countSteps(1)
		}
	}
}

// cheapest returns the best of the codes for a partition, the first one if there are several.
func cheapest(t tally, codes []code) (best code) {
	least := uint64(math.MaxUint64)
	for _, c := range codes {
		if cost := t.costWith(c); cost < least {
			best, least = c, cost
		}
	}
	return best
}

// fixedCost returns the part of the size that does not depend on which partition has which code.
func fixedCost(codes []code, partitions int) (size uint64) {
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
