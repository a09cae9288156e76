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
func (r ribbon) limit(class Register) Mem {
	return Mem{Base: r.at, Disp: 8 * 13, Index: class, Scale: 8}
}
func (r ribbon) wide() Mem         { return r.field(18) }
func (r ribbon) prints() Mem       { return r.field(19) }
func (r ribbon) product(i int) Mem { return r.field(20 + i) } // for the first and second coefficients, the fingerprint
func (r ribbon) how() Mem          { return r.field(24) }
func (r ribbon) stride() Mem       { return r.field(25) }
func (r ribbon) one() Mem          { return r.field(26) }
func (r ribbon) mask() Mem         { return r.field(27) }
func (r ribbon) keep(i int) Mem    { return r.field(28 + i) }

const (
	ribbonType    = "r *[36]uint64" // see unsafe.Sizeof
	ribbonSegment = 18
)

// ribbonForm is a value of Ribbon.how but byGo.
type ribbonForm struct {
	how    int
	suffix string // of labels
	few    bool   // at most eight columns, no block with one more
	words  int    // blocks that a key reads: 2 or 3
	sums   ribbonSums
}

// ribbonAll has the forms in the order of their numbers.
var ribbonAll = []ribbonForm{
	{1, "Few512", true, 2, sums512{}}, {2, "Narrow512", false, 2, sums512{}}, {3, "Broad512", false, 3, sums512{}},
	{4, "Few256", true, 2, sums256{}}, {5, "Narrow256", false, 2, sums256{}}, {6, "Broad256", false, 3, sums256{}},
}

// ribbonForms calls code for each form, and other for byGo.
func ribbonForms(r ribbon, other func(), code func(f ribbonForm)) {
	how := GP64()
	MOVQ(r.how(), how)
	const half = 3 // forms of an instruction set
	CMPQ(how, Imm(half))
	JHI(LabelRef("further"))
	for i, f := range ribbonAll {
		if i == half {
			Label("further")
		}
		next := "other"
		if (i+1)%half > 0 {
			next = "no" + f.suffix
		}
		CMPQ(how, Imm(uint64(f.how)))
		JNE(LabelRef(next))
		code(f)
		if next != "other" {
			Label(next)
		}
	}
	Label("other")
	other()
}

// ribbonHas is Ribbon.Has.
func ribbonHas() {
	TEXT("ribbonHas", NOSPLIT, "func("+ribbonType+", hi, lo uint64) bool")
	Pragma("noescape")
	r := ribbon{Load(Param("r"), GP64())}
	result, err := ReturnIndex(0).Resolve()
	if err != nil {
		panic(err)
	}
	goOn := func(name string) {
		f := NewDataAddr(Symbol{Name: name}, 0)
		Instruction(&ir.Instruction{Opcode: "JMP", Operands: []Op{f}, IsTerminal: true})
	}
	ribbonForms(r, func() { goOn("·ribbonHasGo") }, func(f ribbonForm) {
		start := ribbonStart(r, addr("hi"), "bumped"+f.suffix)
		ribbonColumns(r, f, addr("hi"), addr("lo"), start)
		SETEQ(result.Addr)
		f.sums.clear()
		RET()
		Label("bumped" + f.suffix)
		goOn("·ribbonRestGo")
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
	ribbonForms(r, func() { RET() }, func(f ribbonForm) {
		h := Load(Param("hs"), GP64())
		dst := Load(Param("dst"), GP64())
		n := Load(Param("n"), GP64())
		list := Load(Param("bumped"), GP64())
		Label("key" + f.suffix)
		ahead := GP64()
		MOVQ(addr("ahead"), ahead)
		TESTQ(ahead, ahead)
		JEQ(LabelRef("cached" + f.suffix))
		ribbonPrefetch(r, f, Mem{Base: h, Index: ahead, Scale: 1})
		Label("cached" + f.suffix)
		start := ribbonStart(r, Mem{Base: h}, "bumped"+f.suffix)
		ribbonColumns(r, f, Mem{Base: h}, Mem{Base: h, Disp: 8}, start)
		SETEQ(Mem{Base: dst})
		Label("next" + f.suffix)
		ADDQ(Imm(16), h)
		INCQ(dst)
		DECQ(n)
		JNE(LabelRef("key" + f.suffix))
		SUBQ(addr("bumped"), list)
		SHRQ(Imm(1), list)
		Store(list, ReturnIndex(0))
		f.sums.clear()
		RET()
		Label("bumped" + f.suffix)
		MOVW(n.(GPVirtual).As16(), Mem{Base: list})
		ADDQ(Imm(2), list)
		JMP(LabelRef("next" + f.suffix))
	})
}

// ribbonPrefetch prefetches what a query of a key reads: the first 128 bytes of each block, or all of them.
func ribbonPrefetch(r ribbon, f ribbonForm, hi Mem) {
	start, x := GP64(), GP64()
	MOVQ(r.factor(), RDX)
	IMULQ(hi, RDX)
	MULXQ(r.starts(), start, start)
	block := ribbonSlot(f, start)
	SHRQ(Imm(6), block)
	MOVQ(r.wide(), x)
	CMPQ(block, x)
	CMOVQCS(block, x)
	IMULQ(r.stride(), block)
	LEAQ(Mem{Base: block, Index: x, Scale: 8}, block)
	ADDQ(r.words(), block)
	MOVQ(r.stride(), x)
	PREFETCHT0(Mem{Base: block})
	PREFETCHT0(Mem{Base: block, Index: x, Scale: 1})
	switch {
	case f.words == 3:
		PREFETCHT0(Mem{Base: block, Index: x, Scale: 2})
	case !f.few:
		PREFETCHT0(Mem{Base: block, Disp: 64})
		PREFETCHT0(Mem{Base: block, Index: x, Scale: 1, Disp: 64})
	}
}

// ribbonStart returns the start of a key, or jumps if it is bumped.
func ribbonStart(r ribbon, hi Mem, bumped string) GPVirtual {
	start, bucket, class, n := GP64(), GP64(), GP64(), GP64()
	MOVQ(r.factor(), RDX)
	IMULQ(hi, RDX)
	MULXQ(r.starts(), start, start) // the high half
	MOVQ(r.shift(), n)
	SHRXQ(n, start, bucket)
	BZHIQ(n, start, n)
	ADDQ(r.bucket(), bucket)
	word := GP64()
	MOVQ(bucket, word)
	SHRQ(Imm(5), word)
	MOVQ(r.classes(), class)
	ADDL(bucket.As32(), bucket.As32())
	SHRXQ(bucket, Mem{Base: class, Index: word, Scale: 8}, class)
	ANDL(Imm(3), class.As32())
	CMPQ(n, r.limit(class))
	JCS(LabelRef(bumped))
	return start
}

// ribbonSlot turns a start into the slot.
func ribbonSlot(f ribbonForm, start GPVirtual) GPVirtual {
	segment := GP64()
	MOVQ(start, segment)
	SHRQ(Imm(ribbonSegment), segment)
	SHLQ(Imm(uint64(4+f.words)), segment) // 64 or 128 slots
	ADDQ(segment, start)
	return start
}

// ribbonColumns sets the zero flag if the fingerprint of the key is what its columns give, else clears it.
func ribbonColumns(r ribbon, f ribbonForm, hi, lo Mem, start GPVirtual) {
	print, c, low := GP64(), GP64(), GP64()
	MOVQ(lo, RDX)
	ANDQ(r.low(), RDX)
	XORQ(hi, RDX)
	MULXQ(r.product(0), low, c)
	XORQ(low, c)
	MULXQ(r.product(2), low, print)
	XORQ(low, print)
	MOVQ(r.turn(), RCX)
	ROLQ(CL, c)
	ORQ(Imm(1), c)
	d := GP64()
	if f.words == 3 {
		MULXQ(r.product(1), low, d)
		XORQ(low, d)
		ROLQ(CL, d)
	}

	// The coefficients times the bit of the slot in its block: the coefficients of two or three blocks.
	block := ribbonSlot(f, start)
	first, second := GP64(), GP64()
	SHLXQ(block, r.one(), RDX)
	SHRQ(Imm(6), block)
	MULXQ(c, first, second)
	coefficients := []GPVirtual{first, second}
	if f.words == 3 {
		third := GP64()
		MULXQ(d, low, third)
		ORQ(low, second)
		coefficients = append(coefficients, third)
	}
	f.sums.coefficients(coefficients)
	if f.few {
		stride := GP64()
		MOVQ(r.stride(), stride)
		IMULQ(stride, block)
		ADDQ(r.words(), block)
		odd := f.sums.few(r, []Mem{{Base: block}, {Base: block, Index: stride, Scale: 1}})
		XORL(print.As32(), odd)
		TESTB(odd.As8(), r.mask())
		return
	}

	// The addresses of the columns in the blocks, and their number.
	wide, columns, n := GP64(), GP64(), GP64()
	MOVQ(r.wide(), wide)
	MOVQ(block, n)
	CMPQ(block, wide)
	CMOVQCC(wide, n)
	at := GP64()
	MOVQ(r.stride(), at)
	IMULQ(block, at)
	LEAQ(Mem{Base: at, Index: n, Scale: 8}, at)
	ADDQ(r.words(), at)
	addresses := []Mem{{Base: at}}
	for range f.words - 1 {
		next := GP64()
		XORL(next.As32(), next.As32())
		CMPQ(block, wide)
		SETCS(next.As8())
		LEAQ(Mem{Base: at, Index: next, Scale: 8}, next)
		ADDQ(r.stride(), next)
		INCQ(block)
		addresses = append(addresses, Mem{Base: next})
		at = next
	}
	XORL(columns.As32(), columns.As32())
	CMPQ(block, wide)
	SETCS(columns.As8())
	ADDQ(r.prints(), columns)
	BZHIQ(columns, print, print)

	Label("columns" + f.suffix)
	odd := f.sums.some(r, addresses, columns)
	CMPB(odd.As8(), print.As8())
	JNE(LabelRef("end" + f.suffix))
	SUBQ(Imm(8), columns)
	JLE(LabelRef("same" + f.suffix))
	for _, a := range addresses {
		ADDQ(Imm(64), a.Base)
	}
	SHRQ(Imm(8), print)
	JMP(LabelRef("columns" + f.suffix))
	Label("same" + f.suffix)
	CMPL(columns.As32(), columns.As32())
	Label("end" + f.suffix)
}
