package container

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
)

// Filter files do not depend on the machine: testdata/files.txt and sizes.txt contain the SHA-256 of files that every
// processor and operating system must write. CI runs these tests on amd64, without assembly, on 386, arm64, s390x and
// js/wasm.

// portableSpecs returns the specs for each family: its default form at 1%, with short searches, and further specs for
// families with more kinds of arithmetic.
func portableSpecs() (all []string) {
	for _, f := range families.All() {
		search := ""
		if f.Can.Has(family.CanSearch) {
			search = ",passes=2"
		}
		all = append(all, f.Name+"(fpr=0.01"+search+")")
	}
	return append(all, "blocked(fpr=0.01,layout=split)", "blockpartitioned(bits_per_key=12,block=1024,passes=2)",
		"fuse(width=13)", "rankindexed(fpr=0.01,growth=2)", "rankindexed(fpr=0.01,value_bits=9)")
}

// portableKeys returns n keys of eight bytes.
func portableKeys(n int) [][]byte {
	keys := make([][]byte, n)
	for i := range keys {
		keys[i] = binary.LittleEndian.AppendUint64(nil, uint64(i)*0x9E3779B97F4A7C15)
	}
	return keys
}

// portableSecret is the secret of the smallest file of each family, which uses the keyed hash function.
var portableSecret = filter.Secret{3, 1, 4, 1, 5, 9, 2, 6}

// portableFile returns the file of a filter of the keys.
func portableFile(t *testing.T, text string, keys [][]byte) []byte {
	t.Helper()
	f, s := parseSpec(t, text)
	h := filter.NewHasher(0)
	switch {
	case f.Foreign():
		h = foreign(t, f.Hash)
	case len(keys) == 100:
		h = filter.NewKeyedHasher(portableSecret)
	}
	return written(t, fill(t, f, s, h, keys), h, 0)
}

// TestSameBytesEverywhere writes a file of each family at three sizes, reads it, writes it again, and checks that the
// bytes are the same.
func TestSameBytesEverywhere(t *testing.T) {
	var lines strings.Builder
	for _, text := range portableSpecs() {
		for _, n := range []int{100, 5_000, 60_000} {
			keys := portableKeys(n)
			file := portableFile(t, text, keys)
			fmt.Fprintf(&lines, "%s %d %d %x\n", text, n, len(file), sha256.Sum256(file))

			got, err := readFilter(bytes.NewReader(file), limit, reading{&portableSecret})
			if err != nil {
				t.Fatalf("%s, %d keys: %v", text, n, err)
			}
			raw, isRaw := got.Filter.(family.RawKeyFilter)
			for i, k := range keys {
				if isRaw && !raw.HasKey(k) || !got.Filter.Has(got.Hasher.Sum(k)) {
					t.Fatalf("%s, %d keys: key %d is missing", text, n, i)
				}
			}
			if again, err := asRead(got); err != nil || !bytes.Equal(again, file) {
				t.Errorf("%s, %d keys: read and written again, the file differs: %v", text, n, err)
			}
		}
	}
	compare(t, "testdata/files.txt", []byte(lines.String()))
}

// TestSizesEverywhere is TestSameBytesEverywhere for small files of many odd sizes: a result of package math that
// affects a file may differ between machines for only a few rates in a thousand.
func TestSizesEverywhere(t *testing.T) {
	var lines strings.Builder
	for _, f := range families.All() {
		if f.Can.Has(family.CanSearch) {
			continue // TestSameBytesEverywhere tests the searches, which take longer
		}
		sum, files := sha256.New(), 12
		if f.Name == "redisbloom" { // redisbloom stores values that it computes from the size
			files = 300
		}
		for i := range files {
			for _, size := range []string{
				fmt.Sprintf("fpr=%.6g", math.Ldexp(float64(1+i*i*i%1009)/1009, -1-i%20)),
				fmt.Sprintf("bits_per_key=%.6g", 3+float64(i*i*i%1009)/50),
			} {
				text := f.Name + "(" + size + ")"
				if _, s := parseSpec(t, text); f.Check(s) == nil { // not every family supports both
					sum.Write(portableFile(t, text, portableKeys(9)))
				}
			}
		}
		fmt.Fprintf(&lines, "%s %x\n", f.Name, sum.Sum(nil))
	}
	compare(t, "testdata/sizes.txt", []byte(lines.String()))
}
