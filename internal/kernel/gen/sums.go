package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// sums hashes n keys, whose addresses and sizes are stride bytes apart, until one that it cannot hash. It returns how
// many it hashed.
func sums() {
	function("sums", "func(q *[14]uint64, dst *uint64, keys *uint64, stride, n uint64) uint64")
	q := query{Load(Param("q"), GP64())}
	dst := Load(Param("dst"), GP64())
	at := Load(Param("keys"), GP64())
	hi, lo, key, n := GP64(), GP64(), GP64(), GP64()
	Label("key")
	CMPQ(addr("n"), Imm(0))
	JE(LabelRef("end"))
	MOVQ(Mem{Base: at}, key)
	MOVQ(Mem{Base: at, Disp: 8}, n)
	hashes(q, key, n, hi, lo, true, "store", "end")
	Label("store")
	MOVQ(hi, Mem{Base: dst})
	MOVQ(lo, Mem{Base: dst, Disp: 8})
	ADDQ(Imm(16), dst)
	ADDQ(addr("stride"), at)
	DECQ(addr("n"))
	JMP(LabelRef("key"))
	Label("end")
	left := GP64()
	MOVQ(addr("n"), left)
	Store(left, ReturnIndex(0))
	RET()
}
