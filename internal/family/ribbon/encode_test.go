package ribbon

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// TestHostile decodes filters of random geometries with random content, such as from a forged file. Queries must not
// read outside the sections, and all forms of queries must agree.
func TestHostile(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	edge := []uint64{0, 1, 1<<63 - 1, 1 << 63, math.MaxUint64 - 1, math.MaxUint64}
	hs := filtertest.Hashes(500, 3)
	for i, h := range hs[:100] {
		hs[i].Hi = edge[i%len(edge)]
		if i%2 == 0 {
			hs[i].Lo = h.Lo & edge[i/2%len(edge)]
		}
	}
	for range 300 {
		s := family.NewSpec(Family, "r", 1+r.IntN(31), "w", 64<<r.IntN(2))
		var starts []string
		for range r.IntN(maxLayers + 1) {
			most := []int{1, 4, 32, 40, 800}[r.IntN(5)]
			starts = append(starts, strconv.Itoa(64*(1+r.IntN(most))))
		}
		if len(starts) > 0 {
			s = s.With("starts", strings.Join(starts, "-"))
			if r.IntN(20) == 0 {
				s = s.With("starts", strconv.Itoa(1<<18+64*r.IntN(5000)))
			}
		}
		for _, p := range []struct {
			name string
			most int
		}{{"wide", 1023}, {"value_bits", 32}, {"tail", 256}} {
			if r.IntN(2) == 0 || p.name == "tail" && len(starts) == 0 {
				s = s.With(p.name, 1+r.IntN(p.most))
			}
		}
		e := family.Encoded{Spec: s, Keys: 1 + uint64(r.IntN(1000))}
		words, err := SectionWords(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range words {
			section := make([]uint64, n)
			for i := range section {
				section[i] = r.Uint64()
			}
			e.Sections = append(e.Sections, section)
		}
		g, err := readGeometry(s)
		if err != nil {
			t.Fatal(err)
		}
		for i, used := range []uint64{64 * g.wordCount(), 2 * g.bucketCount(), g.tailBits()} {
			if used%64 == 0 {
				continue
			}
			if e.Sections[i][used/64] |= 1 << 63; bitvec.ZeroFrom(e.Sections[i], used) {
				t.Fatalf("%s: a bit of section %d behind bit %d", s, i, used)
			}
			if _, err := Decode(e); err == nil {
				t.Fatalf("%s: a bit of section %d behind bit %d is no error", s, i, used)
			}
			e.Sections[i][used/64] &= 1<<(used%64) - 1
		}
		f, err := Decode(e)
		if err != nil {
			t.Fatal(err)
		}
		dst := make([]bool, len(hs))
		f.HasMany(dst, hs)
		for i, h := range hs {
			v, ok := f.Get(h)
			if f.Has(h) != ok || dst[i] != ok || v>>f.valueBits != 0 {
				t.Fatalf("%s, %x: Has %t, HasMany %t, Get %d, %t", s, h, f.Has(h), dst[i], v, ok)
			}
		}
		if rate := f.Info().FPRPosterior; !(rate > 0 && rate <= 1) {
			t.Errorf("%s: rate %g", s, rate)
		}
		for i := range e.Sections { // another length
			o := e
			o.Sections = slices.Clone(e.Sections)
			o.Sections[i] = append(slices.Clone(o.Sections[i]), 0)
			if _, err := Decode(o); err == nil {
				t.Errorf("%s: a longer section %d is no error", s, i)
			}
		}
	}
}

// TestLargeSpec checks that the sizes of the largest geometries do not overflow.
func TestLargeSpec(t *testing.T) {
	starts := strings.TrimSuffix(strings.Repeat("281474976710656-", maxLayers), "-")
	s := family.NewSpec(Family, "r", 31, "value_bits", 32, "w", 128, "wide", 1023, "starts", starts, "tail", 256)
	words, err := SectionWords(s)
	if err != nil || words[0] < 16<<42*63 || words[0] > 17<<42*64 || words[1] != 16<<34 || words[2] != 256 {
		t.Errorf("%d, %v", words, err)
	}
	if _, err := Decode(family.Encoded{Spec: s, Keys: 1, Sections: [][]uint64{nil, nil, nil}}); err == nil {
		t.Error("decoded without sections")
	}
}

// TestDocumented computes the examples of docs/format/ribbon.md.
func TestDocumented(t *testing.T) {
	hasher := filter.NewHasher(42)
	answer := map[bool]string{false: "no", true: "yes"}
	f := build(t, "ribbon(r=10)", filtertest.DocumentedKeys(hasher))
	want := []string{"`" + f.builtSpec().String() + "`", filtertest.DocumentedWords(f.tail)}
	for _, name := range []string{"key-7", "key-40", "key-41"} {
		h := hasher.SumString(name)
		k := keyOf(h, 0)
		result, columns := f.laterColumns(h, 0)
		print := k.fingerprint() & (1<<columns - 1)
		want = append(want, fmt.Sprintf("| `%s` | %016x | %010x | %03x | %03x | %s |\n", name, k.x,
			k.tailWord(f.tailSeed, 0)&(1<<f.slots-1), result, print, answer[result == print]))
	}

	var hs []filter.Hash
	for i := range 900 {
		hs = append(hs, hasher.SumString(fmt.Sprintf("key-%d", i)))
	}
	f = build(t, "ribbon(r=4)", hs)
	l := &f.layers[0]
	want = append(want, "`"+f.builtSpec().String()+"`", filtertest.DocumentedWords(f.classes))
	for _, name := range []string{"key-7", "key-13", "key-1000", "key-1001"} {
		h := hasher.SumString(name)
		k := keyOf(h, 0)
		start := l.startOf(k.hi)
		class := f.classOf(start / 32)
		result, columns := f.laterColumns(h, 0)
		print := k.fingerprint() & (1<<columns - 1)
		c, _ := l.coefficients(k)
		at := fmt.Sprintf("%d, %d", start/64, start%64)
		words := fmt.Sprintf("%016x", c)
		if start%32 < l.limits[class] {
			at, words = "tail", "-"
		}
		want = append(want, fmt.Sprintf("| `%s` | %d | %d | %d | %s | %s | %x | %x | %s |\n", name, start, class,
			l.limits[class], at, words, result, print, answer[result == print]))
	}
	k := keyOf(hasher.SumString("key-1001"), 0)
	block := l.startOf(k.hi) / 64
	want = append(want, fmt.Sprintf("word %d", 4*block), filtertest.DocumentedWords(f.words[4*block:4*block+8]))
	filtertest.Documented(t, "ribbon.md", want...)
}

// TestViewValid requires ViewOf and Valid to refuse the same geometries.
func TestViewValid(t *testing.T) {
	for _, v := range []*View{
		{}, {R: 8, W: 64}, {R: 0, W: 64, Tail: 3}, {R: 33, W: 64, Tail: 3}, {R: 8, W: 65, Tail: 3},
		{R: 8, W: 64, Tail: 257}, {R: 8, W: 64, Tail: 3, Wide: 1024}, {R: 32, W: 64, Tail: 3, Wide: 1},
		{R: 8, W: 64, Tail: 3, Seed: 1}, {R: 8, W: 64, Tail: 3, Layers: 1}, {R: 8, W: 64, Tail: 3, Layers: 17},
		{R: 8, W: 64, Tail: 3, Layers: 1, Starts: [MaxLayers]uint64{65}},
		{R: 8, W: 64, Tail: 3, Layers: 1, Starts: [MaxLayers]uint64{1 << 60}},
	} {
		if v.Valid() {
			t.Errorf("%+v is valid", v)
		}
	}
	for _, text := range []string{
		"ribbon", "ribbon(r=8,w=64)", "ribbon(r=8,tail=3,value_bits=1,w=64)", "ribbon(r=8,starts=65,w=64)",
	} {
		s, err := filter.ParseSpec(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ViewOf(s); err == nil {
			t.Errorf("a view of %s", text)
		}
	}
}
