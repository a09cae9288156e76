package container

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"strings"
)

// fields are the places in bucket 0 of a rankindexed filter: the first bits of the higher index, of the pointer and of
// the cells, and the first bit after the cells.
type fields struct{ higher, pointer, cells, end int }

func fieldsOf(chains, cells, pool, width int) fields {
	f := fields{higher: chains, pointer: chains + cells}
	f.cells = f.pointer
	if pool > 0 {
		f.cells += bits.Len(uint(pool))
	}
	f.end = f.cells + cells*width
	return f
}

func rankindexedCases(f forger) {
	const base = "buckets=1,capacity=40,cells=40,chains=72"
	g := f.with("rankindexed", "rankindexed-0.bloom") // 40 cells of 10 bits, all in use
	l := fieldsOf(72, 40, 0, 10)
	g.keys(true, 39)
	g.keys(true, 41)
	for i := range 4 {
		g.bit("base index, bit "+decimal(i), true, 0, i)
		g.bit("higher index, bit "+decimal(i), true, 0, l.higher+i)
	}
	g.bit("the lowest bit of the last cell", false, 0, l.end-10)
	for _, s := range []string{
		"rankindexed(" + base + ")", "rankindexed(" + base + ",remainder=0)",
		"rankindexed(" + base + ",remainder=49)",
		"rankindexed(buckets=0,capacity=40,cells=40,chains=72,remainder=10)",
		"rankindexed(buckets=1,capacity=40,cells=0,chains=72,remainder=10)",
		"rankindexed(buckets=1,capacity=40,cells=40,chains=0,remainder=10)",
		"rankindexed(buckets=1,capacity=40,cells=8193,chains=72,remainder=10)",
		"rankindexed(buckets=1,capacity=40,cells=40,chains=16385,remainder=10)",
		"rankindexed(buckets=281474976710657,capacity=40,cells=40,chains=72,remainder=10)",
		"rankindexed(buckets=1,cells=40,chains=72,remainder=10)",
		"rankindexed(capacity=40,cells=40,chains=72,remainder=10)",
		"rankindexed(buckets=1,capacity=40,cells=40,cells2=0,chains=72,remainder=10)",
		"rankindexed(buckets=1,capacity=40,cells=40,cells2=1,chains=72,remainder=10)",
		"rankindexed(buckets=1,capacity=40,cells=40,chains=72,pool2=1,remainder=10)",
		"rankindexed(buckets=1,capacity=40,cells=40,cells3=1,chains=72,pool3=1,remainder=10)",
		"rankindexed(buckets=1,capacity=40,cells=40,chains=72,counting=0,remainder=10)",
		"rankindexed(buckets=1,capacity=40,cells=40,chains=72,counting=2,remainder=10)",
		"rankindexed(buckets=1,capacity=40,cells=40,chains=72,growth=0,remainder=10)",
		"rankindexed(buckets=1,capacity=40,cells=40,chains=72,remainder=10,value_bits=0)",
		"rankindexed(buckets=1,capacity=40,cells=40,chains=72,remainder=10,value_bits=33)",
		"rankindexed(buckets=1,capacity=40,cells=40,chains=72,counting=1,remainder=8,value_bits=2)",
		"rankindexed(buckets=1,capacity=40,cells=40,chains=72,growth=25,remainder=10)",
		"rankindexed(buckets=1,capacity=0,cells=40,chains=72,growth=1,remainder=9)",
		"rankindexed(buckets=1,capacity=40,cells=40,chains=72,remainder=32,value_bits=32)",
		"rankindexed(buckets=1,capacity=40,cells=40,chains=72,fast=1,remainder=10)",
		"rankindexed(buckets=1,capacity=40,cells=40,chains=72,fpr=0.1,remainder=10)",
	} {
		g.spec(true, s)
	}
	g.spec(false, "rankindexed(buckets=1,capacity=0,cells=40,chains=72,remainder=10)")
	g.empty(false, "rankindexed(buckets=1,capacity=40,cells=40,chains=72,growth=1,remainder=9)", 8, 0, 0)
	g.empty(false, "rankindexed(buckets=1,capacity=1125899906842624,cells=1,chains=1,remainder=1)", 1, 0, 0)
	g.empty(false, "rankindexed(buckets=1,capacity=1,cells=1,chains=1,remainder=31,value_bits=32)", 2, 0, 0)
	g.empty(true, "rankindexed(buckets=1,capacity=1,cells=1,chains=1,remainder=31,value_bits=32)", 1, 0, 0)
	g.empty(true, "rankindexed(buckets=1,capacity=1,cells=1,chains=1,remainder=1)", 1)
	const pools = "rankindexed(buckets=1,capacity=1,cells=1,cells2=1,cells3=1,chains=1,pool2=2,pool3="
	g.empty(true, pools+"3,remainder=1)", 1, 2, 3)
	g.empty(false, pools+"2,remainder=1)", 1, 2, 2)

	g = f.with("rankindexed", "rankindexed-1.bloom") // chains=127, 32 cells of 5 bits; one extension of 10, 8 in use
	l = fieldsOf(127, 32, 1, 5)
	g.bit("no pointer to an extension in use", true, 0, l.pointer)
	g.bit("the first bit behind the cells of an extension", true, 1, 60)
	g.bit("the last bit of an extension", true, 1, 63)
	g.bit("a cell of an extension that is not in use", true, 1, 10+9*5)
	g.bit("an index bit behind the last cell in use", true, 1, 9)
	g.keys(true, 48)

	g = f.with("rankindexed", "vectors/rankindexed-removed.bloom") // with free cells, no extension
	l = fieldsOf(439, 65, 0, 8)
	g.bit("the first bit of a free cell", true, 0, l.end-8)
	g.bit("the last bit of a free cell", true, 0, l.end-1)
	g.bit("an index bit of a free cell", true, 0, l.higher+64)
	g.bit("a base index bit more", true, 0, firstZero(g.parts().sections[0]))

	g = f.with("rankindexed", "vectors/rankindexed-extensions.bloom") // 3 buckets, pools of 3 and 3
	l = fieldsOf(11, 7, 3, 4)
	words := (l.end + 63) / 64
	pointer := func(name string, v uint64) {
		g.build(name, true, func(p *forgery) {
			w := binary.LittleEndian.Uint64(p.sections[0])
			w = w&^(3<<l.pointer) | v<<l.pointer
			binary.LittleEndian.PutUint64(p.sections[0], w)
		})
	}
	second := binary.LittleEndian.Uint64(g.parts().sections[0][8*words:]) >> l.pointer & 3
	pointer("no extension", 0)
	pointer("the extension of another bucket", second)
	g.build("pointers of two buckets changed", true, func(p *forgery) {
		le := binary.LittleEndian
		for i := range 2 {
			w := le.Uint64(p.sections[0][8*words*i:])
			own := w >> l.pointer & 3
			le.PutUint64(p.sections[0][8*words*i:], w^own<<l.pointer^(own%3+1)<<l.pointer)
		}
	})
	g.empty(true, "rankindexed(buckets=1,capacity=1,cells=1,cells2=1,chains=1,pool2=2,remainder=1)", 1, 3, 0)
	g.build("a free extension that is not empty", true, func(p *forgery) {
		p.spec = "rankindexed(buckets=1,capacity=1,cells=1,cells2=1,chains=1,pool2=2,remainder=1)"
		p.sections = [][]byte{make([]byte, 8), make([]byte, 16), nil}
		p.sections[1][8] = 1
		clear(p.head[32:40])
	})
	g.build("a pointer to an empty extension", true, func(p *forgery) {
		p.spec = "rankindexed(buckets=1,capacity=1,cells=1,cells2=1,chains=1,pool2=2,remainder=1)"
		p.sections = [][]byte{{0b0100, 0, 0, 0, 0, 0, 0, 0}, make([]byte, 16), nil}
		clear(p.head[32:40])
	})
	g.build("a pointer beyond the pool", true, func(p *forgery) {
		p.spec = "rankindexed(buckets=1,capacity=1,cells=1,cells2=1,chains=1,pool2=2,remainder=1)"
		p.sections = [][]byte{{0b1100, 0, 0, 0, 0, 0, 0, 0}, make([]byte, 16), nil}
		clear(p.head[32:40])
	})
	chain := func(name string, refused bool, spec string, keys uint64, first byte) {
		g.build(name, refused, func(p *forgery) {
			p.spec, p.sections = spec, [][]byte{{first, 0, 0, 0, 0, 0, 0, 0}}
			binary.LittleEndian.PutUint64(p.head[32:], keys)
			if !strings.Contains(spec, "trimmed") {
				p.sections = append(p.sections, nil, nil)
			}
		})
	}
	// One chain of two cells: index bits 1, 1, 0, then two remainders of two bits.
	const two = "rankindexed(buckets=1,capacity=2,cells=2,chains=1,remainder=2)"
	chain("a chain in order", false, two, 2, 0b0_10_01_011)
	chain("a chain of equal remainders", false, two, 2, 0b0_01_01_011)
	chain("a chain out of order", true, two, 2, 0b0_01_10_011)
	chain("a bit behind the cells", true, two, 2, 0b1_10_01_011)
	chain("a cell in no chain", true, two, 2, 0b0_10_01_110)
	chain("a chain beyond the cells", true, two, 2, 0b0_10_01_111)
	chain("one of two cells", false, two, 1, 0b0_00_01_001)
	chain("a free cell that is not 0", true, two, 1, 0b0_10_01_001)
	const trimmed = "rankindexed(buckets=1,capacity=2,cells=2,chains=1,remainder=2,trimmed=2)"
	chain("trimmed: a chain in order", false, trimmed, 2, 0b0_10_01_011)
	chain("trimmed: a chain out of order", true, trimmed, 2, 0b0_01_10_011)
	chain("trimmed: a bit behind the cells", true, trimmed, 2, 0b1_10_01_011)
	chain("trimmed: a chain beyond the cells", true, trimmed, 2, 0b0_10_01_111)
	chain("trimmed: fewer cells than the spec says", true, trimmed, 1, 0b0_00_01_001)
	const counting = "rankindexed(buckets=1,capacity=1,cells=1,chains=1,counting=1,remainder=2)"
	chain("a counter of 4", false, counting, 4, 0b00_01_11_01)
	chain("fewer keys than counted", true, counting, 3, 0b00_01_11_01)

	g = f.with("rankindexed", "rankindexed-0-trimmed.bloom")
	g.keys(true, 42)
	g.bit("trimmed: one bit of the base index", true, 0, 0)
	g.bit("trimmed: the highest bit of the last cell, which breaks the order", true, 0, 511)
	g.bit("trimmed: the lowest bit of the last cell", false, 0, 502)
	const trim = "rankindexed(buckets=1,capacity=40,cells=40,chains=72,remainder=10,trimmed="
	for _, n := range []string{
		"41", "39", "040", "+40", "40.0", "0", "", "18446744073709551615", "1125899906842625", "a", "1",
	} {
		g.spec(true, trim+n+")")
	}
	g.empty(false, trim+"0)", 2)
	g.empty(true, trim+"00)", 2)
	g.empty(true, trim+"a)", 2)
	g.empty(true, "rankindexed(buckets=1048576,capacity=40,cells=8192,chains=1,remainder=10,trimmed=0)", 16384)
}

// firstZero returns the index of the first zero bit of a section.
func firstZero(section []byte) (at int) {
	for section[at/8]>>(at%8)&1 == 1 {
		at++
	}
	return at
}

// foreignCases adds the cases of families of other systems.
func foreignCases(f forger) {
	g := f.with("guava", "guava-0.bloom")
	g.bit("any bit", false, 0, 447)
	g.keys(false, math.MaxUint64)
	for _, s := range []string{
		"guava(k=0,strategy=64,words=7)", "guava(k=256,strategy=64,words=7)", "guava(k=7,strategy=0,words=7)",
		"guava(k=7,strategy=33,words=7)", "guava(k=7,strategy=64,words=0)", "guava(k=7,strategy=64,words=6)",
		"guava(k=7,words=7)",
		"guava(k=7,strategy=64)", "guava(strategy=64,words=7)", "guava(k=7,strategy=64,words=2147483648)",
		"guava(capacity=1,k=7,strategy=64,words=7)",
	} {
		g.spec(true, s)
	}
	g.spec(false, "guava(k=255,strategy=32,words=7)")

	g = f.with("spark", "spark-0.bloom")
	g.bit("any bit", false, 0, 447)
	for _, s := range []string{
		"spark(k=0,version=1,words=7)", "spark(k=256,version=1,words=7)", "spark(k=7,version=0,words=7)",
		"spark(k=7,version=3,words=7)", "spark(k=7,version=1,words=0)", "spark(k=7,version=1,words=6)",
		"spark(k=7,words=7)", "spark(k=7,version=1)", "spark(version=1,words=7)",
		"spark(k=7,version=1,words=2147483648)", "spark(capacity=1,k=7,version=1,words=7)",
	} {
		g.spec(true, s)
	}
	g.spec(false, "spark(k=255,version=2,words=7)")

	g = f.with("dcso", "dcso-0.bloom") // m=401
	g.bit("the last bit", false, 0, 400)
	g.bit("the first bit behind m", true, 0, 401)
	g.bit("the last bit of the last word", true, 0, 447)
	for _, s := range []string{
		"dcso(k=0,m=401,n=40)", "dcso(k=256,m=401,n=40)", "dcso(k=7,m=0,n=40)", "dcso(k=7,m=449,n=40)",
		"dcso(k=7,m=401,n=0)", "dcso(k=7,m=401,n=18446744073709551616)", "dcso(k=7,m=401)", "dcso(m=401,n=40)",
		"dcso(k=7,n=40)", "dcso(k=7,m=4611686018427387904,n=40)", "dcso(capacity=40,k=7,m=401,n=40)",
	} {
		g.spec(true, s)
	}
	g.spec(false, "dcso(k=255,m=448,n=18446744073709551615)")

	g = f.with("bitsandblooms", "bitsandblooms-0.bloom") // m=400
	g.bit("the last bit", false, 0, 399)
	g.bit("the first bit behind m", true, 0, 400)
	g.bit("the last bit of the last word", true, 0, 447)
	for _, s := range []string{
		"bitsandblooms(k=0,m=400)", "bitsandblooms(k=256,m=400)", "bitsandblooms(k=7,m=0)",
		"bitsandblooms(k=7,length=400,m=400)",
		"bitsandblooms(k=7,length=399,m=400)", "bitsandblooms(k=7,length=0,m=400)",
		"bitsandblooms(k=7,length=449,m=400)",
		"bitsandblooms(k=7,length=4611686018427387904,m=400)", "bitsandblooms(m=400)",
		"bitsandblooms(k=7,length=400)",
	} {
		g.spec(true, s)
	}
	g.spec(false, "bitsandblooms(k=7,length=448,m=400)")
	g.spec(false, "bitsandblooms(k=255,length=400,m=1)")
	g.build("bits from m to length", false, func(p *forgery) {
		p.spec = "bitsandblooms(k=7,length=447,m=400)"
		p.sections[0][50] = 255
	})
	g.build("a bit from length on", true, func(p *forgery) {
		p.spec = "bitsandblooms(k=7,length=447,m=400)"
		p.sections[0][55] = 128
	})

	g = f.with("redisbloom", "redisbloom-0.bloom") // one link of 448 bits
	g.bit("any bit", false, 1, 447)
	field := func(name string, refused bool, at, width int, v uint64) {
		g.build(name, refused, func(p *forgery) {
			var b [8]byte
			binary.LittleEndian.PutUint64(b[:], v)
			copy(p.sections[0][at:at+width], b[:])
		})
	}
	g.keys(true, 39)
	field("keys of the chain", true, 0, 8, 41)
	field("no link", true, 8, 4, 0)
	field("two links", true, 8, 4, 2)
	field("2^32-1 links", true, 8, 4, 1<<32-1)
	field("hashes of 32 bits", true, 12, 4, 1)
	field("sizes rounded to powers of two", true, 12, 4, 4)
	field("unknown options", true, 12, 4, 5|16)
	field("option 2", true, 12, 4, 5|2)
	field("a chain that does not grow", false, 12, 4, 5|8)
	field("growth 0", false, 16, 4, 0)
	field("growth 2^32-1", false, 16, 4, 1<<32-1)
	field("bytes of the link", true, 20, 8, 57)
	field("bits of the link", true, 28, 8, 447)
	field("no bits", true, 28, 8, 0)
	field("2^62 bits", true, 28, 8, 1<<62)
	field("keys of the link", true, 36, 8, 41)
	for _, v := range []float64{0, 1, -1, math.Inf(1)} {
		field(fmt.Sprint("rate ", v), true, 44, 8, math.Float64bits(v))
	}
	field("rate NaN", true, 44, 8, 0x7FF8000000000001)
	field("another rate", false, 44, 8, math.Float64bits(0.5))
	field("bits per key NaN", true, 52, 8, 0x7FF8000000000001)
	field("bits per key 0", true, 52, 8, 0)
	field("bits per key that need another number of probes", true, 52, 8, math.Float64bits(100))
	field("no probe", true, 60, 4, 0)
	field("1076 probes", true, 60, 4, 1076)
	field("2^32-1 probes", true, 60, 4, 1<<32-1)
	field("capacity 0", true, 64, 8, 0)
	field("capacity 2^64-1", false, 64, 8, math.MaxUint64)
	field("a size as a power of two", true, 72, 1, 9)
	field("a byte behind the header", true, 73, 1, 1)
	field("the last byte of the header's section", true, 79, 1, 1)
	for _, s := range []string{
		"redisbloom(links=0,words=7)", "redisbloom(links=2,words=7)", "redisbloom(links=1,words=0)",
		"redisbloom(links=1,words=8)",
		"redisbloom(links=1048577,words=7)", "redisbloom(links=1,words=72057594037927936)", "redisbloom(words=7)",
		"redisbloom(links=1)",
	} {
		g.spec(true, s)
	}
}
