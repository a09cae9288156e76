package container

import (
	"encoding/binary"
	"math"
	"strings"
)

// field is a value and its number of bits. A stream is written from the lowest bit on.
type field struct{ value, width uint64 }

// stream returns the concatenated fields, padded to whole words.
func stream(fields ...field) (b []byte) {
	at := uint64(0)
	for _, f := range fields {
		for i := range f.width {
			if at%64 == 0 {
				b = append(b, make([]byte, 8)...)
			}
			b[at/8] |= byte(f.value>>i&1) << (at % 8)
			at++
		}
	}
	return b
}

// because adds to the last case the text that the error of Go must contain.
func (f forger) because(reason string) { (*f.cases)[len(*f.cases)-1].reason = reason }

// made adds a case with another spec, number of keys and sections. The case must be refused if reason is not empty.
func (f forger) made(name, reason, spec string, keys uint64, sections ...[]byte) {
	f.build(name, reason != "", func(p *forgery) {
		p.spec, p.sections = "rankindexed("+spec+")", sections
		binary.LittleEndian.PutUint64(p.head[32:], keys)
	})
	f.because(reason)
}

// rankindexedLimits adds geometries at a limit and beyond it.
func rankindexedLimits(f forger) {
	spec := func(reason, spec string, words ...int) {
		f.empty(reason != "", "rankindexed("+spec+")", words...)
		f.because(reason)
	}
	const one = "buckets=1,capacity=1,cells=1,chains=1,"
	spec("", one+"growth=24,remainder=24", 1, 0, 0)
	spec("remainder and growth together", one+"growth=24,remainder=25", 1, 0, 0)
	spec("", one+"counting=1,remainder=8", 1, 0, 0)
	spec("counters or values, not both", one+"counting=1,remainder=8,value_bits=1", 1, 0, 0)
	spec("", one+"remainder=32,value_bits=31", 2, 0, 0)
	spec("more than 63 bits", one+"remainder=32,value_bits=32", 2, 0, 0)
	// pool3 is at most pool2, so that its pointers are never the first to be too long
	spec("pointers would have more than 63 bits",
		"buckets=1,capacity=1,cells=1,cells2=1,chains=1,growth=24,pool2=549755813888,remainder=1", 2, 0, 0)
	// 2^61 words, whose number of bytes is 0 modulo 2^64
	spec("buckets or extensions of 8192 words",
		"buckets=281474976710656,capacity=1,cells=8192,chains=16384,remainder=48,value_bits=13", 0, 0, 0)
	// The limit of 64 times the file and 2^17 words: 128 buckets of 1025 and of 1026 words
	spec("", "buckets=128,capacity=1,cells=6559,chains=1,remainder=9,trimmed=0", 2)
	spec("a trimmed form of 128 bits for a filter of",
		"buckets=128,capacity=1,cells=6560,chains=1,remainder=9,trimmed=0", 2)
}

// rankindexedLevels adds filters of three levels with one cell each: a bucket has 4 bits of base index, 1 of higher
// index, a pointer of 2 bits and a cell of 3 bits.
func rankindexedLevels(f forger) {
	spec := func(buckets string) string {
		return "buckets=" + buckets + ",capacity=9,cells=1,cells2=1,cells3=1,chains=4,pool2=2,pool3=2,remainder=3"
	}
	bucket := func(base, higher, pointer uint64) []byte {
		return stream(field{base, 4}, field{higher, 1}, field{pointer, 2}, field{1, 3})
	}
	second := func(pointer, higher uint64) []byte { return stream(field{pointer, 2}, field{higher, 1}, field{2, 3}) }
	third := func(higher, cell, unused uint64) []byte {
		return stream(field{higher, 1}, field{cell, 3}, field{unused, 1})
	}
	free := make([]byte, 8)
	join := func(a, b []byte) []byte { return append(a, b...) }

	one := func(name, reason string, keys uint64, two, three, other []byte) {
		f.made(name, reason, spec("1"), keys, bucket(1, 1, 2), join(free[:8:8], two), join(three, other))
	}
	one("three levels", "", 3, second(1, 1), third(0, 3, 0), free)
	one("a pointer to level 3 above the pool", "does not exist", 3, second(3, 1), third(0, 3, 0), free)
	one("level 3: its last index bit set", "the index of a bucket", 3, second(1, 1), third(1, 3, 0), free)
	one("level 3: an unused bit set", "bits behind the last cell", 3, second(1, 1), third(0, 3, 1), free)
	one("level 3: a free extension that is not 0", "level 3: an extension", 3, second(1, 1), third(0, 3, 0),
		stream(field{2, 4}))
	one("level 3: an extension that is not needed", "the index of a bucket", 2, second(1, 0), free, free)
	one("level 3: a chain out of order", "the order of their remainders", 3, second(1, 1), third(0, 1, 0), free)

	two := func(name, reason string, keys, base, to uint64, twos, threes []byte) {
		f.made(name, reason, spec("2"), keys, join(bucket(base, 0, 1), bucket(base, 0, to)), twos, threes)
	}
	none := make([]byte, 16)
	two("level 2: an extension for each bucket", "", 4, 3, 2, join(second(0, 0), second(0, 0)), none)
	two("level 2: two pointers to one extension", "belongs to two buckets", 4, 3, 1, join(second(0, 0), free), none)
	two("level 3: an extension for each bucket", "", 6, 7, 2, join(second(1, 0), second(2, 0)),
		join(third(0, 5, 0), third(0, 5, 0)))
	two("level 3: two pointers to one extension", "belongs to two buckets", 6, 7, 2, join(second(1, 0), second(1, 0)),
		join(third(0, 5, 0), free))
}

// rankindexedTrimmed adds trimmed filters with cells of 3 bits. Filters without room end with the section.
func rankindexedTrimmed(f forger) {
	spec := func(buckets, pools, cells string) string {
		more, pool := "", ""
		if pools != "" {
			more, pool, _ = strings.Cut(pools, "/")
		}
		return "buckets=" + buckets + ",capacity=9,cells=2," + more + "chains=4," + pool +
			"remainder=3,trimmed=" + cells
	}
	bucket := func(base, higher, n uint64) []field { // all remainders are 1
		fields := []field{{base, 4}, {higher, n}}
		for range n {
			fields = append(fields, field{1, 3})
		}
		return fields
	}
	made := func(name, reason, spec string, keys uint64, a []field, b ...field) {
		f.made("trimmed: "+name, reason, spec, keys, stream(append(a, b...)...))
	}
	const full = "an extension does not exist"
	const large = "cells2=13,/pool2=1," // up to 15 cells
	made("one bucket of 64 bits", "", spec("1", large, "15"), 15, bucket(15, 1<<11-1, 15))
	made("no room for the base index", "the index of a bucket", spec("2", large, "14"), 15, bucket(15, 1<<11-1, 15))
	made("two buckets of 64 bits", "", spec("2", large, "14"), 14, bucket(15, 1<<9-1, 13), bucket(1, 0, 1)...)
	made("no room for the higher index", "the index of a bucket", spec("2", large, "14"), 18, bucket(15, 1<<9-1, 13),
		field{15, 4}, field{1, 4})
	made("no room for the cells", "the index of a bucket", spec("2", large, "14"), 15, bucket(15, 1<<9-1, 13),
		field{3, 4}, field{0, 4})

	const level2, level3 = "cells2=1,/pool2=1,", "cells2=1,cells3=2,/pool2=2,pool3="
	made("2 cells in each bucket", "", spec("2", "", "4"), 4, bucket(3, 0, 2), bucket(3, 0, 2)...)
	made("3 cells in a bucket for 2", full, spec("2", "", "4"), 4, bucket(7, 0, 3),
		bucket(1, 0, 1)...)
	made("3 cells in a bucket with an extension for 1", "", spec("2", level2, "4"), 4, bucket(7, 0, 3),
		bucket(1, 0, 1)...)
	made("4 cells in a bucket with an extension for 1", full, spec("2", level2, "5"), 5, bucket(15, 0, 4),
		bucket(1, 0, 1)...)
	made("two extensions of a pool of one", full, spec("2", "cells2=2,/pool2=1,", "6"), 6, bucket(7, 0, 3),
		bucket(7, 0, 3)...)
	made("two extensions of a pool of two", "", spec("2", "cells2=2,/pool2=2,", "6"), 6, bucket(7, 0, 3),
		bucket(7, 0, 3)...)
	made("level 3: two extensions of a pool of one", full, spec("2", level3+"1,", "8"), 8, bucket(15, 0, 4),
		bucket(15, 0, 4)...)
	made("level 3: two extensions of a pool of two", "", spec("2", level3+"2,", "8"), 8, bucket(15, 0, 4),
		bucket(15, 0, 4)...)
	made("more cells than there is room for", "trimmed", spec("2", "", "5"), 5, bucket(7, 0, 3), bucket(3, 0, 2)...)
}

func ribbonCases(f forger) {
	// 13 blocks of 4 words, 24 buckets, 73 slots of 4 columns in the tail
	const file = "ribbon(r=4,starts=768,tail=73,w=64)"
	g := f.with("ribbon", "vectors/ribbon-layer.bloom")
	g.bit("the last bit of the solution", false, 0, 64*52-1)
	g.bit("the last bit of the last class", false, 1, 47)
	g.bit("the first bit behind the classes", true, 1, 48)
	g.bit("the last bit behind the classes", true, 1, 63)
	g.bit("the last bit of the tail", false, 2, 73*4-1)
	g.bit("the first bit behind the tail", true, 2, 73*4)
	g.bit("the last bit behind the tail", true, 2, 319)
	g.keys(true, 0)
	g.keys(false, math.MaxUint64)
	with := func(refused bool, parameters ...string) { // file with changed parameters
		s := file
		for i := 0; i < len(parameters); i += 2 {
			s = strings.Replace(s, parameters[i], parameters[i+1], 1)
		}
		g.spec(refused, s)
	}
	for _, change := range [][2]string{
		{"r=4,", ""}, {"r=4", "r=33"}, {"r=4", "r=5"}, {"r=4", "r=04"}, {"r=4", "r=0"}, {"r=4", "r=4,seed=0"},
		{"r=4", "r=4,seed=65536"}, {",w=64", ""}, {"w=64", "w=63"}, {"w=64", "w=0"}, {"w=64", "w=192"},
		{"w=64", "w=64,wide=0"}, {"w=64", "w=64,wide=1"}, {"w=64", "w=64,wide=1024"}, {",tail=73", ""},
		{"tail=73", "tail=0"}, {"tail=73", "tail=257"}, {"tail=73", "tail=73,tail_seed=0"},
		{"tail=73", "tail=73,tail_seed=65536"},
		{"tail=73", "tail=73,value_bits=0"}, {"tail=73", "tail=73,value_bits=33"}, {"768", "0768"}, {"768", "+768"},
		{"768", "768-"}, {"768", "-768"}, {"768", "0"}, {"768", "0-768"}, {"768", "767"}, {"768", "704-64"},
		{"768", "18446744073709551616"}, {"768", "281474976710720"}, {"768", "1152921504606846976"},
		{"768", strings.TrimSuffix(strings.Repeat("64-", 17), "-")}, {"starts=768,", ""},
	} {
		with(true, change[:]...)
	}
	with(false, "w=64", "w=128")
	with(false, "r=4", "r=4,seed=65535")
	with(false, "tail=73", "tail=73,tail_seed=65535")
	with(false, "r=4", "r=0", "w=64", "value_bits=4,w=64")

	g.empty(false, "ribbon(r=8,w=64)", 0, 0, 0)
	g.empty(true, "ribbon(r=8,w=64)", 1, 0, 0)
	g.empty(true, "ribbon(r=8,w=64)", 0, 0)
	g.empty(true, "ribbon(r=8,w=64)", 0, 0, 0, 0)
	g.empty(true, "ribbon(r=8,starts=64,w=64)", 16, 1, 0)
	g.empty(true, "ribbon(r=8,tail=8,w=64)", 0, 0, 1)
	g.empty(true, "ribbon(r=8,tail_seed=1,w=64)", 0, 0, 0)
	g.empty(true, "ribbon(r=8,seed=1,w=64)", 0, 0, 0)
	g.empty(true, "ribbon(r=0,w=64)", 0, 0, 0)
	g.empty(true, "ribbon(r=32,w=64,wide=1)", 0, 0, 0)
	g.empty(false, "ribbon(r=0,value_bits=32,w=128)", 0, 0, 0)
	g.empty(false, "ribbon(r=31,value_bits=32,w=64,wide=1023)", 0, 0, 0)

	g = f.with("ribbon", "vectors/ribbon-empty.bloom")
	g.keys(true, 1)
}
