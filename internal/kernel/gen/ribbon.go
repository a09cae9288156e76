package main

import (
	. "github.com/mmcloughlin/avo/build"
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
func (r ribbon) next() Mem         { return r.field(36) }

const (
	ribbonType    = "r *[37]uint64" // see unsafe.Sizeof
	ribbonSegment = 18
)

// ribbonForm is a value of Ribbon.how other than byGo.
type ribbonForm struct {
	how    int
	suffix string // suffix of labels
	few    bool   // whether blocks have at most eight columns, and none has one more
	words  int    // blocks that a key reads: 2 or 3
	sums   ribbonSums
}

// sameColumns takes the columns if they are the same for all keys.
func (f ribbonForm) sameColumns(r ribbon) {
	if f.few {
		f.sums.columns(r)
	}
}

// ribbonAll lists the forms in the order of their numbers.
var ribbonAll = []ribbonForm{
	{1, "Few512", true, 2, sums512{}}, {2, "Narrow512", false, 2, sums512{}}, {3, "Broad512", false, 3, sums512{}},
	{4, "Few256", true, 2, sums256{}}, {5, "Narrow256", false, 2, sums256{}}, {6, "Broad256", false, 3, sums256{}},
}

// ribbonForms calls code for each form, and other for byGo.
func ribbonForms(r ribbon, other func(), code func(f ribbonForm)) {
	how := copied(r.how())
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
	function("ribbonHas", "func("+ribbonType+", hi, lo uint64) bool")
	r := ribbon{param("r")}
	result := answer()
	Label("layer")
	ribbonForms(r, func() { goOn("ribbonHasGo") }, func(f ribbonForm) {
		start := ribbonStart(r, addr("hi"), "bumped"+f.suffix)
		f.sameColumns(r)
		ribbonCompare(r, f, ribbonLocate(r, f, addr("hi"), addr("lo"), start, true))
		SETEQ(result)
		f.sums.clear()
		RET()
		Label("bumped" + f.suffix)
		MOVQ(r.next(), r.at)
		TESTQ(r.at, r.at)
		JEQ(LabelRef("rest" + f.suffix))
		MOVQ(r.at, addr("r"))
		JMP(LabelRef("layer"))
		Label("rest" + f.suffix)
		goOn("ribbonRestGo")
	})
}

// ribbonGet is Ribbon.Get.
func ribbonGet() {
	function("ribbonGet", "func("+ribbonType+", hi, lo uint64) (result, columns uint64)")
	r := ribbon{param("r")}
	ribbonForms(r, func() { goOn("ribbonGetGo") }, func(f ribbonForm) {
		start := ribbonStart(r, addr("hi"), "bumped"+f.suffix)
		f.sameColumns(r)
		result, n := ribbonCollect(r, f, ribbonLocate(r, f, addr("hi"), addr("lo"), start, false))
		Store(result, ReturnIndex(0))
		Store(n, ReturnIndex(1))
		f.sums.clear()
		RET()
		Label("bumped" + f.suffix)
		all := copied(I32(-1))
		Store(all, ReturnIndex(1))
		RET()
	})
}

// ribbonHasMany answers for n keys. For each bumped key it writes the number of remaining keys, including that key, to
// *bumped, and it returns the number of bumped keys. If ahead is not 0, it is the distance in bytes from a key to the
// key whose blocks are prefetched.
func ribbonHasMany() {
	function("ribbonHasMany", "func("+ribbonType+", dst *bool, hs *uint64, n, ahead uint64, bumped *uint16) uint64")
	r := ribbon{param("r")}
	ribbonForms(r, func() { RET() }, func(f ribbonForm) {
		h, dst, n, list := param("hs"), param("dst"), param("n"), param("bumped")
		f.sameColumns(r)
		Label("key" + f.suffix)
		ahead := copied(addr("ahead"))
		TESTQ(ahead, ahead)
		JEQ(LabelRef("cached" + f.suffix))
		ribbonPrefetch(r, f, Mem{Base: h, Index: ahead, Scale: 1})
		Label("cached" + f.suffix)
		start := ribbonStart(r, Mem{Base: h}, "bumped"+f.suffix)
		ribbonCompare(r, f, ribbonLocate(r, f, Mem{Base: h}, Mem{Base: h, Disp: 8}, start, true))
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

// ribbonPrefetch prefetches the bytes that a query of a key reads: the first 128 bytes of each block, or all of them.
func ribbonPrefetch(r ribbon, f ribbonForm, hi Mem) {
	start, x := GP64(), GP64()
	MOVQ(r.factor(), RDX)
	IMULQ(hi, RDX)
	MULXQ(r.starts(), start, start)
	block := ribbonBlock(f, start)
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
	word := copied(bucket)
	SHRQ(Imm(5), word)
	MOVQ(r.classes(), class)
	ADDL(bucket.As32(), bucket.As32())
	SHRXQ(bucket, Mem{Base: class, Index: word, Scale: 8}, class)
	ANDL(Imm(3), class.As32())
	CMPQ(n, r.limit(class))
	JCS(LabelRef(bumped))
	return start
}

// ribbonBlock turns a start into the block of its slot. Each segment has one or two blocks without starts.
func ribbonBlock(f ribbonForm, start GPVirtual) GPVirtual {
	segment := copied(start)
	SHRQ(Imm(ribbonSegment), segment)
	SHRQ(Imm(6), start)
	if f.words == 3 {
		LEAQ(Mem{Base: start, Index: segment, Scale: 2}, start)
	} else {
		ADDQ(segment, start)
	}
	return start
}

// ribbonKey is the location of the columns of a key, in two or three blocks.
type ribbonKey struct {
	at      []Mem
	columns GPVirtual // their number, nil if few
	print   GPVirtual // the fingerprint, nil without
}

// ribbonLocate finds the columns of a key, with or without its fingerprint, and passes its coefficients to f.
func ribbonLocate(r ribbon, f ribbonForm, hi, lo Mem, start GPVirtual, withPrint bool) (k ribbonKey) {
	c, low := GP64(), GP64()
	MOVQ(lo, RDX)
	ANDQ(r.low(), RDX)
	XORQ(hi, RDX)
	MULXQ(r.product(0), low, c)
	XORQ(low, c)
	if withPrint {
		k.print = GP64()
		MULXQ(r.product(2), low, k.print)
		XORQ(low, k.print)
	}

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
	first, second := GP64(), GP64()
	SHLXQ(start, r.one(), RDX)
	block := ribbonBlock(f, start)
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
		stride := copied(r.stride())
		IMULQ(stride, block)
		ADDQ(r.words(), block)
		k.at = []Mem{{Base: block}, {Base: block, Index: stride, Scale: 1}}
		return k
	}

	wide, n := copied(r.wide()), copied(block)
	CMPQ(block, wide)
	CMOVQCC(wide, n)
	at := copied(r.stride())
	IMULQ(block, at)
	LEAQ(Mem{Base: at, Index: n, Scale: 8}, at)
	ADDQ(r.words(), at)
	k.at = []Mem{{Base: at}}
	for range f.words - 1 {
		next := GP64()
		XORL(next.As32(), next.As32())
		CMPQ(block, wide)
		SETCS(next.As8())
		LEAQ(Mem{Base: at, Index: next, Scale: 8}, next)
		ADDQ(r.stride(), next)
		INCQ(block)
		k.at = append(k.at, Mem{Base: next})
		at = next
	}

	k.columns = GP64()
	XORL(k.columns.As32(), k.columns.As32())
	CMPQ(block, wide)
	SETCS(k.columns.As8())
	ADDQ(r.prints(), k.columns)
	return k
}

// ribbonCompare sets the zero flag if the columns give the fingerprint of the key, else clears it.
func ribbonCompare(r ribbon, f ribbonForm, k ribbonKey) {
	if f.few {
		sums := f.sums.sums(r, k.at)
		XORL(k.print.As32(), sums)
		TESTB(sums.As8(), r.mask())
		return
	}

	BZHIQ(k.columns, k.print, k.print)
	Label("columns" + f.suffix)
	f.sums.first(k.columns)
	sums := f.sums.sums(r, k.at)
	SUBQ(Imm(8), k.columns)
	JLE(LabelRef("last" + f.suffix))
	CMPB(sums.As8(), k.print.As8())
	JNE(LabelRef("end" + f.suffix))
	k.further()
	SHRQ(Imm(8), k.print)
	JMP(LabelRef("columns" + f.suffix))
	Label("last" + f.suffix) // no branch that a short fingerprint would make unpredictable
	CMPB(sums.As8(), k.print.As8())
	Label("end" + f.suffix)
}

// ribbonCollect returns the sums of the columns, the first one lowest, and their number.
func ribbonCollect(r ribbon, f ribbonForm, k ribbonKey) (result, n GPVirtual) {
	n = GP64()
	if f.few {
		MOVQ(r.prints(), n)
		return f.sums.sums(r, k.at).As64().(GPVirtual), n
	}

	MOVQ(k.columns, n)
	f.sums.first(k.columns)
	result = f.sums.sums(r, k.at).As64().(GPVirtual)
	shift := GP64()
	MOVL(U32(8), shift.As32())
	JMP(LabelRef("tested" + f.suffix))
	Label("columns" + f.suffix)
	k.further()
	f.sums.first(k.columns)
	sums := f.sums.sums(r, k.at).As64()
	SHLXQ(shift, sums, sums)
	ORQ(sums, result)
	ADDL(Imm(8), shift.As32())
	Label("tested" + f.suffix)
	SUBQ(Imm(8), k.columns)
	JHI(LabelRef("columns" + f.suffix))
	return result, n
}

// further continues with the next eight columns.
func (k ribbonKey) further() {
	for _, a := range k.at {
		ADDQ(Imm(64), a.Base)
	}
}
