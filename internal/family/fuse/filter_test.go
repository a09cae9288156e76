package fuse

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"testing"

	"github.com/FastFilter/xorfilter"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
	"github.com/bloomery/bloomery/internal/stat"
)

func build(t testing.TB, spec string, hs []filter.Hash) *Filter {
	t.Helper()
	return built(t, spec, hs).(*Filter)
}

func built(t testing.TB, spec string, hs []filter.Hash) family.Filter {
	t.Helper()
	s, err := filter.ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	c, err := ConfigFromSpec(s, uint64(len(hs)))
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewBuilder(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.AddMany(hs); err != nil {
		t.Fatal(err)
	}
	f, err := b.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestObservedRate checks 2^-width against random absent keys. The fingerprint consists of bits of the mixed key that
// the positions also use. An effect of this would be visible at widths above the 18 bits of a position within its
// segment.
func TestObservedRate(t *testing.T) {
	for _, width := range []uint{1, 2, 3, 5, 8, 11, 16, 17, 20} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			t.Parallel()
			trials := 1 << 20
			if width > 11 {
				trials = 1 << 24
			}
			if testing.Short() {
				trials = min(trials, 1<<20)
			}
			var seen uint64
			const seeds = 4
			for seed := range uint64(seeds) {
				f := build(t, fmt.Sprintf("fuse(width=%d)", width), filtertest.Hashes(30_000, seed))
				h := filter.NewHasher(seed)
				for i := range uint64(trials / seeds) {
					if f.Has(h.SumUint64(i)) {
						seen++
					}
				}
			}
			if tail := stat.UpperTail(seen, uint64(trials), FPR(width)); tail < 1e-6 || tail > 1-1e-6 {
				t.Errorf("%d false positives in %d, rate %g: tail %g", seen, trials, FPR(width), tail)
			}
		})
	}
}

// TestLibraryAgrees compares the answers with the library's own filter, at a width at which no bit is dropped.
func TestLibraryAgrees(t *testing.T) {
	hs := filtertest.Hashes(10_000, 1)
	keys := make([]uint64, len(hs))
	for i, h := range hs {
		keys[i] = h.Lo
	}
	f := build(t, "fuse(width=8)", hs)
	lib, err := xorfilter.PopulateBinaryFuse8(keys)
	if err != nil {
		t.Fatal(err)
	}
	if slots := f.slotCount(); slots != uint64(len(lib.Fingerprints)) || slots != Slots(10_000) {
		t.Errorf("%d slots, the library has %d, Slots says %d", slots, len(lib.Fingerprints), Slots(10_000))
	}
	if f.seed != lib.Seed {
		t.Fatalf("seed %d, the library has %d", f.seed, lib.Seed)
	}
	for _, h := range append(hs, filtertest.Hashes(100_000, 2)...) {
		if f.Has(h) != lib.Contains(h.Lo) {
			t.Fatalf("%#x: %v here, %v there", h.Lo, f.Has(h), lib.Contains(h.Lo))
		}
	}
}

func TestSlots(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 10, 33, 1000, 65_537, 300_000} {
		f := built(t, "fuse(width=4)", filtertest.Hashes(n, 9))
		if slots := f.Info().Bits / 4; slots != Slots(uint64(n)) {
			t.Errorf("%d keys: %d slots, Slots says %d", n, slots, Slots(uint64(n)))
		}
	}
}

func TestConfigErrors(t *testing.T) {
	for _, c := range []struct {
		c    Config
		want error
	}{
		{Config{Keys: MaxKeys + 1}, filter.ErrTooLarge},
		{Config{Width: 33}, filter.ErrConfig},
		{Config{Width: 8, Size: family.Sizing{FPR: 0.1}}, filter.ErrConfig},
		{Config{Keys: 1000, Size: family.Sizing{FPR: 1e-12}}, filter.ErrConfig},
		{Config{Keys: 1000, Size: family.Sizing{BitsPerKey: 1}}, filter.ErrConfig},
	} {
		if _, err := NewBuilder(c.c); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v", c.c, err)
		}
	}
	if _, width, err := (Config{Size: family.Sizing{FPR: 0.01}}).Geometry(1000); err != nil || width != 7 {
		t.Errorf("1%%: width %d, %v", width, err)
	}
}

// plain is a simple implementation of Has that reads the bits of the slots one by one.
func plain(f *Filter, h filter.Hash) bool {
	h0, h1, h2, print := f.slotsAndPrint(h.Lo)
	for bit := range uint64(f.width) {
		for _, slot := range []uint64{h0, h1, h2} {
			i := slot*uint64(f.width) + bit
			print ^= f.words[i/64] >> (i % 64) & 1 << bit
		}
	}
	return print&(1<<f.width-1) == 0
}

// TestHas compares single queries, batches, and the batches for filters larger than the caches with plain, for every
// width, and with a last batch that is not full.
func TestHas(t *testing.T) {
	hs := filtertest.Hashes(3000, 5)
	all := append(slices.Clone(hs), filtertest.Hashes(3001, 6)...)
	for width := 1; width <= MaxWidth; width++ {
		f := build(t, fmt.Sprintf("fuse(width=%d)", width), hs)
		cached, far := make([]bool, len(all)), make([]bool, len(all))
		f.HasMany(cached, all)
		f.hasMany(far, all)
		for i, h := range all {
			want := plain(f, h)
			if one := f.Has(h); one != want || cached[i] != want || far[i] != want || i < len(hs) && !want {
				t.Fatalf("width %d, key %d: %v, in a batch %v and %v, want %v", width, i, one, cached[i], far[i], want)
			}
		}
	}
}

// TestLimit gathers keys in a file and checks that the filter is the same as from memory. Some keys are repeated, and
// some differ only in Hi, which is not used and which the library does not use either.
func TestLimit(t *testing.T) {
	hs := filtertest.Hashes(20_000, 6)
	for _, h := range hs[:5000] {
		hs = append(hs, h, filter.Hash{Hi: ^h.Hi, Lo: h.Lo})
	}
	hs = append(hs, filter.Hash{Hi: 1}, filter.Hash{Hi: 2})
	want := build(t, "fuse", hs)
	if want.keys != 20_001 {
		t.Errorf("%d keys", want.keys)
	}
	for _, memory := range []int64{1, 100 << 10, 1 << 40} {
		b, err := NewBuilder(Config{})
		if err != nil {
			t.Fatal(err)
		}
		b.SetOptions(family.BuildOptions{Memory: memory, Dir: t.TempDir()})
		for part := range slices.Chunk(hs, 700) {
			if err := b.AddMany(part); err != nil {
				t.Fatal(err)
			}
		}
		f, err := b.Build(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := f.(*Filter); got.seed != want.seed || got.keys != want.keys || !slices.Equal(got.words, want.words) {
			t.Errorf("%d bytes: another filter", memory)
		}
	}
	b, err := NewBuilder(Config{})
	if err != nil {
		t.Fatal(err)
	}
	b.SetOptions(family.BuildOptions{Memory: 1, Dir: filepath.Join(t.TempDir(), "none")})
	if err := b.AddMany(hs); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that does not exist: %v", err)
	}
	if _, err := b.Build(t.Context()); err == nil {
		t.Error("built without all keys")
	}
}

// TestDocumented computes the examples of docs/format/fuse.md.
func TestDocumented(t *testing.T) {
	hasher := filter.NewHasher(42)
	for _, width := range []uint{4, 13} {
		f := build(t, fmt.Sprintf("fuse(width=%d)", width), filtertest.DocumentedKeys(hasher))
		slot := func(i uint64) uint64 { return bitvec.Field(f.words, i*uint64(width), width) }
		want := []string{"`" + f.builtSpec().String() + "`"}
		if width == 4 {
			want = append(want, fmt.Sprintf("%x, the lowest 4 bits of word 0", slot(0)),
				fmt.Sprintf("of word 1, is %x.", slot(17)))
		} else {
			want = append(want, fmt.Sprintf("in word 16: %04x.", slot(78)))
		}
		want = append(want, filtertest.DocumentedWords(f.words))
		for _, key := range []string{"key-7", "key-40", "key-41"} {
			h := hasher.SumString(key)
			h0, h1, h2, print := f.slotsAndPrint(h.Lo)
			print &= f.low
			xor := slot(h0) ^ slot(h1) ^ slot(h2)
			if (xor == print) != f.Has(h) {
				t.Errorf("width %d: key %s is present: %v", width, key, f.Has(h))
			}
			start := fmt.Sprintf("| `%s` | ", key)
			if width == 4 {
				start += fmt.Sprintf("%016x | %016x | ", h.Lo, f.mixKey(h.Lo))
			}
			digits := int(width+3) / 4
			const row = "\n%s%d, %d, %d, %0*x | %0*x, %0*x, %0*x | %0*x | %s |\n"
			want = append(want, fmt.Sprintf(row, start, h0, h1, h2,
				digits, print, digits, slot(h0), digits, slot(h1), digits, slot(h2), digits, xor,
				map[bool]string{false: "no", true: "yes"}[xor == print]))
		}
		filtertest.Documented(t, "fuse.md", want...)
	}
}

// TestViewValid requires ViewOf and Valid to refuse the same geometries.
func TestViewValid(t *testing.T) {
	for _, v := range []*View{
		{}, {Segment: 4, Segments: 1}, {Segment: 3, Segments: 1, Width: 8}, {Segment: 4, Width: 8},
		{Segment: 1 << 19, Segments: 1, Width: 8}, {Segment: 4, Segments: 1<<30 + 1, Width: 8},
		{Segment: 4, Segments: 1, Width: 33},
	} {
		if v.Valid() {
			t.Errorf("%+v is valid", v)
		}
	}
	for _, s := range []filter.Spec{family.NewSpec("fuse"), newEmpty(8).Spec} {
		if _, err := ViewOf(s); err == nil {
			t.Errorf("a view of %v, which is not built or has no keys", s)
		}
	}
}
