package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// query is a *kernel.Query. Its methods return the addresses of the fields.
type query struct{ at Register }

func (q query) field(i int) Mem { return Mem{Base: q.at, Disp: 8 * i} }
func (q query) how() Mem        { return q.field(0) }
func (q query) probe() Mem      { return q.field(1) }
func (q query) hash() Mem       { return q.field(2) }
func (q query) flip(i int) Mem  { return q.field(3 + i) }
func (q query) seed() Mem       { return q.field(7) } // of XXH3

// queryType stands for a *Query; see unsafe.Sizeof.
const queryType = "q *[14]uint64"

// The values of Query.how and Query.hash.
const (
	howSplit = 1 + iota
	howLine
	howBits
	howChains
	howRibbon
	howSlots
	howShards
	howGo
	howWindows
	howFuse8 // the first one that needs no Hi
	howFuse16

	hashXXH3  = 1
	hashXXH64 = 2
)

// Constants of XXH3 for keys of 8 to 16 bytes, which filter.Hasher.Sum has too, and the primes of XXH64.
const (
	prime64     = 0x9E3779B185EBCA87
	secondPrime = 0xC2B2AE3D27D4EB4F
	secondWord  = 0x85EBCA77
	avalanche   = 0x165667919E3779F9
	eightPrime  = 0x9FB21C651E98DF25

	xxPrime3 = 0x165667B19E3779F9
	xxPrime4 = 0x85EBCA77C2B2AE63
	xxPrime5 = 0x27D4EB2F165667C5
)

// constant returns a register with a value.
func constant(v uint64) GPVirtual {
	return copied(U64(v))
}

// shifted sets x to x ^ x>>n.
func shifted(x GPVirtual, n uint64) {
	t := copied(x)
	SHRQ(Imm(n), t)
	XORQ(t, x)
}

// avalanched mixes the bits of a half of XXH3; by is avalanche.
func avalanched(x, by GPVirtual) {
	shifted(x, 37)
	IMULQ(by, x)
	shifted(x, 32)
}

// folded returns the exclusive or of the halves of RAX·x.
func folded(x GPVirtual) GPVirtual {
	MULQ(x)
	r := copied(RDX)
	XORQ(RAX, r)
	return r
}

// ask hashes a key of n bytes and probes the filter. If n is -1, key is the address of a filter.Hash.
func ask() {
	function("ask", "func("+queryType+", key *byte, n int) bool")
	q, key, n := query{param("q")}, param("key"), param("n")
	hi, lo := GP64(), GP64()
	CMPQ(q.how(), Imm(0))
	JE(LabelRef("other"))
	hashes(q, key, n, hi, lo, false, "probe", "nosize")
	Label("probe")
	probes(q, hi, lo)
	Label("fuse")
	how, at := copied(q.how()), copied(q.probe())
	probeFuse(how, at, lo, answer(), "")

	Label("nosize")
	CMPQ(n, I32(-1))
	JNE(LabelRef("other"))
	MOVQ(Mem{Base: key, Disp: 8}, lo)
	CMPQ(q.how(), Imm(howFuse8))
	JCC(LabelRef("fuse"))
	MOVQ(Mem{Base: key}, hi)
	JMP(LabelRef("probe"))
	Label("other")
	goOn("askGo")
}

// hashes hashes a key of n bytes and jumps to done, or to none if it has no code for this size and hash function.
// Unless whole is true, it jumps to fuse, without hi, for a filter that needs only lo.
func hashes(q query, key, n, hi, lo GPVirtual, whole bool, done, none string) {
	fuse := func() {
		if !whole {
			CMPQ(q.how(), Imm(howFuse8))
			JCC(LabelRef("fuse"))
		}
	}

	long, by := GP64(), GP64()
	CMPQ(q.hash(), Imm(hashXXH3))
	JNE(LabelRef("xxh64"))
	LEAQ(Mem{Base: n, Disp: -9}, long)
	CMPQ(long, Imm(16-9))
	JHI(LabelRef("noshort"))
	sumShort(q, key, n, hi, lo, fuse)
	JMP(LabelRef(done))

	Label("noshort")
	CMPQ(n, Imm(8))
	JNE(LabelRef("noeight"))
	MOVQ(Mem{Base: key}, RAX)
	MOVQ(U64(prime64+8<<2), by)
	Label("word")
	sumWord(q, by, hi, lo, fuse)
	JMP(LabelRef(done))

	Label("noeight")
	LEAQ(Mem{Base: n, Disp: -17}, long)
	CMPQ(long, Imm(128-17))
	JHI(LabelRef("nomiddle"))
	sumMiddle(q, key, n, hi, lo, fuse)
	JMP(LabelRef(done))

	Label("nomiddle")
	LEAQ(Mem{Base: n, Disp: -4}, long)
	CMPQ(long, Imm(7-4))
	JHI(LabelRef(none))
	first := GP64()
	MOVL(Mem{Base: key}, first.As32())
	MOVL(Mem{Base: key, Index: n, Scale: 1, Disp: -4}, EAX)
	SHLQ(Imm(32), RAX)
	ORQ(first, RAX)
	MOVQ(U64(prime64), first)
	LEAQ(Mem{Base: first, Index: n, Scale: 4}, by)
	JMP(LabelRef("word"))

	Label("xxh64")
	CMPQ(q.hash(), Imm(hashXXH64))
	JNE(LabelRef(none))
	CMPQ(n, Imm(16))
	JNE(LabelRef("noxxh64"))
	sumXXH64(key, 16, hi, lo)
	JMP(LabelRef(done))
	Label("noxxh64")
	CMPQ(n, Imm(8))
	JNE(LabelRef(none))
	sumXXH64(key, 8, hi, lo)
	JMP(LabelRef(done))
}

// sumShort is XXH3-128 for keys of 9 to 16 bytes. It calls enough when lo is known.
func sumShort(q query, key, n, hi, lo GPVirtual, enough func()) {
	last, t := GP64(), GP64()
	MOVQ(Mem{Base: key, Index: n, Scale: 1, Disp: -8}, last)
	MOVQ(Mem{Base: key}, RAX)
	XORQ(last, RAX)
	XORQ(q.flip(0), RAX)
	MULQ(constant(prime64))
	LEAQ(Mem{Base: n, Disp: -1}, t)
	SHLQ(Imm(54), t)
	ADDQ(t, RAX)
	XORQ(q.flip(1), last)
	MOVL(last.As32(), t.As32())
	IMULQ(constant(secondWord-1), t)
	ADDQ(last, RDX)
	ADDQ(t, RDX)
	MOVQ(RDX, hi)
	BSWAPQ(RDX)
	XORQ(RDX, RAX)
	second := constant(secondPrime)
	MULQ(second)
	MOVQ(RAX, lo)
	by := constant(avalanche)
	avalanched(lo, by)
	enough()
	IMULQ(second, hi)
	ADDQ(RDX, hi)
	avalanched(hi, by)
}

// sumWord is XXH3-128 for keys of 4 to 8 bytes. RAX has the first four bytes in its lower half, the last four in its
// upper half.
func sumWord(q query, by, hi, lo GPVirtual, enough func()) {
	t := GP64()
	XORQ(q.flip(2), RAX)
	MULQ(by)
	LEAQ(Mem{Base: RDX, Index: RAX, Scale: 2}, hi)
	MOVQ(hi, t)
	SHRQ(Imm(3), t)
	XORQ(t, RAX)
	MOVQ(RAX, lo)
	shifted(lo, 35)
	IMULQ(constant(eightPrime), lo)
	shifted(lo, 28)
	enough()
	shifted(hi, 37) // as avalanched, with a constant that is loaded later
	IMULQ(constant(avalanche), hi)
	shifted(hi, 32)
}

// sumMiddle is XXH3-128 for keys of 17 to 128 bytes. It takes 16 bytes from either end, from the inner ones outwards.
func sumMiddle(q query, key, n, hi, lo GPVirtual, enough func()) {
	seed, i, secret, back := GP64(), GP64(), GP64(), GP64()
	low, high := GP64(), GP64()
	MOVQ(q.seed(), seed)
	MOVQ(U64(prime64), low)
	IMULQ(n, low)
	XORL(high.As32(), high.As32())
	LEAQ(Mem{Base: n, Disp: -1}, i)
	SHRQ(Imm(5), i)
	SHLQ(Imm(4), i) // 0, 16, 32 or 48
	LEAQ(NewDataAddr(Symbol{Name: "·xxh3Secret"}, 0), secret)
	LEAQ(Mem{Base: secret, Index: i, Scale: 2}, secret)
	LEAQ(Mem{Base: key, Index: n, Scale: 1, Disp: -16}, back)
	SUBQ(i, back)
	Label("middle")
	mix := func(words Mem, from int, sum GPVirtual) {
		b := GP64()
		MOVQ(Mem{Base: secret, Disp: from}, RAX)
		ADDQ(seed, RAX)
		XORQ(words, RAX)
		MOVQ(Mem{Base: secret, Disp: from + 8}, b)
		SUBQ(seed, b)
		XORQ(words.Offset(8), b)
		ADDQ(folded(b), sum)
	}

	cross := func(words Mem, sum GPVirtual) {
		t := copied(words)
		ADDQ(words.Offset(8), t)
		XORQ(t, sum)
	}

	first, last := Mem{Base: key, Index: i, Scale: 1}, Mem{Base: back}
	mix(first, 0, low)
	cross(last, low)
	mix(last, 16, high)
	cross(first, high)
	SUBQ(Imm(32), secret)
	ADDQ(Imm(16), back)
	SUBQ(Imm(16), i)
	JGE(LabelRef("middle"))

	MOVQ(low, lo)
	ADDQ(high, lo)
	by := constant(avalanche)
	avalanched(lo, by)
	enough()
	fourth := constant(xxPrime4)
	second := constant(secondPrime)
	IMULQ(fourth, high)
	MOVQ(n, hi)
	SUBQ(seed, hi)
	IMULQ(second, hi)
	ADDQ(high, hi)
	IMULQ(constant(prime64), low)
	ADDQ(low, hi)
	avalanched(hi, by)
	NEGQ(hi)
}

// sumXXH64 is XXH64 with seed 0 for keys of 8 or 16 bytes.
func sumXXH64(key GPVirtual, n int, hi, lo GPVirtual) {
	first, second, fourth := constant(prime64), constant(secondPrime), constant(xxPrime4)
	MOVQ(U64(xxPrime5+uint64(n)), lo)
	for i := 0; i < n; i += 8 {
		w := copied(Mem{Base: key, Disp: i})
		IMULQ(second, w)
		ROLQ(Imm(31), w)
		IMULQ(first, w)
		XORQ(w, lo)
		ROLQ(Imm(27), lo)
		IMULQ(first, lo)
		ADDQ(fourth, lo)
	}

	shifted(lo, 33)
	IMULQ(second, lo)
	shifted(lo, 29)
	IMULQ(constant(xxPrime3), lo)
	shifted(lo, 32)
	MOVQ(lo, hi)
	SHRQ(Imm(32), hi)
	SHLQ(Imm(32), hi)
}

// probes answers for a hash. For large kernels it jumps to their functions, which have the same frame: the arguments of
// ask become their arguments.
func probes(q query, hi, lo GPVirtual) {
	how, at := copied(q.how()), copied(q.probe())
	Label("dispatch")
	probeVector(how, at, hi, lo, answer())
	Label("more")
	CMPQ(how, Imm(howBits))
	JE(LabelRef("bits"))
	CMPQ(how, Imm(howWindows))
	JE(LabelRef("windowsof"))
	CMPQ(how, Imm(howFuse8))
	JCC(LabelRef("inshard"))
	MOVQ(hi, addr("key"))
	MOVQ(lo, addr("n"))
	CMPQ(how, Imm(howChains))
	JE(LabelRef("chains"))
	CMPQ(how, Imm(howShards))
	JE(LabelRef("shards"))
	CMPQ(how, Imm(howGo))
	JE(LabelRef("go"))
	MOVQ(at, addr("q"))
	CMPQ(how, Imm(howRibbon))
	JNE(LabelRef("slots"))
	goOn("ribbonHas")
	Label("slots")
	goOn("slotsHas")
	Label("chains")
	goOn("chainsAsk")
	Label("go")
	goOn("hasGo")
	Label("bits")
	probeBits(at, hi, lo, answer())
	Label("windowsof")
	probeWindows(at, hi, lo, answer())
	Label("inshard")
	probeFuse(how, at, lo, answer(), "inshard")

	Label("shards")
	of := probeShard(at, hi, lo)
	MOVQ(Mem{Base: of}, how)
	MOVQ(Mem{Base: of, Disp: 8}, at)
	JMP(LabelRef("dispatch"))
}

// probeShard returns the address of the Probe of the shard that holds a key, or jumps to go if there is none.
func probeShard(at, hi, lo GPVirtual) (probe GPVirtual) {
	by, x, high, of := constant(0xA54FF53A5F1D36F1), GP64(), GP64(), GP64() // see shard.Route
	MOVQ(hi, x)
	XORQ(by, x)
	MOVQ(U64(0x510E527FADE682D1), RDX)
	XORQ(lo, RDX)
	MULXQ(x, RAX, high)
	XORQ(RAX, high)
	XORQ(by, high)
	MOVQ(U64(0x9B05688C2B3E6C1F), RDX)
	MULXQ(high, RDX, x)
	XORQ(x, RDX)
	MULXQ(Mem{Base: at, Disp: 8}, RAX, of)
	SHLQ(Imm(6), of)
	ADDQ(Mem{Base: at}, of)
	CMPB(Mem{Base: of}, Imm(0))
	JE(LabelRef("go"))
	probe = GP64()
	MOVQ(Mem{Base: of, Disp: 56}, probe)
	TESTQ(probe, probe)
	JE(LabelRef("go"))
	return probe
}

// probeVector answers for howSplit and howLine, and jumps to more for other kernels.
func probeVector(how, at, hi, lo GPVirtual, found Mem) {
	x := YMM()
	b := blocks{at}
	find := func(shift uint64) {
		MOVQ(hi, RAX)
		MULQ(b.count())
		VMOVQ(lo, x.AsX())
		SHLQ(Imm(shift), RDX)
		ADDQ(b.words(), RDX)
	}

	CMPQ(how, Imm(howLine))
	JA(LabelRef("more"))
	JE(LabelRef("line"))
	find(5)
	VPBROADCASTD(x.AsX(), x)
	testSplit(b, x, Mem{Base: RDX})
	leaveCarry(found)
	Label("line")
	find(6)
	VPBROADCASTQ(x.AsX(), x)
	VPTEST(b.ones(), lineProbe(x, b.last(0), b.last(1), Mem{Base: RDX}))
	leaveCarry(found)
}

// probeFuse answers for howFuse8 and howFuse16 and the low half of a hash. suffix makes its label unique.
func probeFuse(how, at, lo GPVirtual, found Mem, suffix string) {
	words := GP64()
	f := fuse{at}
	h, print := f.slots(lo)
	MOVQ(f.words(), words)
	CMPQ(how, Imm(howFuse16))
	JE(LabelRef("fuse16" + suffix))
	xorSlots(words, h, print, 8)
	SETEQ(found)
	RET()
	Label("fuse16" + suffix)
	xorSlots(words, h, print, 16)
	SETEQ(found)
	RET()
}

// sums hashes keys until end or the first key that it cannot hash, and returns the position where it stopped. Keys are
// integers if stride is 8, otherwise their addresses and sizes are stride bytes apart. It prefetches the bytes of the
// key ahead bytes further, which must be among the keys.
func sums() {
	function("sums", "func("+queryType+", dst *uint64, keys *uint64, stride, end, ahead uint64) uint64")
	q, dst, at := query{param("q")}, param("dst"), param("keys")
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
