package redisbloom

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

var hasher, _ = filter.ForeignHasher(filter.Murmur64A)

// chain returns a chain to which it adds the numbers 0 to n-1 as decimal text, and how many of them were new.
func chain(t *testing.T, c Config, n int) (*Filter, uint64) {
	t.Helper()
	f, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		h := hasher.SumString(strconv.Itoa(i))
		if err := f.Add(h); err != nil || !f.Has(h) {
			t.Fatalf("key %d: %v", i, err)
		}
	}
	return f, f.Info().Keys
}

// TestPublishedChains compares chains with what RedisBloom itself reports (BF.DEBUG). The number of new keys depends
// on every bit of the hash.
func TestPublishedChains(t *testing.T) {
	link := func(bytes uint64, k int, capacity, keys uint64, rate float64) string {
		return fmt.Sprintf("bytes:%d hashes:%d capacity:%d size:%d ratio:%g", bytes, k, capacity, keys, rate)
	}
	show := func(l Link) string { return link(l.Bits/8, l.K, l.Capacity, l.Keys, l.Rate) }

	f, n := chain(t, Config{Capacity: 50000, Size: family.Sizing{FPR: 0.001}}, 1)
	if want := link(98880, 11, 50000, 1, 0.0005); n != 1 || show(f.links[0]) != want {
		t.Errorf("%s, want %s", show(f.links[0]), want)
	}
	f, n = chain(t, Config{Capacity: 10}, 100)
	want := []string{link(16, 8, 10, 10, 0.005), link(32, 9, 20, 20, 0.0025), link(72, 10, 40, 40, 0.00125),
		link(160, 11, 80, 29, 0.000625)}
	if n != 99 || len(f.links) != len(want) {
		t.Fatalf("%d keys in %d links, want 99 in %d", n, len(f.links), len(want))
	}
	for i, l := range f.links {
		if show(l) != want[i] {
			t.Errorf("link %d: %s, want %s", i, show(l), want[i])
		}
	}
	f, n = chain(t, Config{Capacity: 100, Size: family.Sizing{FPR: 0.001}}, 4000)
	if l := f.links[len(f.links)-1]; n != 3997 || len(f.links) != 6 || show(l) != link(9216, 16, 3200, 897,
		1.5625e-05) {
		t.Errorf("%d keys in %d links, the last %s", n, len(f.links), show(l))
	}
	for growth, links := range map[uint32]int{1: 23, 2: 5, 4: 4} {
		if f, _ = chain(t, Config{Capacity: 4, Growth: growth}, 100); len(f.links) != links {
			t.Errorf("expansion %d: %d links, want %d", growth, len(f.links), links)
		}
	}
	f, _ = chain(t, Config{Capacity: 3, Fixed: true}, 3)
	if f.links[0].Bits != 64 || f.Add(hasher.SumString("another")) == nil {
		t.Errorf("3 keys at 1%%, not scaling: %+v", f.links[0])
	}
	l, err := Config{Capacity: 300_000_000, Size: family.Sizing{FPR: 1e-6}}.firstLink()
	if err != nil || 32+64+l.Bits/8 != 1132420232 {
		t.Errorf("300 million keys: %d bytes, %v", l.Bits/8, err)
	}
}

// TestSumOfWords checks that links whose words sum to 2^56 or more are refused, even if the sum overflows.
func TestSumOfWords(t *testing.T) {
	f := &Filter{scales: true, growth: 2}
	for range 512 {
		f.links = append(f.links, Link{Bits: 1 << 61, Rate: 0.01, BitsPerKey: 9.6, K: 7, Capacity: 1})
	}
	f.links = append(f.links, Link{Bits: 64, Rate: 0.01, BitsPerKey: 9.6, K: 7, Capacity: 1})
	if _, words, err := parseHeader(f.Header()); !errors.Is(err, filter.ErrTooLarge) {
		t.Errorf("%d words, %v", words, err)
	}
	f.links = f.links[512:]
	if _, words, err := parseHeader(f.Header()); err != nil || words != 1 {
		t.Errorf("%d words, %v", words, err)
	}
}

// TestOldForms checks that ErrOldForm distinguishes old chains of RedisBloom from invalid headers.
func TestOldForms(t *testing.T) {
	f, _ := chain(t, Config{Capacity: 10}, 30)
	for what, change := range map[string]func(b []byte){
		"hashes of 32 bits": func(b []byte) { b[12] = noRound }, "powers of two": func(b []byte) { b[12] = hash64 },
		"both":                   func(b []byte) { b[12] = 0 },
		"capacity in bits":       func(b []byte) { b[12] = noRound | hash64 | 2 },
		"not scaling":            func(b []byte) { b[12] = noRound | noScaling },
		"power of two of a link": func(b []byte) { b[72] = 7 },
	} {
		b := f.Header()
		change(b)
		if _, _, err := parseHeader(b); !errors.Is(err, ErrOldForm) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, change := range map[string]func(b []byte){"unknown options": func(b []byte) { b[12] = 16 },
		"no links": func(b []byte) { b[8], b[12] = 0, 0 }} {
		b := f.Header()
		change(b)
		if _, _, err := parseHeader(b); err == nil || errors.Is(err, ErrOldForm) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestInfo checks extremes: rates far below the spacing of floats near 1, and capacities whose sum overflows.
func TestInfo(t *testing.T) {
	for _, c := range []struct {
		keys, capacity uint64
		low, high      float64
	}{{1000, 1000, 1e-7, 1e-5}, {1, 4_000_000, 1e-18, 1e-15}} { // double hashing is far from 1e-18, see probe.Double
		f, _ := chain(t, Config{Capacity: c.capacity, Size: family.Sizing{FPR: 1e-18}}, int(c.keys))
		i := f.Info()
		for _, rate := range []float64{i.FPRPosterior, i.FPRPrior} {
			if !(rate > c.low && rate < c.high) {
				t.Errorf("%d keys in a chain for %d at 1e-18: rate %g, want %g to %g", c.keys, c.capacity, rate, c.low, c.high)
			}
		}
	}
	var f *Filter
	f, _ = chain(t, Config{Capacity: 10}, 100)
	for n := range f.links {
		f.links[n].Capacity = 1<<63 + 5
	}
	if i := f.Info(); i.Capacity != math.MaxUint64 {
		t.Errorf("capacity %d", i.Capacity)
	}
	f, _ = chain(t, Config{Capacity: 10}, 0)
	if i := f.Info(); math.Signbit(i.FPRPosterior) || math.Signbit(i.FPRPrior) || i.FPRPosterior != 0 ||
		i.Capacity != 10 {
		t.Errorf("empty: %+v", i)
	}
}

// TestShortHeaders checks that no part of a header is read beyond its end.
func TestShortHeaders(t *testing.T) {
	f, _ := chain(t, Config{Capacity: 10}, 100)
	b := f.Header()
	for n := range b {
		if _, err := HeaderLinks(b[:n]); (err == nil) != (n >= ChainHeader) {
			t.Errorf("HeaderLinks of %d bytes: %v", n, err)
		}
		if _, _, _, err := EncodedHeader(b[:n]); err == nil {
			t.Errorf("EncodedHeader of %d bytes: no error", n)
		}
	}
	if _, _, _, err := EncodedHeader(b); err != nil {
		t.Error(err)
	}
}

// TestFewBytes checks that the first link has at least one word.
func TestFewBytes(t *testing.T) {
	for _, bytes := range []uint64{1, 7, 8, 15} {
		f, n := chain(t, Config{Keys: 10, Size: family.Sizing{Bytes: bytes}}, 10)
		if f.links[0].Bits != 64 || n == 0 {
			t.Errorf("%d bytes: %+v", bytes, f.links[0])
		}
	}
}

func TestFull(t *testing.T) {
	f, _ := chain(t, Config{Capacity: 1000, Fixed: true}, 900)
	var err error
	for i := 900; err == nil; i++ {
		err = f.Add(hasher.SumString(strconv.Itoa(i)))
	}
	if !errors.Is(err, filter.ErrFull) || f.Info().Keys != 1000 {
		t.Errorf("%d keys: %v", f.Info().Keys, err)
	}
	if err := f.Add(hasher.SumString("0")); err != nil {
		t.Errorf("a key that is there: %v", err)
	}
}

// TestHeader changes every field and every byte of a header. The header must be refused, or be the header of the parsed
// chain.
func TestHeader(t *testing.T) {
	f, _ := chain(t, Config{Capacity: 10}, 100)
	good := f.Header()
	if got, words, err := parseHeader(good); err != nil || words != uint64(len(f.words)) ||
		string(got.Header()) != string(good) {
		t.Fatalf("a header does not come back: %v", err)
	}
	le := binary.LittleEndian
	for what, change := range map[string]func(b []byte){
		"keys":          func(b []byte) { b[0]++ },
		"no links":      func(b []byte) { le.PutUint32(b[8:], 0) },
		"many links":    func(b []byte) { le.PutUint32(b[8:], 1<<31) },
		"options":       func(b []byte) { b[12] = 1 },
		"other options": func(b []byte) { b[13] = 1 },
		"sum of keys": func(b []byte) { // the sum of the first two links overflows
			le.PutUint64(b[36:], 1<<62)
			le.PutUint64(b[36+LinkHeader:], 1<<62)
			f := Filter{links: []Link{{Keys: 1 << 62}, {Keys: 1 << 62}, {Keys: le.Uint64(b[36+2*LinkHeader:])},
				{Keys: le.Uint64(b[36+3*LinkHeader:])}}}
			le.PutUint64(b, f.keyCount())
		},
		"bytes":        func(b []byte) { b[20]++ },
		"bits":         func(b []byte) { le.PutUint64(b[28:], 0) },
		"huge":         func(b []byte) { le.PutUint64(b[20:], 1<<60); le.PutUint64(b[28:], 1<<63) },
		"rate":         func(b []byte) { le.PutUint64(b[44:], 0x7ff8<<48) },
		"bits per key": func(b []byte) { le.PutUint64(b[52:], 0x7ff8<<48) },
		"probes":       func(b []byte) { b[60]++ },
		"all probes":   func(b []byte) { le.PutUint32(b[60:], 1<<31) },
		"capacity":     func(b []byte) { le.PutUint64(b[64:], 0) },
		"power of two": func(b []byte) { b[72] = 7 },
	} {
		b := append([]byte(nil), good...)
		change(b)
		if _, _, err := parseHeader(b); err == nil {
			t.Errorf("%s: taken", what)
		}
	}
	for i := range good {
		if i >= 8 && i < 12 {
			continue // the reader of the links detects a wrong number of links
		}
		for _, v := range []byte{0, 1, 0x7f, 0x80, 0xff} {
			b := append([]byte(nil), good...)
			b[i] = v
			if f, _, err := parseHeader(b); err == nil && string(f.Header()) != string(b) {
				t.Errorf("byte %d as %#x: written as something else", i, v)
			}
		}
	}
}

// TestGrowthEnds checks that chains that cannot get another link return an error and remain unchanged.
func TestGrowthEnds(t *testing.T) {
	last := Link{Bits: 64, Keys: 1, Rate: 0.01, BitsPerKey: 9.6, K: 7, Capacity: 1}
	large, low := last, last
	large.Capacity = 1 << 52
	hostile := last // 64 bits that state a capacity of 2^40 keys
	hostile.Capacity = 1 << 40
	low.Rate = math.SmallestNonzeroFloat64
	for what, c := range map[string]struct {
		links, scales int
		growth        uint32
		last          Link
		want          error
	}{
		"as many links as there can be": {MaxLinks, 1, 2, last, filter.ErrFull},
		"growth of 0":                   {1, 1, 0, last, filter.ErrFull},
		"not scaling":                   {1, 0, 2, last, filter.ErrFull},
		"too many keys":                 {1, 1, 2, large, filter.ErrTooLarge},
		"far larger than the last":      {1, 1, 2, hostile, filter.ErrTooLarge},
		"too low a rate":                {1, 1, 2, low, filter.ErrConfig},
	} {
		f := &Filter{links: make([]Link, c.links), growth: c.growth, scales: c.scales == 1, words: make([]uint64, 1)}
		if err := f.appendLink(c.last); !errors.Is(err, c.want) || len(f.links) != c.links || len(f.words) != 1 {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestMemory checks that a builder with a memory limit does not keep the keys in memory, and builds the same chain.
func TestMemory(t *testing.T) {
	const n = 400_000
	build := func(limit int64) (f family.Filter, allocated uint64) {
		b, err := NewBuilder(Config{Keys: n})
		if err != nil {
			t.Fatal(err)
		}
		b.SetOptions(family.BuildOptions{Memory: limit, Dir: t.TempDir()})
		hs := make([]filter.Hash, n)
		for i := range hs {
			hs[i] = hasher.SumUint64(uint64(i))
		}
		if err := b.AddMany(hs); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if f, err = b.Build(t.Context()); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return f, after.TotalAlloc - before.TotalAlloc
	}
	f, took := build(1 << 20)
	if most := f.Info().Bits/8 + 6<<20; took > most {
		t.Errorf("Build allocates %d bytes with a limit of 1 MiB, want at most %d", took, most)
	}
	g, _ := build(0)
	if !reflect.DeepEqual(f, g) {
		t.Error("another chain without a limit")
	}
}

// TestDecodeRefuses checks that sections that contradict the header are refused.
func TestDecodeRefuses(t *testing.T) {
	f, _ := chain(t, Config{Capacity: 10}, 30)
	for what, change := range map[string]func(e *family.Encoded){
		"keys":             func(e *family.Encoded) { e.Keys++ },
		"a word more":      func(e *family.Encoded) { e.Sections[1] = append(e.Sections[1], 0) },
		"a word less":      func(e *family.Encoded) { e.Sections[1] = e.Sections[1][1:] },
		"a header longer":  func(e *family.Encoded) { e.Sections[0] = append(e.Sections[0], 0) },
		"a header shorter": func(e *family.Encoded) { e.Sections[0] = e.Sections[0][:len(e.Sections[0])-1] },
		"bits behind it":   func(e *family.Encoded) { e.Sections[0][len(e.Sections[0])-1] |= 1 << 63 },
		"bits of a link":   func(e *family.Encoded) { e.Sections[0][3]++ },
	} {
		e := f.Encode()
		if _, err := Decode(e); err != nil {
			t.Fatal(err)
		}
		change(&e)
		if g, err := Decode(e); err == nil {
			t.Errorf("%s: %v", what, g.Info())
		}
	}
}

// TestConfigFromSpec reads the parameters of BF.RESERVE.
func TestConfigFromSpec(t *testing.T) {
	for text, want := range map[string]Config{
		"redisbloom":                     {Keys: 7},
		"redisbloom(expansion=0)":        {Keys: 7, Fixed: true},
		"redisbloom(expansion=1)":        {Keys: 7, Growth: 1},
		"redisbloom(expansion=32768)":    {Keys: 7, Growth: 32768},
		"redisbloom(capacity=5,fpr=0.5)": {Keys: 7, Capacity: 5, Size: family.Sizing{FPR: 0.5}},
	} {
		s, err := filter.ParseSpec(text)
		if err != nil {
			t.Fatal(err)
		}
		c, err := ConfigFromSpec(s, 7)
		if err != nil || c != want {
			t.Errorf("%s: %+v, %v", text, c, err)
		}
		if _, err := New(c); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"redisbloom(expansion=32769)", "redisbloom(capacity=0)", "redisbloom(fpr=1)",
		"redisbloom(links=1,words=2)",
		"redisbloom(bytes=9,fpr=0.1)", "redisbloom(fpr=5e-324)", "redisbloom(capacity=9007199254740992)",
		"redisbloom(capacity=9007199254740992,expansion=0,fpr=0.9999)"} {
		s, err := filter.ParseSpec(text)
		if err != nil {
			t.Fatal(err)
		}
		c, err := ConfigFromSpec(s, 7)
		if err == nil {
			_, _, err = c.Forecast(7)
		}
		if !errors.Is(err, filter.ErrConfig) && !errors.Is(err, filter.ErrTooLarge) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, c := range []Config{{Keys: 7, Growth: 32769}, {Keys: 7, Size: family.Sizing{FPR: math.NaN()}}, {Keys: 7,
		Size: family.Sizing{BitsPerKey: -1}}} {
		if f, err := New(c); !errors.Is(err, filter.ErrConfig) {
			t.Errorf("%+v: %v, %v", c, f, err)
		}
	}
}

// TestFirstLink pins the geometry of the first link.
func TestFirstLink(t *testing.T) {
	for _, c := range []struct {
		config   Config
		capacity uint64
		bits     uint64
		k        int
	}{
		{Config{}, 1, 64, 8},
		{Config{Keys: 1000}, 1000, 11072, 8},
		{Config{Keys: 1000, Capacity: 50}, 50, 576, 8},
		{Config{Keys: 1000, Fixed: true}, 1000, 9600, 7},
		{Config{Keys: 1000, Size: family.Sizing{BitsPerKey: 12}}, 1000, 12032, 9},
		{Config{Keys: 1000, Size: family.Sizing{BitsPerKey: 93}}, 1000, 92032, 64},
		{Config{Keys: 1000, Size: family.Sizing{Bytes: 1500}}, 1000, 11968, 9},
		{Config{Keys: 10, Size: family.Sizing{BitsPerKey: 93}}, 10, 960, 64},
	} {
		f, err := New(c.config)
		if err != nil {
			t.Fatal(err)
		}
		l := f.links[0]
		if l.Capacity != c.capacity || l.Bits != c.bits || l.K != c.k || uint64(len(f.words))*64 != l.Bits {
			t.Errorf("%+v: %+v, want %d keys, %d bits, %d probes", c.config, l, c.capacity, c.bits, c.k)
		}
		if bits, fpr, err := c.config.Forecast(c.config.Keys); err != nil || bits != l.Bits || !(fpr >= 0 &&
			fpr < 0.4) {
			t.Errorf("%+v: forecast of %d bits and %g, %v", c.config, bits, fpr, err)
		}
	}
}

// TestTooManyBits checks that a size that is too large for any number of probes is an error and does not give a smaller
// filter.
func TestTooManyBits(t *testing.T) {
	for _, c := range []Config{
		{Keys: 1000, Size: family.Sizing{BitsPerKey: 4096}}, {Keys: 10, Size: family.Sizing{Bytes: 1 << 20}},
		{Capacity: 10, Size: family.Sizing{BitsPerKey: 94}},
	} {
		if _, err := New(c); !errors.Is(err, filter.ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestLinkFields checks the range of each number of a link at both ends.
func TestLinkFields(t *testing.T) {
	good := Link{Bits: 128, Keys: 3, Rate: 0.01, BitsPerKey: 9.6, K: 7, Capacity: 9}
	probes := func(k int) func(*Link) {
		return func(l *Link) { l.K, l.BitsPerKey = k, (float64(k)-0.5)/ln2 }
	}
	for what, c := range map[string]struct {
		change func(*Link)
		ok     bool
	}{
		"as it is":         {func(*Link) {}, true},
		"rate 0":           {func(l *Link) { l.Rate = 0 }, false},
		"rate below 0":     {func(l *Link) { l.Rate = -0.01 }, false},
		"rate 1":           {func(l *Link) { l.Rate = 1 }, false},
		"endless rate":     {func(l *Link) { l.Rate = math.Inf(1) }, false},
		"no rate":          {func(l *Link) { l.Rate = math.NaN() }, false},
		"least rate":       {func(l *Link) { l.Rate = math.SmallestNonzeroFloat64 }, true},
		"rate beside 1":    {func(l *Link) { l.Rate = math.Nextafter(1, 0) }, true},
		"0 probes":         {func(l *Link) { l.K, l.BitsPerKey = 0, 0 }, false},
		"1 probe":          {probes(1), true},
		"1075 probes":      {probes(MaxK), true},
		"1076 probes":      {probes(MaxK + 1), false},
		"fewer than bits":  {func(l *Link) { l.K-- }, false},
		"96 bits":          {func(l *Link) { l.Bits = 96 }, false},
		"no bits":          {func(l *Link) { l.Bits = 0 }, false},
		"64 bits":          {func(l *Link) { l.Bits = 64 }, true},
		"no capacity":      {func(l *Link) { l.Capacity = 0 }, false},
		"all the capacity": {func(l *Link) { l.Capacity = math.MaxUint64 }, true},
		"2^62 keys":        {func(l *Link) { l.Keys = 1 << 62 }, true},
		"more keys":        {func(l *Link) { l.Keys = 1<<62 + 1 }, false},
	} {
		l := good
		c.change(&l)
		for scales, options := range map[bool]byte{true: 5, false: 13} {
			f := &Filter{links: []Link{l}, scales: scales, growth: 2}
			b := f.Header()
			got, words, err := parseHeader(b)
			if (err == nil) != c.ok || b[12] != options {
				t.Errorf("%s: %v, options %d", what, err, b[12])
			}
			if err == nil && (string(got.Header()) != string(b) || words != l.Bits/64 || got.scales != scales) {
				t.Errorf("%s: comes back as %+v", what, got)
			}
		}
	}
}

func TestSectionWords(t *testing.T) {
	for text, want := range map[string][]uint64{
		"redisbloom(links=1,words=1)":                       {10, 1},
		"redisbloom(links=2,words=7)":                       {16, 7},
		"redisbloom(links=1048576,words=72057594037927935)": {6946819, 1<<56 - 1},
		"redisbloom(links=0,words=1)":                       nil,
		"redisbloom(links=1048577,words=1)":                 nil,
		"redisbloom(links=1,words=0)":                       nil,
		"redisbloom(links=1,words=72057594037927936)":       nil,
		"redisbloom(links=1)":                               nil,
		"redisbloom(capacity=1,links=1,words=1)":            nil,
	} {
		s, err := filter.ParseSpec(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := SectionWords(s); !slices.Equal(got, want) || (want == nil) != errors.Is(err, filter.ErrConfig) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
}
