package interop_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/interop"
)

// TestForms checks that the error for a known format in a variant that cannot be read is ErrForm.
func TestForms(t *testing.T) {
	old := func(at int, v byte) string {
		b := file(t, "redisbloom")
		b[at] = v
		return string(b)
	}
	for what, f := range map[string]string{
		"hashes of 32 bits": old(12, 1), "powers of two": old(12, 4), "a link of a power of two": old(72, 7),
		"compressed":        "\x15\x40\x1c\x1c\x00\x00\x1c\x1c\x00\x00\x1c\x2c\x00\x00\x00",
		"Spark, 300 probes": "\x00\x00\x00\x01\x00\x00\x01\x2c\x00\x00\x00\x01" + word(1),
		"Spark, a seed":     "\x00\x00\x00\x02\x00\x00\x00\x01\x00\x00\x00\x09\x00\x00\x00\x01" + word(1),
		"Spark, both":       "\x00\x00\x00\x02\x00\x00\x01\x00\xff\xff\xff\xff\x00\x00\x00\x01" + word(1),
		"another field":     "\x15\x40\x1c\x1c\x00\x00\x1c\x1c\x00\x00\x1c\x1c\x00\x00\x15\x00\x00",
	} {
		_, err := interop.Detect(strings.NewReader(f), int64(len(f)))
		if !errors.Is(err, interop.ErrForm) || !errors.Is(err, interop.ErrFormat) {
			t.Errorf("%s: %v", what, err)
		}
	}
	const v1, v2, one = "\x00\x00\x00\x01", "\x00\x00\x00\x02", "\x00\x00\x00\x01" // version 1, version 2, one word
	for head, want := range map[string]string{
		v1 + "\x00\x00\x01\x00" + one:                      "V1 with 256 probes, want 1 to 255",
		v2 + "\x00\x00\x00\xff" + "\x00\x00\x00\x07" + one: "V2 with seed 7, want 0, the default of Spark",
		v2 + "\x00\x00\x01\x00" + "\xff\xff\xff\xff" + one: "V2 with seed -1, want 0, the default of Spark, and 256 probes",
	} {
		want = "spark: a filter of Spark " + want
		if err := detected([]byte(head + word(1))); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		err := detected([]byte(head + word(1) + "more"))
		if errors.Is(err, interop.ErrForm) || !errors.Is(err, interop.ErrFormat) {
			t.Errorf("with bytes behind: %v", err)
		}
		err, want = detected([]byte(head+word(1)[:7])), fmt.Sprintf("spark filter of %d bytes", len(head)+8)
		if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), want) {
			t.Errorf("cut: %v, want %q", err, want)
		}
		if got := interop.MaxSize([]byte(head + strings.Repeat("\xff", 64))); got != uint64(len(head))+8 {
			t.Errorf("%q: MaxSize %d", head, got)
		}
	}
	for _, f := range []string{"", "\x15", "\x15\x40\x15\x40 some other Thrift", strings.Repeat("\x00", 100),
		old(12, 16), "*4\r\n$12\r\nBF.LOADCHUNK\r\n"} {
		if _, err := interop.Detect(strings.NewReader(f), int64(len(f))); errors.Is(err, interop.ErrForm) ||
			!errors.Is(err, interop.ErrFormat) {
			t.Errorf("%q: %v", f, err)
		}
	}
}

// TestDetectCutInHeader checks that the error for a RedisBloom chain that ends in its header names the format and the
// length of the header.
func TestDetectCutInHeader(t *testing.T) {
	for _, links := range []int{1, 3, 1 << 20} {
		b := file(t, "redisbloom")
		binary.LittleEndian.PutUint32(b[8:], uint32(links))
		header := 20 + 53*links
		want := fmt.Sprintf("end of what looks like a redisbloom filter, whose header alone has %d bytes", header)
		for n := 14; n < min(len(b), header); n++ {
			err := detected(b[:n])
			if named := strings.Contains(fmt.Sprint(err), want); named != (n >= 20) {
				t.Errorf("%d of %d bytes: %v", n, header, err)
			}
			if !errors.Is(err, interop.ErrFormat) || errors.Is(err, io.ErrUnexpectedEOF) != (n >= 20) {
				t.Errorf("%d of %d bytes: %v", n, header, err)
			}
		}
		b[12] = 1 // hashes of 32 bits
		if err := detected(b[:20]); !errors.Is(err, interop.ErrForm) {
			t.Errorf("an older form: %v", err)
		}
	}
}
