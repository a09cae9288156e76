package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// bits is a *kernel.Bits. Its methods return the addresses of the fields.
type bits struct{ at Register }

func (b bits) words() Mem { return Mem{Base: b.at} }
func (b bits) m() Mem     { return Mem{Base: b.at, Disp: 24} }
func (b bits) k() Mem     { return Mem{Base: b.at, Disp: 32} }

const (
	bitsType = "b *[5]uint64" // see unsafe.Sizeof

	// together is the number of keys that are probed in parallel, one probe of each at a time. Each probe needs the
	// product of the previous one. A core looks ahead about one key, so probing one key after the other would wait for
	// products.
	together = 4
)

// place converts RDX, a state of the probes, into the number of its bit and the number of the word.
func (b bits) place() (place, word GPVirtual) {
	place, word = GP64(), GP64()
	MULXQ(b.m(), word, place)
	MOVQ(place, word)
	SHRQ(Imm(6), word)
	return place, word
}

// next computes the next state of the probes: probe.Next. hi is Hi of the key.
func next(hi Op, state Register) {
	LEAQ(Mem{Base: state, Index: state, Scale: 8}, state)
	ROLQ(Imm(25), state)
	ADDQ(hi, state)
}

// bitsAddMany sets the bits of n keys, at least one.
func bitsAddMany() {
	function("bitsAddMany", "func("+bitsType+", hs *uint64, n uint64)")
	b, h := bits{param("b")}, param("hs")
	words, left := GP64(), GP64()
	MOVQ(b.words(), words)
	add := func(keys int, suffix string) {
		var states [together]GPVirtual
		for i := range keys {
			states[i] = GP64()
			MOVQ(Mem{Base: h, Disp: 16*i + 8}, states[i])
		}
		MOVQ(b.k(), left)
		Label("probe" + suffix)
		for i, state := range states[:keys] {
			MOVQ(state, RDX)
			place, word := b.place()
			content := copied(Mem{Base: words, Index: word, Scale: 8})
			BTSQ(place, content)
			MOVQ(content, Mem{Base: words, Index: word, Scale: 8})
			next(Mem{Base: h, Disp: 16 * i}, state)
		}
		DECQ(left)
		JNE(LabelRef("probe" + suffix))
		ADDQ(Imm(uint64(16*keys)), h)
	}

	Label("four")
	CMPQ(addr("n"), Imm(together))
	JLT(LabelRef("few"))
	add(together, "four")
	SUBQ(Imm(together), addr("n"))
	JMP(LabelRef("four"))
	Label("few")
	CMPQ(addr("n"), Imm(0))
	JE(LabelRef("end"))
	add(1, "one")
	DECQ(addr("n"))
	JMP(LabelRef("few"))
	Label("end")
	RET()
}

// bitsHasMany is a Has of n keys, at least one. It tests firstProbes probes of all keys, then the other probes of the
// keys that may be present, together keys at a time. room has 2·(n+together) words.
func bitsHasMany() {
	function("bitsHasMany", "func("+bitsType+", dst *bool, hs *uint64, n uint64, room *uint64)")
	rest := AllocLocal(8)
	b, dst, h, room := bits{param("b")}, param("dst"), param("hs"), param("room")
	words, i, left, maybe := GP64(), GP64(), GP64(), GP64() // maybe: where the next key that may be present goes
	MOVQ(b.words(), words)
	MOVQ(b.k(), left)
	SUBQ(Imm(firstProbes), left)
	XORL(i.As32(), i.As32())
	MOVQ(room, maybe)

	Label("key")
	hi, all, at := GP64(), GP64(), GP64()
	MOVQ(i, at)
	SHLQ(Imm(4), at)
	MOVQ(Mem{Base: h, Index: at, Scale: 1}, hi)
	MOVQ(Mem{Base: h, Index: at, Scale: 1, Disp: 8}, RDX)
	for probe := range firstProbes {
		if probe > 0 {
			if probe > 1 {
				CMPQ(left, I32(int32(probe-firstProbes)))
				JE(LabelRef("tested"))
			}
			next(hi, RDX)
		}
		place, word := b.place()
		if probe == 0 {
			SHRXQ(place, Mem{Base: words, Index: word, Scale: 8}, all)
			CMPQ(left, I32(1-firstProbes))
			JE(LabelRef("tested"))
			continue
		}
		SHRXQ(place, Mem{Base: words, Index: word, Scale: 8}, word)
		ANDQ(word, all)
	}

	Label("tested")
	ANDL(Imm(1), all.As32())
	MOVB(all.As8(), Mem{Base: dst, Index: i, Scale: 1})
	MOVQ(RDX, Mem{Base: maybe})
	MOVQ(i, Mem{Base: maybe, Disp: 8})
	SHLQ(Imm(4), all)
	ADDQ(all, maybe)
	INCQ(i)
	CMPQ(i, addr("n"))
	JNE(LabelRef("key"))
	TESTQ(left, left)
	JLE(LabelRef("end"))

	// The last key fills the group: it is tested again.
	CMPQ(maybe, room)
	JE(LabelRef("end"))
	number := GP64()
	MOVQ(Mem{Base: maybe, Disp: -16}, at)
	MOVQ(Mem{Base: maybe, Disp: -8}, number)
	for j := range together - 1 {
		MOVQ(at, Mem{Base: maybe, Disp: 16 * j})
		MOVQ(number, Mem{Base: maybe, Disp: 16*j + 8})
	}

	MOVQ(maybe, addr("n"))
	Label("group")
	var states, found [together]GPVirtual
	for j := range together {
		states[j], found[j] = GP64(), GP64()
		MOVQ(Mem{Base: room, Disp: 16*j + 8}, at)
		SHLQ(Imm(4), at)
		ADDQ(addr("hs"), at)
		MOVQ(Mem{Base: room, Disp: 16 * j}, states[j])
		MOVQ(Mem{Base: at}, at)
		MOVQ(at, Mem{Base: room, Disp: 16 * j})
		MOVL(U32(1), found[j].As32())
	}

	MOVQ(b.k(), at)
	SUBQ(Imm(firstProbes), at)
	MOVQ(at, rest)
	Label("probe")
	for j := range together {
		next(Mem{Base: room, Disp: 16 * j}, states[j])
		MOVQ(states[j], RDX)
		place, word := b.place()
		SHRXQ(place, Mem{Base: words, Index: word, Scale: 8}, word)
		ANDQ(word, found[j])
	}

	DECQ(rest)
	JNE(LabelRef("probe"))
	to := copied(addr("dst"))
	for j := range together {
		MOVQ(Mem{Base: room, Disp: 16*j + 8}, at)
		MOVB(found[j].As8(), Mem{Base: to, Index: at, Scale: 1})
	}

	ADDQ(Imm(16*together), room)
	CMPQ(room, addr("n"))
	JCS(LabelRef("group"))
	Label("end")
	RET()
}

// firstProbes is the number of probes after which one absent key in eight remains, if half of the bits are set.
const firstProbes = 3

// probeBits answers for a *kernel.Bits. Like the code in Go, it branches after three probes, when one absent key in
// eight remains.
func probeBits(at, hi, lo GPVirtual, found Mem) {
	words, m, k := copied(Mem{Base: at}), copied(Mem{Base: at, Disp: 24}), copied(Mem{Base: at, Disp: 32})
	MOVQ(lo, RDX)
	all := GP64()
	probe := func(first bool) {
		place, word := GP64(), GP64()
		MULXQ(m, RAX, place)
		MOVQ(place, word)
		SHRQ(Imm(6), word)
		if first {
			SHRXQ(place, Mem{Base: words, Index: word, Scale: 8}, all)
			return
		}
		SHRXQ(place, Mem{Base: words, Index: word, Scale: 8}, word)
		ANDQ(word, all)
	}

	Label("three")
	CMPQ(k, Imm(3))
	JLE(LabelRef("last"))
	for i := range 3 {
		probe(i == 0)
		next(hi, RDX)
	}

	TESTB(Imm(1), all.As8())
	JE(LabelRef("no"))
	SUBQ(Imm(3), k)
	JMP(LabelRef("three"))
	Label("last")
	probe(true)
	Label("rest")
	DECQ(k)
	JE(LabelRef("done"))
	next(hi, RDX)
	probe(false)
	JMP(LabelRef("rest"))
	Label("done")
	Label("no") // all is even
	ANDL(Imm(1), all.As32())
	MOVB(all.As8(), found)
	RET()
}
