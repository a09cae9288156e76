package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// fuse is a *kernel.Fuse. Its methods return the addresses of the fields.
type fuse struct{ at Register }

func (f fuse) words() Mem   { return Mem{Base: f.at} }
func (f fuse) seed() Mem    { return Mem{Base: f.at, Disp: 24} }
func (f fuse) count() Mem   { return Mem{Base: f.at, Disp: 32} }
func (f fuse) segment() Mem { return Mem{Base: f.at, Disp: 40} }

// slots returns the three positions of a key and, in the low bits, its fingerprint. It changes key.
func (f fuse) slots(key GPVirtual) (h0, h1, h2, print GPVirtual) {
	segment, mask := GP64(), GP64()
	h0, h1, h2, print = GP64(), GP64(), GP64(), key
	ADDQ(f.seed(), key)
	shifted(key, 33)
	IMULQ(constant(0xff51afd7ed558ccd), key)
	shifted(key, 33)
	IMULQ(constant(0xc4ceb9fe1a85ec53), key)
	shifted(key, 33)
	MOVQ(key, RAX)
	MULQ(f.count())
	MOVQ(RDX, h0)
	MOVQ(f.segment(), segment)
	LEAQ(Mem{Base: segment, Disp: -1}, mask)
	LEAQ(Mem{Base: h0, Index: segment, Scale: 1}, h1)
	LEAQ(Mem{Base: h0, Index: segment, Scale: 2}, h2)
	t := GP64()
	MOVQ(key, t)
	SHRQ(Imm(18), t)
	ANDQ(mask, t)
	XORQ(t, h1)
	ANDQ(key, mask)
	XORQ(mask, h2)
	shifted(print, 32)
	return h0, h1, h2, print
}

// fuseHasMany is a Has of n keys. It does not prefetch: the queries of a loop overlap.
func fuseHasMany() {
	function("fuseHasMany", "func(f *[6]uint64, dst *bool, hs *uint64, n, width uint64)")
	f := fuse{Load(Param("f"), GP64())}
	manyHashes(func(h Register, found Mem) {
		lo := GP64()
		MOVQ(Mem{Base: h, Disp: 8}, lo)
		h0, h1, h2, print := f.slots(lo)
		words := GP64()
		MOVQ(f.words(), words)
		CMPQ(addr("width"), Imm(8))
		JNE(LabelRef("wide"))
		for _, h := range []GPVirtual{h0, h1, h2} {
			XORB(Mem{Base: words, Index: h, Scale: 1}, print.As8())
		}
		SETEQ(found)
		JMP(LabelRef("next"))
		Label("wide")
		for _, h := range []GPVirtual{h0, h1, h2} {
			XORW(Mem{Base: words, Index: h, Scale: 2}, print.As16())
		}
		SETEQ(found)
	})
}

// manyHashes calls code for each of n hashes, at least one, at hs, whose answers go to dst. code ends at next.
func manyHashes(code func(h Register, found Mem)) {
	dst := Load(Param("dst"), GP64())
	h := Load(Param("hs"), GP64())
	end := GP64()
	Load(Param("n"), end)
	ADDQ(dst, end)
	Label("key")
	code(h, Mem{Base: dst})
	Label("next")
	ADDQ(Imm(16), h)
	INCQ(dst)
	CMPQ(dst, end)
	JNE(LabelRef("key"))
	RET()
}
