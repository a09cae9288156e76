package patch_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"testing"

	"github.com/bloomery/bloomery/exact"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/patch"
)

var update = flag.Bool("update", false, "write testdata")

// vector is an entry of testdata/vectors.json, for readers in other languages.
type vector struct {
	Name   string `json:"name"` // name of the files NAME.base, NAME.delta and NAME.target
	Method string `json:"method"`
	What   string `json:"what"`
	SHA256 string `json:"sha256"` // SHA-256 of the target
}

// vectorPair is a base and a target.
type vectorPair struct {
	name, what string
	method     patch.Method
	old, new   []byte
}

// changed removes keys from a filter and adds others.
func changed(t testing.TB, f family.Filter, gone, come []filter.Hash) {
	t.Helper()
	for _, h := range gone {
		must(t, f.(family.Remover).Remove(h))
	}
	for _, h := range come {
		must(t, f.(family.Adder).Add(h))
	}
}

// like returns a filter of the geometry and the shifts of another one.
func like(t testing.TB, f family.Filter, hs []filter.Hash) family.Filter {
	t.Helper()
	family, err := families.ByName(family.SpecOf(f).Family())
	must(t, err)
	b, err := family.NewBuilderLike(f)
	must(t, err)
	must(t, b.AddMany(hs))
	g, err := b.Build(context.Background())
	must(t, err)
	return g
}

// inverted returns a file with all bits of its first section inverted.
func inverted(t testing.TB, b []byte) []byte {
	t.Helper()
	m, err := container.ParseImage(bytes.Clone(b))
	must(t, err)
	for i := range m.Section(0) {
		m.Section(0)[i] ^= 0xff
	}
	m.Seal()
	return m.Bytes
}

// vectorPairs returns a small base and target for each method, mode and flag.
func vectorPairs(t testing.TB) (all []vectorPair) {
	add := func(name string, m patch.Method, what string, old, new []byte) {
		all = append(all, vectorPair{name, what, m, old, new})
	}
	some := hashes(7, 0, 1000)
	other := hashes(7, 10, 1010)
	const standard = "standard(k=7,m=9600)"
	add("whole", patch.Whole, "another seed", build(t, standard, 7, some), build(t, standard, 8, hashes(8, 0, 1000)))
	add("same", patch.Bits, "equal files", build(t, standard, 7, some), build(t, standard, 7, some))
	add("gaps", patch.Bits, "mode 2; flags 4, 5 and 7", encode(t, built(t, standard, some)),
		encode(t, built(t, standard, hashes(7, 3, 1002)), func(c *container.File) { c.FPRPlanned = 0.01 }))
	const blocked = "blocked(blocks=40,k=7,layout=line)"
	add("blocks", patch.Bits, "mode 3", build(t, blocked, 7, some), build(t, blocked, 7, hashes(7, 3, 1003)))
	for _, c := range []struct{ name, spec string }{
		{"partitioned", "partitioned(bits_per_key=8,effort=fast)"},
		{"blockpartitioned", "blockpartitioned(bits_per_key=8,effort=fast)"},
	} {
		f := built(t, c.spec, some)
		add(c.name, 0, "several sections, the shifts of the base", encode(t, f), encode(t, like(t, f, other)))
		add(c.name+"-new", 0, "the shifts of the base, other keys", encode(t, f),
			encode(t, like(t, f, hashes(7, 2000, 3000))))
	}
	last := all[len(all)-2].old
	add("raw", patch.Bits, "mode 1 and mode 0; the target is no valid filter", last, inverted(t, last))
	add("spec", patch.Cells, "another spec; flags 4 and 6", build(t, blocked, 7, some),
		build(t, "blocked(blocks=40,k=8,layout=line)", 7, hashes(7, 3, 1002)))
	const counting = "counting(k=4,m=6400)"
	f := built(t, counting, some)
	before := encode(t, f)
	changed(t, f, some[:10], append(hashes(7, 1000, 1010), some[20], some[20]))
	add("cells", patch.Cells, "mode 4 with cells of 4 bits, all lists", before, encode(t, f))
	f = built(t, standard, some)
	before = encode(t, f)
	changed(t, f, nil, hashes(7, 1000, 1030))
	add("added", patch.Cells, "mode 4 with cells of 1 bit", before, encode(t, f))

	const room = ",capacity=1010,fpr=0.01"
	for _, c := range []struct{ name, spec, what string }{
		{"rank", "rankindexed(bucket=512" + room + ")", "extensions"},
		{"counters", "rankindexed(bucket=512" + room + ",counting=1)", "counters"},
		{"values", "rankindexed(bucket=512" + room + ",value_bits=9)", "values"},
		{"growth", "rankindexed(bucket=512" + room + ",growth=2)", "growth"},
		{"levels", "rankindexed(buckets=6,capacity=1010,cells=130,cells2=30,cells3=60,chains=300,pool2=6,pool3=6," +
			"remainder=6)", "extensions of both levels"},
		{"long", "rankindexed(buckets=6,capacity=1010,cells=300,chains=300,remainder=47)",
			"remainders that are longer than their part in the list"},
	} {
		f := built(t, c.spec, some)
		before, short := encode(t, f), encode(t, trimmed(f))
		add(c.name+"-fresh", patch.Replay, c.what+", target built anew", before, encode(t, like(t, f, other)))
		changed(t, f, some[:40], append(hashes(7, 1000, 1045), some[100], some[100]))
		if c.name == "values" {
			must(t, f.(family.Valuer).Upsert(some[500], 77))
		}
		add(c.name, patch.Replay, c.what+", keys removed and added", before, encode(t, f))
		add(c.name+"-trimmed", patch.Replay, c.what+", trimmed", short, encode(t, trimmed(f)))
	}
	old, new, rebuilt := exactSets(t)
	add("exact/append", patch.Append, "an exact set with an update", old, new)
	add("exact/same", patch.Append, "equal exact sets", new, new)
	add("exact/whole", patch.Whole, "an exact set that was built anew", new, rebuilt)
	return all
}

// exactSets returns an exact set, the set with an update, and a set that is built from the members after the update.
func exactSets(t testing.TB) (old, new, rebuilt []byte) {
	t.Helper()
	keys := func(from, to int) iter.Seq[[]byte] {
		return func(yield func([]byte) bool) {
			for i := from; i < to && yield(fmt.Appendf(nil, "key %d", i)); i++ {
			}
		}
	}
	a, err := exact.Build(t.Context(), keys(0, 50), keys(0, 1000), exact.Config{})
	must(t, err)
	b, err := exact.Build(t.Context(), keys(2, 53), keys(0, 1000), exact.Config{Base: a})
	must(t, err)
	c, err := exact.Build(t.Context(), keys(2, 53), keys(0, 1000), exact.Config{})
	must(t, err)
	var files [3][]byte
	for i, s := range []*exact.Set{a, b, c} {
		var b bytes.Buffer
		if _, err := s.WriteTo(&b); err != nil {
			t.Fatal(err)
		}
		files[i] = b.Bytes()
	}
	return files[0], files[1], files[2]
}

// built returns a filter with the spec of a builder.
func built(t testing.TB, spec string, hs []filter.Hash) family.Filter {
	t.Helper()
	m, _, err := container.FromBytes(build(t, spec, 7, hs), container.Options{})
	must(t, err)
	f, err := families.Decode(m.Encoded)
	must(t, err)
	return f
}

func trimmed(f family.Filter) family.Filter {
	return f.(interface{ Trimmed() family.Filter }).Trimmed()
}

// TestVectors compares testdata with the deltas that Diff returns for the same pairs, and applies them. Deltas of exact
// sets are in a separate folder.
func TestVectors(t *testing.T) {
	folders := map[string][]vectorPair{}
	for _, p := range vectorPairs(t) {
		folder := filepath.Join("testdata", filepath.Dir(p.name))
		p.name = filepath.Base(p.name)
		folders[folder] = append(folders[folder], p)
	}
	if *update {
		entries, err := os.ReadDir("testdata")
		must(t, err)
		for _, entry := range entries {
			if entry.Name() == "fuzz" { // inputs found by the fuzzer cannot be regenerated
				continue
			}
			must(t, os.RemoveAll(filepath.Join("testdata", entry.Name())))
		}
	}
	for folder, pairs := range folders {
		compareVectors(t, folder, pairs)
	}
}

func compareVectors(t *testing.T, folder string, pairs []vectorPair) {
	same := func(name string, b []byte) {
		t.Helper()
		path := filepath.Join(folder, name)
		if *update {
			must(t, errors.Join(os.MkdirAll(folder, 0o777), os.WriteFile(path, b, 0o666)))
		}
		if was, err := os.ReadFile(path); err != nil || !bytes.Equal(was, b) {
			t.Errorf("%s differs from what is made now: %v; -update writes it", path, err)
		}
	}
	var list []vector
	for _, p := range pairs {
		d := checkPair(t, p.old, p.new)
		i, err := patch.Read(d)
		if err != nil || p.method != 0 && i.Method != p.method {
			t.Errorf("%s: method %v, %v", p.name, i.Method, err)
		}
		sum := sha256.Sum256(p.new)
		list = append(list, vector{p.name, i.Method.String(), p.what, hex.EncodeToString(sum[:])})
		same(p.name+".base", p.old)
		same(p.name+".target", p.new)
		same(p.name+".delta", d)
		t.Log(p.name, i.Method, len(p.new), len(d))
	}
	var text bytes.Buffer
	text.WriteString("[")
	for i, v := range list {
		line, err := json.Marshal(v)
		must(t, err)
		if i > 0 {
			text.WriteByte(',')
		}
		fmt.Fprintf(&text, "\n  %s", line)
	}
	text.WriteString("\n]\n")
	same("vectors.json", text.Bytes())
	if all, err := filepath.Glob(filepath.Join(folder, "*.*")); err != nil || len(all) != 3*len(list)+1 {
		t.Errorf("%s: %d files for %d vectors: %v", folder, len(all), len(list), err)
	}
}
