package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// ribbon is a *kernel.Ribbon. Its methods return the addresses of the fields.
type ribbon struct{ at Register }

func (r ribbon) field(i int) Mem { return Mem{Base: r.at, Disp: 8 * i} }
func (r ribbon) words() Mem      { return r.field(0) }
func (r ribbon) classes() Mem    { return r.field(3) }
func (r ribbon) bucket() Mem     { return r.field(6) }
func (r ribbon) low() Mem        { return r.field(7) }
func (r ribbon) turn() Mem       { return r.field(8) }
func (r ribbon) factor() Mem     { return r.field(9) }
func (r ribbon) starts() Mem     { return r.field(10) }
func (r ribbon) shift() Mem      { return r.field(11) }
func (r ribbon) within() Mem     { return r.field(12) }
func (r ribbon) limit(class Register) Mem {
	return Mem{Base: r.at, Disp: 8 * 13, Index: class, Scale: 8}
}
func (r ribbon) columns() Mem      { return r.field(17) }
func (r ribbon) wide() Mem         { return r.field(18) }
func (r ribbon) prints() Mem       { return r.field(19) }
func (r ribbon) product(i int) Mem { return r.field(20 + i) } // for the first and second coefficients, the fingerprint
func (r ribbon) how() Mem          { return r.field(24) }
func (r ribbon) one() Mem          { return r.field(25) }
func (r ribbon) mask() Mem         { return r.field(26) }

const (
	ribbonType    = "r *[27]uint64" // see unsafe.Sizeof
	ribbonSegment = 18
	// The values of Ribbon.how. byColumns is for width 64, at most eight columns, and no block with one more.
	byColumns = 1
	byNarrow  = 2
	byBroad   = 3
)

// ribbonForms calls code for each value of Ribbon.how but byGo.
func ribbonForms(r ribbon, other func(), code func(how int, suffix string)) {
	how := GP64()
	MOVQ(r.how(), how)
	CMPQ(how, Imm(byColumns))
	JNE(LabelRef("narrow"))
	code(byColumns, "")
	Label("narrow")
	CMPQ(how, Imm(byNarrow))
	JNE(LabelRef("broad"))
	code(byNarrow, "Narrow")
	Label("broad")
	CMPQ(how, Imm(byBroad))
	JNE(LabelRef("other"))
	code(byBroad, "Broad")
	Label("other")
	other()
}

// ribbonHas is Ribbon.hasGo. It takes eight columns at a time: the parity of a column is the lowest bit of its POPCNT.
func ribbonHas() {
	TEXT("ribbonHas", NOSPLIT, "func("+ribbonType+", hi, lo uint64) uint64")
	Pragma("noescape")
	r := ribbon{Load(Param("r"), GP64())}
	result, err := ReturnIndex(0).Resolve()
	if err != nil {
		panic(err)
	}
	goOn := func() {
		hasGo := NewDataAddr(Symbol{Name: "·ribbonHasGo"}, 0)
		Instruction(&ir.Instruction{Opcode: "JMP", Operands: []Op{hasGo}, IsTerminal: true})
	}
	ribbonForms(r, goOn, func(how int, suffix string) {
		hi := Load(Param("hi"), GP64())
		ones := ZMM()
		VPBROADCASTQ(r.one(), ones)
		start := ribbonStart(r, hi, "bumped"+suffix)
		differ := ribbonColumns(r, how, hi, addr("lo"), start, ones, suffix)
		answer := GP64()
		XORL(answer.As32(), answer.As32())
		TESTL(differ, differ)
		SETEQ(answer.As8())
		MOVQ(answer, result.Addr)
		VZEROUPPER()
		RET()
		Label("bumped" + suffix)
		MOVQ(U32(2), result.Addr)
		VZEROUPPER()
		RET()
	})
}

// ribbonHasMany answers for n keys. It writes how many keys were left, that key included, to *bumped for each key that
// is bumped, and returns the number of these. If ahead is not 0, it is the distance in bytes from a key to the one
// whose blocks are prefetched.
func ribbonHasMany() {
	TEXT("ribbonHasMany", NOSPLIT,
		"func("+ribbonType+", dst *bool, hs *uint64, n, ahead uint64, bumped *uint16) uint64")
	Pragma("noescape")
	r := ribbon{Load(Param("r"), GP64())}
	ribbonForms(r, func() { RET() }, func(how int, suffix string) {
		h := Load(Param("hs"), GP64())
		dst := Load(Param("dst"), GP64())
		n := Load(Param("n"), GP64())
		list := Load(Param("bumped"), GP64())
		ones := ZMM()
		VPBROADCASTQ(r.one(), ones)
		Label("key" + suffix)
		ahead := GP64()
		MOVQ(addr("ahead"), ahead)
		TESTQ(ahead, ahead)
		JEQ(LabelRef("cached" + suffix))
		ribbonPrefetch(r, how, Mem{Base: h, Index: ahead, Scale: 1})
		Label("cached" + suffix)
		hi := GP64()
		MOVQ(Mem{Base: h}, hi)
		start := ribbonStart(r, hi, "bumped"+suffix)
		differ := ribbonColumns(r, how, hi, Mem{Base: h, Disp: 8}, start, ones, suffix)
		TESTL(differ, differ)
		SETEQ(Mem{Base: dst})
		Label("next" + suffix)
		ADDQ(Imm(16), h)
		INCQ(dst)
		DECQ(n)
		JNE(LabelRef("key" + suffix))
		SUBQ(addr("bumped"), list)
		SHRQ(Imm(1), list)
		Store(list, ReturnIndex(0))
		VZEROUPPER()
		RET()
		Label("bumped" + suffix)
		MOVW(n.(GPVirtual).As16(), Mem{Base: list})
		ADDQ(Imm(2), list)
		JMP(LabelRef("next" + suffix))
	})
}

// ribbonPrefetch prefetches what a query of a key reads: the first 128 bytes of each block, or all of them.
func ribbonPrefetch(r ribbon, how int, hi Mem) {
	start, x, drop := GP64(), GP64(), GP64()
	MOVQ(hi, RDX)
	IMULQ(r.factor(), RDX)
	MULXQ(r.starts(), drop, start)
	MOVQ(start, x)
	SHRQ(Imm(ribbonSegment), x)
	if how == byBroad {
		SHLQ(Imm(7), x)
	} else {
		SHLQ(Imm(6), x)
	}
	ADDQ(x, start)
	SHRQ(Imm(6), start)
	MOVQ(r.wide(), x)
	CMPQ(start, x)
	CMOVQCS(start, x)
	IMULQ(r.columns(), start)
	ADDQ(x, start)
	SHLQ(Imm(3), start)
	ADDQ(r.words(), start)
	MOVQ(r.columns(), x)
	PREFETCHT0(Mem{Base: start})
	PREFETCHT0(Mem{Base: start, Index: x, Scale: 8})
	switch how {
	case byNarrow:
		PREFETCHT0(Mem{Base: start, Disp: 64})
		PREFETCHT0(Mem{Base: start, Index: x, Scale: 8, Disp: 64})
	case byBroad:
		LEAQ(Mem{Base: start, Index: x, Scale: 8}, start)
		PREFETCHT0(Mem{Base: start, Index: x, Scale: 8})
	}
}

// ribbonStart returns the start of a key, or jumps if it is bumped.
func ribbonStart(r ribbon, hi Register, bumped string) GPVirtual {
	start, bucket, class, n, drop := GP64(), GP64(), GP64(), GP64(), GP64()
	MOVQ(hi, RDX)
	IMULQ(r.factor(), RDX)
	MULXQ(r.starts(), drop, start)
	MOVQ(r.shift(), n)
	SHRXQ(n, start, bucket)
	ADDQ(r.bucket(), bucket)
	MOVQ(bucket, n)
	SHRQ(Imm(5), n)
	MOVQ(r.classes(), class)
	MOVQ(Mem{Base: class, Index: n, Scale: 8}, class)
	ADDQ(bucket, bucket)
	SHRXQ(bucket, class, class)
	ANDQ(Imm(3), class)
	MOVQ(r.within(), n)
	ANDQ(start, n)
	CMPQ(n, r.limit(class))
	JCS(LabelRef(bumped))
	return start
}

// ribbonColumns returns a register that is 0 if the fingerprint of the key is what its columns give.
func ribbonColumns(r ribbon, how int, hi Register, lo Op, start GPVirtual, ones VecVirtual, suffix string) GPVirtual {
	x, print, c, d, low := GP64(), GP64(), GP64(), GP64(), GP64()
	MOVQ(lo, x)
	ANDQ(r.low(), x)
	XORQ(hi, x)
	MOVQ(x, RDX)
	MULXQ(r.product(0), low, c)
	XORQ(low, c)
	MULXQ(r.product(2), low, print)
	XORQ(low, print)
	MOVQ(r.turn(), RCX)
	ROLQ(CL, c)
	ORQ(Imm(1), c)

	// slot, block and the bit in it
	block, slot, inverse, shift := GP64(), start, GP64(), uint64(6)
	if how == byBroad {
		shift = 7
	}
	MOVQ(start, block)
	SHRQ(Imm(ribbonSegment), block)
	SHLQ(Imm(shift), block)
	ADDQ(block, slot)
	MOVQ(slot, block)
	SHRQ(Imm(6), block)
	MOVQ(slot, inverse)
	NOTQ(inverse)

	zs := []VecVirtual{ZMM(), ZMM()}
	second := GP64()
	MOVQ(c, second)
	SHRQ(Imm(1), second)
	SHRXQ(inverse, second, second)
	SHLXQ(slot, c, c)
	if how == byBroad {
		MULXQ(r.product(1), low, d)
		XORQ(low, d)
		ROLQ(CL, d)
		third := GP64()
		MOVQ(d, third)
		SHRQ(Imm(1), third)
		SHRXQ(inverse, third, third)
		SHLXQ(slot, d, d)
		ORQ(d, second)
		zs = append(zs, ZMM())
		VPBROADCASTQ(third, zs[2])
	}
	VPBROADCASTQ(c, zs[0])
	VPBROADCASTQ(second, zs[1])
	if how == byColumns {
		return ribbonFew(r, zs, block, print, ones)
	}

	// The addresses of the columns in the two or three blocks, and their number.
	wide, columns, stride, n := GP64(), GP64(), GP64(), GP64()
	MOVQ(r.wide(), wide)
	MOVQ(r.columns(), stride)
	MOVQ(block, n)
	CMPQ(block, wide)
	CMOVQCC(wide, n)
	first := GP64()
	MOVQ(block, first)
	IMULQ(stride, first)
	ADDQ(n, first)
	SHLQ(Imm(3), first)
	ADDQ(r.words(), first)
	bases := []GPVirtual{first}
	SHLQ(Imm(3), stride)
	for i := 1; i < len(zs); i++ {
		next := GP64()
		XORL(n.As32(), n.As32())
		CMPQ(block, wide)
		SETCS(n.As8())
		LEAQ(Mem{Base: bases[i-1], Index: n, Scale: 8}, next)
		ADDQ(stride, next)
		INCQ(block)
		bases = append(bases, next)
	}
	XORL(columns.As32(), columns.As32())
	CMPQ(block, wide)
	SETCS(columns.As8())
	ADDQ(r.prints(), columns)

	eight, mask, differ := GP32(), GP32(), GP32()
	MOVL(U32(0xff), eight)
	Label("columns" + suffix)
	BZHIL(columns.As32(), eight, mask)
	k := K()
	KMOVB(mask, k)
	ribbonOdd(zs, []Mem{{Base: bases[0]}, {Base: bases[1]}, {Base: bases[len(bases)-1]}}, k, ones, differ)
	XORL(print.As32(), differ)
	ANDL(mask, differ)
	JNE(LabelRef("differ" + suffix))
	SUBQ(Imm(8), columns)
	JLE(LabelRef("differ" + suffix))
	for _, b := range bases {
		ADDQ(Imm(64), b)
	}
	SHRQ(Imm(8), print)
	JMP(LabelRef("columns" + suffix))
	Label("differ" + suffix)
	return differ
}

// ribbonFew is the rest of ribbonColumns for byColumns.
func ribbonFew(r ribbon, zs []VecVirtual, block, print GPVirtual, ones VecVirtual) GPVirtual {
	stride, differ := GP64(), GP32()
	MOVQ(r.columns(), stride)
	SHLQ(Imm(3), stride)
	IMULQ(stride, block)
	ADDQ(r.words(), block)
	k := K()
	KMOVB(r.mask(), k)
	ribbonOdd(zs, []Mem{{Base: block}, {Base: block, Index: stride, Scale: 1}}, k, ones, differ)
	XORL(print.As32(), differ)
	ANDL(r.mask(), differ)
	return differ
}

// ribbonOdd sets odd to the parities of up to eight columns, those of the mask k.
func ribbonOdd(zs []VecVirtual, words []Mem, k OpmaskVirtual, ones VecVirtual, odd GPVirtual) {
	sum, w, parities := ZMM(), ZMM(), K()
	VMOVDQU64_Z(words[0], k, sum)
	VPANDQ(zs[0], sum, sum)
	for i := 1; i < len(zs); i++ {
		VMOVDQU64_Z(words[i], k, w)
		VPTERNLOGQ(U8(0x78), zs[i], w, sum)
	}
	VPOPCNTQ(sum, sum)
	VPTESTMQ(ones, sum, parities)
	KMOVB(parities, odd)
}
