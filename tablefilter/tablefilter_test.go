package tablefilter

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// specs lists every family and layout of blocks.
var specs = []string{
	"blocked(bits_per_key=10)", "blocked(fpr=0.01)", "blocked(bits_per_key=9,layout=split)", "blocked(bits_per_key=24)",
	"blockpartitioned(bits_per_key=10,effort=fast)", "blockpartitioned(bits_per_key=16,block=1024,effort=fast)",
	"blockpartitioned(fpr=0.01,effort=fast)", "partitioned(bits_per_key=10,effort=fast)",
	"partitioned(fpr=0.001,effort=fast)", "fuse(width=8)", "fuse(bits_per_key=12)", "fuse(width=13)",
	"ribbon(r=8)", "ribbon(fpr=0.01)", "ribbon(bits_per_key=10,w=128)",
}

// testKey returns key i of a set, which has 16 bytes. Sets with different names share no keys.
func testKey(set string, i int) []byte { return fmt.Appendf(nil, "%s%015d", set, i) }

func makeBlock(t testing.TB, spec string, n int) []byte {
	t.Helper()
	p, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	w := p.NewWriter()
	for i := range n {
		w.Add(testKey("k", i))
	}
	return w.Finish(nil)
}

// at returns a copy of b whose address is off bytes from a multiple of 8.
func at(b []byte, off int) []byte { return append(make([]byte, off, off+len(b)), b...)[off:] }

// TestBlocks checks that every key of a table is found at every alignment, that other keys are found at the rate of the
// filter, and that queries do not allocate.
func TestBlocks(t *testing.T) {
	for _, spec := range specs {
		for _, n := range []int{1, 2, 7, 63, 1000, 20_000} {
			block := makeBlock(t, spec, n)
			want := plain(t, spec, n)
			var copies [9][]byte
			for off := range copies {
				copies[off] = at(block, off)
			}
			hits, trials := 0, 20_000
			for i := range trials {
				key := testKey("a", i)
				got := MayContain(copies[i%9], key)
				if got {
					hits++
				}
				if want != nil && got != want.Has(hasher.Sum(key)) {
					t.Fatalf("%s, %d keys: the filter says %v for %s", spec, n, !got, key)
				}
			}
			for i := range n {
				if !MayContain(copies[i%9], testKey("k", i)) {
					t.Fatalf("%s, %d keys: key %d is missing, %d bytes off", spec, n, i, i%9)
				}
			}
			if n >= 1000 && float64(hits) > 0.03*float64(trials) {
				t.Errorf("%s, %d keys: %d of %d absent keys may be there", spec, n, hits, trials)
			}
			key := testKey("a", 0)
			if a := testing.AllocsPerRun(100, func() { MayContain(block, key) }); a != 0 {
				t.Errorf("%s, %d keys: %v allocations per query", spec, n, a)
			}
		}
	}
}

// plain returns the filter that the block of the keys must agree with, or nil if the family has no filter for so few
// keys.
func plain(t *testing.T, spec string, n int) family.Filter {
	p, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	b, err := p.family.NewBuilder(p.build, uint64(n))
	if err != nil {
		return nil
	}
	for i := range n {
		if err := b.AddMany([]filter.Hash{hasher.Sum(testKey("k", i))}); err != nil {
			t.Fatal(err)
		}
	}
	f, err := b.Build(context.Background())
	if err != nil {
		return nil
	}
	return f
}

// golden maps each spec to the checksum of its block of 1000 keys. Tables on disk contain such blocks, so they must not
// change.
var golden = map[string]string{
	"blocked(bits_per_key=10)":                                 "1288 37dc7b11dee",
	"blocked(fpr=0.01)":                                        "1352 7c7312bfcf3",
	"blocked(bits_per_key=9,layout=split)":                     "1160 a18887a9f37",
	"blocked(bits_per_key=24)":                                 "3016 752d6a730d0",
	"blockpartitioned(bits_per_key=10,effort=fast)":            "1288 7da59a5ca94",
	"blockpartitioned(bits_per_key=16,block=1024,effort=fast)": "2056 98a98b30a81",
	"blockpartitioned(fpr=0.01,effort=fast)":                   "1096 8e537cd3fe1",
	"partitioned(bits_per_key=10,effort=fast)":                 "1271 21aabcf9d1c",
	"partitioned(fpr=0.001,effort=fast)":                       "1448 17a994b4dcb",
	"fuse(width=8)":                                            "1428 178494d3fba",
	"fuse(bits_per_key=12)":                                    "1428 178494d3fba",
	"fuse(width=13)":                                           "2308 bbeb846aa65",
	"ribbon(r=8)":                                              "1037 a500195bb8e",
	"ribbon(fpr=0.01)":                                         "887 a766dbed727d",
	"ribbon(bits_per_key=10,w=128)":                            "1266 bbd6d102073",
}

func TestGolden(t *testing.T) {
	for _, spec := range specs {
		block := makeBlock(t, spec, 1000)
		sum := fmt.Sprintf("%d %x", len(block), sha256.Sum256(block))[:16]
		if sum != golden[spec] {
			t.Errorf("%q: %q,", spec, sum)
		}
	}
}

// TestWriter reuses a writer, adds keys twice and goes beyond MaxKeys.
func TestWriter(t *testing.T) {
	p, err := New("blockpartitioned(bits_per_key=10,effort=fast)")
	if err != nil {
		t.Fatal(err)
	}
	p.MaxKeys = 10_000
	w := p.NewWriter()
	var first []byte
	for range 2 {
		for i := range 10_000 {
			w.Add(testKey("k", i))
			w.Add(testKey("k", i))
		}
		block := w.Finish([]byte("before"))
		if string(block[:6]) != "before" {
			t.Fatal("Finish changed what stood before")
		}
		if first == nil {
			first = block
		}
		if string(block) != string(first) {
			t.Fatal("a second table with the same keys has another block")
		}
	}
	if bits := 8 * float64(len(first)) / 10_000; bits > 10.1 {
		t.Errorf("%.2f bits per key", bits)
	}
	for i := range 10_001 {
		w.Add(testKey("k", i))
	}
	none := w.Finish(nil)
	if len(none) != tailSize || !MayContain(none, testKey("a", 0)) {
		t.Errorf("beyond MaxKeys: %x", none)
	}
	if none = w.Finish(nil); len(none) != tailSize || !MayContain(none, nil) {
		t.Errorf("without keys: %x", none)
	}
	w.Add(nil) // the empty key
	if block := w.Finish(nil); !MayContain(block, nil) || MayContain(block, []byte("a")) {
		t.Errorf("the empty key: %x", block)
	}
}

// TestSmall checks that there is a filter even if the family of the policy has none for so few keys.
func TestSmall(t *testing.T) {
	for spec, n := range map[string]int{"fuse(bits_per_key=1)": 1000, "partitioned(bits_per_key=1,effort=fast)": 1} {
		block := makeBlock(t, spec, n)
		if kind := block[len(block)-2]; kind != kindBlocked {
			t.Errorf("%s: kind %d", spec, kind)
		}
		for i := range n {
			if !MayContain(block, testKey("k", i)) {
				t.Fatalf("%s: key %d is missing", spec, i)
			}
		}
	}
}

// TestDamaged checks that truncated and changed blocks do not cause panics, and that an undamaged body with a changed
// tail loses no key unless the tail is valid for another filter.
func TestDamaged(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	key := testKey("k", 5)
	for _, spec := range specs {
		block := makeBlock(t, spec, 300)
		for n := range len(block) {
			MayContain(block[:n:n], key)
			MayContain(block[n:], key)
		}
		for range 20_000 {
			b := at(block, rnd.IntN(8))
			for range 1 + rnd.IntN(3) {
				b[len(b)-1-rnd.IntN(min(len(b), 24))] = byte(rnd.Uint32())
			}
			MayContain(b[:len(b):len(b)], key)
		}
		for _, damage := range []func(b []byte){
			func(b []byte) { b[len(b)-1] = 2 },   // version
			func(b []byte) { b[len(b)-1] = 0 },   // version
			func(b []byte) { b[len(b)-2] = 99 },  // kind
			func(b []byte) { b[len(b)-8] = 255 }, // k or segment
			func(b []byte) { b[len(b)-8] = 0 },   // k; a segment of one slot
			func(b []byte) { b[len(b)-3] = 1 },   // spare
		} {
			b := at(block, 0)
			damage(b)
			if b[len(b)-8] == block[len(b)-8] || b[len(b)-2] != kindFuse {
				for i := range 300 {
					if !MayContain(b, testKey("k", i)) {
						t.Fatalf("%s: tail %x: a key is missing", spec, b[len(b)-8:])
					}
				}
			}
		}
		if !MayContain(block[1:], testKey("a", 1)) {
			t.Errorf("%s: a block without its first byte answers", spec)
		}
	}
}

// TestShapes fills the table of shapes with forged tails and checks that answers do not change.
func TestShapes(t *testing.T) {
	var tab table
	for k := range 33 {
		for width := range 7 {
			for groups := range 20 {
				for size := range 4 {
					tail := uint64(k) | uint64(width)<<8 | uint64(groups)<<16 | uint64(size)<<32 | kindBlockpartitioned<<48
					s := tab.lookUp(tail)
					if s != nil && (s.tail != tail || s != tab.lookUp(tail)) {
						t.Fatalf("tail %x: shape of %x", tail, s.tail)
					}
				}
			}
		}
	}
	for _, spec := range specs[:7] {
		block := makeBlock(t, spec, 100)
		tail := binary.LittleEndian.Uint64(block[len(block)-8:])
		if s := tab.lookUp(tail); s == nil || s.tail != tail {
			t.Errorf("%s: no shape", spec)
		}
	}
}

func FuzzMayContain(f *testing.F) {
	seeds := 0
	for _, spec := range specs {
		for _, n := range []int{1, 50} {
			f.Add(makeBlock(f, spec, n), testKey("k", 0))
			seeds++
		}
	}
	if seeds == 0 {
		f.Fatal("no seeds")
	}
	f.Fuzz(func(t *testing.T, block, key []byte) {
		got := MayContain(block, key)
		if off := MayContain(at(block, 3), key); off != got {
			t.Errorf("%v, and %v three bytes off", got, off)
		}
	})
}

// TestRates bounds the rates of tables of 30,000 keys, with five standard errors of the trials.
func TestRates(t *testing.T) {
	const n, trials = 30_000, 200_000
	for spec, atMost := range map[string]float64{
		"blocked(bits_per_key=10)":                      0.0105,
		"blockpartitioned(bits_per_key=10,effort=fast)": 0.0042,
		"partitioned(bits_per_key=10,effort=fast)":      0.0030,
		"fuse(width=8)":                                 1.0 / 256,
		"ribbon(r=8)":                                   1.0 / 256,
	} {
		block, hits := makeBlock(t, spec, n), 0
		for i := range trials {
			if MayContain(block, testKey("a", i)) {
				hits++
			}
		}
		rate := float64(hits) / trials
		if rate > atMost+5*math.Sqrt(atMost/trials) {
			t.Errorf("%s: rate %.5f, want %.5f", spec, rate, atMost)
		}
		t.Logf("%s: %.2f bits per key, rate %.5f", spec, 8*float64(len(block))/n, rate)
	}
}
