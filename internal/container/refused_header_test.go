package container

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"
)

// refusedCases returns all cases of refused.json.
func refusedCases(t *testing.T) []edited {
	var cases []edited
	f := forger{t: t, cases: &cases}
	headerCases(f.with("header", "standard-0.bloom"))
	versionCases(f.with("version", "standard-0.bloom"))
	rateCases(f)
	flagCases(f)
	hashCases(f)
	tableCases(f.with("table", "partitioned-0.bloom"))
	grammarCases(f.with("grammar", "standard-0.bloom"))
	bitCases(f)
	searchedCases(f)
	tableFamilyCases(f)
	ribbonCases(f)
	rankindexedCases(f)
	g := f.with("rankindexed", "rankindexed-0.bloom")
	rankindexedLimits(g)
	rankindexedLevels(g)
	rankindexedTrimmed(g)
	foreignCases(f)
	exceptionRefusals(f)
	windowRefusals(f)
	return cases
}

func headerCases(f forger) {
	le := binary.LittleEndian
	f.edit("unchanged", false, func([]byte) {})
	for _, n := range []int{0, 1, 8, 63, 64, 87, 88, 127, 128, len(f.file) - 8, len(f.file) - 1} {
		f.cut("cut to "+decimal(n), n)
	}
	for _, n := range []int{1, 8, 64} {
		f.cut("zeros behind, "+decimal(n), len(f.file)+n)
	}
	f.add("a second file behind", true, false, append(bytes.Clone(f.file), f.file...))
	f.raw("one bit of the spec", func(b []byte) { b[90] ^= 1 })
	f.raw("one bit of the section", func(b []byte) { b[130] ^= 1 })
	f.raw("one bit of the header's checksum", func(b []byte) { b[60] ^= 1 })
	f.raw("one bit of the section's checksum", func(b []byte) { b[80] ^= 1 })
	f.raw("one bit of the padding", func(b []byte) { b[127] ^= 1 })
	f.edit("first byte of the magic", true, func(b []byte) { b[0] = 0x88 })
	f.edit("line end of the magic", true, func(b []byte) { b[6] = '\n' })
	f.edit("last byte of the magic", true, func(b []byte) { b[7] = 0 })
	for _, id := range []uint16{0, 10, 19, 23, 257, 65535} {
		f.edit("family "+decimal(int(id)), true, func(b []byte) { le.PutUint16(b[10:], id) })
	}
	f.edit("family of another spec", true, func(b []byte) { b[10] = 2 })
	for _, n := range []byte{0, 2, 8, 9, 129, 255} {
		f.edit("number of sections "+decimal(int(n)), true, func(b []byte) { b[14] = n })
	}
	f.build("a second, empty section", true, func(p *forgery) { p.sections = append(p.sections, nil) })
	f.build("no section", true, func(p *forgery) { p.sections = nil })
	for _, n := range []uint64{0, 183, 185, 192, 1 << 32, 1 << 53, 1 << 63, math.MaxUint64} {
		f.edit("length "+text(n), true, func(b []byte) { le.PutUint64(b[40:], n) })
	}
	for _, n := range []uint32{0, 18, 20, 40, 512, 513, 1 << 31, math.MaxUint32} {
		f.edit("spec length "+text(uint64(n)), true, func(b []byte) { le.PutUint32(b[56:], n) })
	}
	f.edit("first byte of the padding", true, func(b []byte) { b[107] = 1 })
	f.edit("last byte of the padding", true, func(b []byte) { b[127] = 1 })
	f.edit("a space in the padding", true, func(b []byte) { b[110] = ' ' })
	f.edit("another seed", false, func(b []byte) { b[16] ^= 255 })
	f.edit("seed 2^64-1", false, func(b []byte) { le.PutUint64(b[16:], math.MaxUint64) })
}

func versionCases(f forger) {
	f.edit("0", true, func(b []byte) { b[8] = 0 })
	for _, v := range []uint16{2, 3, 256, 257, 65535} {
		f.newer(decimal(int(v)), func(b []byte) { binary.LittleEndian.PutUint16(b[8:], v) })
	}
}

func rateCases(f forger) {
	rate := func(bits uint64) func([]byte) {
		return func(b []byte) { binary.LittleEndian.PutUint64(b[48:], bits) }
	}
	f = f.with("rate", "standard-0.bloom")
	for _, c := range []struct {
		name    string
		refused bool
		bits    uint64
	}{
		{"0", false, 0}, {"-0", true, 1 << 63}, {"1", true, math.Float64bits(1)}, {"2", true, math.Float64bits(2)},
		{"-0.5", true, math.Float64bits(-0.5)}, {"above 1", true, math.Float64bits(1) + 1},
		{"infinite", true, math.Float64bits(math.Inf(1))}, {"-infinite", true, math.Float64bits(math.Inf(-1))},
		{"NaN", true, 0x7FF8000000000000}, {"-NaN", true, 0xFFF8000000000000},
		{"signalling NaN", true, 0x7FF0000000000001},
		{"the smallest", false, 1}, {"the smallest normal", false, 0x0010000000000000},
		{"0.5", false, math.Float64bits(0.5)},
		{"below 1", false, math.Float64bits(1) - 1}, {"below -0", true, 1<<63 | 1},
	} {
		f.edit(c.name, c.refused, rate(c.bits))
	}
	f.with("rate", "fuse-0-rate.bloom").edit("removed", false, rate(0))
	f = f.with("rate", "standard-0-exceptions.bloom")
	f.edit("0.5 with exceptions", false, rate(math.Float64bits(0.5)))
	for _, bits := range []uint64{1 << 63, math.Float64bits(1), math.Float64bits(-0.5), 0x7FF8000000000000} {
		f.edit("bits "+text(bits)+" with exceptions", true, rate(bits))
	}
}

// flagCases forges the flags, the form of keys and the reserved bytes.
func flagCases(f forger) {
	set := func(at int, v byte) func([]byte) {
		return func(b []byte) { b[at] = v }
	}
	f = f.with("flags", "standard-0.bloom")
	f.edit("exceptions of one section", true, set(15, flagExceptions))
	for i := 1; i < 8; i++ {
		f.newer("bit "+decimal(i), set(15, 1<<i))
	}
	form := func(what string, newer bool, b24, b25, b26, b27 byte) {
		change := func(b []byte) { copy(b[24:], []byte{b24, b25, b26, b27}) }
		if newer {
			f.newer("form of keys: "+what, change)
		} else {
			f.edit("form of keys: "+what, false, change)
		}
	}
	for i := range 8 {
		form("flag "+decimal(i), i > 1, 1<<i, 0, 0, 0)
	}
	form("both flags", false, 3, 0, 0, 0)
	for i := 1; i < 256; i = i*5/4 + 1 {
		decimals, width := i >= 7 && i <= 9, i == 9 || i == 10
		form("type "+decimal(i), i > 9, 0, byte(i), 0, 0)
		form("type "+decimal(i)+", scale", !decimals, 0, byte(i), 255, 0)
		form("type "+decimal(i)+", width", !width, 0, byte(i), 0, 255)
		form("type "+decimal(i)+", scale and width", i != 9, 3, byte(i), 2, 16)
	}
	form("scale without a type", true, 0, 0, 1, 0)
	form("width without a type", true, 0, 0, 0, 1)
	for i := 28; i < 32; i++ {
		f.newer("reserved byte "+decimal(i), set(i, 1))
	}
	f.newer("reserved bytes 2^64-1", func(b []byte) { copy(b[24:32], "\xff\xff\xff\xff\xff\xff\xff\xff") })
	f = f.with("flags", "standard-1.bloom")
	f.newer("the key check in the reserved bytes", func(b []byte) { copy(b[24:32], b[16:24]) })
	f = f.with("flags", "standard-0-exceptions.bloom")
	f.edit("exceptions", false, func([]byte) {})
	f.edit("exceptions without the flag", true, set(15, 0))
	for i := 1; i < 8; i++ {
		f.newer("exceptions and bit "+decimal(i), set(15, flagExceptions|1<<i))
	}
}

func hashCases(f forger) {
	le := binary.LittleEndian
	f = f.with("hash", "standard-0.bloom")
	hash := func(id uint16, field uint64) func([]byte) {
		return func(b []byte) {
			le.PutUint16(b[12:], id)
			le.PutUint64(b[16:], field)
		}
	}
	for id := range uint16(10) {
		if id != 1 && id != 2 {
			f.edit("standard with hash "+decimal(int(id)), true, hash(id, 0))
		}
	}
	f.edit("257", true, hash(257, 0))
	f.edit("2 without a key check", true, hash(2, 0))
	f.edit("2 with the check of another secret", true, hash(2, 1))
	f = f.with("hash", "standard-1.bloom")
	check := le.Uint64(f.file[16:])
	f.edit("2 with an even key check", true, hash(2, check&^1))
	f.edit("2 with one bit of the check", true, hash(2, check^1<<63))
	f.edit("2 made 1", false, hash(1, check))
	f.edit("2 made 1 with seed 0", false, hash(1, 0))
	f = f.with("hash", "blocked-parquet.bloom")
	f.edit("3 with a seed", true, hash(3, 1))
	f.edit("parquet with hash 1", false, hash(1, 9))
	f.edit("parquet with hash 4", true, hash(4, 0))
	f.edit("parquet with hash 8", true, hash(8, 0))
	f.with("hash", "blocked-0.bloom").edit("lines with hash 3", true, hash(3, 0))
	f.with("hash", "fuse-0-exceptions.bloom").edit("exceptions with hash 8", true, hash(8, 0))
	g := f.with("hash", "fuse-0.bloom")
	for id := uint16(3); id <= 10; id++ {
		g.edit("fuse with hash "+decimal(int(id)), id != 8, hash(id, 0))
	}
	g.edit("8 with a seed", true, hash(8, 1))
	for _, c := range []struct {
		file string
		ids  []uint16
	}{{"guava", []uint16{1, 3, 5, 6, 8}}, {"bitsandblooms", []uint16{1, 3, 4, 6, 8}},
		{"redisbloom", []uint16{1, 3, 4, 5, 8}}, {"spark", []uint16{1, 3, 4, 6, 8}}, {"dcso", []uint16{1, 3, 7, 8, 10}}} {
		g := f.with("hash", c.file+"-0.bloom")
		for _, id := range c.ids {
			g.edit(c.file+" with hash "+decimal(int(id)), true, hash(id, 0))
		}
		g.edit(c.file+" with a seed", true, func(b []byte) { b[16] = 1 })
	}
}

func tableCases(f forger) {
	le := binary.LittleEndian
	put := func(section, field int, v uint64) func([]byte) {
		return func(b []byte) { le.PutUint64(b[headerSize+sectionSize*section+field:], v) }
	}
	for _, c := range []struct {
		name string
		v    uint64
	}{{"0", 0}, {"191", 191}, {"64 more", 256}, {"64 less", 128}, {"2^63", 1 << 63}, {"2^64-64", 1<<64 - 64}} {
		f.edit("offset of section 0 is "+c.name, true, put(0, 0, c.v))
	}
	for _, n := range []uint64{0, 8, 40, 47, 49, 56, 1 << 32, 1 << 56, 1<<61 + 48, 1 << 63, 1<<64 - 8} {
		f.edit("length of section 0 is "+text(n), true, put(0, 8, n))
	}
	f.edit("two sections at one place", true, put(1, 0, 192))
	f.edit("sections in another order", true, func(b []byte) {
		first := bytes.Clone(b[headerSize:][:sectionSize])
		copy(b[headerSize:], b[headerSize+sectionSize:][:sectionSize])
		copy(b[headerSize+sectionSize:], first)
	})
	f.build("sections and their content in another order", true, func(p *forgery) {
		p.sections[0], p.sections[1] = p.sections[1], p.sections[0]
	})
	for i := range 3 {
		for _, at := range []int{20, 23} {
			f.edit("reserved byte "+decimal(at)+" of entry "+decimal(i), true, func(b []byte) {
				b[headerSize+sectionSize*i+at] = 1
			})
		}
		f.raw("checksum of section "+decimal(i), func(b []byte) {
			b[headerSize+sectionSize*i+16] ^= 1
			le.PutUint32(b[60:], headerCRC(b, headerSize+3*sectionSize+int(le.Uint32(b[56:]))))
		})
	}
	f.edit("first byte between sections", true, func(b []byte) { b[240] = 1 })
	f.edit("last byte between sections", true, func(b []byte) { b[255] = 128 })
	f.edit("a byte between the last sections", true, func(b []byte) { b[300] = 1 })
	f.build("the last section is missing", true, func(p *forgery) { p.sections = p.sections[:2] })
	f.build("a section more", true, func(p *forgery) { p.sections = append(p.sections, make([]byte, 8)) })
	f.build("an empty section more", true, func(p *forgery) { p.sections = append(p.sections, nil) })
	f.build("a word more", true, func(p *forgery) { p.sections[0] = append(p.sections[0], make([]byte, 8)...) })
	f.build("a word less", true, func(p *forgery) { p.sections[0] = p.sections[0][:40] })
	f.build("a byte more", true, func(p *forgery) { p.sections[2] = append(p.sections[2], 0) })
}

func grammarCases(f forger) {
	for _, s := range []string{
		"standard", "standard()", "standard(k=7)", "standard(m=400)", "standard(m=400,k=7)", "standard(k=7,m=400,)",
		"standard(,k=7,m=400)", "standard(k=7,,m=400)", "standard(k=7;m=400)", " standard(k=7,m=400)",
		"standard(k=7,m=400) ",
		"standard (k=7,m=400)", "standard(k=7, m=400)", "standard(k =7,m=400)", "standard(k=7,m=400",
		"standard(k=7,m=400))",
		"standard((k=7,m=400)", "standard(k=7,m=400)x", "Standard(k=7,m=400)", "STANDARD(K=7,M=400)",
		"standard(K=7,m=400)",
		"standard(k=7,k=7,m=400)", "standard(k=7,m=400,m=400)", "standard(k=07,m=400)", "standard(k=7,m=0400)",
		"standard(k=+7,m=400)", "standard(k=7.0,m=400)", "standard(k=7,m=4e2)", "standard(k=7,m=0x190)",
		"standard(k=7,m=-400)",
		"standard(k=,m=400)", "standard(=7,m=400)", "standard(k,m=400)", "standard(k==7,m=400)",
		"standard(k=7=7,m=400)",
		"standard(k=7,m=400,x=1)", "standard(capacity=40,k=7,m=400)", "standard(bits_per_key=10,k=7,m=400)",
		"standard(bits_per_key=10)", "standard(fpr=0.01)", "standard(k=7,m=4_00)", "standard(k=7,m=١)",
		"standard\x00(k=7,m=400)",
		"standard(k=7,m=400)\x00", "standard(k=7,m=400)\n", "standard\t(k=7,m=400)", "1standard(k=7,m=400)",
		"_standard(k=7,m=400)",
		"k=7,m=400", "(k=7,m=400)", "(", ")", "x", "nonsense(k=7,m=400)", "blocked(k=7,m=400)", "counting(k=7,m=400)",
		"standard(k=7,m=18446744073709551616)", "standard(k=18446744073709551623,m=400)",
	} {
		f.spec(true, s)
	}
	long := bytes.Repeat([]byte("0"), 500)
	f.build("a spec of 512 bytes", true, func(p *forgery) { p.spec = "standard(k=" + string(long) + "7)" })
	f.build("a spec of 513 bytes", true, func(p *forgery) { p.spec = "standard(k=0" + string(long) + "7)" })
}
