package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// chains is a *kernel.Chains. Its methods return the addresses of the fields.
type chains struct{ at Register }

func (c chains) field(i int) Mem { return Mem{Base: c.at, Disp: 24 + 8*i} }
func (c chains) words() Mem      { return Mem{Base: c.at} }
func (c chains) buckets() Mem    { return c.field(0) }
func (c chains) chains() Mem     { return c.field(1) }
func (c chains) stride() Mem     { return c.field(2) }
func (c chains) fromHi() Mem     { return c.field(3) }
func (c chains) low() Mem        { return c.field(4) }
func (c chains) fromLo() Mem     { return c.field(5) }
func (c chains) own() Mem        { return c.field(6) }
func (c chains) first() Mem      { return c.field(7) }
func (c chains) width() Mem      { return c.field(8) }
func (c chains) payload() Mem    { return c.field(9) }
func (c chains) span() Mem       { return c.field(10) }
func (c chains) how() Mem        { return c.field(11) }

const (
	chainsType = "c *[32]uint64" // see unsafe.Sizeof
	byFour     = 4
	byEight    = 8
	// byFourFirst is byEight with all chains beginning in the first four words.
	byFourFirst = 9
)

// window returns the address of the words that mask the first k of an index: eight of ones, eight of zeros.
func window() Mem { return NewDataAddr(Symbol{Name: "·windows"}, 0) }

// chainWalk is the state of a walk.
type chainWalk struct {
	c                        chains
	base, at, remainder, win GPVirtual
	shift                    GPVirtual
}

// chainLocate finds bucket, chain and remainder of a key.
func chainLocate(c chains) chainWalk {
	w := chainWalk{c, GP64(), GP64(), GP64(), GP64(), GP64()}
	low, top := GP64(), GP64()
	MOVQ(addr("hi"), RDX)
	MULXQ(c.buckets(), top, w.base)
	MOVQ(addr("lo"), RDX)
	MULXQ(c.chains(), low, w.at)
	IMULQ(c.stride(), w.base)
	ADDQ(c.words(), w.base)
	SHRQ(Imm(1), top)
	MOVQ(c.fromHi(), w.shift)
	SHRXQ(w.shift, top, top)
	MOVQ(c.low(), w.shift)
	SHLXQ(w.shift, top, top)
	MOVQ(c.fromLo(), w.shift)
	SHRXQ(w.shift, low, w.remainder)
	ORQ(top, w.remainder)
	LEAQ(window(), w.win)
	return w
}

// rank counts the set bits before bit at in an index of words words. word is the word with bit at, number its number.
func (w chainWalk) rank(words int, word, number GPVirtual) GPVirtual {
	sum, x, mask := GP64(), GP64(), GP64()
	// The windows of the first k words begin k words before the zeros.
	LEAQ(Mem{Base: w.win, Disp: 64}, mask)
	MOVQ(number, x)
	SHLQ(Imm(3), x)
	SUBQ(x, mask)
	MOVQ(w.at, x)
	ANDQ(Imm(63), x)
	BZHIQ(x, word, x)
	POPCNTQ(x, sum)
	for i := range words - 1 {
		x, n := GP64(), GP64()
		MOVQ(Mem{Base: w.base, Disp: 8 * i}, x)
		ANDQ(Mem{Base: mask, Disp: 8 * i}, x)
		POPCNTQ(x, n)
		ADDQ(n, sum)
	}
	return sum
}

// load returns the word of the index that has bit at, and its number.
func (w chainWalk) load() (word, number GPVirtual) {
	word, number = GP64(), GP64()
	MOVQ(w.at, number)
	SHRQ(Imm(6), number)
	MOVQ(Mem{Base: w.base, Index: number, Scale: 8}, word)
	return word, number
}

// cell returns cell n.
func (w chainWalk) cell(n GPVirtual) GPVirtual {
	bit, width, low, high := GP64(), GP64(), GP64(), GP64()
	MOVQ(w.c.width(), width)
	MOVQ(width, bit)
	IMULQ(n, bit)
	ADDQ(w.c.first(), bit)
	MOVQ(bit, low)
	SHRQ(Imm(6), low)
	MOVQ(Mem{Base: w.base, Index: low, Scale: 8}, low)
	LEAQ(Mem{Base: bit, Index: width, Scale: 1, Disp: -1}, high)
	SHRQ(Imm(6), high)
	MOVQ(Mem{Base: w.base, Index: high, Scale: 8}, high)
	SHRXQ(bit, low, low)
	NOTQ(bit)
	ADDQ(high, high)
	SHLXQ(bit, high, high)
	ORQ(high, low)
	BZHIQ(width, low, low)
	return low
}

// dispatch jumps to the code for the layout.
func dispatch(c chains) {
	CMPQ(c.how(), Imm(byFourFirst))
	JEQ(LabelRef("first"))
	CMPQ(c.how(), Imm(byEight))
	JEQ(LabelRef("eight"))
}

// chainsHas ends at the first cell whose remainder is not smaller. In a bucket that another goroutine is changing it
// may read any values, but no word beyond the bucket. It always ends, because it only goes to higher positions of the
// index.
func chainsHas() {
	function("chainsHas", "func("+chainsType+", hi, lo uint64) uint64")
	found := answer()
	chainsWalk(chains{param("c")}, func() {
		result := GP64()
		SETEQ(result.As8())
		MOVBQZX(result.As8(), result)
		MOVQ(result, found)
	})
	Label("no")
	MOVQ(U32(0), found)
	RET()
	Label("beyond")
	MOVQ(U32(2), found)
	RET()
	Label("go")
	goOn("chainsHasGo")
}

// chainsAsk is chainsHas for the filter of a *kernel.Query. It calls the Go code for cases that need the filter itself.
func chainsAsk() {
	function("chainsAsk", "func("+queryType+", hi, lo uint64) bool")
	q := query{param("q")}
	found := answer()
	at := copied(q.probe())
	chainsWalk(chains{at}, func() { SETEQ(found) })
	Label("no")
	MOVB(U8(0), found)
	RET()
	Label("beyond")
	Label("go")
	goOn("hasGo")
}

// chainsWalk calls equal with the zero flag set if the remainder was found, or ends at one of the labels no, beyond and
// go. Whether a chain is empty or its first remainder is larger cannot be predicted, so one branch decides both: the
// cell of an empty chain counts as one with the largest remainder.
func chainsWalk(c chains, equal func()) {
	CMPQ(c.how(), Imm(byFour))
	JCS(LabelRef("go"))
	w := chainLocate(c)
	dispatch(c)
	walk := func(name string, words int, next string) {
		Label(name)
		word, number := w.load()
		n := w.rank(words, word, number)
		CMPQ(n, c.own())
		JCC(LabelRef("full" + name))
		cell, empty := w.cell(n), GP64()
		MOVQ(c.payload(), w.shift)
		SHRXQ(w.shift, cell, cell)
		BTQ(w.at, word)
		SBBQ(empty, empty)
		NOTQ(empty)
		ORQ(empty, cell)
		ADDQ(c.chains(), n)
		CMPQ(cell, w.remainder)
		JCS(LabelRef("smaller" + name))
		equal()
		RET()
		Label("smaller" + name)
		was := copied(w.at)
		MOVQ(n, w.at)
		CMPQ(was, n)
		JCS(LabelRef(next))
		JMP(LabelRef("beyond"))
		Label("full" + name)
		BTQ(w.at, word)
		JCC(LabelRef("no"))
		JMP(LabelRef("beyond"))
	}

	walk("four", byFour, "four")
	walk("first", byFour, "eight")
	walk("eight", byEight, "eight")
}

// chainsFollow also returns the position where it ended.
func chainsFollow() {
	function("chainsFollow", "func("+chainsType+", hi, lo uint64) (base, remainder, at, n, cell, end uint64)")
	c := chains{param("c")}
	CMPQ(c.how(), Imm(byFour))
	JCS(LabelRef("go"))
	w := chainLocate(c)
	Store(w.remainder, Return("remainder"))
	n, cell, base := GP64(), GP64(), GP64()
	MOVQ(w.base, base)
	SUBQ(c.words(), base)
	SHRQ(Imm(3), base)
	Store(base, Return("base"))
	dispatch(c)
	walk := func(name string, words int, next string) {
		Label(name)
		word, number := w.load()
		MOVQ(w.rank(words, word, number), n)
		BTQ(w.at, word)
		JCC(LabelRef("end"))
		CMPQ(n, c.own())
		JCC(LabelRef("beyond"))
		MOVQ(w.cell(n), cell)
		r := GP64()
		MOVQ(c.payload(), w.shift)
		SHRXQ(w.shift, cell, r)
		CMPQ(r, w.remainder)
		JCC(LabelRef("cell"))
		MOVQ(c.chains(), w.at)
		ADDQ(n, w.at)
		JMP(LabelRef(next))
	}

	walk("four", byFour, "four")
	walk("first", byFour, "eight")
	walk("eight", byEight, "eight")
	leave := func(name string, end uint64) {
		Label(name)
		how := copied(U64(end))
		Store(how, Return("end"))
		Store(w.at, Return("at"))
		Store(n, Return("n"))
		Store(cell, Return("cell"))
		RET()
	}

	leave("end", 0)
	leave("cell", 1)
	leave("beyond", 2)
	Label("go")
	goOn("chainsFollowGo")
}

// chainsUsed counts the set bits of an index: whole words, and the one in which the span ends.
func chainsUsed() {
	function("chainsUsed", "func("+chainsType+", base uint64) uint64")
	c := chains{param("c")}
	CMPQ(c.how(), Imm(byFour))
	JCS(LabelRef("go"))
	line := param("base")
	SHLQ(Imm(3), line)
	ADDQ(c.words(), line)
	sum, span, end := GP64(), GP64(), GP64()
	MOVQ(c.span(), span)
	MOVQ(span, end)
	SHRQ(Imm(6), end)
	last := copied(Mem{Base: line, Index: end, Scale: 8})
	ANDQ(Imm(63), span)
	BZHIQ(span, last, last)
	POPCNTQ(last, sum)
	// The number of whole words is the same for all buckets of a table, so these branches are predicted.
	for i := range byEight - 1 {
		CMPQ(end, Imm(uint64(i)))
		JEQ(LabelRef("counted"))
		n := GP64()
		POPCNTQ(Mem{Base: line, Disp: 8 * i}, n)
		ADDQ(n, sum)
	}

	Label("counted")
	Store(sum, ReturnIndex(0))
	RET()
	Label("go")
	goOn("chainsUsedGo")
}

// half holds the registers for one half of a bucket of eight words: its content, the mask of the index and the mask of
// the cells.
type half struct{ x, index, cells VecVirtual }

// chainLine loads a bucket of eight words and masks its index from bit on, and its cells from cell on.
func chainLine(c chains, line Register, bit, cell Op) (low, high half) {
	ones, from, to := YMM(), YMM(), YMM()
	VPCMPEQB(ones, ones, ones)
	VPBROADCASTQ(bit, from)
	VPBROADCASTQ(cell, to)
	// The mask of bits from p on: ones, shifted left by max(0, p - number of bits before the word).
	behind := func(p VecVirtual, i int) VecVirtual {
		m := YMM()
		VPSUBUSW(c.lanes(i), p, m)
		VPSLLVQ(m, ones, m)
		return m
	}

	for i, h := range []*half{&low, &high} {
		h.x, h.index, h.cells = YMM(), behind(from, i), behind(to, i)
		VPAND(c.indexBits(i), h.index, h.index)
		VPAND(c.cellBits(i), h.cells, h.cells)
		VMOVDQU(Mem{Base: line, Disp: 32 * i}, h.x)
	}
	return low, high
}

func (c chains) indexBits(i int) Mem { return Mem{Base: c.at, Disp: 128 + 32*i} }
func (c chains) cellBits(i int) Mem  { return Mem{Base: c.at, Disp: 192 + 32*i} }

// lanes returns the number of bits before each word of a half.
func (c chains) lanes(i int) Mem { return NewDataAddr(Symbol{Name: "·lineLanesAt"}, 32*i) }

// chainsClose removes a bit of the index of a line and a cell, and moves all bits after them down.
func chainsClose() { chainsShift("chainsClose", false) }

// chainsOpen inserts a bit and a cell, and moves all bits from there on up.
func chainsOpen() { chainsShift("chainsOpen", true) }

func chainsShift(name string, up bool) {
	if up {
		TEXT(name, NOSPLIT, "func("+chainsType+", base, bit, cell, at, v uint64)")
	} else {
		TEXT(name, NOSPLIT, "func("+chainsType+", base, bit, cell, at uint64)")
	}

	Pragma("noescape")
	c, line := chains{param("c")}, param("base")
	SHLQ(Imm(3), line)
	ADDQ(c.words(), line)
	low, high := chainLine(c, line, addr("bit"), addr("cell"))
	zero, width, rest, left := YMM(), XMM(), XMM(), GP64()
	VPXOR(zero, zero, zero)
	VMOVQ(c.width(), width)
	MOVQ(U32(64), left)
	SUBQ(c.width(), left)
	VMOVQ(left, rest)
	// moved returns both halves with the bits of a mask moved by a number of bits: counts are registers or constants.
	moved := func(lowMask, highMask VecVirtual, by, back Op) (VecVirtual, VecVirtual) {
		a, b, na, nb := YMM(), YMM(), YMM(), YMM()
		VPAND(low.x, lowMask, a)
		VPAND(high.x, highMask, b)
		if up { // the word before
			VPBLENDD(Imm(0xC0), zero, a, na)
			VPBLENDD(Imm(0xC0), a, b, nb)
			VPERMQ(Imm(0x93), na, na)
			VPERMQ(Imm(0x93), nb, nb)
			VPSLLQ(by, a, a)
			VPSLLQ(by, b, b)
			VPSRLQ(back, na, na)
			VPSRLQ(back, nb, nb)
		} else { // the word behind
			VPBLENDD(Imm(3), b, a, na)
			VPBLENDD(Imm(3), zero, b, nb)
			VPERMQ(Imm(0x39), na, na)
			VPERMQ(Imm(0x39), nb, nb)
			VPSRLQ(by, a, a)
			VPSRLQ(by, b, b)
			VPSLLQ(back, na, na)
			VPSLLQ(back, nb, nb)
		}
		VPOR(na, a, a)
		VPOR(nb, b, b)
		VPAND(lowMask, a, a)
		VPAND(highMask, b, b)
		return a, b
	}

	a, b := moved(low.index, high.index, Imm(1), Imm(63))
	d, e := moved(low.cells, high.cells, width, rest)
	VPOR(low.cells, low.index, low.index)
	VPOR(high.cells, high.index, high.index)
	VPANDN(low.x, low.index, low.x)
	VPANDN(high.x, high.index, high.x)
	VPOR(a, low.x, low.x)
	VPOR(b, high.x, high.x)
	VPOR(d, low.x, low.x)
	VPOR(e, high.x, high.x)
	// Flip the bit of the index for the cell, which is before both. Stores to addresses that depend on the content of
	// the line would delay the loads of the lines of later keys.
	one, turned := YMM(), GP64()
	MOVQ(U32(1), turned)
	VMOVQ(turned, one.AsX())
	VPBROADCASTQ(one.AsX(), one)
	place(c, one, addr("at"), &low, &high, false)
	if up {
		v := YMM()
		VPBROADCASTQ(addr("v"), v)
		place(c, v, addr("cell"), &low, &high, true)
	}

	VMOVDQU(low.x, Mem{Base: line})
	VMOVDQU(high.x, Mem{Base: line, Disp: 32})
	leaveVector()
}

// place XORs a field, given as four copies in a register, into a line at a bit: shifted left in the word where it
// begins, and if it is wider than 1 bit, shifted right in the next word. Shift counts of 64 or more, and negative ones,
// give 0.
func place(c chains, field VecVirtual, bit Op, low, high *half, wide bool) {
	at := YMM()
	VPBROADCASTQ(bit, at)
	for i, h := range []*half{low, high} {
		count, part := YMM(), YMM()
		VPSUBQ(c.lanes(i), at, count)
		VPSLLVQ(count, field, part)
		VPXOR(part, h.x, h.x)
		if wide {
			back := YMM()
			VMOVDQU(c.lanes(i), back)
			VPSUBQ(at, back, back)
			VPSRLVQ(back, field, part)
			// If the field begins at bit 0 of the word, both shifts are by 0 and the first one has already added it.
			same := YMM()
			VPCMPEQQ(c.lanes(i), at, same)
			VPANDN(part, same, part)
			VPXOR(part, h.x, h.x)
		}
	}
}
