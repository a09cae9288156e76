// Package tablefilter makes and reads the filter blocks of a table (SSTable) of a key-value store, so that a query for
// an absent key seldom reads the table. It imports no store: packages pebblefilter and pebblefilter/next connect it to
// Pebble.
//
//	p, err := tablefilter.New("blockpartitioned(bits_per_key=10,effort=fast)") // once
//
//	w := p.NewWriter() // while a table is written
//	w.Add(key)
//	block := w.Finish(nil)
//
//	tablefilter.MayContain(block, key) // false: the key is not in the table
//
// A filter block describes its own format, so that [MayContain] can read the blocks of every [Policy]. For a block that
// does not have a known form, such as a block of a later version, every key may be in the table. The block has no
// checksum, because stores verify one when they read a block. The [source] of MayContain specifies the bytes.
//
// [source]: https://github.com/bloomery/bloomery/blob/main/tablefilter/decode.go
package tablefilter

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family/blocked"
	"github.com/bloomery/bloomery/internal/family/blockpartitioned"
	"github.com/bloomery/bloomery/internal/family/fuse"
	"github.com/bloomery/bloomery/internal/family/partitioned"
	"github.com/bloomery/bloomery/internal/family/ribbon"
)

const version = 1

// The kinds of blocks. Integers are little endian; the last byte is the version.
//
//	kind 0  no filter         every key may be in the table
//	kind 2  blocked           blocks         | k 1, split 1, zero 4                  | kind 1, version 1
//	kind 5  blockpartitioned  blocks         | k 1, width 1, groups 2, size 1, zero 1 | kind 1, version 1
//	kind 4  partitioned       bitmap, shifts | bits 4, groups 4, shards 4, k 1, width 1, zero 4 | kind 1, version 1
//	kind 3  fuse              slots          | seed 8, segments 4, segment 1, width 1, zero 4   | kind 1, version 1
//	kind 10 ribbon            solution, classes, tail | starts/64 4 each, seed 2, tail seed 2, wide 2, zero 2,
//	                                                    r 1, w/64 1, tail 2, layers 1, zero 1   | kind 1, version 1
//
// A kind is the family's id in filter files, the parts before the first bar are the sections of these files that a
// query reads, and the numbers come from the Spec of a built filter, followed by their size in bytes. split is 1 in the
// split layout, else 0. size is the size of a block in units of 512 bits. segment is the logarithm of the slots of a
// segment to base 2. Bitmap, shifts, slots, classes and tail end with the last byte that contains a bit in use. The
// other lengths follow from the length of the block, which has no spare bytes. Version 1 hashes keys by XXH3-128 with
// seed 0.
const (
	kindNone             = 0
	kindBlocked          = 2
	kindFuse             = 3
	kindPartitioned      = 4
	kindBlockpartitioned = 5
	kindRibbon           = 10
)

const (
	tailSize = 8  // bytes of the last numbers, the kind and the version
	longSize = 12 // bytes of the numbers before them in partitioned and fuse
	// ribbonSize is the number of bytes of the numbers before the tail in ribbon, without the starts.
	ribbonSize = 8
)

// hasher is the hash function of version 1.
var hasher = filter.NewHasher(0)

// MayContain reports whether a key may be in the table of a filter block. It reads the bytes in place, at any
// alignment, and does not allocate, except once per shape of blocks. The content of a block may be arbitrary:
// MayContain never panics, and returns true for a block that does not have the form of its kind. It is safe for
// concurrent use.
func MayContain(block, key []byte) bool {
	if len(block) < tailSize {
		return true
	}

	body := block[:len(block)-tailSize]
	tail := binary.LittleEndian.Uint64(block[len(body):])
	if tail>>56 != version {
		return true
	}

	switch tail >> 48 & 0xFF {
	case kindBlocked, kindBlockpartitioned:
		s := shapes.lookUp(tail)
		return s == nil || uint64(len(body))%s.block != 0 || len(body) == 0 || s.hasKey(body, hasher.Sum(key))
	case kindPartitioned:
		return partitionedHas(block, tail, key)
	case kindFuse:
		return fuseHas(block, tail, key)
	case kindRibbon:
		return ribbonHas(block, tail, key)
	}
	return true
}

// HasFilter reports whether a block that a Writer made has a filter. Without one, every key may be in the table.
func HasFilter(block []byte) bool { return len(block) > tailSize }

// partitionedHas is MayContain for kind 4. Loads may read up to 8 bytes beyond the sections, where the numbers are.
func partitionedHas(block []byte, tail uint64, key []byte) bool {
	size := len(block) - tailSize - longSize
	if size < 0 || tail<<16>>32 != 0 { // the four bytes that must be zero
		return true
	}

	long := block[size:]
	v := partitioned.View{
		Bits:   uint64(binary.LittleEndian.Uint32(long)),
		Groups: uint64(binary.LittleEndian.Uint32(long[4:])),
		Shards: uint64(binary.LittleEndian.Uint32(long[8:])),
		K:      int(tail & 0xFF), Width: int(tail >> 8 & 0xFF),
	}
	if !v.Valid() {
		return true
	}
	bitmap, shifts := v.Bytes()
	return uint64(size) != bitmap+shifts || v.Has(block, block[bitmap:], hasher.Sum(key))
}

// fuseHas is MayContain for kind 3. Loads are as in partitionedHas.
func fuseHas(block []byte, tail uint64, key []byte) bool {
	size := len(block) - tailSize - longSize
	if size < 0 || tail<<16>>32 != 0 {
		return true
	}

	long := block[size:]
	v := fuse.View{
		Seed:     binary.LittleEndian.Uint64(long),
		Segments: uint64(binary.LittleEndian.Uint32(long[8:])),
		Segment:  1 << (tail & 0xFF), // 0 if that is 64 or more
		Width:    uint(tail >> 8 & 0xFF),
	}
	return !v.Valid() || uint64(size) != v.Bytes() || v.Has(block, hasher.Sum(key))
}

// ribbonHas is MayContain for kind 10. Loads are as in partitionedHas.
func ribbonHas(block []byte, tail uint64, key []byte) bool {
	layers := int(tail >> 32 & 0xFF) // at most 255, so size cannot overflow
	size := len(block) - tailSize - ribbonSize - 4*layers
	if size < 0 || layers > ribbon.MaxLayers || tail>>40&0xFF != 0 {
		return true
	}

	starts := block[size:]
	long := binary.LittleEndian.Uint64(starts[4*layers:])
	v := ribbon.View{
		R: uint(tail & 0xFF), W: 64 * uint(tail>>8&0xFF), Tail: tail >> 16 & 0xFFFF, Layers: layers,
		Seed: long & 0xFFFF, TailSeed: long >> 16 & 0xFFFF, Wide: long >> 32 & 0xFFFF,
	}

	for i := range layers {
		v.Starts[i] = 64 * uint64(binary.LittleEndian.Uint32(starts[4*i:]))
	}
	if long>>48 != 0 || !v.Valid() {
		return true
	}

	solution, classes, dense := v.Bytes()
	return uint64(size) != solution+classes+dense ||
		v.Has(block, block[solution:], block[solution+classes:], hasher.Sum(key))
}

// shape is the decoded tail of a block of kind 2 or 5. The number of blocks of its view is not set.
type shape struct {
	tail  uint64
	block uint64 // bytes
	line  bool   // whether the kind is blocked
	one   blocked.View
	parts blockpartitioned.View
}

func (s *shape) hasKey(body []byte, h filter.Hash) bool {
	if s.line {
		return s.one.Resize(body).Has(body, h)
	}
	return s.parts.Resize(body).Has(body, h)
}

// newShape returns nil if no filter has this tail.
func newShape(tail uint64) *shape {
	s := &shape{tail: tail, line: tail>>48&0xFF == kindBlocked}
	b := func(i int) int { return int(tail >> (8 * i) & 0xFF) }
	ok := false
	if s.line {
		layout := blocked.Line
		if s.block = 64; b(1) == 1 {
			layout, s.block = blocked.Split, 32
		}
		s.one, ok = blocked.NewView(layout, b(0))
		ok = ok && b(1) <= 1 && tail<<16>>32 == 0
	} else {
		s.block = 64 * uint64(b(4))
		s.parts, ok = blockpartitioned.NewView(8*s.block, tail>>16&0xFFFF, b(0), b(1))
		ok = ok && b(5) == 0
	}
	if !ok {
		return nil
	}
	return s
}

// table keeps the shapes of earlier queries, because making a shape takes longer than a query and allocates. A store
// has few shapes. The table is a hash table of fixed size, so that blocks with forged tails cannot make it grow.
type table [tableSize]atomic.Pointer[shape]

const (
	tableSize = 256
	probes    = 8 // slots in which a shape may be
)

var shapes table

// lookUp returns the shape of a tail, or nil if no filter has this tail.
func (t *table) lookUp(tail uint64) *shape {
	first := tail * 0x9E3779B97F4A7C15 >> 56
	for i := range uint64(probes) {
		if s := t[(first+i)%tableSize].Load(); s == nil {
			break
		} else if s.tail == tail {
			return s
		}
	}
	return t.insert(first, tail)
}

// insert makes a shape and stores it in the first free slot, or replaces another shape.
func (t *table) insert(first, tail uint64) *shape {
	s := newShape(tail)
	if s == nil {
		return nil
	}
	for i := range uint64(probes) {
		if t[(first+i)%tableSize].CompareAndSwap(nil, s) {
			return s
		}
	}
	t[first].Store(s) // all slots are taken: the other shape is made again when a query needs it
	return s
}
