package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// sums hashes keys until end or one that it cannot hash, and returns where it stopped. Keys are integers if stride is
// 8, otherwise their addresses and sizes are stride bytes apart. It prefetches the bytes of the key ahead bytes
// further, which must be among the keys.
func sums() {
	function("sums", "func("+queryType+", dst *uint64, keys *uint64, stride, end, ahead uint64) uint64")
	q := query{Load(Param("q"), GP64())}
	dst := Load(Param("dst"), GP64())
	at := Load(Param("keys"), GP64())
	hi, lo, key, n := GP64(), GP64(), GP64(), GP64()
	Label("key")
	CMPQ(at, addr("end"))
	JE(LabelRef("end"))
	MOVQ(at, key)
	MOVQ(U32(8), n)
	CMPQ(addr("stride"), Imm(8))
	JE(LabelRef("integer"))
	MOVQ(addr("ahead"), key)
	MOVQ(Mem{Base: at, Index: key, Scale: 1}, key)
	PREFETCHT0(Mem{Base: key})
	MOVQ(Mem{Base: at}, key)
	MOVQ(Mem{Base: at, Disp: 8}, n)
	Label("integer")
	hashes(q, key, n, hi, lo, true, "store", "end")
	Label("store")
	MOVQ(hi, Mem{Base: dst})
	MOVQ(lo, Mem{Base: dst, Disp: 8})
	ADDQ(Imm(16), dst)
	ADDQ(addr("stride"), at)
	JMP(LabelRef("key"))
	Label("end")
	Store(at, ReturnIndex(0))
	RET()
}
