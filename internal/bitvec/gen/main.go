// Gen writes the vector code of internal/bitvec for amd64. Run it by `go generate ./internal/bitvec`.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("amd64,!purego")
	bestLanes()
	slots()
	Generate()
}

// bestLanes has one register for all 32 lanes: a load with an and, and an addition, for every position.
func bestLanes() {
	TEXT("bestLanesAVX2", NOSPLIT, "func(cells []byte, at []uint32, start, keep *[4]uint64) uint32")
	Pragma("noescape")
	cells := Load(Param("cells").Base(), GP64())
	at := Load(Param("at").Base(), GP64())
	n := Load(Param("at").Len(), GP64())
	start := Load(Param("start"), GP64())
	keepAt := Load(Param("keep"), GP64())
	sum, sum2, keep := YMM(), YMM(), YMM()
	VMOVDQU(Mem{Base: start}, sum)
	VPXOR(sum2, sum2, sum2)
	VMOVDQU(Mem{Base: keepAt}, keep)

	const together = 4
	step := func(i int, to VecVirtual) {
		u, window := GP64(), YMM()
		MOVL(Mem{Base: at, Disp: 4 * i}, u.As32())
		VPAND(Mem{Base: cells, Index: u, Scale: 1}, keep, window)
		VPADDB(window, to, to)
	}
	Label("four")
	CMPQ(n, Imm(together))
	JLT(LabelRef("one"))
	for i := range together {
		step(i, []VecVirtual{sum, sum2}[i%2])
	}
	ADDQ(Imm(4*together), at)
	SUBQ(Imm(together), n)
	JMP(LabelRef("four"))
	Label("one")
	TESTQ(n, n)
	JZ(LabelRef("summed"))
	step(0, sum)
	ADDQ(Imm(4), at)
	DECQ(n)
	JMP(LabelRef("one"))

	Label("summed")
	VPADDB(sum2, sum, sum)
	// The highest byte is the lowest one of the complement, and there is an instruction for the lowest of eight words.
	all, low, half := YMM(), XMM(), XMM()
	VPCMPEQB(all, all, all)
	VPXOR(all, sum, sum)
	VEXTRACTI128(Imm(1), sum, low)
	VPMINUB(sum.AsX(), low, low)
	VPSRLW(Imm(8), low, half)
	VPMINUB(half, low, low)
	VPHMINPOSUW(low, low)
	top := YMM()
	VPBROADCASTB(low, top)
	VPCMPEQB(top, sum, sum)
	best := GP32()
	VPMOVMSKB(sum, best)
	VZEROUPPER()
	Store(best, ReturnIndex(0))
	RET()
}

// slots has a lane of 32 bits for each of eight slots. The two registers of shifts hold those of slots 0, 1, 4, 5 and 2, 3,
// 6, 7, which VSHUFPS brings into order.
func slots() {
	TEXT("slotsAVX2", NOSPLIT, "func(line *[8]uint64, x, shifts uint64, c *[56]uint32) uint32")
	Pragma("noescape")
	line := Load(Param("line"), GP64())
	c := Load(Param("c"), GP64())
	field := func(i int) Mem { return Mem{Base: c, Disp: 32 * i} }
	x, s := XMM(), XMM()
	for i, to := range []VecVirtual{x, s} {
		from, err := Param([]string{"x", "shifts"}[i]).Resolve()
		if err != nil {
			panic(err)
		}
		VMOVQ(from.Addr, to)
	}
	u, at, low, high := YMM(), YMM(), YMM(), YMM()
	VPBROADCASTD(x, u)
	VPMULLD(field(0), u, u)
	VPSRLD(Imm(16), u, u)
	VPMULLD(field(1), u, u)
	VPSRLD(Imm(16), u, u)
	VPSRLD(Imm(5), u, at)
	VPADDD(field(2), at, at)
	VPERMD(Mem{Base: line}, at, low)
	VPERMD(Mem{Base: line, Disp: 32}, at, high)
	VPSLLD(Imm(28), at, at) // bit 3, which VPERMD does not see, becomes the sign
	VBLENDVPS(at, high, low, low)
	s0, s1 := YMM(), YMM()
	VPBROADCASTQ(s, s0)
	VPSRLVQ(field(4), s0, s1)
	VPSRLVQ(field(3), s0, s0)
	VSHUFPS(Imm(0x88), s1, s0, s0)
	VPAND(field(5), s0, s0)
	VPADDD(u, s0, s0)
	VPAND(field(6), s0, s0)
	VPSRLVD(s0, low, low)
	VPSLLD(Imm(31), low, low)
	set := GP32()
	VMOVMSKPS(low, set)
	VZEROUPPER()
	Store(set, ReturnIndex(0))
	RET()
}
