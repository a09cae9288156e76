package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// peel is a *kernel.Peel. Its methods return the addresses of the fields.
type peel struct{ at Register }

const peelType = "p *[21]uint64" // see unsafe.Sizeof

func (p peel) field(i int) Mem { return Mem{Base: p.at, Disp: 8 * i} }
func (p peel) xors() Mem       { return p.field(0) }
func (p peel) uses() Mem       { return p.field(3) }
func (p peel) mixed() Mem      { return p.field(6) }
func (p peel) places() Mem     { return p.field(9) }
func (p peel) single() Mem     { return p.field(12) }
func (p peel) seed() Mem       { return p.field(15) }
func (p peel) count() Mem      { return p.field(16) }
func (p peel) segment() Mem    { return p.field(17) }
func (p peel) top() Mem        { return p.field(18) }
func (p peel) peeled() Mem     { return p.field(19) }

// after is the place that follows a place by 1 or 2.
func (p peel) after(place Register, by int) Mem {
	return Mem{Base: p.at, Disp: 8*20 + 4*(by-1), Index: place, Scale: 1}
}

// mix turns a key into the mixed key.
func (p peel) mix(key, first, second GPVirtual) {
	ADDQ(p.seed(), key)
	shifted(key, 33)
	IMULQ(first, key)
	shifted(key, 33)
	IMULQ(second, key)
	shifted(key, 33)
}

// slots returns the three slots of RDX, a mixed key.
func (p peel) slots() (h [3]GPVirtual) {
	mask, t := GP64(), GP64()
	for i := range h {
		h[i] = GP64()
	}

	MOVQ(p.segment(), mask)
	MULXQ(p.count(), t, h[0])
	LEAQ(Mem{Base: h[0], Index: mask, Scale: 1}, h[1])
	LEAQ(Mem{Base: h[0], Index: mask, Scale: 2}, h[2])
	DECQ(mask)
	MOVQ(RDX, t)
	SHRQ(Imm(18), t)
	ANDQ(mask, t)
	XORQ(t, h[1])
	ANDQ(RDX, mask)
	XORQ(mask, h[2])
	return h
}

// peelPartition counts the mixed keys of each part in starts if to is nil, and else moves them to their places.
func peelPartition() {
	function("peelPartition", "func("+peelType+", starts, keys *uint64, n, shift uint64, to *uint64)")
	p, starts, key, n, shift := peel{param("p")}, param("starts"), param("keys"), param("n"), param("shift")
	to := param("to")
	first, second := constant(0xff51afd7ed558ccd), constant(0xc4ceb9fe1a85ec53)
	x, part, at := GP64(), GP64(), GP64()
	each := func(name string, take func()) {
		Label(name)
		MOVQ(Mem{Base: key}, x)
		p.mix(x, first, second)
		SHRXQ(shift, x, part)
		take()
		ADDQ(Imm(8), key)
		DECQ(n)
		JNE(LabelRef(name))
		RET()
	}

	TESTQ(to, to)
	JNE(LabelRef("move"))
	each("count", func() { INCQ(Mem{Base: starts, Index: part, Scale: 8}) })
	each("move", func() {
		MOVQ(Mem{Base: starts, Index: part, Scale: 8}, at)
		MOVQ(x, Mem{Base: to, Index: at, Scale: 8})
		INCQ(at)
		MOVQ(at, Mem{Base: starts, Index: part, Scale: 8})
	})
}

// peelAdd adds n mixed keys to their slots, and returns how often a number of uses overflowed.
func peelAdd() {
	function("peelAdd", "func("+peelType+", mixed *uint64, n uint64) uint64")
	p, key, n := peel{param("p")}, param("mixed"), param("n")
	xors, uses, over := GP64(), GP64(), GP64()
	MOVQ(p.xors(), xors)
	MOVQ(p.uses(), uses)
	XORL(over.As32(), over.As32())
	Label("key")
	MOVQ(Mem{Base: key}, RDX)
	for place, h := range p.slots() {
		u := GP64()
		MOVBLZX(Mem{Base: uses, Index: h, Scale: 1}, u.As32())
		ADDB(Imm(4), u.As8())
		ADCQ(Imm(0), over)
		if place > 0 {
			XORL(Imm(uint64(place)), u.As32())
		}
		MOVB(u.As8(), Mem{Base: uses, Index: h, Scale: 1})
		XORQ(RDX, Mem{Base: xors, Index: h, Scale: 8})
	}

	ADDQ(Imm(8), key)
	DECQ(n)
	JNE(LabelRef("key"))
	Store(over, ReturnIndex(0))
	RET()
}

// peelKeys peels keys until no slot has a single one, or most are peeled.
func peelKeys() {
	function("peelKeys", "func("+peelType+", most uint64)")
	p := peel{param("p")}
	xors, uses, stack, mixed := GP64(), GP64(), GP64(), GP64()
	top, n := GP64(), GP64()
	MOVQ(p.xors(), xors)
	MOVQ(p.uses(), uses)
	MOVQ(p.single(), stack)
	MOVQ(p.mixed(), mixed)
	MOVQ(p.top(), top)
	MOVQ(p.peeled(), n)

	Label("slot")
	TESTQ(top, top)
	JE(LabelRef("end"))
	CMPQ(n, addr("most"))
	JE(LabelRef("end"))
	DECQ(top)
	slot, place := GP64(), GP64()
	MOVL(Mem{Base: stack, Index: top, Scale: 4}, slot.As32())
	MOVBLZX(Mem{Base: uses, Index: slot, Scale: 1}, place.As32())
	MOVQ(Mem{Base: xors, Index: slot, Scale: 8}, RDX)
	MOVL(place.As32(), slot.As32())
	SHRL(Imm(2), slot.As32())
	CMPL(slot.As32(), Imm(1))
	JNE(LabelRef("slot"))
	ANDL(Imm(3), place.As32())
	places := copied(p.places())
	MOVQ(RDX, Mem{Base: mixed, Index: n, Scale: 8})
	MOVB(place.As8(), Mem{Base: places, Index: n, Scale: 1})
	INCQ(n)
	h := p.slots()
	others := [2]GPVirtual{GP64(), GP64()}
	MOVQ(h[1], others[0])
	MOVQ(h[2], others[1])
	CMPL(place.As32(), Imm(1))
	CMOVQEQ(h[2], others[0])
	CMOVQEQ(h[0], others[1])
	CMOVQHI(h[0], others[0])
	CMOVQHI(h[1], others[1])
	for i, o := range others {
		u, at := GP64(), GP64()
		MOVBLZX(p.after(place, i+1), at.As32())
		MOVBLZX(Mem{Base: uses, Index: o, Scale: 1}, u.As32())
		SUBL(Imm(4), u.As32())
		XORL(u.As32(), at.As32())
		MOVB(at.As8(), Mem{Base: uses, Index: o, Scale: 1})
		XORQ(RDX, Mem{Base: xors, Index: o, Scale: 8})
		MOVL(o.As32(), Mem{Base: stack, Index: top, Scale: 4})
		SUBL(Imm(4), u.As32())
		CMPL(u.As32(), Imm(4)) // the carry is set if one key is left
		ADCQ(Imm(0), top)
	}

	JMP(LabelRef("slot"))
	Label("end")
	MOVQ(top, p.top())
	MOVQ(n, p.peeled())
	RET()
}

// peelFill sets the slots of n keys, the last one first, to fingerprints of 8 or 16 bits.
func peelFill() {
	function("peelFill", "func("+peelType+", words *uint64, from, n, width uint64)")
	p, words, from, n := peel{param("p")}, param("words"), param("from"), param("n")
	mixed, places := copied(p.mixed()), copied(p.places())
	LEAQ(Mem{Base: mixed, Index: from, Scale: 8}, mixed)
	ADDQ(from, places)
	fill := func(name string, width int, set func(print, slot GPVirtual)) {
		Label(name)
		place, print := GP64(), GP64()
		MOVQ(Mem{Base: mixed, Index: n, Scale: 8, Disp: -8}, RDX)
		MOVBLZX(Mem{Base: places, Index: n, Scale: 1, Disp: -1}, place.As32())
		h := p.slots()
		MOVQ(RDX, print)
		SHRQ(Imm(32), RDX)
		XORQ(RDX, print)
		slot := copied(h[0])
		CMPL(place.As32(), Imm(1))
		CMOVQEQ(h[1], slot)
		CMOVQHI(h[2], slot)
		xorSlots(words, h[:], print, width) // the slot itself is still 0
		set(print, slot)
		DECQ(n)
		JNE(LabelRef(name))
		RET()
	}

	CMPQ(addr("width"), Imm(8))
	JNE(LabelRef("wide"))
	fill("narrow", 8, func(print, slot GPVirtual) {
		MOVB(print.As8(), Mem{Base: words, Index: slot, Scale: 1})
	})
	fill("wide", 16, func(print, slot GPVirtual) {
		MOVW(print.As16(), Mem{Base: words, Index: slot, Scale: 2})
	})
}
