package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// windows is a *kernel.Windows. Its methods return the addresses of the fields.
type windows struct{ at Register }

func (w windows) field(i int) Mem { return Mem{Base: w.at, Disp: 8 * i} }
func (w windows) words() Mem      { return w.field(0) }
func (w windows) starts() Mem     { return w.field(3) }
func (w windows) k() Mem          { return w.field(4) }
func (w windows) shards() Mem     { return w.field(5) }
func (w windows) bits() Mem       { return w.field(6) }
func (w windows) all() Mem        { return w.field(7) }

const (
	windowsType = "w *[8]uint64" // see unsafe.Sizeof

	// someWindows is the number of windows that are read before a branch; moreWindows, of the keys that are left.
	someWindows = 4
	moreWindows = 6
)

// shard computes the first bit of the shard of a key and the step of its walk.
func (w windows) shard(hi GPVirtual) (start, by GPVirtual) {
	start, by = GP64(), GP64()
	MOVQ(w.shards(), RDX)
	MULXQ(hi, by, start)
	IMULQ(w.bits(), start)
	return start, by
}

// window removes the groups from all that the window of state RDX excludes.
func (w windows) window(words, start, all GPVirtual) {
	place, at := GP64(), GP64()
	MULXQ(w.starts(), at, place)
	ADDQ(start, place)
	MOVQ(place, at)
	SHRQ(Imm(3), at)
	ANDL(Imm(7), place.As32())
	SHRXL(place.As32(), Mem{Base: words, Index: at, Scale: 1}, at.As32())
	ANDL(at.As32(), all.As32())
}

// probeWindows answers for a *kernel.Windows.
func probeWindows(at, hi, lo GPVirtual, found Mem) {
	w := windows{at}
	words, k, all := copied(w.words()), copied(w.k()), copied(w.all())
	start, by := w.shard(hi)
	MOVQ(lo, RDX)
	Label("windows")
	CMPQ(k, Imm(someWindows))
	JLT(LabelRef("lastwindows"))
	for range someWindows {
		w.window(words, start, all)
		next(by, RDX)
	}

	TESTL(all.As32(), all.As32())
	JE(LabelRef("windowed"))
	SUBQ(Imm(someWindows), k)
	JNE(LabelRef("windows"))
	JMP(LabelRef("windowed"))
	Label("lastwindows")
	w.window(words, start, all)
	next(by, RDX)
	DECQ(k)
	JNE(LabelRef("lastwindows"))
	Label("windowed")
	TESTL(all.As32(), all.As32())
	SETNE(found)
	RET()
}

// windowsHasMany is a Has of n keys, at least one. It goes over the keys several times. Each time it reads a few windows
// of the keys that may still be present: someWindows at first, later moreWindows. room has 4·n words: the state of the
// walk, its step, the first bit of the shard, and the groups that are left with the number of the key in the upper half.
func windowsHasMany() {
	function("windowsHasMany", "func("+windowsType+", dst *bool, hs *uint64, n uint64, room *uint64)")
	w, h, to, i := windows{param("w")}, param("hs"), param("room"), GP64()
	XORL(i.As32(), i.As32())
	Label("key")
	start, by := w.shard(copied(Mem{Base: h}))
	lo := copied(Mem{Base: h, Disp: 8})
	all := copied(i)
	SHLQ(Imm(32), all)
	ORQ(w.all(), all)
	for j, word := range []GPVirtual{lo, by, start, all} {
		MOVQ(word, Mem{Base: to, Disp: 8 * j})
	}
	ADDQ(Imm(16), h)
	ADDQ(Imm(32), to)
	INCQ(i)
	CMPQ(i, addr("n"))
	JNE(LabelRef("key"))

	words, dst, left, step := copied(w.words()), param("dst"), copied(w.k()), GP64()
	MOVQ(U32(someWindows), step)
	Label("pass")
	CMPQ(step, left)
	CMOVQHI(left, step)
	MOVQ(to, addr("n")) // the end of the keys
	MOVQ(addr("room"), to)
	from := copied(to)
	Label("read")
	number, steps := GP64(), copied(step)
	MOVQ(Mem{Base: from}, RDX)
	MOVQ(Mem{Base: from, Disp: 8}, by)
	MOVQ(Mem{Base: from, Disp: 16}, start)
	MOVQ(Mem{Base: from, Disp: 24}, all)
	MOVQ(all, number)
	Label("window")
	w.window(words, start, all)
	next(by, RDX)
	DECQ(steps)
	JNE(LabelRef("window"))

	MOVQ(RDX, Mem{Base: to})
	MOVQ(by, Mem{Base: to, Disp: 8})
	MOVQ(start, Mem{Base: to, Disp: 16})
	MOVL(all.As32(), Mem{Base: to, Disp: 24})
	SHRQ(Imm(32), number)
	MOVL(number.As32(), Mem{Base: to, Disp: 28})
	TESTL(all.As32(), all.As32())
	SETNE(steps.As8())
	MOVB(steps.As8(), Mem{Base: dst, Index: number, Scale: 1})
	SHLQ(Imm(5), steps) // 0 or 32: without a branch, which would be mispredicted
	ADDQ(steps, to)
	ADDQ(Imm(32), from)
	CMPQ(from, addr("n"))
	JNE(LabelRef("read"))
	CMPQ(to, addr("room"))
	JE(LabelRef("end"))
	SUBQ(step, left)
	MOVQ(U32(moreWindows), step)
	JNE(LabelRef("pass")) // a MOVQ keeps the flags
	Label("end")
	RET()
}
