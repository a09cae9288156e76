package container_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
)

// Filter files do not depend on the machine: one filter of each family, at three sizes, has the same bytes on every
// processor and operating system. CI runs these tests on amd64, also without assembly, on 386, arm64, s390x and js/wasm.
//
// A line of files.txt has the spec, the number of keys, bytes and the SHA-256 of the content in hexadecimal. A line of
// sizes.txt has the name of a family and the SHA-256 of its files of TestSizesEverywhere.

var updateSums = flag.Bool("update-sums", false, "rewrite testdata/portable with the sums of this machine")

// sizes are the numbers of keys of the files.
var sizes = []int{100, 5_000, 60_000}

// variants are further specs of families of which one filter does not show all kinds of arithmetic.
var variants = []string{
	"blocked(fpr=0.01,layout=split)", "blockpartitioned(bits_per_key=12,block=1024,passes=2)",
	"fuse(width=13)", "rankindexed(fpr=0.01,growth=2)", "rankindexed(fpr=0.01,value_bits=9)",
}

// specs returns what each family is built with: its default form at 1%, of short searches.
func specs() (all []string) {
	for _, f := range families.All() {
		search := ""
		if f.Can.Has(family.CanSearch) {
			search = ",passes=2"
		}
		all = append(all, f.Name+"(fpr=0.01"+search+")")
	}
	return append(all, variants...)
}

func TestSameBytesEverywhere(t *testing.T) {
	var got []string
	for _, text := range specs() {
		t.Run(text, func(t *testing.T) {
			for _, n := range sizes {
				f := write(t, text, n)
				got = append(got, fmt.Sprintf("%s %d %d %x", text, n, len(f), sha256.Sum256(f)))
				read(t, f, text, n)
			}
		})
	}
	all := len(got) == len(specs())*len(sizes) // not with -run of a part
	compareLines(t, "testdata/portable/files.txt", got, all)
}

// TestSizesEverywhere is TestSameBytesEverywhere for small files of many odd sizes: a result of package math that
// reaches a file differs between machines for a few rates of a thousand only.
func TestSizesEverywhere(t *testing.T) {
	var got []string
	for _, f := range families.All() {
		if f.Can.Has(family.CanSearch) {
			continue // TestSameBytesEverywhere has the searches, which take longer
		}
		const n = 9
		sum, files := sha256.New(), 12
		if f.Name == "redisbloom" { // stores what it computes from the size
			files = 300
		}
		for i := range files {
			for _, size := range []string{
				fmt.Sprintf("fpr=%.6g", math.Ldexp(float64(1+i*i*i%1009)/1009, -1-i%20)),
				fmt.Sprintf("bits_per_key=%.6g", 3+float64(i*i*i%1009)/50),
			} {
				spec := f.Name + "(" + size + ")"
				if s, _ := parse(t, spec); f.Check(s) == nil { // not every family takes both
					sum.Write(write(t, spec, n))
				}
			}
		}
		got = append(got, fmt.Sprintf("%s %x", f.Name, sum.Sum(nil)))
	}
	compareLines(t, "testdata/portable/sizes.txt", got, true)
}

// compareLines requires a file to have each line of got, and no others if got is all of them.
func compareLines(t *testing.T, path string, got []string, all bool) {
	t.Helper()
	if *updateSums {
		if err := os.WriteFile(path, []byte(strings.Join(got, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSpace(string(text)), "\n")
	for _, line := range got {
		if !slices.Contains(want, line) {
			t.Errorf("not in %s: %s", path, line)
		}
	}
	if all && len(want) != len(got) {
		t.Errorf("%s has %d lines, want %d", path, len(want), len(got))
	}
}

// secret is the secret of the smallest file of each family, which has the keyed hash function.
var secret = filter.Secret{3, 1, 4, 1, 5, 9, 2, 6}

func hasher(t *testing.T, spec string, n int) filter.Hasher {
	s, f := parse(t, spec)
	var key *filter.Secret
	if n == sizes[0] && !f.Foreign() {
		key = &secret
	}
	h, err := f.Hasher(s, 0, 0, key)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func parse(t *testing.T, spec string) (filter.Spec, families.Family) {
	s, err := filter.ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	f, err := families.ByName(s.Family())
	if err != nil {
		t.Fatal(err)
	}
	return s, f
}

// key returns key i: eight bytes, lowest first.
func key(i int) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(i)*0x9E3779B97F4A7C15) }

// rawKeys is what filters that take raw keys have.
type rawKeys interface {
	AddKey(key []byte) error
	HasKey(key []byte) bool
}

// write returns the file of a filter of n keys.
func write(t *testing.T, spec string, n int) []byte {
	s, kind := parse(t, spec)
	h := hasher(t, spec, n)
	var made family.Filter
	if kind.Can.Has(family.CanRawKeys) {
		f, err := kind.New(s, uint64(n))
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if err := f.(rawKeys).AddKey(key(i)); err != nil {
				t.Fatal(err)
			}
		}
		made = f
	} else {
		b, err := kind.NewBuilder(s, uint64(n))
		if err != nil {
			t.Fatal(err)
		}
		hs := make([]filter.Hash, n)
		for i := range hs {
			hs[i] = h.Sum(key(i))
		}
		if err := b.AddMany(hs); err != nil {
			t.Fatal(err)
		}
		if made, err = b.Build(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return encode(t, made, h)
}

func encode(t *testing.T, f family.Filter, h filter.Hasher) []byte {
	t.Helper()
	e := f.(family.Encoder).Encode()
	_, kind := parse(t, e.Spec.String())
	var file bytes.Buffer
	if err := container.Write(&file, container.New(kind.ID, e, h)); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// read reads the file, checks that the filter has all keys and writes it again: the same bytes. Where the family has a
// trimmed form, that must lead back to the same file.
func read(t *testing.T, file []byte, spec string, n int) {
	t.Helper()
	h := hasher(t, spec, n)
	f := decode(t, file)
	if raw, ok := f.(rawKeys); ok {
		for i := range n {
			if !raw.HasKey(key(i)) {
				t.Fatalf("%d keys: key %d is missing", n, i)
			}
		}
	} else {
		for i := range n {
			if !f.Has(h.Sum(key(i))) {
				t.Fatalf("%d keys: key %d is missing", n, i)
			}
		}
	}
	if !bytes.Equal(encode(t, f, h), file) {
		t.Errorf("%d keys: read and written again, the file differs", n)
	}
	if trimmer, ok := f.(family.Trimmer); ok {
		if back := decode(t, encode(t, trimmer.Trimmed(), h)); !bytes.Equal(encode(t, back, h), file) {
			t.Errorf("%d keys: trimmed, read and written again, the file differs", n)
		}
	}
}

func decode(t *testing.T, file []byte) family.Filter {
	t.Helper()
	c, err := container.Read(bytes.NewReader(file), container.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := families.Decode(c.Encoded)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
