package bitsandblooms

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
	"github.com/bloomery/bloomery/internal/probe"
	"github.com/bloomery/bloomery/internal/stat"
	"github.com/bloomery/bloomery/internal/sums"
)

var hasher, _ = filter.ForeignHasher(filter.Murmur3Twice)

type sizes = probe.Config

func filled(t *testing.T, c Config, from, n int) *Filter {
	t.Helper()
	f, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if err := f.AddKey(fmt.Appendf(nil, "key %d", from+i)); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// other is a filter of another family.
type other struct{}

func (other) Has(filter.Hash) bool { return false }
func (other) Info() filter.Info    { return filter.Info{} }

// TestLaws checks the laws of the conformance suite, which tests only filters of hashes.
func TestLaws(t *testing.T) {
	for _, c := range []Config{
		{sizes{Keys: 2000}, 0}, {sizes{Keys: 2000, Size: family.Sizing{BitsPerKey: 4}}, 0}, {sizes{M: 20001, K: 12}, 0},
		{sizes{M: 20001, K: 3}, 30000}, {sizes{M: 9, K: 255}, 0}, {sizes{M: 1, K: 1}, 0},
		{sizes{M: 20001, K: 2}, 0}, {sizes{M: 20001, K: 6}, 0},
	} {
		f := filled(t, c, 0, 2000)
		if n := f.Info().Keys; n != 2000 {
			t.Fatalf("%d keys", n)
		}
		e := f.Encode()
		words, err := SectionWords(e.Spec)
		if err != nil || words[0] != uint64(len(e.Sections[0])) {
			t.Fatalf("%s: %v words, %v", e.Spec, words, err)
		}
		again, err := Decode(e)
		if err != nil || fmt.Sprint(again.Info()) != fmt.Sprint(f.Info()) {
			t.Fatalf("%s: decoded %v, %v", e.Spec, again, err)
		}
		for i := range 2000 {
			key := fmt.Appendf(nil, "key %d", i)
			if !again.HasKey(key) || !again.Has(hasher.Sum(key)) {
				t.Fatalf("%s: key %d is lost", e.Spec, i)
			}
		}
		var seen uint64
		const trials = 50_000
		for i := range trials {
			key := fmt.Appendf(nil, "absent %d", i)
			if f.HasKey(key) {
				seen++
				if !f.Has(hasher.Sum(key)) {
					t.Fatalf("%s: Has is no to a key that HasKey is yes to", e.Spec)
				}
			}
		}
		if tail := stat.UpperTail(seen, trials, f.Info().FPRPosterior); f.M > 1000 && (tail < 1e-5 || tail > 1-1e-5) {
			t.Errorf("%s: %d of %d absent keys, rate %g", e.Spec, seen, trials, f.Info().FPRPosterior)
		}
		key := []byte("a key that is longer than a block of 16 bytes")
		if n := testing.AllocsPerRun(100, func() { f.HasKey(key) }); n != 0 {
			t.Errorf("HasKey allocates %v times", n)
		}
		a, b := filled(t, c, 0, 1000), filled(t, c, 1000, 1000)
		if err := a.Merge(b, nil); err != nil || !slices.Equal(a.Words, f.Words) || a.Keys != f.Keys {
			t.Errorf("%s: merged is not built at once: %v", e.Spec, err)
		}
	}
}

// TestIntersect checks that the common keys remain, and that the set bits are the bits that are set in both filters.
func TestIntersect(t *testing.T) {
	c := Config{sizes{M: 20001, K: 5}, 20100}
	a, b := filled(t, c, 0, 1000), filled(t, c, 700, 900)
	want := slices.Clone(a.Words)
	for i := range want {
		want[i] &= b.Words[i]
	}
	if err := a.Intersect(b, nil); err != nil || !slices.Equal(a.Words, want) || a.Keys != 900 {
		t.Errorf("%v, %d keys", err, a.Keys)
	}
	for i := 700; i < 1000; i++ {
		if !a.HasKey(fmt.Appendf(nil, "key %d", i)) {
			t.Fatalf("key %d is lost", i)
		}
	}
}

// TestMismatch checks that nil, nil pointers and filters of another type or geometry are refused without a change.
func TestMismatch(t *testing.T) {
	a := filled(t, Config{sizes{M: 1000, K: 3}, 0}, 0, 50)
	before := slices.Clone(a.Words)
	small, more := filled(t, Config{sizes{M: 999, K: 3}, 0}, 0, 50), filled(t, Config{sizes{M: 1000, K: 4}, 0}, 0, 50)
	long := filled(t, Config{sizes{M: 1000, K: 3}, 2000}, 0, 50)
	for _, o := range []family.Filter{nil, (*Filter)(nil), (*other)(nil), &other{}, other{}, small, more, long} {
		if err := a.Merge(o, nil); !errors.Is(err, filter.ErrMismatch) {
			t.Errorf("Merge with %T: %v", o, err)
		}
		if err := a.Intersect(o, nil); !errors.Is(err, filter.ErrMismatch) {
			t.Errorf("Intersect with %T: %v", o, err)
		}
	}
	if !slices.Equal(a.Words, before) || a.Keys != 50 {
		t.Error("the filter changed")
	}
}

// TestHas checks that Has tests the probes that a Hash determines. With k=7 these are three: probes 0, 2 and 6.
func TestHas(t *testing.T) {
	f := filled(t, Config{sizes{Keys: 2000, K: 7}, 0}, 0, 2000)
	var seen uint64
	const trials = 50_000
	for i := range trials {
		if f.Has(hasher.Sum(fmt.Appendf(nil, "absent %d", i))) {
			seen++
		}
	}
	rate := math.Pow(f.Info().Fill, 3)
	if tail := stat.UpperTail(seen, trials, rate); tail < 1e-5 || tail > 1-1e-5 {
		t.Errorf("%d of %d, want a rate of %g", seen, trials, rate)
	}
}

// TestManyProbes checks that the rate is kept with more probes than the optimal number.
func TestManyProbes(t *testing.T) {
	for _, k := range []int{64, 65, MaxK} {
		c := Config{sizes{Keys: 1000, Size: family.Sizing{FPR: 0.01}, K: k}, 0}
		if bits, fpr, err := c.Forecast(1000); err != nil || fpr > 0.0101 || fpr < 0.0095 || bits < 19_000 {
			t.Errorf("%d probes: %d bits, rate %g, %v", k, bits, fpr, err)
		}
		if f, err := New(c); err != nil || f.K != k {
			t.Errorf("%d probes: %v, %v", k, f, err)
		}
	}
	for _, k := range []int{-1, MaxK + 1} {
		if _, err := New(Config{sizes{Keys: 10, K: k}, 0}); !errors.Is(err, filter.ErrConfig) {
			t.Errorf("%d probes: %v", k, err)
		}
	}
}

// TestInfoOfLongSet checks that bits that no probe reads, which occur in a filter made from words, do not count.
func TestInfoOfLongSet(t *testing.T) {
	s, _ := filter.ParseSpec("bitsandblooms(k=1,length=192,m=70)")
	f, err := Decode(family.Encoded{Spec: s, Sections: [][]uint64{{1<<35 - 1, ^uint64(63), ^uint64(0)}}})
	if err != nil {
		t.Fatal(err)
	}
	if i := f.Info(); i.Fill != 0.5 || i.FPRPosterior != 0.5 {
		t.Errorf("fill %g, rate %g; half of the bits that are read are set", i.Fill, i.FPRPosterior)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for text, words := range map[string][]uint64{
		"bitsandblooms(k=2,m=10)": {1 << 10}, "bitsandblooms(k=2,length=70,m=10)": {0, 1 << 6},
		"bitsandblooms(k=2,length=9,m=10)": {0}, "bitsandblooms(k=2,length=10,m=10)": {0},
		"bitsandblooms(k=0,m=10)":   {0},
		"bitsandblooms(k=256,m=10)": {0}, "bitsandblooms(k=2)": {0}, "bitsandblooms(fpr=0.1)": {0},
		"bitsandblooms(m=10)": {0}, "bitsandblooms(capacity=5,k=2,m=10)": {0},
		"bitsandblooms(fpr=0.1,k=2)": {0}, "bitsandblooms(k=2,length=4611686018427387904,m=10)": {0},
	} {
		s, err := filter.ParseSpec(text)
		if err != nil {
			t.Fatal(err)
		}
		if f, err := Decode(family.Encoded{Spec: s, Sections: [][]uint64{words}}); err == nil {
			t.Errorf("%s %x: %v", text, words, f)
		}
	}
}

// TestDocumented computes the example of docs/format/bitsandblooms.md.
func TestDocumented(t *testing.T) {
	f, err := New(Config{sizes{M: 400, K: 7}, 0})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		if err := f.AddKey(fmt.Appendf(nil, "key-%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"`" + f.Spec.String() + "`", filtertest.DocumentedWords(f.Words)}
	for _, key := range []string{"key-7", "key-40"} {
		q := sums.Murmur3Quarters([]byte(key))
		var at []uint64
		has := true
		for i := range uint64(f.K) {
			sum := [4]uint64{q[0] + i*q[2], q[1] + i*q[3], q[0] + i*q[3], q[1] + i*q[2]}[i%4]
			p := sum % f.M
			has = has && f.Words[p/64]>>(p%64)&1 == 1
			at = append(at, p)
		}
		if has != f.HasKey([]byte(key)) {
			t.Errorf("key %s is present: %v", key, !has)
		}
		want = append(want,
			fmt.Sprintf("\n| `%s` | %016x | %016x | %016x | %016x |\n", key, q[0], q[1], q[2], q[3]),
			fmt.Sprintf("\n| `%s` | %s | %s |\n", key, filtertest.DocumentedList(at),
				map[bool]string{false: "no", true: "yes"}[has]))
	}
	filtertest.Documented(t, "bitsandblooms.md", want...)
}
