package bitvec

// Slots is what the bits of eight slots of a key have in common in one kind of block of 512 bits: see TestSlots. Every
// field is a vector of eight lanes of 32 bits, or of four of 64.
type Slots struct {
	salts  [8]uint32 // multipliers
	size   [8]uint32 // bits that slots lead to
	first  [8]uint32 // the word of 32 bits that these begin at
	shift0 [4]uint64 // where the shifts of slots 0, 1, 4 and 5 begin
	shift1 [4]uint64 // and those of slots 2, 3, 6 and 7
	mask   [8]uint32 // the bits of a shift
	turn   [8]uint32 // 31
}

// NewSlots returns what the slots have in common: slot l has bit (u + shift) mod 32 of word first + u/32 of its block, with
// u = ⌊⌊x·salts[l] mod 2^32 / 2^16⌋·size / 2^16⌋ and its shift the width bits from bit l·width of the shifts on. The words
// from first on hold size bits, at most 512 in all, and eight shifts have at most 64 bits.
func NewSlots(salts [8]uint32, first, size uint64, width int) *Slots {
	c := &Slots{salts: salts}
	for l := range 8 {
		c.size[l], c.first[l], c.mask[l], c.turn[l] = uint32(size), uint32(first), 1<<width-1, 31
	}
	for i, l := range [4]int{0, 1, 4, 5} {
		c.shift0[i], c.shift1[i] = uint64(l*width), uint64((l+2)*width)
	}
	return c
}

// Set returns which of eight slots of a key are set, as bits: the low half of x is what their positions come from, shifts what NewSlots
// says.
func (c *Slots) Set(words []uint64, block, x, shifts uint64) uint32 {
	return slots(Line(words, block), x, shifts, c)
}

// slotsGo is the specification of slots.
func slotsGo(line *[8]uint64, x, shifts uint64, c *Slots) (set uint32) {
	for l, salt := range c.salts {
		u := uint32(x) * salt >> 16 * c.size[l] >> 16
		at := c.first[l] + u>>5
		word := uint32(line[at/2] >> (at % 2 * 32))
		set |= word >> ((u + uint32(shifts)&c.mask[l]) & 31) & 1 << l
		shifts >>= c.shift0[1]
	}
	return set
}
