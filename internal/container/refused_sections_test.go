package container

import (
	"encoding/binary"
	"math"
	"strconv"
)

func decimal(n int) string { return strconv.Itoa(n) }
func text(n uint64) string { return strconv.FormatUint(n, 10) }

// bitCases adds the cases of families of bits and counters without a search.
func bitCases(f forger) {
	g := f.with("standard", "standard-1.bloom") // m=385
	g.bit("the last bit", false, 0, 384)
	g.bit("the first bit behind m", true, 0, 385)
	g.bit("the last bit of the last word", true, 0, 447)
	g.keys(false, 0)
	g.keys(false, math.MaxUint64)
	for _, s := range []string{
		"standard(k=0,m=385)", "standard(k=65,m=385)", "standard(k=7,m=0)", "standard(k=7,m=384)",
		"standard(k=7,m=449)",
		"standard(k=7,m=4611686018427387904)", "standard(k=7,m=18446744073709551615)",
	} {
		g.spec(true, s)
	}
	g.empty(false, "standard(k=64,m=1)", 1)
	g.empty(false, "standard(k=1,m=64)", 1)
	g.empty(true, "standard(k=1,m=64)", 2)
	g.empty(true, "standard(k=1,m=65)", 1)

	g = f.with("counting", "counting-0.bloom") // k=2, m=100
	g.bit("a counter behind m", true, 0, 400)
	g.bit("the last bit of the last word", true, 0, 447)
	g.bit("a counter that is one more or less", true, 0, 0)
	g.keys(true, 41)
	g.keys(true, 0)
	g.keys(true, 1<<63+40)
	g.word("stuck counters, whose sum says nothing", false, 0, 0, math.MaxUint64)
	g.build("stuck counters and any number of keys", false, func(p *forgery) {
		binary.LittleEndian.PutUint64(p.head[32:], math.MaxUint64)
		binary.LittleEndian.PutUint64(p.sections[0], math.MaxUint64)
	})
	for _, s := range []string{
		"counting(k=0,m=100)", "counting(k=65,m=100)", "counting(k=2,m=96)", "counting(k=2,m=113)", "counting(m=100)",
	} {
		g.spec(true, s)
	}
	g.empty(false, "counting(k=64,m=1)", 1)
	g.empty(true, "counting(k=1,m=17)", 1)

	g = f.with("blocked", "blocked-0.bloom") // blocks=1, k=9
	g.bit("any bit", false, 0, 511)
	g.keys(false, math.MaxUint64)
	for _, s := range []string{
		"blocked(blocks=0,k=9,layout=line)", "blocked(blocks=1,k=0,layout=line)",
		"blocked(blocks=1,k=33,layout=line)",
		"blocked(blocks=1,k=9)", "blocked(blocks=1,layout=line)", "blocked(k=9,layout=line)",
		"blocked(blocks=1,k=9,layout=page)",
		"blocked(blocks=1,k=9,layout=Line)", "blocked(blocks=1,k=9,layout=split)",
		"blocked(blocks=2,k=7,layout=split)",
		"blocked(blocks=2,k=9,layout=line)", "blocked(blocks=9007199254740992,k=9,layout=line)",
		"blocked(blocks=2305843009213693953,k=9,layout=line)", "blocked(blocks=1,k=9,layout=line,m=512)",
	} {
		g.spec(true, s)
	}
	g.spec(false, "blocked(blocks=2,k=8,layout=split)")
	g.spec(false, "blocked(blocks=1,k=32,layout=line)")
	g.empty(true, "blocked(blocks=3,k=8,layout=split)", 8)
}

// searchedCases adds the cases of families whose filters a search fits to their keys.
func searchedCases(f forger) {
	// bits=310, groups=3, k=10, shards=1, width=3: 90 bits of shifts.
	g := f.with("partitioned", "partitioned-0.bloom")
	g.bit("the last bit of the bitmap", false, 0, 309)
	g.bit("the first bit behind the bitmap", true, 0, 310)
	g.bit("the last bit of the word that ends the bitmap", true, 0, 319)
	g.bit("the first bit of the word behind the bitmap", true, 0, 320)
	g.bit("the last bit of the word behind the bitmap", true, 0, 383)
	g.bit("the last bit of the shifts", false, 1, 89)
	g.bit("the first bit behind the shifts", true, 1, 90)
	g.bit("the last bit of the word behind the shifts", true, 1, 191)
	g.word("all keys late", false, 2, 0, 40)
	g.word("more late keys than keys", true, 2, 0, 41)
	g.word("2^64-1 late keys", true, 2, 0, math.MaxUint64)
	g.word("all bits searched", false, 2, 1, 310)
	g.word("more searched bits than bits", true, 2, 1, 311)
	g.keys(false, 41)
	g.keys(false, 1<<44*1001-1)
	g.keys(true, 1<<44*1001)
	for _, s := range []string{
		"partitioned(bits=310,groups=3,k=10,shards=1)", "partitioned(bits=310,groups=3,k=10,width=3)",
		"partitioned(bits=0,groups=3,k=10,shards=1,width=3)", "partitioned(bits=310,groups=0,k=10,shards=1,width=3)",
		"partitioned(bits=310,groups=3,k=0,shards=1,width=3)", "partitioned(bits=310,groups=3,k=65,shards=1,width=3)",
		"partitioned(bits=310,groups=3,k=10,shards=0,width=3)",
		"partitioned(bits=310,groups=3,k=10,shards=1,width=6)",
		"partitioned(bits=155,groups=3,k=5,shards=2,width=3)",
		"partitioned(bits=310,groups=3,k=10,shards=1,table=1,width=3)",
		"partitioned(bits=2147483649,groups=3,k=10,shards=1,width=3)",
		"partitioned(bits=310,groups=2147483649,k=10,shards=1,width=3)",
		"partitioned(bits=2147483648,groups=2147483648,k=10,shards=2147483648,width=3)",
	} {
		g.spec(true, s)
	}
	g.empty(false, "partitioned(bits=1,groups=1,k=1,shards=1,width=0)", 2, 1, 2)
	g.empty(true, "partitioned(bits=64,groups=1,k=1,shards=1,width=0)", 1, 1, 2)
	g.empty(true, "partitioned(bits=1,groups=2,k=1,shards=1,width=0)", 2, 1, 2)
	g.empty(false, "partitioned(bits=8,groups=1,k=1,shards=1,width=3)", 2, 2, 2)
	g.empty(true, "partitioned(bits=7,groups=1,k=1,shards=1,width=3)", 2, 2, 2)
	g.empty(false, "partitioned(bits=4096,groups=1,k=1,shards=2,width=1)", 129, 2, 2)
	g.empty(true, "partitioned(bits=4095,groups=1,k=1,shards=2,width=1)", 129, 2, 2)

	// block=512, blocks=1, groups=4, k=10, width=4: a head of 160 bits, all other bits are payload.
	g = f.with("blockpartitioned", "blockpartitioned-0.bloom")
	g.bit("a shift", false, 0, 159)
	g.bit("the last bit", false, 0, 511)
	g.word("more late keys than keys", true, 1, 0, 41)
	g.word("more searched bits than bits", true, 1, 1, 353)
	g.word("all bits searched", false, 1, 1, 352)
	g.keys(true, 1<<44*1001)
	for _, s := range []string{
		"blockpartitioned(block=256,blocks=2,groups=4,k=10,width=4)",
		"blockpartitioned(block=512,blocks=0,groups=4,k=10,width=4)",
		"blockpartitioned(block=512,blocks=1,groups=0,k=10,width=4)",
		"blockpartitioned(block=512,blocks=1,groups=4,k=0,width=4)",
		"blockpartitioned(block=512,blocks=1,groups=4,k=65,width=4)",
		"blockpartitioned(block=512,blocks=1,groups=4,k=10,width=0)",
		"blockpartitioned(block=512,blocks=1,groups=4,k=10,width=6)",
		"blockpartitioned(block=512,blocks=1,groups=4,k=10)",
		"blockpartitioned(block=512,blocks=1,groups=45,k=10,width=1)",
		"blockpartitioned(block=512,blocks=1,groups=513,k=1,width=1)",
		"blockpartitioned(block=512,blocks=4503599627370496,groups=4,k=10,width=4)",
		"blockpartitioned(block=1024,blocks=1,groups=4,k=10,width=4)",
	} {
		g.spec(true, s)
	}
	g.empty(false, "blockpartitioned(block=512,blocks=1,groups=448,k=1,width=1)", 8, 2)
	g.empty(true, "blockpartitioned(block=512,blocks=1,groups=449,k=1,width=1)", 8, 2)
	g = f.with("blockpartitioned", "vectors/blockpartitioned-k1.bloom") // two blocks with a head of 447 bits
	g.bit("the last bit of a head", false, 0, 512+446)
	g.bit("the bit between the first head and its payload", true, 0, 447)
	g.bit("the bit between the second head and its payload", true, 0, 512+447)

	g = f.with("twochoice", "twochoice-0.bloom") // bits=400, choices=8, k=12, shards=1
	g.bit("the last bit", false, 0, 399)
	g.bit("the first bit behind the last", true, 0, 400)
	g.bit("the last bit of the last word", true, 0, 511)
	g.word("more late keys than keys", true, 1, 0, 41)
	g.word("more searched bits than bits", true, 1, 1, 401)
	g.word("all bits searched", false, 1, 1, 400)
	for _, s := range []string{
		"twochoice(bits=400,choices=1,k=10,shards=1)",
		"twochoice(bits=400,choices=17,k=10,shards=1)",
		"twochoice(bits=400,choices=3,k=0,shards=1)",
		"twochoice(bits=400,choices=3,k=65,shards=1)",
		"twochoice(bits=400,choices=3,k=10,shards=0)",
		"twochoice(bits=400,choices=3,hashing=independent,k=10,shards=1)",
		"twochoice(bits=400,choices=3,shards=1)",
		"twochoice(bits=200,choices=3,k=10,shards=2)",
		"twochoice(bits=268435457,choices=3,k=10,shards=1)",
		"twochoice(bits=268435456,choices=3,k=10,shards=4294967297)",
	} {
		g.spec(true, s)
	}
	g.empty(false, "twochoice(bits=16,choices=16,k=64,shards=1)", 2, 2)
	g.empty(true, "twochoice(bits=15,choices=16,k=64,shards=1)", 2, 2)
	g.empty(true, "twochoice(bits=64,choices=16,k=64,shards=1)", 1, 2)
	g.empty(false, "twochoice(bits=64,choices=16,k=64,shards=1)", 2, 2)
	g.empty(false, "twochoice(bits=65,choices=16,k=64,shards=1)", 3, 2)
}

// tableFamilyCases adds the cases of families of fingerprints, except rankindexed.
func tableFamilyCases(f forger) {
	g := f.with("fuse", "fuse-0.bloom") // segment=32, segments=1, width=4: 384 bits
	g.bit("the last bit of a slot", false, 0, 383)
	g.bit("the first bit behind the slots", true, 0, 384)
	g.bit("the last bit of the section", true, 0, 511)
	g.keys(false, math.MaxUint64)
	for _, s := range []string{
		"fuse(segment=32,segments=1,width=4)", "fuse(seed=1,segments=1,width=4)", "fuse(seed=1,segment=32,width=4)",
		"fuse(seed=1,segment=32,segments=1)", "fuse(seed=1,segment=32,segments=1,width=0)",
		"fuse(seed=1,segment=32,segments=1,width=33)",
		"fuse(seed=1,segment=32,segments=0,width=4)", "fuse(seed=1,segment=0,segments=1,width=4)",
		"fuse(seed=1,segment=24,segments=2,width=4)",
		"fuse(seed=1,segment=524288,segments=1,width=4)", "fuse(seed=1,segment=32,segments=134217729,width=4)",
		"fuse(seed=18446744073709551616,segment=32,segments=1,width=4)",
		"fuse(seed=-1,segment=32,segments=1,width=4)",
	} {
		g.spec(true, s)
	}
	g.spec(false, "fuse(seed=0,segment=32,segments=1,width=4)")
	g.spec(false, "fuse(seed=18446744073709551615,segment=16,segments=4,width=4)")
	g.empty(false, "fuse(seed=0,segment=1,segments=1,width=1)", 2)
	g.empty(false, "fuse(seed=0,segment=1,segments=0,width=32)", 3)
	g.empty(true, "fuse(seed=0,segment=2,segments=0,width=1)", 2)
	g = f.with("fuse", "vectors/fuse-empty.bloom")
	g.keys(true, 1)
	g = f.with("fuse", "vectors/fuse-width13.bloom") // 96 slots of 13 bits: the last word in use has 32 bits
	g.bit("a bit behind 96 slots of 13 bits", true, 0, 96*13)
	g.bit("the last bit of the last word in use", true, 0, 20*64-1)
}

// windowRefusals adds files of package window, whose answers depend on the time: no reader of filters may open them. It
// also adds a file of a family that no reader knows.
func windowRefusals(f forger) {
	for _, name := range []string{"few", "keyed", "new"} {
		f.with("window", "../../../window/testdata/"+name+".window").edit(name, true, func([]byte) {})
	}
	few, standard := f.with("window", "../../../window/testdata/few.window"), f.with("window", "standard-0.bloom")
	standard.edit("the magic with a filter", true, func(b []byte) { copy(b, windowMagic) })
	few.edit("the magic of a filter", true, func(b []byte) { copy(b, magic) })

	standard.edit("an unknown family", true, func(b []byte) { binary.LittleEndian.PutUint16(b[10:], 11) })
	(*f.cases)[len(*f.cases)-1].Unknown = true
}
