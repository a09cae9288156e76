// Gen writes the vector code of internal/kernel for amd64. Run it by `go generate ./internal/kernel`.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("amd64,!purego")
	bestLanes()
	slotsHas()
	slotsHasIn()
	blocksHas()
	blocksHasIn()
	blocksHasMany()
	blocksHasAt()
	blocksAddSplit()
	blocksAddLine()
	chainsHas()
	chainsAsk()
	chainsFollow()
	chainsUsed()
	chainsClose()
	chainsOpen()
	ribbonHas()
	ribbonHasMany()
	ribbonGet()
	ask()
	sums()
	fuseHasMany()
	fuseAskIntegers()
	bitsHasMany()
	bitsAddMany()
	windowsHasMany()
	peelPartition()
	peelAdd()
	peelKeys()
	peelFill()
	Generate()
}

// bestLanes generates code that holds all 32 lanes in one register and needs a load, an AND and an addition for every
// position.
func bestLanes() {
	function("bestLanesAVX2", "func(cells []byte, at []uint32, start, keep *[4]uint64) uint32")
	cells := Load(Param("cells").Base(), GP64())
	at := Load(Param("at").Base(), GP64())
	n := Load(Param("at").Len(), GP64())
	start, keepAt := param("start"), param("keep")
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
	// The maximum of bytes is the minimum of their complements, and there is an instruction for the minimum of 8 words.
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

// param returns a register with a parameter.
func param(name string) GPVirtual { return Load(Param(name), GP64()).(GPVirtual) }

// copied returns a register with the value of an operand.
func copied(from Op) GPVirtual {
	r := GP64()
	MOVQ(from, r)
	return r
}

// addr returns the address of a parameter.
func addr(param string) Mem {
	from, err := Param(param).Resolve()
	if err != nil {
		panic(err)
	}
	return from.Addr
}

// answer returns the address of the only result.
func answer() Mem {
	to, err := ReturnIndex(0).Resolve()
	if err != nil {
		panic(err)
	}
	return to.Addr
}

// function begins a function whose pointer arguments do not escape.
func function(name, signature string) {
	TEXT(name, NOSPLIT, signature)
	Pragma("noescape")
}

// goOn jumps to a Go function with the same signature.
func goOn(name string) {
	to := NewDataAddr(Symbol{Name: "·" + name}, 0)
	Instruction(&ir.Instruction{Opcode: "JMP", Operands: []Op{to}, IsTerminal: true})
}

// leaveCarry returns the carry flag.
func leaveCarry(found Mem) {
	SETCS(found)
	leaveVector()
}

// leaveVector returns from a function that has used vector registers.
func leaveVector() {
	VZEROUPPER()
	RET()
}
