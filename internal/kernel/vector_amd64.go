//go:build amd64 && !purego

package kernel

import (
	"unsafe"

	"golang.org/x/sys/cpu"

	"github.com/bloomery/bloomery/filter"
)

//go:generate go -C gen run . -out ../vector_amd64.s -stubs ../vector_stubs_amd64.go -pkg kernel

func bestLanes(cells []byte, at []uint32, start, keep *[4]uint64) uint32 {
	if cpu.X86.HasAVX2 {
		return bestLanesAVX2(cells, at, start, keep)
	}
	return bestLanesGo(cells, at, start, keep)
}

// Has reports whether the bits of all slots of a key are set: hi selects block and group, lo the base positions.
func (s *Slots) Has(hi, lo uint64) bool { return slotsHas((*[43]uint64)(unsafe.Pointer(s)), hi, lo) }

// slotsHasGo answers for slotsHas if no vector code exists for these blocks.
//
//lint:ignore U1000 the assembly jumps here
func slotsHasGo(s *[43]uint64, hi, lo uint64) bool { return (*Slots)(unsafe.Pointer(s)).hasGo(hi, lo) }

func (s *Slots) hasInVector(block []byte, rest, lo uint64) bool {
	return slotsHasIn((*[43]uint64)(unsafe.Pointer(s)), unsafe.SliceData(block), rest, lo)
}

// Has reports whether all bits of a key are set: hi selects the block, lo the bits.
func (b *Blocks) Has(hi, lo uint64) bool { return blocksHas((*[26]uint64)(unsafe.Pointer(b)), hi, lo) }

// blocksHasGo answers for blocksHas if no vector code exists for these blocks.
//
//lint:ignore U1000 the assembly jumps here
func blocksHasGo(b *[26]uint64, hi, lo uint64) bool {
	return (*Blocks)(unsafe.Pointer(b)).hasGo(hi, lo)
}

func (b *Blocks) hasInVector(block []byte, lo uint64) bool {
	return blocksHasIn((*[26]uint64)(unsafe.Pointer(b)), unsafe.SliceData(block), lo)
}

// HasMany sets dst[i] to Has of hs[i] and returns true, or returns false if it has no vector code for these blocks. It
// panics if dst is shorter than hs.
func (b *Blocks) HasMany(dst []bool, hs []filter.Hash) bool {
	if b.how != byLine && b.how != bySplit {
		return false
	}
	dst = dst[:len(hs)]
	for len(hs) > 0 {
		n, further := rounds(len(hs))
		blocksHasMany((*[26]uint64)(unsafe.Pointer(b)), unsafe.SliceData(dst), firstWord(hs), n, further)
		dst, hs = dst[n:], hs[n:]
	}
	return true
}

// HasAt sets dst[i] to Has of hs[i] for a key whose block is at at[i], in the layout of b, and returns true, or returns
// false if it has no vector code for these blocks. The words of b are not used. It panics if dst or at is shorter than
// hs.
func (b *Blocks) HasAt(dst []bool, hs []filter.Hash, at []unsafe.Pointer) bool {
	if b.how != byLine && b.how != bySplit {
		return false
	}

	dst, at = dst[:len(hs)], at[:len(hs)]
	for len(hs) > 0 {
		n, further := rounds(len(hs))
		block := (*uint64)(unsafe.Pointer(unsafe.SliceData(at)))
		further /= uint64(unsafe.Sizeof(hs[0]) / unsafe.Sizeof(at[0]))
		blocksHasAt((*[26]uint64)(unsafe.Pointer(b)), unsafe.SliceData(dst), firstWord(hs), block, n, further)
		dst, hs, at = dst[n:], hs[n:], at[n:]
	}
	return true
}

// AddMany sets the bits of all keys and returns true, or returns false if it has no vector code for these blocks.
func (b *Blocks) AddMany(hs []filter.Hash) bool {
	if b.how != bySplit && b.how != byLine {
		return false
	}

	for len(hs) > 0 {
		n, further := rounds(len(hs))
		if b.how == bySplit {
			blocksAddSplit((*[26]uint64)(unsafe.Pointer(b)), firstWord(hs), n, further)
		} else {
			blocksAddLine((*[26]uint64)(unsafe.Pointer(b)), firstWord(hs), n, further)
		}
		hs = hs[n:]
	}
	return true
}

// rounds returns the number of keys, of left, for the next call of a loop in assembly, and the distance in bytes from a
// key to the key whose block the loop prefetches, which must be among the keys.
func rounds(left int) (n, further uint64) {
	const (
		ahead = 32   // prefetch distance in keys
		most  = 1024 // keys per call, which the scheduler cannot interrupt
	)
	if left <= ahead {
		return uint64(left), 0
	}
	return uint64(min(left-ahead, most)), ahead * 16
}

// Has returns ChainCell if a cell of the key's chain has the key's remainder, else chainEnd or ChainBeyond.
func (c *Chains) Has(hi, lo uint64) uint64 {
	return chainsHas((*[32]uint64)(unsafe.Pointer(c)), hi, lo)
}

// chainsHasGo answers for chainsHas if no assembly exists for these buckets.
//
//lint:ignore U1000 the assembly jumps here
func chainsHasGo(c *[32]uint64, hi, lo uint64) uint64 {
	return (*Chains)(unsafe.Pointer(c)).hasGo(hi, lo)
}

// Follow follows the key's chain to the first cell whose remainder is not smaller. It returns the first word of the
// bucket, the key's remainder, the bit of the index that stands for the cell, the number and content of the cell, and
// why it stopped. At chainEnd, bit and number belong to a cell to be appended.
func (c *Chains) Follow(hi, lo uint64) (base, remainder, at, n, cell, end uint64) {
	return chainsFollow((*[32]uint64)(unsafe.Pointer(c)), hi, lo)
}

// chainsFollowGo answers for chainsFollow if no assembly exists for these buckets.
//
//lint:ignore U1000 the assembly jumps here
func chainsFollowGo(c *[32]uint64, hi, lo uint64) (base, remainder, at, n, cell, end uint64) {
	return (*Chains)(unsafe.Pointer(c)).followGo(hi, lo)
}

// Used returns the number of set bits in the index of the bucket whose first word is base.
func (c *Chains) Used(base uint64) uint64 { return chainsUsed((*[32]uint64)(unsafe.Pointer(c)), base) }

// chainsUsedGo answers for chainsUsed if no assembly exists for these buckets.
//
//lint:ignore U1000 the assembly jumps here
func chainsUsedGo(c *[32]uint64, base uint64) uint64 {
	return (*Chains)(unsafe.Pointer(c)).usedGo(base)
}

func (c *Chains) openLine(base, bit, cell, at, v uint64) {
	chainsOpen((*[32]uint64)(unsafe.Pointer(c)), base, bit, cell, at, v)
}

func (c *Chains) closeLine(base, bit, cell, at uint64) {
	chainsClose((*[32]uint64)(unsafe.Pointer(c)), base, bit, cell, at)
}

// lineLanesAt are the numbers of bits before each word of a line.
//
//lint:ignore U1000 the assembly reads it
var lineLanesAt = [8]uint64{0, 64, 128, 192, 256, 320, 384, 448}

// shiftsLines reports whether openLine and closeLine may be called.
var shiftsLines = cpu.X86.HasAVX2

// countsBits reports whether the assembly that follows chains may be called: it uses POPCNT and shifts and BZHI of
// BMI2.
var countsBits = cpu.X86.HasPOPCNT && cpu.X86.HasBMI2

// Ask reports whether a key of n bytes may be in the set. If n is Hashed, key is the address of a filter.Hash.
func (q *Query) Ask(key unsafe.Pointer, n int) bool {
	return ask((*[14]uint64)(unsafe.Pointer(q)), (*byte)(key), n)
}

// askGo answers for ask if the assembly cannot.
//
//lint:ignore U1000 the assembly jumps here
func askGo(q *[14]uint64, key *byte, n int) bool {
	return (*Query)(unsafe.Pointer(q)).answerInGo(unsafe.Pointer(key), n)
}

// HasMany sets dst[i] to the answer for hs[i] and returns true, or returns false if no assembly exists for slots of
// width bits. It panics if dst is shorter than hs.
func (f *Fuse) HasMany(dst []bool, hs []filter.Hash, width uint) bool {
	if !probes || width != 8 && width != 16 {
		return false
	}
	dst = dst[:len(hs)]
	for len(hs) > 0 {
		n := min(len(hs), 1024) // the scheduler cannot interrupt a call
		fuseHasMany((*[6]uint64)(unsafe.Pointer(f)), unsafe.SliceData(dst), firstWord(hs), uint64(n), uint64(width))
		dst, hs = dst[n:], hs[n:]
	}
	return true
}

// HasMany sets dst[i] to the answer for hs[i] and returns true, or returns false if no assembly exists. It panics if
// dst is shorter than hs.
func (b *Bits) HasMany(dst []bool, hs []filter.Hash) bool {
	if !probes {
		return false
	}

	const group = 64
	var room [2 * (group + 4)]uint64 // see together in gen
	dst = dst[:len(hs)]
	for len(hs) > 0 {
		n := min(len(hs), group)
		bitsHasMany((*[5]uint64)(unsafe.Pointer(b)), unsafe.SliceData(dst), firstWord(hs), uint64(n), &room[0])
		dst, hs = dst[n:], hs[n:]
	}
	return true
}

// HasMany sets dst[i] to the answer for hs[i] and returns true, or returns false if no assembly exists. It panics if
// dst is shorter than hs.
func (w *Windows) HasMany(dst []bool, hs []filter.Hash) bool {
	if !probes {
		return false
	}

	const group = 64
	var room [2 * group]uint64
	dst = dst[:len(hs)]
	for len(hs) > 0 {
		n := min(len(hs), group)
		windowsHasMany((*[9]uint64)(unsafe.Pointer(w)), unsafe.SliceData(dst), firstWord(hs), uint64(n), &room[0])
		dst, hs = dst[n:], hs[n:]
	}
	return true
}

// AddMany sets the bits of all keys and returns true, or returns false if no assembly exists.
func (b *Bits) AddMany(hs []filter.Hash) bool {
	for probes && len(hs) > 0 {
		n := min(len(hs), 1024)
		bitsAddMany((*[5]uint64)(unsafe.Pointer(b)), firstWord(hs), uint64(n))
		hs = hs[n:]
	}
	return probes
}

// peelStep is the largest number of keys per call of the assembly, which the scheduler cannot interrupt.
const peelStep = 8192

func (p *Peel) fields() *[21]uint64 { return (*[21]uint64)(unsafe.Pointer(p)) }

// Partition adds the number of mixed keys of each part to starts if counts is true. Otherwise it moves the keys to
// Mixed; starts are the next positions of the parts there. The part of a mixed key is its bits above shift.
func (p *Peel) Partition(starts, keys []uint64, shift int, counts bool) bool {
	to := unsafe.SliceData(p.Mixed)
	if counts {
		to = nil
	}
	for probes && len(keys) > 0 {
		n := min(len(keys), peelStep)
		peelPartition(p.fields(), &starts[0], &keys[0], uint64(n), uint64(shift), to)
		keys = keys[n:]
	}
	return probes
}

// Add adds all mixed keys to their slots. fits is false if a slot has more keys than Uses can count.
func (p *Peel) Add() (fits, done bool) {
	over := uint64(0)
	for keys := p.Mixed; probes && len(keys) > 0; {
		n := min(len(keys), peelStep)
		over += peelAdd(p.fields(), &keys[0], uint64(n))
		keys = keys[n:]
	}
	return over == 0, probes
}

// Peel peels keys until no slot has a single key.
func (p *Peel) Peel() bool {
	p.after = nextPlaces
	for probes && p.Top > 0 {
		peelKeys(p.fields(), p.Peeled+peelStep)
	}
	return probes
}

// Fill sets the slots of width bits.
func (p *Peel) Fill(words []uint64, width uint) bool {
	if !probes || width != 8 && width != 16 {
		return false
	}
	for end := uint64(len(p.Mixed)); end > 0; {
		n := min(end, peelStep)
		end -= n
		peelFill(p.fields(), &words[0], end, n, uint64(width))
	}
	return true
}

// firstWord returns the address of the words of hashes.
func firstWord(hs []filter.Hash) *uint64 { return (*uint64)(unsafe.Pointer(unsafe.SliceData(hs))) }

// hasGo answers for ask if the filter is probed in Go.
//
//lint:ignore U1000 the assembly jumps here
func hasGo(q *[14]uint64, hi, lo uint64) bool {
	return (*Query)(unsafe.Pointer(q)).filter.Has(filter.Hash{Hi: hi, Lo: lo})
}

// sumKeys sets dst to the hashes of keys whose addresses are stride bytes apart, until a key that the assembly cannot
// hash. It returns the number of hashed keys.
func (q *Query) sumKeys(dst []filter.Hash, keys unsafe.Pointer, stride uintptr) (done int) {
	const (
		ahead = 16   // prefetch distance in keys
		most  = 1024 // keys per call, which the scheduler cannot interrupt
	)
	for probes && done < len(dst) {
		n, further := min(len(dst)-done-ahead, most), ahead*stride
		if n <= 0 {
			n, further = len(dst)-done, 0
		}
		to := (*uint64)(unsafe.Pointer(&dst[done]))
		from := unsafe.Add(keys, uintptr(done)*stride)
		end := uintptr(from) + uintptr(n)*stride
		stop := sums((*[14]uint64)(unsafe.Pointer(q)), to, (*uint64)(from), uint64(stride), uint64(end), uint64(further))
		done += int((uintptr(stop) - uintptr(from)) / stride)
		if uintptr(stop) != end {
			break
		}
	}
	return done
}

// fuseIntegers sets dst to the answers of a Fuse, with XXH3.
func (q *Query) fuseIntegers(dst []bool, keys []uint64) {
	fuseAskIntegers((*[14]uint64)(unsafe.Pointer(q)), &dst[0], &keys[0], uint64(len(keys)))
}

// xxh3Secret is the first words of the default secret of XXH3.
//
//lint:ignore U1000 the assembly reads it
var xxh3Secret = [16]uint64{
	0xBE4BA423396CFEB8, 0x1CAD21F72C81017C, 0xDB979083E96DD4DE, 0x1F67B3B7A4A44072,
	0x78E5C0CC4EE679CB, 0x2172FFCC7DD05A82, 0x8E2443F7744608B8, 0x4C263A81E69035E0,
	0xCB00C391BB52283C, 0xA32E531B8B65D088, 0x4EF90DA297486471, 0xD8ACDEA946EF1938,
	0x3F349CE33F76FAA8, 0x1D4F0BC7C7BBDCF9, 0x3159B4CD4BE0518A, 0x647378D9C97E9FC8,
}

// probes reports whether ask has code for filters on this machine.
var probes = Vector && cpu.X86.HasBMI2

// Vector reports whether queries use vector code on this machine.
var Vector = cpu.X86.HasAVX2

// hasRibbon512 and hasRibbon256 report whether the forms of the assembly of Ribbon may be called: one uses masks and
// POPCNT of AVX-512, the other one AVX2, and both use BMI2.
var (
	hasRibbon512 = cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VPOPCNTDQ && cpu.X86.HasBMI2
	hasRibbon256 = cpu.X86.HasAVX2 && cpu.X86.HasBMI2
)

// ribbonNumbers are the numbers of columns.
//
//lint:ignore U1000 the assembly reads it
var ribbonNumbers = [8]uint64{0, 1, 2, 3, 4, 5, 6, 7}

// ribbonParities contains in each lane the parities of 0 to 15, from the highest bit on.
//
//lint:ignore U1000 the assembly reads it
var ribbonParities = [8]uint32{
	0x69960000, 0x69960000, 0x69960000, 0x69960000, 0x69960000, 0x69960000, 0x69960000, 0x69960000,
}

// Has reports whether the columns of a key with hash hi, lo give its fingerprint. For a key that does not belong to the
// layer it returns HasFurther.
func (r *Ribbon) Has(hi, lo uint64) bool {
	return ribbonHas((*[37]uint64)(unsafe.Pointer(r)), hi, lo)
}

// ribbonHasGo answers for ribbonHas on machines without its instructions.
//
//lint:ignore U1000 the assembly jumps here
func ribbonHasGo(r *[37]uint64, hi, lo uint64) bool { return (*Ribbon)(unsafe.Pointer(r)).has(hi, lo) }

// Get returns the columns of a key, the first one lowest, and their number, at most 64; or RibbonBumped as the number
// if the key does not belong to the layer.
func (r *Ribbon) Get(hi, lo uint64) (result, columns uint64) {
	return ribbonGet((*[37]uint64)(unsafe.Pointer(r)), hi, lo)
}

// ribbonGetGo answers for ribbonGet on machines without its instructions.
//
//lint:ignore U1000 the assembly jumps here
func ribbonGetGo(r *[37]uint64, hi, lo uint64) (result, columns uint64) {
	return (*Ribbon)(unsafe.Pointer(r)).getGo(hi, lo)
}

// ribbonRestGo answers for ribbonHas if the key does not belong to this layer, and no layer follows.
//
//lint:ignore U1000 the assembly jumps here
func ribbonRestGo(r *[37]uint64, hi, lo uint64) bool {
	return (*Ribbon)(unsafe.Pointer(r)).Rest(hi, lo)
}

// HasMany sets dst[i] to Has of hs[i] for the keys that belong to the layer, and returns the used part of bumped, to
// which it writes the numbers of the other keys; their dst is undefined. With cold it prefetches the blocks of later
// keys. It panics if dst or bumped is shorter than hs, or hs has more than 65,535 keys.
func (r *Ribbon) HasMany(dst []bool, hs []filter.Hash, bumped []uint16, cold bool) []uint16 {
	if r.how == byGo {
		return r.hasManyGo(dst, hs, bumped, cold)
	}

	dst, bumped = dst[:len(hs)], bumped[:len(hs)]
	got := bumped[:0]
	for done := 0; done < len(hs); {
		n, further := rounds(len(hs) - done)
		if !cold {
			further = 0
		}
		list := bumped[len(got):]
		k := ribbonHasMany((*[37]uint64)(unsafe.Pointer(r)), unsafe.SliceData(dst[done:]), firstWord(hs[done:]), n, further,
			unsafe.SliceData(list))
		for i, left := range list[:k] {
			list[i] = uint16(done + int(n) - int(left))
		}
		got, done = got[:len(got)+int(k)], done+int(n)
	}
	return got
}
