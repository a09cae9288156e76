package container

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/except"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// The files of testdata/vectors are for readers in other languages: keys with their hash, the positions that a query
// reads, and the answer. Each has the layout of vectorFile, one key on a line, and numbers of 64 bits as text.
//
// "positions" are the positions that the page of the family, docs/format/FAMILY.md, defines, in its order. They come
// from plain, which calls no code of the families, and the test compares its answers with the answers of the families.

// vectorFile is the JSON of a file of vectors.
type vectorFile struct {
	// File is the path of the filter, from the folder of the JSON.
	File, Page, Spec, Hash, Seed, Secret, Form string
	Keys                                       []struct {
		Text, Bytes, Integer *string
		Hi, Lo               string
		Positions            []string
		Has, Saturated       bool
		// Excepted reports that only the exceptions make the key absent.
		Excepted     bool
		Count, Value *string
	}
}

// goldenKeys returns some of the keys of the golden files, and others.
func goldenKeys(number int) (held, absent []filtertest.VectorKey) {
	for i := 0; i < 40; i += 3 {
		held = append(held, filtertest.TextKey(fmt.Sprintf("key-%d", i)))
	}
	more, absent := filtertest.MixedKeys(number)
	return held, append(more, absent...)
}

func TestVectors(t *testing.T) {
	const dir = "testdata/vectors"
	want := map[string]bool{}
	check := func(path, name string, held, absent []filtertest.VectorKey) {
		want[name+".json"] = true
		t.Run(name, func(t *testing.T) {
			text := vectorsOf(t, dir, path, held, absent)
			compare(t, filepath.Join(dir, name+".json"), text)
			parses(t, text, len(held)+len(absent))
		})
	}
	for i, path := range glob(t, "testdata/*.bloom", 43) {
		held, absent := goldenKeys(i)
		if strings.HasSuffix(path, "-exceptions.bloom") {
			absent = append(exceptedKeys(t, path), absent[12:]...)
		}
		check(path, strings.TrimSuffix(filepath.Base(path), ".bloom"), held, absent)
	}
	for i, v := range vectorFilters {
		held, absent := v.held(i)
		path := filepath.Join(dir, v.name+".bloom")
		want[v.name+".bloom"] = true
		compare(t, path, v.make(t, held))
		if len(held) > 24 {
			held = held[:24]
		}
		if strings.Contains(v.name, "k64") || strings.Contains(v.name, "k255") { // many positions: 20 keys are enough
			held = held[:min(len(held), 10)]
			absent = absent[:20-len(held)]
		}
		if v.listed > 0 {
			absent = append(exceptedKeys(t, path), absent[12:]...)
		}
		check(path, v.name, held, absent)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !want[e.Name()] {
			t.Errorf("%s has %s, which no test writes", dir, e.Name())
		}
	}
}

// glob returns the files of a pattern, and fails the test if there are fewer than least.
func glob(t *testing.T, pattern string, least int) []string {
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) < least {
		t.Fatalf("%s: %d files, want at least %d: %v", pattern, len(paths), least, err)
	}
	return paths
}

// compare requires that the file has the given content. With -update it writes the file.
func compare(t *testing.T, path string, content []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	had, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(had, content) {
		at := 0
		for at < min(len(had), len(content)) && had[at] == content[at] {
			at++
		}
		t.Errorf("%s differs from what the test writes from byte %d on, %.100q: -update writes it, if the change is meant",
			path, at, content[at:])
	}
}

// vectorsOf returns the JSON of the vectors of a filter. All keys of held must be present.
func vectorsOf(t *testing.T, dir, path string, held, absent []filtertest.VectorKey) []byte {
	options := reading{Secret: &secret}
	got, err := readFilterFile(path, options)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := ReadFile(path, options.options(0)) // the raw words, also of a trimmed file
	if err != nil {
		t.Fatal(err)
	}
	p := newPlain(t, stored.Encoded)
	file, err := filepath.Rel(dir, path)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "{\n  \"file\": %q,\n", filepath.ToSlash(file))
	fmt.Fprintf(&b, "  \"page\": \"docs/format/%s.md\",\n", stored.Spec.Family())
	fmt.Fprintf(&b, "  \"spec\": %q,\n  \"hash\": %q,\n  \"seed\": \"%d\",\n", stored.Spec, stored.Hash, stored.Seed)
	if stored.Hash == filter.SipHash {
		fmt.Fprintf(&b, "  \"secret\": %q,\n", hex.EncodeToString(secret[:]))
	}
	if stored.Form != (filter.KeyForm{}) {
		fmt.Fprintf(&b, "  \"form\": %q,\n", stored.Form)
	}
	b.WriteString("  \"keys\": [")
	for i, k := range append(slices.Clone(held), absent...) {
		if form := stored.Form; form.Type != filter.KeyBytes && k.Kind == "integer" { // not every reader converts it
			k.Kind = "bytes"
			if k.Bytes, err = form.AppendUint64(nil, binary.LittleEndian.Uint64(k.Bytes)); err != nil {
				t.Fatal(err)
			}
		}
		v := vector{VectorKey: k, sum: k.Hash(got.Hasher)}
		v.positions = p.family.positions(p, k.Bytes, v.sum)
		if v.answer = p.family.answer(p, v.positions); v.has && excepts(stored.Exceptions, v.sum) {
			v.answer = answer{counts: v.counts, values: v.values, excepted: true}
		}
		agree(t, got.Filter, v)
		if i < len(held) && !v.has {
			t.Errorf("key %s %q of the filter is absent", k.Kind, k.Text())
		}
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString("\n    " + v.line())
	}
	b.WriteString("\n  ]\n}\n")
	return []byte(b.String())
}

// agree compares the answer of a vector with the answer of the family.
func agree(t *testing.T, f family.Filter, v vector) {
	t.Helper()
	has := f.Has(v.sum)
	if raw, ok := f.(family.RawKeyFilter); ok {
		has = raw.HasKey(v.Bytes)
	}
	if has != v.has {
		t.Errorf("%s %q: has %t by the positions %d, %t by the family", v.Kind, v.Text(), v.has, v.positions, has)
	}
	if v.excepted { // counts and values come from the filter without the exceptions
		return
	}
	if e, ok := f.(*except.Filter); ok {
		f = e.Main()
	}
	counter, counts := f.(family.Counter)
	if counts != v.counts {
		t.Fatalf("the family counts: %t, the reference: %t", counts, v.counts)
	}
	if counts {
		if n, saturated := counter.Count(v.sum); n != v.count || saturated != v.saturated {
			t.Errorf("%s %q: count %d, %t by the positions %d, %d, %t by the family",
				v.Kind, v.Text(), v.count, v.saturated, v.positions, n, saturated)
		}
	}
	valuer, ok := f.(family.Getter)
	if values := ok && valuer.ValueBits() > 0; values != v.values {
		t.Fatalf("the family has values: %t, the reference: %t", values, v.values)
	}
	if v.values {
		if value, ok := valuer.Get(v.sum); ok != v.hasValue || value != v.value {
			t.Errorf("%s %q: value %d, %t by the positions %d, %d, %t by the family",
				v.Kind, v.Text(), v.value, v.hasValue, v.positions, value, ok)
		}
	}
}

// parses requires that the text is JSON of vectorFile without other fields, and that it contains the given number of
// keys.
func parses(t *testing.T, text []byte, keys int) {
	var f vectorFile
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		t.Fatal(err)
	}
	if len(f.Keys) != keys || keys < 20 || keys > 60 {
		t.Errorf("%d keys of %d, want 20 to 60", len(f.Keys), keys)
	}
}

// vector is one key of a file of vectors.
type vector struct {
	filtertest.VectorKey
	sum       filter.Hash
	positions []uint64
	answer
}

// line returns the vector as JSON without a line end.
func (v vector) line() string {
	texts := make([]string, len(v.positions))
	for i, at := range v.positions {
		texts[i] = strconv.Quote(strconv.FormatUint(at, 10))
	}
	var b strings.Builder
	fmt.Fprintf(&b, `{%s, "positions": [%s], "has": %t`, v.JSON(v.sum), strings.Join(texts, ", "), v.has)
	if v.counts {
		fmt.Fprintf(&b, `, "count": "%d"`, v.count)
	}
	if v.excepted {
		b.WriteString(`, "excepted": true`)
	}
	if v.saturated {
		b.WriteString(`, "saturated": true`)
	}
	if v.hasValue {
		fmt.Fprintf(&b, `, "value": "%d"`, v.value)
	}
	b.WriteString("}")
	return b.String()
}
