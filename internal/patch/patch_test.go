package patch_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/patch"
)

// hashes returns the hashes of the keys from, ..., to-1 of a seed.
func hashes(seed uint64, from, to int) []filter.Hash {
	h := filter.NewHasher(seed)
	hs := make([]filter.Hash, 0, to-from)
	for i := from; i < to; i++ {
		hs = append(hs, h.Sum(fmt.Appendf(nil, "key-%d", i)))
	}
	return hs
}

// must ends the test if err is not nil.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// read returns the content of a file.
func read(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	return b
}

// file returns the Version of a file.
func file(b []byte) patch.Version { return patch.Version{File: b} }

// encode returns the file of a filter with hash seed 7, after the changes.
func encode(t testing.TB, f family.Filter, changes ...func(*container.File)) []byte {
	t.Helper()
	e := f.(family.Encoder).Encode()
	family, err := families.ByName(e.Spec.Family())
	must(t, err)
	c := container.New(family.ID, e, filter.NewHasher(7))
	for _, change := range changes {
		change(c)
	}
	var b bytes.Buffer
	must(t, container.Write(&b, c))
	return b.Bytes()
}

// build returns the file of a filter built from keys.
func build(t testing.TB, spec string, seed uint64, hs []filter.Hash) []byte {
	t.Helper()
	s, err := filter.ParseSpec(spec)
	must(t, err)
	family, err := families.ByName(s.Family())
	must(t, err)
	b, err := family.NewBuilder(s, uint64(len(hs)))
	must(t, err)
	must(t, b.AddMany(hs))
	f, err := b.Build(context.Background())
	must(t, err)
	return encode(t, f, func(c *container.File) { c.Seed = seed })
}

// checkPair makes a delta and applies it. It returns the delta.
func checkPair(t testing.TB, old, new []byte) []byte {
	t.Helper()
	d, err := patch.Diff(context.Background(), file(old), file(new))
	must(t, err)
	was := bytes.Clone(old)
	got, err := patch.Patch(context.Background(), file(old), d, 0, nil)
	if err != nil || !bytes.Equal(got, new) {
		i, _ := patch.Read(d)
		t.Fatalf("delta of %d bytes, %v: %v", len(d), i.Method, err)
	}
	if !bytes.Equal(was, old) {
		t.Fatal("Patch changed its argument")
	}
	return d
}

// TestFamilies checks deltas between filters of many specs of which some keys differ.
func TestFamilies(t *testing.T) {
	for _, c := range []struct {
		spec   string
		method patch.Method
	}{
		{"standard(k=7,m=96003)", patch.Bits},
		{"blocked(blocks=200,k=7,layout=line)", patch.Bits},
		{"blocked(blocks=400,k=8,layout=split)", patch.Bits},
		{"counting(k=7,m=96003)", patch.Cells},
		{"rankindexed(capacity=10200,fpr=0.01)", patch.Replay},
		{"rankindexed(bucket=512,capacity=10200,fpr=0.01)", patch.Replay},
		{"rankindexed(capacity=10200,counting=1,fpr=0.01)", patch.Replay},
		{"rankindexed(capacity=10200,fpr=0.01,value_bits=9)", patch.Replay},
		{"rankindexed(capacity=10200,fpr=0.01,growth=3)", patch.Replay},
		{"fuse(width=8)", patch.Bits},
	} {
		t.Run(c.spec, func(t *testing.T) {
			old := build(t, c.spec, 7, hashes(7, 0, 10000))
			for _, change := range []int{0, 1, 20, 1000, 10000} {
				d := checkPair(t, old, build(t, c.spec, 7, hashes(7, change, 10000+change)))
				t.Log(change, len(old), len(d))
				if i, err := patch.Read(d); err != nil || change == 20 && i.Method != c.method {
					t.Errorf("%d keys: method %v: %v", change, i.Method, err)
				}
			}
			d := checkPair(t, old, build(t, c.spec, 8, hashes(8, 0, 10000)))
			if i, _ := patch.Read(d); i.Method != patch.Whole {
				t.Errorf("another seed: method %v", i.Method)
			}
		})
	}
}

// TestSections compares the modes of a section for random changes: of single bits, of bits in few blocks, of cells.
func TestSections(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	base := build(t, "standard(k=7,m=96003)", 7, hashes(7, 0, 10000))
	m, err := container.ParseImage(base)
	must(t, err)
	for range 300 {
		head := m.Bytes[:container.HeadSize]
		to, err := container.NewImage(head, m.Spec, []uint64{m.Sections[0].Bytes}, 1<<30)
		must(t, err)
		b := to.Section(0)
		copy(b, m.Section(0))
		for range 1 << r.IntN(12) {
			switch r.IntN(3) {
			case 0:
				b[r.IntN(len(b))] ^= 1 << r.IntN(8)
			case 1:
				b[r.IntN(len(b)/64)*64%1000] ^= byte(r.Uint32())
			case 2:
				b[r.IntN(len(b))]++
			}
		}
		to.Seal()
		checkPair(t, base, to.Bytes)
	}
}

// withExceptions returns the file of a filter with exceptions of the given number of words.
func withExceptions(t testing.TB, f family.Filter, words int, seed uint64) []byte {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	return encode(t, f, func(c *container.File) {
		for range words {
			c.Exceptions = append(c.Exceptions, r.Uint64())
		}
	})
}

// TestExceptions changes filters and their exceptions, a section that may appear, disappear or change its length. Only
// this section may be stored whole.
func TestExceptions(t *testing.T) {
	for _, spec := range []string{"standard(k=7,m=96003)", "rankindexed(capacity=10200,fpr=0.01)"} {
		f := built(t, spec, hashes(7, 0, 10000))
		g := like(t, f, hashes(7, 5, 10005))
		forms := [][2]family.Filter{{f, g}}
		if strings.HasPrefix(spec, "rank") {
			forms = append(forms, [2]family.Filter{trimmed(f), trimmed(g)})
		}
		for _, form := range forms {
			for _, c := range []struct{ before, after, most int }{
				{0, 20, 260}, {20, 0, 100}, {20, 20, 260}, {20, 31, 350},
			} {
				d := checkPair(t, withExceptions(t, form[0], c.before, 1), withExceptions(t, form[1], c.after, 2))
				if len(d) > c.most {
					t.Errorf("%s: %d to %d words: %d bytes", spec, c.before, c.after, len(d))
				}
			}
			d := checkPair(t, withExceptions(t, form[0], 20, 1), withExceptions(t, form[1], 20, 1))
			if len(d) > 100 {
				t.Errorf("%s, the same exceptions: %d bytes", spec, len(d))
			}
		}
	}
}

// BenchmarkDelta measures Diff and Patch for the changes of a day: 0.2% of a million keys are replaced by new ones.
func BenchmarkDelta(b *testing.B) {
	const n = 1_000_000
	ctx := context.Background()
	hs := hashes(7, 0, n+n/500)
	for _, c := range []struct{ name, spec string }{
		{"standard", "standard(k=7,m=9585059)"},
		{"blocked", "blocked(blocks=19400,k=6,layout=line)"},
		{"counting", "counting(k=7,m=9585059)"},
		{"rankindexed", "rankindexed(fpr=0.01)"},
		{"rankindexed-trimmed", "rankindexed(fpr=0.01)"},
	} {
		f := built(b, c.spec, hs[:n])
		g := like(b, f, hs[n/500:])
		old, new := encode(b, f), encode(b, g)
		if c.name == "rankindexed-trimmed" {
			old, new = encode(b, trimmed(f)), encode(b, trimmed(g))
		}
		from, to := patch.Version{File: old}, patch.Version{File: new}
		var d []byte
		b.Run("op=diff/family="+c.name+"/n=1e6", func(b *testing.B) {
			b.SetBytes(int64(len(new)))
			b.ReportAllocs()
			for b.Loop() {
				var err error
				if d, err = patch.Diff(ctx, from, to); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(d)), "delta-bytes")
		})
		b.Run("op=patch/family="+c.name+"/n=1e6", func(b *testing.B) {
			b.SetBytes(int64(len(new)))
			b.ReportAllocs()
			for b.Loop() {
				got, err := patch.Patch(ctx, from, d, 0, nil)
				if err != nil || !bytes.Equal(got, new) {
					b.Fatal(err)
				}
			}
		})
	}
}
