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
func (f fuse) slots(key GPVirtual) (h []GPVirtual, print GPVirtual) {
	segment, mask := GP64(), GP64()
	h0, h1, h2 := GP64(), GP64(), GP64()
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
	t := copied(key)
	SHRQ(Imm(18), t)
	ANDQ(mask, t)
	XORQ(t, h1)
	ANDQ(key, mask)
	XORQ(mask, h2)
	shifted(key, 32)
	return []GPVirtual{h0, h1, h2}, key
}

// fuseHasMany is a Has of n keys. It does not prefetch: the queries of a loop overlap.
func fuseHasMany() {
	function("fuseHasMany", "func(f *[6]uint64, dst *bool, hs *uint64, n, width uint64)")
	f := fuse{param("f")}
	manyHashes(func(h Register, found Mem) {
		lo := copied(Mem{Base: h, Disp: 8})
		slots, print := f.slots(lo)
		words := copied(f.words())
		CMPQ(addr("width"), Imm(8))
		JNE(LabelRef("wide"))
		xorSlots(words, slots, print, 8)
		SETEQ(found)
		JMP(LabelRef("next"))
		Label("wide")
		xorSlots(words, slots, print, 16)
		SETEQ(found)
	})
}

// fuseAskIntegers answers for n integers, at least one, with XXH3. It needs one half of a hash and stores none.
func fuseAskIntegers() {
	function("fuseAskIntegers", "func("+queryType+", dst *bool, keys *uint64, n uint64)")
	const seed, flip, count, mask = 0, 8, 16, 24 // offsets in local
	local := AllocLocal(32)
	q, dst, at := query{param("q")}, param("dst"), param("keys")
	f := fuse{GP64()}
	words, segment, t, end := GP64(), GP64(), GP64(), GP64()
	MOVQ(q.probe(), f.at)
	for i, field := range []Mem{f.seed(), q.flip(2), f.count()} {
		MOVQ(field, t)
		MOVQ(t, local.Offset(8*i))
	}

	MOVQ(f.words(), words)
	MOVQ(f.segment(), segment)
	LEAQ(Mem{Base: segment, Disp: -1}, t)
	MOVQ(t, local.Offset(mask))
	MOVQ(addr("n"), end)
	LEAQ(Mem{Base: at, Index: end, Scale: 8}, end)
	MOVQ(end, addr("n"))
	CMPQ(q.how(), Imm(howFuse16))
	by, eight := constant(prime64+8<<2), constant(eightPrime)
	first, second := constant(0xff51afd7ed558ccd), constant(0xc4ceb9fe1a85ec53)
	integers := func(name string, width int) {
		Label(name)
		lo := GP64()
		fold := func(n uint64) {
			MOVQ(lo, RDX)
			SHRQ(Imm(n), RDX)
			XORQ(RDX, lo)
		}
		MOVQ(Mem{Base: at}, RDX) // as sumWord
		XORQ(local.Offset(flip), RDX)
		MULXQ(by, lo, RDX)
		LEAQ(Mem{Base: RDX, Index: lo, Scale: 2}, RDX)
		SHRQ(Imm(3), RDX)
		XORQ(RDX, lo)
		fold(35)
		IMULQ(eight, lo)
		fold(28)
		ADDQ(local.Offset(seed), lo) // as fuse.slots
		fold(33)
		IMULQ(first, lo)
		fold(33)
		IMULQ(second, lo)
		fold(33)
		MOVQ(lo, RDX)
		h := []GPVirtual{GP64(), GP64(), GP64()}
		MULXQ(local.Offset(count), RDX, h[0])
		LEAQ(Mem{Base: h[0], Index: segment, Scale: 1}, h[1])
		LEAQ(Mem{Base: h[0], Index: segment, Scale: 2}, h[2])
		MOVQ(lo, RDX)
		SHRQ(Imm(18), RDX)
		ANDQ(local.Offset(mask), RDX)
		XORQ(RDX, h[1])
		MOVQ(local.Offset(mask), RDX)
		ANDQ(lo, RDX)
		XORQ(RDX, h[2])
		fold(32)
		xorSlots(words, h, lo, width)
		SETEQ(Mem{Base: dst})
		ADDQ(Imm(8), at)
		INCQ(dst)
		CMPQ(at, addr("n"))
		JNE(LabelRef(name))
		RET()
	}

	JEQ(LabelRef("integers16"))
	integers("integers8", 8)
	integers("integers16", 16)
}

// xorSlots XORs a fingerprint with the slots of a number of bits, 8 or 16, in words.
func xorSlots(words Register, slots []GPVirtual, print GPVirtual, width int) {
	for _, at := range slots {
		if width == 8 {
			XORB(Mem{Base: words, Index: at, Scale: 1}, print.As8())
		} else {
			XORW(Mem{Base: words, Index: at, Scale: 2}, print.As16())
		}
	}
}

// manyHashes calls code for each of n hashes, at least one, at hs, whose answers go to dst. code ends at next.
func manyHashes(code func(h Register, found Mem)) {
	dst, h := param("dst"), param("hs")
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
