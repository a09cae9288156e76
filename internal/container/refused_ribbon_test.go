package container

import (
	"math"
	"strings"
)

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
	with := func(refused bool, parameters ...string) { // the parameters of file, changed
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
