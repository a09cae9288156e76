package fuse

import (
	"context"
	"errors"
	"math/bits"
	"slices"
	"sync"

	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/kernel"
)

// A filter of n keys solves n equations, one per key:
//
//	fingerprint = slot[h0] ^ slot[h1] ^ slot[h2]
//
// The equations are solved by peeling. A slot that only one key uses can be set last, to the value that satisfies the
// equation of that key. The key is then removed, which leaves other slots with one key, and so on. If all keys can be
// removed, the slots are set in the opposite order. Otherwise the next seed is tried.
//
// The result depends on the order of peeling. The order is the same as in FastFilter/xorfilter: the slot that was last
// found to have one key comes first. So the result depends on the set of keys and not on their order, and files are
// equal to the files of that library (TestLibraryAgrees).

// maxAttempts is the number of seeds that are tried. A seed fails with a probability of a few percent, and far more
// often for some numbers of keys below 100.
const maxAttempts = 1024

var errNoSeed = errors.New("fuse: no seed has a solution for these keys")

// system is a system of equations.
type system struct {
	locator
	xors   []uint64 // for each slot, the XOR of the mixed keys that use it
	uses   []uint8  // for each slot, 4 · their number + the XOR of the slot's places 0, 1, 2 in their equations
	mixed  []uint64 // mixed keys, about in the order of their first slots; then in the order of peeling
	places []uint8  // mixed[i] sets the slot at place places[i] of its equation
	single []uint32 // a stack of slots that have one key, or had one when they were pushed; one element is spare
}

// systems keeps unused systems with their tables of 24 bytes per key, for reuse.
var systems sync.Pool

// mostKept is the largest number of keys of a system that is kept; its tables take 96 MiB.
const mostKept = 1 << 22

// newSystem returns a system for n keys.
func newSystem(n uint64) *system {
	s, _ := systems.Get().(*system)
	if s == nil {
		s = new(system)
	}
	s.mixed, s.places = bitvec.Resized(s.mixed, int(n)), bitvec.Resized(s.places, int(n))
	return s
}

// release ends the use of s and keeps it for reuse, unless it is large.
func (s *system) release() {
	if len(s.mixed) <= mostKept {
		systems.Put(s)
	}
}

// oneUse is what one key adds to an element of uses, besides the place.
const oneUse = 4

// solveKeys returns a filter of the keys, which are in any order and may repeat. If they seem to repeat, it empties the
// list. geometry returns the number of slots and the width for a number of distinct keys.
func solveKeys(
	ctx context.Context, keys *list, geometry func(n uint64) (slots uint64, width uint, err error),
) (*Filter, error) {
	// Assume at first that no key repeats, which saves sorting the keys.
	if _, width, err := geometry(keys.Len()); err == nil {
		f, err := solveDistinct(ctx, keys.Blocks, width, false)
		if !errors.Is(err, errRepeated) {
			return f, err
		}
	}

	distinct := slices.Concat(keys.Blocks...)
	keys.Free()
	slices.Sort(distinct)
	distinct = slices.Compact(distinct)
	_, width, err := geometry(uint64(len(distinct)))
	if err != nil {
		return nil, err
	}
	return solveDistinct(ctx, [][]uint64{distinct}, width, true)
}

// errRepeated means that the first seed has no solution, perhaps because keys repeat: two equal keys are never peeled.
var errRepeated = errors.New("fuse: keys may repeat")

// solveDistinct tries seeds. If distinct is false, it returns errRepeated after the first one.
func solveDistinct(ctx context.Context, keys [][]uint64, width uint, distinct bool) (*Filter, error) {
	n := uint64(0)
	for _, block := range keys {
		n += uint64(len(block))
	}

	segment := segmentOf(n)
	segments := Slots(n)/segment - 2
	s := newSystem(n)
	defer s.release()
	state := uint64(1) // the seed of the library, so that files are equal
	for attempt := 1; attempt <= maxAttempts; attempt++ {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		// For some numbers of keys the segments are too long: every fourth attempt uses more segments of half the
		// length.
		if n > 4 && n < 1_000_000 {
			switch attempt % 4 {
			case 2:
				segment, segments = segment/2, 2*segments+2
			case 3:
				segment, segments = 2*segment, segments/2-1
			}
		}
		state += 0x9e3779b97f4a7c15
		s.locator = locator{splitMix(state), segments * segment, segment}
		if s.peelKeys(keys) {
			return s.makeFilter(segments, width)
		}
		if !distinct {
			return nil, errRepeated
		}
	}
	return nil, errNoSeed
}

// splitMix is the output function of SplitMix64.
func splitMix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// peelKeys finds the order in which the keys are removed. It returns false if keys remain.
func (s *system) peelKeys(keys [][]uint64) bool {
	s.partition(keys)
	if !s.addKeys() {
		return false
	}

	xors, uses, stack, mixed, places := s.xors, s.uses, s.single, s.mixed, s.places
	top := 0 // no branches on whether a slot has one key: a processor cannot predict them
	for i, u := range uses {
		stack[top] = uint32(i) // overwritten by the next slot unless this one has one key
		top += hasOneKey(u)
	}

	k := s.kernel()
	if k.Top = uint64(top); k.Peel() {
		return k.Peeled == uint64(len(mixed))
	}

	n := 0
	for top > 0 {
		top--
		slot := stack[top]
		u := uses[slot]
		if u/oneUse != 1 { // its key was removed by another slot since it was pushed
			continue
		}
		x, place := xors[slot], u%oneUse
		mixed[n], places[n] = x, place
		n++
		i, j, atI, atJ := s.otherSlots(x, place)
		u = uses[i] - oneUse
		uses[i] = u ^ atI
		xors[i] ^= x
		stack[top] = uint32(i)
		top += hasOneKey(u)
		u = uses[j] - oneUse
		uses[j] = u ^ atJ
		xors[j] ^= x
		stack[top] = uint32(j)
		top += hasOneKey(u)
	}
	return n == len(mixed)
}

// hasOneKey returns 1 if a slot has one key, else 0.
func hasOneKey(uses uint8) int {
	if uses/oneUse == 1 {
		return 1
	}
	return 0
}

// slotsOf returns the three slots of a mixed key.
func (l locator) slotsOf(x uint64) (h0, h1, h2 uint64) {
	h0, _ = bits.Mul64(x, l.count)
	mask := l.segment - 1
	return h0, (h0 + l.segment) ^ x>>18&mask, (h0 + 2*l.segment) ^ x&mask
}

// otherSlots returns the slots of a mixed key at the two places after place, in the order 0, 1, 2, 0, 1, and these
// places.
func (l locator) otherSlots(x uint64, place uint8) (i, j uint64, atI, atJ uint8) {
	h0, h1, h2 := l.slotsOf(x)
	i, j, atI, atJ = h1, h2, 1, 2
	if place == 1 {
		i, j, atI, atJ = h2, h0, 2, 0
	}
	if place == 2 {
		i, j, atI, atJ = h0, h1, 0, 1
	}
	return i, j, atI, atJ
}

// mixKey returns the mixed key, which determines the slots and the fingerprint; see slotsAndPrint.
func (l locator) mixKey(key uint64) uint64 {
	x := key + l.seed
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// kernel returns the system for the assembly.
func (s *system) kernel() kernel.Peel {
	return kernel.Peel{
		Xors: s.xors, Uses: s.uses, Mixed: s.mixed, Places: s.places, Single: s.single,
		Seed: s.seed, Count: s.count, Segment: s.segment,
	}
}

// partition sets mixed to the mixed keys, roughly in the order of their segments, so that add stays in the caches.
func (s *system) partition(keys [][]uint64) {
	shift := 64 - max(1, bits.Len64(s.count/s.segment-1))
	starts := make([]uint64, 1<<(64-shift))
	k := s.kernel()
	for _, block := range keys {
		if k.Partition(starts, block, shift, true) {
			continue
		}
		for _, k := range block {
			starts[s.mixKey(k)>>shift]++
		}
	}

	sum := uint64(0)
	for i, n := range starts {
		starts[i], sum = sum, sum+n
	}

	for _, block := range keys {
		if k.Partition(starts, block, shift, false) {
			continue
		}
		for _, k := range block {
			x := s.mixKey(k)
			at := &starts[x>>shift]
			s.mixed[*at] = x
			*at++
		}
	}
}

// addKeys adds the mixed keys to the slots. It returns false if 64 keys use the same slot, more than uses can count.
func (s *system) addKeys() bool {
	slots := int(s.count + 2*s.segment)
	s.xors, s.uses = bitvec.Resized(s.xors, slots), bitvec.Resized(s.uses, slots)
	s.single = bitvec.Resized(s.single, slots+1) // peelKeys writes one element beyond the last slot that it keeps
	clear(s.xors)
	clear(s.uses)
	k := s.kernel()
	if fits, done := k.Add(); done {
		return fits
	}

	xors, uses := s.xors, s.uses
	l, least := s.locator, uint8(oneUse)
	for _, x := range s.mixed {
		h0, h1, h2 := l.slotsOf(x)
		u0, u1, u2 := uses[h0]+oneUse, uses[h1]+oneUse, uses[h2]+oneUse
		least = min(least, u0, u1, u2) // a count that overflows wraps around to less than oneUse
		uses[h0], uses[h1], uses[h2] = u0, u1^1, u2^2
		xors[h0] ^= x
		xors[h1] ^= x
		xors[h2] ^= x
	}
	return least == oneUse
}

// makeFilter sets the slots in the opposite order of peeling, and returns the filter.
func (s *system) makeFilter(segments uint64, width uint) (*Filter, error) {
	f := &Filter{
		locator: s.locator, segments: segments, width: width, low: 1<<width - 1, keys: uint64(len(s.mixed)),
	}

	var err error
	if f.words, err = bitvec.Alloc(bitvec.PackedWords(f.slotCount(), width)); err != nil {
		return nil, err
	}

	if k := s.kernel(); k.Fill(f.words, width) {
		return f, nil
	}

	words, w := f.words, uint64(width)
	for n := len(s.mixed) - 1; n >= 0; n-- {
		x, place := s.mixed[n], s.places[n]
		h0, h1, h2 := s.slotsOf(x)
		slot := h0
		if place == 1 {
			slot = h1
		}
		if place == 2 {
			slot = h2
		}
		// The slot itself is still 0, so reading it along with the other two changes nothing.
		v := x ^ x>>32 ^ bitvec.Load57(words, h0*w) ^ bitvec.Load57(words, h1*w) ^ bitvec.Load57(words, h2*w)
		bitvec.SetField(words, slot*w, width, v)
	}
	return f, nil
}
