package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// slotsType stands for a *Slots; see unsafe.Sizeof.
const slotsType = "s *[43]uint64"

const (
	byRound  = 1
	byRounds = 2
)

// slotsHas generates code with a lane of 32 bits for each of eight slots.
func slotsHas() {
	function("slotsHas", "func("+slotsType+", hi, lo uint64) bool")
	s := blocks{param("s")}
	line, bit := GP64(), GP64()

	MOVQ(s.field(24), RAX) // blocks
	MULQ(addr("hi"))       // RDX is the number of the block, RAX the rest
	CMPQ(s.field(48), Imm(byRound))
	JCS(LabelRef("go"))
	MOVQ(RDX, line)
	SHLQ(Imm(6), line)
	ADDQ(s.field(0), line) // words
	MULQ(s.field(32))      // groups: RDX is the number of the group
	MOVQ(RDX, bit)
	IMULQ(s.field(40), bit) // side
	slotsRounds(s, line, bit)
	Label("go")
	goOn("slotsHasGo")
}

// slotsHasIn is slotsHas for the bytes of one block, at any address. rest is the low half of hi times the number of
// blocks.
func slotsHasIn() {
	function("slotsHasIn", "func("+slotsType+", block *byte, rest, lo uint64) bool")
	s := blocks{param("s")}
	line, bit := param("block"), GP64()
	MOVQ(s.field(32), RAX) // groups
	MULQ(addr("rest"))
	MOVQ(RDX, bit)
	IMULQ(s.field(40), bit) // side
	slotsRounds(s, line, bit)
}

// slotsRounds answers for one or two rounds of slots. The shifts of the key's group start at that bit of the line.
func slotsRounds(s blocks, line, bit GPVirtual) {
	found := answer()
	lo, unset := addr("lo"), GP64()
	x := YMM()
	VPBROADCASTD(lo, x)
	MOVL(slotsSet(s, x, line, bit).As32(), unset.As32())
	NOTL(unset.As32())
	ANDQ(s.field(64), unset) // need
	JNE(LabelRef("no"))
	CMPQ(s.field(48), Imm(byRound))
	JEQ(LabelRef("yes"))
	ADDQ(s.field(56), bit) // next
	VPBROADCASTQ(lo, x)
	VPSHUFD(Imm(0xf5), x, x) // the high halves
	MOVL(slotsSet(s, x, line, bit).As32(), unset.As32())
	NOTL(unset.As32())
	ANDQ(s.field(72), unset)
	JNE(LabelRef("no"))
	Label("yes")
	MOVB(Imm(1), found)
	leaveVector()
	Label("no")
	MOVB(Imm(0), found)
	leaveVector()
}

// slotsSet returns a mask of the eight slots: a bit is set if the slot is set. The two registers of shifts are for
// slots 0, 1, 4, 5 and for 2, 3, 6, 7; VSHUFPS sorts them.
func slotsSet(s blocks, u VecVirtual, line, bit GPVirtual) GPVirtual {
	field := func(i int) Mem { return s.field(80 + 32*i) }
	shifts := copied(bit)
	SHRQ(Imm(3), shifts)
	MOVQ(Mem{Base: line, Index: shifts, Scale: 1}, shifts)
	MOVQ(bit, RCX)
	ANDQ(Imm(7), RCX)
	SHRQ(CL, shifts)

	at, low, high := YMM(), YMM(), YMM()
	VPMULLD(field(0), u, u)
	VPSRLD(Imm(16), u, u)
	VPMULLD(field(1), u, u)
	VPSRLD(Imm(16), u, u)
	VPSRLD(Imm(5), u, at)
	VPADDD(field(2), at, at)
	VPERMD(Mem{Base: line}, at, low)
	VPERMD(Mem{Base: line, Disp: 32}, at, high)
	VPSLLD(Imm(28), at, at) // bit 3, which VPERMD ignores, becomes the sign
	VBLENDVPS(at, high, low, low)
	s0, s1 := YMM(), YMM()
	VMOVQ(shifts, s0.AsX())
	VPBROADCASTQ(s0.AsX(), s0)
	VPSRLVQ(field(4), s0, s1)
	VPSRLVQ(field(3), s0, s0)
	VSHUFPS(Imm(0x88), s1, s0, s0)
	VPAND(field(5), s0, s0)
	VPADDD(u, s0, s0)
	VPAND(field(6), s0, s0)
	VPSRLVD(s0, low, low)
	VPSLLD(Imm(31), low, low)
	set := GP64()
	VMOVMSKPS(low, set.As32())
	return set
}
