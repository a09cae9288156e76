package keyio_test

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/bloomery/bloomery/internal/keyio"
)

// linesOfKeys returns text that compresses a little.
func linesOfKeys(from, to int) []byte {
	var b bytes.Buffer
	r := rand.New(rand.NewPCG(uint64(from), uint64(to)))
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, "%08x-%d.example\n", r.Uint32(), i)
	}
	return b.Bytes()
}

func gzipped(t *testing.T, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zstandard(t *testing.T, text []byte, o ...zstd.EOption) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil, o...)
	if err != nil {
		t.Fatal(err)
	}
	return w.EncodeAll(text, nil)
}

// TestCut: every cut of a compressed input is an error, unless what is left is nothing or ends with a whole member,
// which cannot be told from a whole file.
func TestCut(t *testing.T) {
	a, b := linesOfKeys(0, 60), linesOfKeys(60, 100)
	bz, err := hex.DecodeString(bzipped)
	if err != nil {
		t.Fatal(err)
	}
	skippable := append([]byte{0x50, 0x2a, 0x4d, 0x18, 5, 0, 0, 0}, "stuff"...)
	for name, members := range map[string][][]byte{
		"gzip":              {gzipped(t, a)},
		"gzip, two":         {gzipped(t, a), gzipped(t, b)},
		"gzip, empty first": {gzipped(t, nil), gzipped(t, b)},
		"zstd":              {zstandard(t, a)},
		"zstd, no checksum": {zstandard(t, a, zstd.WithEncoderCRC(false))},
		"zstd, two":         {zstandard(t, a), zstandard(t, b)},
		"zstd, skippable":   {skippable, zstandard(t, a), skippable},
		"bzip2":             {bz},
		"bzip2, two":        {bz, bz},
		"gzip, padded":      {gzipped(t, a), {0}, {0}, {0}},
	} {
		whole := bytes.Join(members, nil)
		ends := map[int]bool{0: true}
		at := 0
		for _, m := range members {
			at += len(m)
			ends[at] = true
		}
		for cut := range len(whole) + 1 {
			_, err := countKeys(t, whole[:cut])
			if text := cut < 4 && isText(whole[:cut]); (err == nil) != (ends[cut] || text) {
				t.Errorf("%s: %d of %d bytes: %v", name, cut, len(whole), err)
			}
		}
		// Bytes behind the last member are damage, too, and not silence.
		if n, err := countKeys(t, append(bytes.Clone(whole), 0x1f, 0x8b)); err == nil {
			t.Errorf("%s: half a member behind the last one: %d keys", name, n)
		}
	}
}

// isText reports whether so few bytes can be a key, such as "(" and "BZh".
func isText(head []byte) bool {
	return slices.Contains([]string{"\x1f", "(", "P", "P*", "P*M", "B", "BZ", "BZh"}, string(head))
}

func countKeys(t *testing.T, data []byte) (uint64, error) {
	t.Helper()
	in, err := keyio.OpenReader("list", io.MultiReader(bytes.NewReader(data)), keyio.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return in.Count(t.Context())
}

// bzipped is 20 lines of the same kind, compressed by bzip2.
const bzipped = "" +
	"425a683931415926535938f4fa280000325980001000037fe03f0640403000d9b6114d3d27a3d4f5314d00636344c93d3480" +
	"0d4d31353d1a4f53d286940583f6fd4c0aadf89c9f1db994e176ea67a375c5df5b0c6677a21a4a795c048bf458222d95ca48" +
	"60a670eb106c9bed9dda6ab286988b5c1129a05acc9abf20dc25f4f2cac59e1f158596a84848b681e345505c233407c3eef7" +
	"062790fa1636f913642ad2a1a2a249058cef54b04b0845d293b357d02c0e157770e23c3dfd02c3e34ebccfa05848161e8161" +
	"c02c3f8bb9229c28481c7a7d1400"
