package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// cells is a *kernel.Cells. Its methods return the addresses of the fields.
type cells struct{ at Register }

func (c cells) field(i int) Mem { return Mem{Base: c.at, Disp: 8 * i} }
func (c cells) words() Mem      { return c.field(0) }
func (c cells) buckets() Mem    { return c.field(3) }
func (c cells) remainders() Mem { return c.field(4) }
func (c cells) width() Mem      { return c.field(5) }
func (c cells) rest() Mem       { return c.field(6) }
func (c cells) table(i int) Mem { return c.field(6 + i) } // of subtables 1 to 3
func (c cells) bits() Mem       { return c.field(10) }
func (c cells) low() Mem        { return c.field(14) }

const cellsType = "c *[18]uint64"

// cellsHas is Cells.Has.
func cellsHas() {
	function("cellsHas", "func("+cellsType+", hi, lo uint64) bool")
	c := cells{Load(Param("c"), GP64())}
	hi, lo := GP64(), GP64()
	MOVQ(addr("hi"), hi)
	MOVQ(addr("lo"), lo)
	cellsProbe(c, hi, lo)
	SETCC(answer())
	VZEROUPPER()
	RET()
}

// cellsHasMany is cellsHas of n keys, at least one.
func cellsHasMany() {
	function("cellsHasMany", "func("+cellsType+", dst *bool, hs *uint64, n uint64)")
	c := cells{Load(Param("c"), GP64())}
	manyHashes(func(h Register, found Mem) {
		hi, lo := GP64(), GP64()
		MOVQ(Mem{Base: h}, hi)
		MOVQ(Mem{Base: h, Disp: 8}, lo)
		cellsProbe(c, hi, lo)
		SETCC(found)
	})
}

// cellsProbe clears the carry flag if a cell holds the remainder of a key.
func cellsProbe(c cells, hi, lo GPVirtual) {
	buckets, golden, first := GP64(), GP64(), GP64()
	b, r := GP64(), GP64()
	MOVQ(c.buckets(), buckets)
	MOVQ(lo, RDX)
	MULXQ(buckets, RAX, b)
	MOVQ(hi, RDX)
	MULXQ(c.remainders(), RAX, r)
	INCQ(r)
	MOVQ(U64(0x9E3779B97F4A7C15), golden)
	MOVQ(U64(0x6A09E667F3BCC909), first)
	width, rest := GP64(), GP64()
	MOVQ(c.width(), width)
	MOVQ(c.rest(), rest)

	// The first eight slices of four buckets, and the last eight, which may overlap.
	var low, high [2]VecVirtual
	for i := range low {
		low[i], high[i] = XMM(), XMM()
	}
	mixed := GP64()
	MOVQ(r, mixed)
	for i := range 4 {
		at := GP64()
		if i == 0 {
			MOVQ(b, at)
			IMULQ(width, at)
		} else {
			// probe.Remix, then (b + g) mod buckets
			high, turned := GP64(), GP64()
			ADDQ(golden, mixed)
			MOVQ(mixed, RDX)
			MULXQ(first, RDX, high)
			XORQ(high, RDX)
			MULXQ(golden, RDX, high)
			XORQ(high, RDX)
			MULXQ(buckets, RAX, at)
			ADDQ(b, at)
			MOVQ(at, turned)
			SUBQ(buckets, turned)
			CMOVQCC(turned, at)
			IMULQ(width, at)
			ADDQ(c.table(i), at)
		}
		ADDQ(c.words(), at)
		if i%2 == 0 {
			VMOVQ(Mem{Base: at}, low[i/2])
			VMOVQ(Mem{Base: at, Index: rest, Scale: 1}, high[i/2])
		} else {
			VPINSRQ(Imm(1), Mem{Base: at}, low[i/2], low[i/2])
			VPINSRQ(Imm(1), Mem{Base: at, Index: rest, Scale: 1}, high[i/2], high[i/2])
		}
	}
	join := func(halves [2]VecVirtual) VecVirtual {
		all := YMM()
		VINSERTI128(Imm(1), halves[1], halves[0].AsY(), all)
		return all
	}
	differ, last := join(low), join(high)
	bits := YMM()
	VMOVDQU(c.bits(), bits)
	spread := func() VecVirtual { // the eight lowest bits of r as bytes of 0 or 255
		x := YMM()
		VMOVD(r.As32(), x.AsX())
		VPBROADCASTB(x.AsX(), x)
		VPAND(bits, x, x)
		VPCMPEQB(bits, x, x)
		return x
	}
	VPXOR(spread(), differ, differ)
	SHRXQ(rest, r, r)
	VPXOR(spread(), last, last)
	VPOR(last, differ, differ)
	for _, n := range []uint64{32, 16, 8} {
		x := YMM()
		VPSRLQ(Imm(n), differ, x)
		VPOR(x, differ, differ)
	}
	VPTEST(c.low(), differ)
}
