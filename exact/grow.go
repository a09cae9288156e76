package exact

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"
)

// growFrom is the number of partitions from which on grow looks for codes.
const growFrom = 64

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

// all returns the size of all partitions of a group, given that of one: at most impossible.
func (g group) all(one uint64) uint64 {
	if one >= impossible {
		return impossible
	}
	return g.n * one
}

// candidates returns the codes that may save something, in the order of allCodes.
func candidates(groups []group) (codes []code) {
	keys := uint64(0)
	var wanted [2]bool // codes that are inverted, or not
	for _, g := range groups {
		keys += g.n * g.keys
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

// grower looks for the codes of groups.
type grower struct {
	ctx        context.Context
	groups     []group
	partitions int
	candidates []code
	sizes      []uint64 // of a partition of each group
	floor      uint64   // size of all partitions if each has its best code
	p          *stages
}

// grow returns better codes than best, with which the size is least, or best if it finds none. It starts with the best
// code for all partitions together, and adds one code after the other; see next. Many small partitions need that: the
// best code for all of them together is often the best one for none of them alone. It ignores gains below 1/32, which
// are within the error of the costs, and sets of few partitions, where it gains a level 1 at most. If ctx ends first,
// the codes mean nothing.
func grow(ctx context.Context, groups []group, partitions int, best []code, least uint64, p *stages) []code {
	if partitions < growFrom {
		return best
	}
	p.next(stageAdd, uint64(len(groups)*len(allCodes)))
	g := &grower{ctx: ctx, groups: groups, partitions: partitions, candidates: candidates(groups),
		sizes: make([]uint64, len(groups)), p: p}
	for _, one := range each(ctx, groups, p) {
		g.floor += one.n * one.cost(cheapest(one.tally, allCodes))
	}
	enough := least - least/32
	for codes := best[:0:0]; ctx.Err() == nil && g.least(len(codes)+1) < enough; {
		var size uint64
		if codes, size = g.next(codes); size < enough {
			best, enough = slices.Sorted(slices.Values(codes)), size
		}
	}
	return best
}

// next returns one more code and the size with them: it adds the code that saves most, then replaces one code by
// another as long as that saves 1/256.
func (g *grower) next(codes []code) ([]code, uint64) {
	c, size := g.add(codes)
	codes = append(codes, c)
	for at, kept := 0, 1; g.ctx.Err() == nil && kept < len(codes); at, kept = at+1, kept+1 {
		rest := slices.Delete(slices.Clone(codes), at%len(codes), at%len(codes)+1)
		if c, other := g.add(rest); other < size-size/256 {
			codes, size, kept = append(rest, c), other, 0
		}
	}
	return codes, size
}

// least returns a bound for the size with that many codes, or MaxUint64 if there are not that many.
func (g *grower) least(codes int) uint64 {
	if codes > len(g.candidates) {
		return math.MaxUint64
	}
	return g.floor + uint64(codes)*costClass + uint64(indexBits(codes))*uint64(g.partitions)*costName
}

// add returns the code that saves most besides others, and the size with it.
func (g *grower) add(codes []code) (best code, least uint64) {
	for i, one := range each(g.ctx, g.groups, g.p) {
		g.sizes[i] = impossible
		for _, c := range codes {
			g.sizes[i] = min(g.sizes[i], one.cost(c))
		}
	}
	least = math.MaxUint64
	for _, c := range g.candidates {
		if slices.Contains(codes, c) {
			continue
		}
		size := uint64(0)
		for i, one := range each(g.ctx, g.groups, g.p) {
			size = min(size+one.all(min(g.sizes[i], one.cost(c))), impossible)
		}
		if size += fixed(append(slices.Clone(codes), c), g.partitions); size < least {
			best, least = c, size
		}
	}
	return best, least
}
