package keyio_test

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// bomb is a zstd frame of 128 KiB times blocks of c: each block is a byte that is repeated.
func bomb(blocks int, c byte) []byte {
	frame := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38} // with a window of 128 KiB, without length and checksum
	for i := range blocks {
		header := 1<<1 | 128<<10<<3 // a repeated byte
		if i == blocks-1 {
			header |= 1
		}
		frame = append(frame, byte(header), byte(header>>8), byte(header>>16), c)
	}
	return frame
}

// TestBombs reads small files that decompress to much more than a list of keys does. Without a limit, nested ones can
// take weeks.
func TestBombs(t *testing.T) {
	for name, tt := range map[string]struct {
		file []byte
		says string
	}{
		"nested":       {zstandard(t, zstandard(t, bomb(16<<10, '\n'))), "zstd data in zstd data"},
		"gzip in zstd": {zstandard(t, gzipped(t, bomb(16<<10, '\n'))), "gzip data in zstd data"},
		"line ends":    {bomb(2100, '\n'), "more than 2000 times its size"},
	} {
		start := time.Now()
		n, err := countKeys(t, tt.file)
		if err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %d keys in %d bytes, %v", name, n, len(tt.file), err)
		}
		t.Logf("%s: %d bytes, %v: %v", name, len(tt.file), time.Since(start), err)
	}
	rows := zstandard(t, bytes.Repeat([]byte("key\n"), 4<<20))
	if n, err := countKeys(t, rows); n != 4<<20 || err != nil {
		t.Errorf("16 MiB in %d bytes: %d keys, %v", len(rows), n, err)
	}
}
