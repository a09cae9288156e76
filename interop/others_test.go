package interop_test

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/interop"
)

// gobbed implements its own gob encoding, as a BloomFilter of bits-and-blooms does.
type gobbed []byte

func (e gobbed) GobEncode() ([]byte, error) { return e, nil }

// Store is what a ScalableCuckooFilter of seiflotfy/cuckoofilter encodes.
type Store struct {
	Bytes      [][]byte
	LoadFactor float32
}

// TestOthers checks that the errors for files that users mistake for filters name the kind of the file and give advice.
func TestOthers(t *testing.T) {
	gobOf := func(v any) string {
		var b bytes.Buffer
		check(t, gob.NewEncoder(&b).Encode(v))
		return b.String()
	}
	number := func(n uint64) string { return string(binary.LittleEndian.AppendUint64(nil, n)) }
	big := func(n uint64) string { return string(binary.BigEndian.AppendUint64(nil, n)) }
	words := func(n int) string { return strings.Repeat("\x01\x00\x80\x00\x00\x08\x00\x00", n) }
	cuckoo := number(100) + number(64) + number(0) + number(2) + "\x02\x00\x14\x00\x02\x00"
	for name, c := range map[string]struct {
		file, want, advice string
		sized              bool // recognised only by its size
	}{
		"gzip": {file: "\x1f\x8b\x08\x00" + words(20), want: "gzip", advice: "zcat"},
		"zstd": {file: "\x28\xb5\x2f\xfd" + words(20), want: "zstd", advice: "zstd -dc"},
		"Java": {file: "\xac\xed\x00\x05sr\x00\x2ccom.google" + words(20), want: "Java's serialization", advice: "writeTo"},
		"JSON": {file: `{"m":1000,"k":7,"b":"AAAAAAAAA+gAAAAA"}` + "\n", want: "JSON of bits-and-blooms",
			advice: "WriteTo"},
		"npm": {file: `{"type":"BloomFilter","_size":96,"_nbHashes":7}` + "\n", want: "npm", advice: "keys"},
		"xorfilter": {file: `{"Seed":1,"SegmentLength":4,"SegmentLengthMask":3}` + "\n", want: "JSON",
			advice: "Save of xorfilter"},
		"array":      {file: "[\n  [1, 2], [3, 4], [5, 6, 7]]\n", want: "JSON", advice: "WriteTo"},
		"pickle":     {file: "\x80\x04\x95\x20\x00\x00\x00\x00\x00\x00\x00\x8c" + words(4), want: "pickle", advice: "Python"},
		"gob":        {file: gobOf(gobbed(file(t, "bitsandblooms"))), want: "gob", advice: "WriteTo"},
		"gob struct": {file: gobOf(struct{ M, K uint64 }{1000, 7}), want: "gob", advice: "WriteTo"},
		"little endian": {file: big(640) + big(7) + number(640) + words(10), want: "little endian",
			advice: "bitset.BigEndian()"},
		"bit set": {file: big(640) + words(10), want: "bit set", advice: "BloomFilter", sized: true},
		"bit set, little endian": {file: number(640) + words(10), want: "bit set", advice: "BloomFilter",
			sized: true},
		"cuckoofilter": {file: strings.Repeat("\xbe\x89\x93\xee\x74\x1e\xf7\x00", 128), want: "cuckoofilter, which",
			advice: "rankindexed", sized: true},
		"scalable": {file: gobOf(Store{Bytes: [][]byte{{1, 2, 3, 0}}}), want: "ScalableCuckooFilter",
			advice: "rankindexed"},
		"CF.SCANDUMP": {file: cuckoo + strings.Repeat("x", 64*2+64*2*2), want: "cuckoo", advice: "rankindexed", sized: true},
	} {
		_, err := interop.Detect(strings.NewReader(c.file), int64(len(c.file)))
		check := func(how string, err error) {
			t.Helper()
			if text := err.Error(); !errors.Is(err, interop.ErrFormat) || !strings.Contains(text, c.want) ||
				!strings.Contains(text, c.advice) {
				t.Errorf("%s: %s: %v, want %s and %s", name, how, err, c.want, c.advice)
			}
		}
		if err == nil {
			t.Errorf("%s: it is a filter", name)
			continue
		}
		check("Detect", err)
		if c.sized {
			continue
		}
		if _, err := interop.Read(strings.NewReader(c.file), interop.BitsAndBlooms, 1<<20); err != nil {
			check("Read", err)
		} else {
			t.Errorf("%s: bits-and-blooms reads it", name)
		}
	}
	// Truncated filters must not be mistaken for other files.
	for _, g := range golden {
		b := file(t, g.name)
		for n := 14; n < min(len(b), 200); n++ {
			_, err := interop.Detect(bytes.NewReader(b[:n]), int64(n))
			if err != nil && strings.Contains(err.Error(), "known one: it looks like") {
				t.Errorf("%s, %d bytes: %v", g.name, n, err)
			}
		}
	}
}
