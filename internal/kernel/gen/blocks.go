package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// blocks is a *kernel.Blocks. Its methods return the addresses of the fields.
type blocks struct{ at Register }

func (b blocks) field(disp int) Mem { return Mem{Base: b.at, Disp: disp} }
func (b blocks) words() Mem         { return b.field(0) }
func (b blocks) count() Mem         { return b.field(24) }
func (b blocks) how() Mem           { return b.field(32) }
func (b blocks) k() Mem             { return b.field(40) }
func (b blocks) last(i int) Mem     { return b.field(48 + 32*i) }
func (b blocks) ones() Mem          { return b.field(112) }
func (b blocks) full(i int) Mem     { return b.field(144 + 32*i) }

// blocksHasIn is blocksHas for the bytes of one block, at any address, and at most one round of probes.
func blocksHasIn() {
	function("blocksHasIn", "func("+blocksType+", block *byte, lo uint64) bool")
	b := blocks{param("b")}
	line := Mem{Base: param("block")}
	found := answer()
	x := YMM()
	CMPQ(b.how(), Imm(byLine))
	JNE(LabelRef("split"))
	VPBROADCASTQ(addr("lo"), x)
	set := lineProbe(x, b.last(0), b.last(1), line)
	VPTEST(b.ones(), set)
	leaveCarry(found)
	Label("split")
	VPBROADCASTD(addr("lo"), x)
	testSplit(b, x, line)
	leaveCarry(found)
}

const (
	byLong     = 1
	byLine     = 2
	lineProbes = 7
)

const blocksType = "b *[26]uint64" // see unsafe.Sizeof

// blocksHas uses as few instructions outside the vector unit as possible. For this reason all its constants are fields
// of Blocks.
func blocksHas() {
	function("blocksHas", "func("+blocksType+", hi, lo uint64) bool")
	b := blocks{param("b")}
	found := answer()
	x := YMM()
	MOVQ(b.count(), RAX)
	MULQ(addr("hi")) // RDX is the number of the block
	CMPQ(b.how(), Imm(byLine))
	JNE(LabelRef("other"))
	SHLQ(Imm(6), RDX)
	ADDQ(b.words(), RDX)
	VPBROADCASTQ(addr("lo"), x)
	set := lineProbe(x, b.last(0), b.last(1), Mem{Base: RDX})
	VPTEST(b.ones(), set)
	leaveCarry(found)

	Label("other")
	JCS(LabelRef("neither"))
	SHLQ(Imm(5), RDX)
	ADDQ(b.words(), RDX)
	VPBROADCASTD(addr("lo"), x)
	testSplit(b, x, Mem{Base: RDX})
	leaveCarry(found)

	Label("neither")
	CMPQ(b.how(), Imm(byLong))
	JNE(LabelRef("go"))
	line, left, seed, golden := GP64(), GP64(), GP64(), GP64()
	SHLQ(Imm(6), RDX)
	ADDQ(b.words(), RDX)
	MOVQ(RDX, line)
	MOVQ(b.k(), left)
	MOVQ(addr("lo"), seed)
	MOVQ(U64(0x9E3779B97F4A7C15), golden)
	all := YMM()
	VPBROADCASTQ(addr("lo"), x)
	VMOVDQU(lineProbe(x, b.full(0), b.full(1), Mem{Base: line}), all)
	Label("round")
	// probe.Remix
	ADDQ(golden, seed)
	MOVQ(U64(0x6A09E667F3BCC909), RAX)
	MULQ(seed)
	XORQ(RDX, RAX)
	MULQ(golden)
	XORQ(RDX, RAX)
	VMOVQ(RAX, x.AsX())
	VPBROADCASTQ(x.AsX(), x)
	SUBQ(Imm(lineProbes), left)
	CMPQ(left, Imm(lineProbes))
	JLE(LabelRef("last"))
	VPAND(lineProbe(x, b.full(0), b.full(1), Mem{Base: line}), all, all)
	JMP(LabelRef("round"))
	Label("last")
	VPAND(lineProbe(x, b.last(0), b.last(1), Mem{Base: line}), all, all)
	VPTEST(b.ones(), all)
	leaveCarry(found)

	Label("go")
	goOn("blocksHasGo")
}

// lineProbe returns a register with eight lanes whose lowest bits are the bits of eight probes. Its input is a register
// with four copies of the hash. Each lane first gets nine bits of the hash: w2 w1 w0, the number of the word, below b5
// to b0, the number of the bit. VPERMD selects the half word w1 w0 b5 in both halves of the line, and w2, as the sign,
// selects one of the two.
func lineProbe(x VecVirtual, bytes, shifts Op, line Mem) VecVirtual {
	p, half, top, word, high := YMM(), YMM(), YMM(), YMM(), YMM()
	VPSHUFB(bytes, x, p)
	VPSRLVD(shifts, p, p)
	VPSLLD(Imm(23), p, top)
	VPADDD(p, p, half)
	VPSRLD(Imm(31), top, top) // b5
	VPADDD(top, half, half)
	VPERMD(line, half, word)
	VPERMD(line.Offset(32), half, high)
	VPSLLD(Imm(28), half, half)
	VBLENDVPS(half, high, word, word)
	VPSLLD(Imm(24), p, p)
	VPSRLD(Imm(27), p, p) // b4 to b0
	VPSRLVD(p, word, word)
	return word
}

// splitMask turns eight times the low half of a hash into the bits of the eight words.
func splitMask(x VecVirtual, salts, ones Op) {
	one := YMM()
	VMOVDQU(ones, one)
	VPMULLD(salts, x, x)
	VPSRLD(Imm(27), x, x)
	VPSLLVD(x, one, x)
}

// testSplit sets the carry flag if a split block has the bits of a key. x has eight times the low half of its hash.
func testSplit(b blocks, x VecVirtual, block Mem) {
	splitMask(x, b.last(0), b.last(1))
	content := YMM()
	VMOVDQU(block, content)
	VPTEST(x, content)
}

// locate prefetches the block of the key ahead bytes behind the key at h, and leaves the offset of the block of the key
// at h in RDX. Blocks have 1<<shift bytes.
func locate(h, ahead, words, count Register, shift uint64) {
	MOVQ(count, RAX)
	MULQ(Mem{Base: h, Index: ahead, Scale: 1})
	SHLQ(Imm(shift), RDX)
	PREFETCHT0(Mem{Base: words, Index: RDX, Scale: 1})
	MOVQ(count, RAX)
	MULQ(Mem{Base: h})
	SHLQ(Imm(shift), RDX)
}

// blocksHasMany is blocksHas for n keys, in the line layout with at most seven probes or the split layout. ahead is the
// distance in bytes from a key to the key whose block it prefetches.
func blocksHasMany() {
	function("blocksHasMany", "func("+blocksType+", dst *bool, hs *uint64, n, ahead uint64)")
	b, dst, h, n, ahead := blocks{param("b")}, param("dst"), param("hs"), param("n"), param("ahead")
	words, count := copied(b.words()), copied(b.count())
	line, split := layouts(b, h)
	loop := func(name string, shift uint64, has func(block Mem)) {
		Label(name)
		locate(h, ahead, words, count, shift)
		has(Mem{Base: words, Index: RDX, Scale: 1})
		SETCS(Mem{Base: dst})
		ADDQ(Imm(16), h)
		INCQ(dst)
		DECQ(n)
		JNE(LabelRef(name))
		leaveVector()
	}
	loop("line", 6, line)
	loop("split", 5, split)
}

// layouts jumps to split for the split layout. It returns two functions, for the two layouts, that test the key at h in
// a block and set the carry flag if the block has it.
func layouts(b blocks, h Register) (line, split func(block Mem)) {
	v0, v1, ones := YMM(), YMM(), YMM()
	VMOVDQU(b.last(0), v0)
	VMOVDQU(b.last(1), v1)
	VMOVDQU(b.ones(), ones)
	CMPQ(b.how(), Imm(byLine))
	JNE(LabelRef("split"))
	x, content := YMM(), YMM()
	line = func(block Mem) {
		VPBROADCASTQ(Mem{Base: h, Disp: 8}, x)
		VPTEST(ones, lineProbe(x, v0, v1, block))
	}

	split = func(block Mem) {
		VPBROADCASTD(Mem{Base: h, Disp: 8}, x)
		splitMask(x, v0, v1)
		VMOVDQU(block, content)
		VPTEST(x, content)
	}
	return line, split
}

// blocksHasAt is blocksHasMany for blocks at given addresses. ahead is the distance in bytes from the address of a
// block to the block which it prefetches.
func blocksHasAt() {
	function("blocksHasAt", "func("+blocksType+", dst *bool, hs *uint64, at *uint64, n, ahead uint64)")
	b, dst, h, at, n, ahead := blocks{param("b")}, param("dst"), param("hs"), param("at"), param("n"), param("ahead")
	line, split := layouts(b, h)
	loop := func(name string, has func(block Mem)) {
		Label(name)
		first := copied(Mem{Base: at, Index: ahead, Scale: 1})
		PREFETCHT0(Mem{Base: first})
		MOVQ(Mem{Base: at}, first)
		has(Mem{Base: first})
		SETCS(Mem{Base: dst})
		ADDQ(Imm(16), h)
		ADDQ(Imm(8), at)
		INCQ(dst)
		DECQ(n)
		JNE(LabelRef(name))
		leaveVector()
	}
	loop("line", line)
	loop("split", split)
}

// blocksAddSplit sets the bits of n keys in the split layout. ahead is as in blocksHasMany.
func blocksAddSplit() {
	function("blocksAddSplit", "func("+blocksType+", hs *uint64, n, ahead uint64)")
	b, h, n, ahead := blocks{param("b")}, param("hs"), param("n"), param("ahead")
	words, count := copied(b.words()), copied(b.count())
	salts, ones, x := YMM(), YMM(), YMM()
	VMOVDQU(b.last(0), salts)
	VMOVDQU(b.last(1), ones)
	Label("key")
	locate(h, ahead, words, count, 5)
	VPBROADCASTD(Mem{Base: h, Disp: 8}, x)
	splitMask(x, salts, ones)
	VPOR(Mem{Base: words, Index: RDX, Scale: 1}, x, x)
	VMOVDQU(x, Mem{Base: words, Index: RDX, Scale: 1})
	ADDQ(Imm(16), h)
	DECQ(n)
	JNE(LabelRef("key"))
	leaveVector()
}

// blocksAddLine sets the bits of n keys in the line layout with at most seven probes, with a loop for each number of
// probes. ahead is as in blocksHasMany.
func blocksAddLine() {
	function("blocksAddLine", "func("+blocksType+", hs *uint64, n, ahead uint64)")
	b, h, n, ahead := blocks{param("b")}, param("hs"), param("n"), param("ahead")
	words, count, probes := copied(b.words()), copied(b.count()), copied(b.k())
	for k := 1; k <= lineProbes; k++ {
		loop := fmt.Sprintf("k%d", k)
		if k < lineProbes {
			CMPQ(probes, Imm(uint64(k)))
			JNE(LabelRef("no" + loop))
		}
		Label(loop)
		locate(h, ahead, words, count, 6)
		ADDQ(words, RDX)
		x := copied(Mem{Base: h, Disp: 8})
		for i := range k {
			word, content := GP64(), GP64()
			if i > 0 {
				ROLQ(Imm(9), x)
			}
			MOVQ(x, word)
			SHRQ(Imm(61), word)
			MOVQ(Mem{Base: RDX, Index: word, Scale: 8}, content)
			BTSQ(x, content)
			MOVQ(content, Mem{Base: RDX, Index: word, Scale: 8})
		}
		ADDQ(Imm(16), h)
		DECQ(n)
		JNE(LabelRef(loop))
		RET()
		if k < lineProbes {
			Label("no" + loop)
		}
	}
}
