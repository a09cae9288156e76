package exact

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/bits"
	"slices"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/probe"
	"github.com/bloomery/bloomery/internal/sums"
)

const (
	// maxPositions is the largest number of positions in a file. It bounds the memory of a reader.
	maxPositions = 4096
	maxPlaceSeed = 1<<16 - 1
	// placeSeeds is the number of seeds that findPositions compares. Each takes a pass over the hashes of the universe.
	placeSeeds = 16

	placeStep = 0x9e3779b97f4a7c15
	// mixPlace is the first 8 bytes of the SHA-256 hash of the text "bloomery exact positions".
	mixPlace = 0x773ab51da30e124d
)

// positions is the content of an update by positions: the truncated hashes of the keys whose answer it toggles.
type positions struct {
	bits uint     // bits of a position, 1 to 64; any if there are none
	seed uint64   // seed, at most maxPlaceSeed
	list []uint64 // ascending, without duplicates
}

// placeOf returns 64 bits of the hash of a key. Its highest bits are the position.
func placeOf(h filter.Hash, seed uint64) uint64 {
	return probe.Mix(h.Hi^h.Lo^(seed+1)*placeStep, mixPlace)
}

// hasKey reports whether the position of a key is in the list.
func (p *positions) hasKey(h filter.Hash) bool {
	if len(p.list) == 0 {
		return false
	}
	_, ok := slices.BinarySearch(p.list, placeOf(h, p.seed)>>(64-p.bits))
	return ok
}

// riceBits returns the number of low bits of a gap between n positions that a Rice code stores verbatim.
func riceBits(width uint, n int) uint {
	return max(width, uint(bits.Len(uint(n)))) - uint(bits.Len(uint(n)))
}

// appendTo appends the gaps between the positions in a Rice code.
func (p *positions) appendTo(b []byte) []byte {
	k, next := riceBits(p.bits, len(p.list)), uint64(0)
	free := 0 // unused bits of the last byte
	put := func(bit uint64) {
		if free == 0 {
			b, free = append(b, 0), 8
		}
		b[len(b)-1] |= byte(bit << (8 - free))
		free--
	}

	for _, v := range p.list {
		gap := v - next
		for range gap >> k {
			put(1)
		}
		put(0)
		for i := range k {
			put(gap >> i & 1)
		}
		// Positions are distinct, so the gap counts from the position after this one.
		next = v + 1
	}
	return b
}

// outsideRate returns the share of keys outside the universe that have a position in the list.
func (p *positions) outsideRate() float64 { return math.Ldexp(float64(len(p.list)), -int(p.bits)) }

// appendPositions returns the record, of kindPositions, and sets its CRC and size.
func (r *record) appendPositions(at place) []byte {
	b := r.appendStart(nil, at)
	p := r.positions
	b = binary.AppendUvarint(b, uint64(len(p.list)))
	if len(p.list) > 0 {
		b = appendUvarints(b, uint64(p.bits), p.seed)
		b = p.appendTo(b)
	}
	r.crc = sums.CRC(b)
	b = binary.LittleEndian.AppendUint32(b, r.crc)
	r.size = uint64(len(b))
	return b
}

// parsePositions reads the part of a record of kindPositions after its counts. start is where the record starts.
func (r *record) parsePositions(c *cursor, start uint64) {
	p := &positions{}
	r.positions = p
	if n := c.limited("number of positions", maxPositions); n > 0 {
		p.bits = uint(c.limited("bits of a position", 64))
		p.seed = c.limited("seed of the positions", maxPlaceSeed)
		if c.err == nil && p.bits == 0 {
			c.corrupt("bits of a position", "0")
		}
		if c.err != nil {
			return
		}
		list, size, err := readPositions(c.data[c.at:], int(n), p.bits)
		if err != nil {
			c.fail("positions", err)
		}
		p.list = list
		c.bytes("positions", uint64(size))
	}
	r.crc = c.checksum("update", start)
	r.size = c.at - start
}

var (
	errPositionRange = fmt.Errorf("%w: a position is out of range", filter.ErrCorrupt)
	errPositionsRest = fmt.Errorf("%w: there are bits behind the last position", filter.ErrCorrupt)
)

// readPositions reads n positions of width bits from the start of b, and returns how many bytes they take. It allocates
// at most 64 times the length of b.
func readPositions(b []byte, n int, width uint) (list []uint64, size int, err error) {
	k, top := riceBits(width, n), ^uint64(0)>>(64-width)
	// Each position takes at least k+1 bits. This is checked before memory for n positions is allocated.
	if uint64(n)*uint64(k+1) > 8*uint64(len(b)) {
		return nil, 0, io.ErrUnexpectedEOF
	}

	at := 0 // the next bit
	get := func() (bit uint64) {
		if at < 8*len(b) {
			bit = uint64(b[at/8] >> (at % 8) & 1)
		}
		// Beyond the end, get returns zeros. at still counts the excess, which is checked once after the loop.
		at++
		return bit
	}

	list = make([]uint64, 0, n)
	for v := uint64(0); len(list) < n; v++ {
		if i := len(list); i > 0 && list[i-1] == top {
			return nil, 0, errPositionRange
		}
		for get() == 1 {
			// The comparison is written with a subtraction, because v + 1<<k may overflow.
			if v > top-min(top, 1<<k) {
				return nil, 0, errPositionRange
			}
			v += 1 << k
		}
		var rest uint64
		for i := range k {
			rest |= get() << i
		}
		if rest > top-v {
			return nil, 0, errPositionRange
		}
		v += rest
		list = append(list, v)
	}
	if at > 8*len(b) {
		return nil, 0, io.ErrUnexpectedEOF
	}

	// Unused bits of the last byte must be zero, so that a list of positions has one encoding.
	for size = (at + 7) / 8; at < 8*size; {
		if get() != 0 {
			return nil, 0, errPositionsRest
		}
	}
	return list, size, nil
}

// finder searches for the shortest positions that tell the keys from all other keys of the universe. Call exclude for
// all other keys of the universe, in any order, then shortest.
type finder struct {
	tries [placeSeeds]try
}

// try is a seed of a finder.
type try struct {
	places []uint64 // places of the keys, ascending
	need   uint     // bits that tell them from all keys so far; above 64 if 64 bits are not enough
	near   []uint64 // a bit for each prefix of a place: whether a key has the prefix
	shift  uint     // shift from a place to its prefix
}

// newFinder returns the finder for these keys.
func newFinder(keys []filter.Hash) *finder {
	f := &finder{}
	for seed := range f.tries {
		t := &f.tries[seed]
		for _, h := range keys {
			t.places = append(t.places, placeOf(h, uint64(seed)))
		}
		slices.Sort(t.places)
		t.need = 1
		for i := range t.places[1:] {
			t.tellApart(t.places[i], t.places[i+1])
		}
		// near has at least 64 prefixes per key, so at most one other key in 64 reaches the search in exclude. Keys
		// that differ within the prefix are never compared: positions are therefore at least as long as the prefix.
		start := uint(bits.Len(uint(len(keys)))) + 6
		t.need, t.shift = max(t.need, start), 64-start
		t.near = make([]uint64, 1<<(start-6))
		for _, v := range t.places {
			t.near[v>>t.shift/64] |= 1 << (v >> t.shift % 64)
		}
	}
	return f
}

// tellApart makes the positions long enough to tell two places apart.
func (t *try) tellApart(a, b uint64) { t.need = max(t.need, uint(bits.LeadingZeros64(a^b))+1) }

// exclude makes the positions long enough that the key with hash h has none of them.
func (f *finder) exclude(h filter.Hash) {
	for seed := range f.tries {
		t := &f.tries[seed]
		v := placeOf(h, uint64(seed))
		if t.near[v>>t.shift/64]>>(v>>t.shift%64)&1 == 0 {
			continue
		}

		// Only the neighbours of v can share a longer prefix with it than all other places.
		i, _ := slices.BinarySearch(t.places, v)
		if i > 0 {
			t.tellApart(t.places[i-1], v)
		}
		if i < len(t.places) {
			t.tellApart(t.places[i], v)
		}
	}
}

// shortest returns the shortest positions, or nil if 64 bits are not enough.
func (f *finder) shortest() *positions {
	var best *positions
	for seed := range f.tries {
		if t := &f.tries[seed]; t.need <= 64 && (best == nil || t.need < best.bits) {
			best = &positions{bits: t.need, seed: uint64(seed), list: t.places}
		}
	}
	if best != nil {
		for i := range best.list {
			best.list[i] >>= 64 - best.bits
		}
	}
	return best
}
