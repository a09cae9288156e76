package keyio

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

// linesOfKeys returns text that compresses a little.
func linesOfKeys(from, to int) string {
	var b strings.Builder
	r := rand.New(rand.NewPCG(uint64(from), uint64(to)))
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, "%08x-%d.example\n", r.Uint32(), i)
	}
	return b.String()
}

// TestCut checks that every truncation of a compressed input is an error, unless it is empty or ends after a complete
// member, which looks like a complete file.
func TestCut(t *testing.T) {
	a, b := linesOfKeys(0, 60), linesOfKeys(60, 100)
	bz, err := hex.DecodeString(bzipped)
	if err != nil {
		t.Fatal(err)
	}
	unchecked, err := zstd.NewWriter(nil, zstd.WithEncoderCRC(false))
	if err != nil {
		t.Fatal(err)
	}
	const skippable = "\x50\x2a\x4d\x18\x05\x00\x00\x00stuff"
	for name, members := range map[string][]string{
		"gzip":              {gzipped(t, a)},
		"gzip, two":         {gzipped(t, a), gzipped(t, b)},
		"gzip, empty first": {gzipped(t, ""), gzipped(t, b)},
		"zstd":              {zstded(t, a)},
		"zstd, no checksum": {string(unchecked.EncodeAll([]byte(a), nil))},
		"zstd, two":         {zstded(t, a), zstded(t, b)},
		"zstd, skippable":   {skippable, zstded(t, a), skippable},
		"bzip2":             {string(bz)},
		"bzip2, two":        {string(bz), string(bz)},
		"gzip, padded":      {gzipped(t, a), "\x00", "\x00", "\x00"},
	} {
		whole := strings.Join(members, "")
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
		// Bytes after the last member must also be an error.
		if n, err := countKeys(t, whole+"\x1f\x8b"); err == nil {
			t.Errorf("%s: half a member behind the last one: %d keys", name, n)
		}
	}
}

// isText reports whether the few bytes of head can be a key, such as "(" and "BZh".
func isText(head string) bool {
	return slices.Contains([]string{"\x1f", "(", "P", "P*", "P*M", "B", "BZ", "BZh"}, head)
}

func countKeys(t *testing.T, data string) (uint64, error) {
	t.Helper()
	in, err := OpenReader("list", strings.NewReader(data), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return count(in)
}

// bzipped is 20 lines of the same kind, compressed by bzip2.
const bzipped = "" +
	"425a683931415926535938f4fa280000325980001000037fe03f0640403000d9b6114d3d27a3d4f5314d00636344c93d3480" +
	"0d4d31353d1a4f53d286940583f6fd4c0aadf89c9f1db994e176ea67a375c5df5b0c6677a21a4a795c048bf458222d95ca48" +
	"60a670eb106c9bed9dda6ab286988b5c1129a05acc9abf20dc25f4f2cac59e1f158596a84848b681e345505c233407c3eef7" +
	"062790fa1636f913642ad2a1a2a249058cef54b04b0845d293b357d02c0e157770e23c3dfd02c3e34ebccfa05848161e8161" +
	"c02c3f8bb9229c28481c7a7d1400"

// bomb returns a zstd frame of 128 KiB times blocks of c. Each block is one repeated byte.
func bomb(blocks int, c byte) string {
	frame := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38} // with a window of 128 KiB, without length and checksum
	for i := range blocks {
		header := 1<<1 | 128<<10<<3 // a repeated byte
		if i == blocks-1 {
			header |= 1
		}
		frame = append(frame, byte(header), byte(header>>8), byte(header>>16), c)
	}
	return string(frame)
}

// TestBombs reads small files that decompress to much more than a list of keys does. Without a limit, nested bombs can
// take weeks.
func TestBombs(t *testing.T) {
	for name, tt := range map[string]struct{ file, says string }{
		"nested":       {zstded(t, zstded(t, bomb(16<<10, '\n'))), "zstd data in zstd data"},
		"gzip in zstd": {zstded(t, gzipped(t, bomb(16<<10, '\n'))), "gzip data in zstd data"},
		"line ends":    {bomb(2100, '\n'), "more than 2000 times its size"},
	} {
		start := time.Now()
		n, err := countKeys(t, tt.file)
		wantError(t, err, tt.says)
		t.Logf("%s: %d bytes, %d keys, %v: %v", name, len(tt.file), n, time.Since(start), err)
	}
	rows := zstded(t, strings.Repeat("key\n", 4<<20))
	if n, err := countKeys(t, rows); n != 4<<20 || err != nil {
		t.Errorf("16 MiB in %d bytes: %d keys, %v", len(rows), n, err)
	}
}
