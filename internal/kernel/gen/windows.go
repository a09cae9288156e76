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
func (w windows) bytes() Mem      { return w.field(6) }
func (w windows) all() Mem        { return w.field(7) }
func (w windows) more() Mem       { return w.field(8) }

const (
	windowsType = "w *[9]uint64" // see unsafe.Sizeof

	// someWindows is the number of windows that are read before a branch.
	someWindows = 4
)

// shard computes the address of the shard of a key and the step of its walk.
func (w windows) shard(hi Op) (base, by GPVirtual) {
	base, by = GP64(), GP64()
	MOVQ(w.shards(), RDX)
	MULXQ(hi, by, base)
	IMULQ(w.bytes(), base)
	ADDQ(w.words(), base)
	return base, by
}

// window removes the groups from all that the window of state RDX excludes. three is 3.
func (w windows) window(base, all, three GPVirtual) {
	place, at := GP64(), GP64()
	MULXQ(w.starts(), at, place)
	SHRXQ(three, place, at)
	ANDL(Imm(7), place.As32())
	SHRXL(place.As32(), Mem{Base: base, Index: at, Scale: 1}, at.As32())
	ANDL(at.As32(), all.As32())
}

// probeWindows answers for a *kernel.Windows.
func probeWindows(at, hi, lo GPVirtual, found Mem) {
	w := windows{at}
	k, all, three := copied(w.k()), copied(w.all()), copied(U32(3))
	base, by := w.shard(hi)
	MOVQ(lo, RDX)
	Label("windows")
	CMPQ(k, Imm(someWindows))
	JLT(LabelRef("lastwindows"))
	for range someWindows {
		w.window(base, all, three)
		next(by, RDX)
	}

	TESTL(all.As32(), all.As32())
	JE(LabelRef("windowed"))
	SUBQ(Imm(someWindows), k)
	JNE(LabelRef("windows"))
	JMP(LabelRef("windowed"))
	Label("lastwindows")
	w.window(base, all, three)
	next(by, RDX)
	DECQ(k)
	JNE(LabelRef("lastwindows"))
	Label("windowed")
	TESTL(all.As32(), all.As32())
	SETNE(found)
	RET()
}

// windowsHasMany is a Has of n keys, at least one. It reads someWindows windows of all keys, then goes over the keys
// that may still be present and reads as many as more says, until none are left. room has 2·n words: the state of the
// walk, and the groups that are left with the number of the key in the upper half.
func windowsHasMany() {
	function("windowsHasMany", "func("+windowsType+", dst *bool, hs *uint64, n uint64, room *uint64)")
	w, dst, h, to := windows{param("w")}, param("dst"), param("hs"), param("room")
	left, three, i := copied(w.k()), copied(U32(3)), GP64()
	SUBQ(Imm(someWindows), left)
	XORL(i.As32(), i.As32())

	keep := func(all, number GPVirtual) { // without a branch, which would be mispredicted
		some := GP64()
		MOVQ(RDX, Mem{Base: to})
		MOVL(all.As32(), Mem{Base: to, Disp: 8})
		MOVL(number.As32(), Mem{Base: to, Disp: 12})
		XORL(some.As32(), some.As32())
		TESTL(all.As32(), all.As32())
		SETNE(some.As8())
		MOVB(some.As8(), Mem{Base: dst, Index: number, Scale: 1})
		SHLQ(Imm(4), some) // 0 or 16
		ADDQ(some, to)
	}

	Label("key")
	base, by := w.shard(Mem{Base: h})
	all := copied(w.all())
	MOVQ(Mem{Base: h, Disp: 8}, RDX)
	for window := range someWindows {
		if window > 0 {
			CMPQ(left, I32(int32(window-someWindows)))
			JE(LabelRef("keep"))
			next(by, RDX)
		}
		w.window(base, all, three)
	}
	Label("keep")
	keep(all, i)
	ADDQ(Imm(16), h)
	INCQ(i)
	CMPQ(i, addr("n"))
	JNE(LabelRef("key"))

	step := copied(w.more())
	Label("pass")
	CMPQ(left, Imm(0))
	JLE(LabelRef("end"))
	CMPQ(to, addr("room"))
	JE(LabelRef("end"))
	CMPQ(step, left)
	CMOVQHI(left, step)
	SUBQ(step, left)
	MOVQ(to, addr("n")) // the end of the keys
	MOVQ(addr("room"), to)
	from := copied(to)
	Label("read")
	number, steps := GP64(), copied(step)
	MOVL(Mem{Base: from, Disp: 12}, number.As32())
	MOVQ(number, h)
	SHLQ(Imm(4), h)
	ADDQ(addr("hs"), h)
	base, by = w.shard(Mem{Base: h})
	MOVQ(Mem{Base: from}, RDX)
	MOVL(Mem{Base: from, Disp: 8}, all.As32())
	Label("window")
	next(by, RDX)
	w.window(base, all, three)
	DECQ(steps)
	JNE(LabelRef("window"))
	keep(all, number)
	ADDQ(Imm(16), from)
	CMPQ(from, addr("n"))
	JNE(LabelRef("read"))
	JMP(LabelRef("pass"))
	Label("end")
	RET()
}
