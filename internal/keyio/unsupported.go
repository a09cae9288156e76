package keyio

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
)

// UnsupportedError is returned for an input that is not a list of keys, such as an archive or UTF-16 text.
type UnsupportedError struct {
	Input  string // path, or "standard input"
	Line   int64  // counted from 1; 0 if it is not about a line
	Found  string // what the input is, such as "xz data"
	Advice string // what to do
}

func (e *UnsupportedError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("%s:%d: %s; %s", e.Input, e.Line, e.Found, e.Advice)
	}
	return fmt.Sprintf("%s: %s, not a list of keys; %s", e.Input, e.Found, e.Advice)
}

// signature is the start of the data of a format. It has control bytes or is so long that no list of keys begins with
// it.
type signature struct {
	magic string
	codec string // name of a compression that is read, else ""
	what  string // the name of a format that is not read, else ""
	do    string // what the user can do instead
}

// signatures lists the formats that are detected. NUL bytes reveal most other files that are not text.
var signatures = []signature{
	{magic: "\x1f\x8b\x08", codec: "gzip"},                                  // RFC 1952, method deflate
	{magic: "\x28\xb5\x2f\xfd", codec: "zstd"},                              // RFC 8878
	{magic: anySkip + "\x2a\x4d\x18", codec: "zstd"},                        // a skippable frame
	{magic: "BZh" + anyDigit + "\x31\x41\x59\x26\x53\x59", codec: "bzip2"},  // a block
	{magic: "BZh" + anyDigit + "\x17\x72\x45\x38\x50\x90", codec: "bzip2"},  // no data
	{magic: "\xfd7zXZ\x00", what: "xz data", do: decompress("xz -dc FILE")}, // .xz file format 1.2.1
	{magic: "\x04\x22\x4d\x18", what: "lz4 data", do: decompress("lz4 -dc FILE")},
	{magic: "\x02\x21\x4c\x18", what: "lz4 data", do: decompress("lz4 -dc FILE")}, // the legacy frame
	{magic: "LZIP\x01", what: "lzip data", do: decompress("lzip -dc FILE")},
	{magic: "\x5d\x00\x00", what: "lzma data", do: decompress("xz --format=lzma -dc FILE")},
	{magic: "\x89LZO\x00\r\n\x1a\n", what: "lzop data", do: decompress("lzop -dc FILE")},
	{magic: "\x1f\x9d", what: "data of compress", do: decompress("zcat FILE")},
	{magic: "\xff\x06\x00\x00sNaPpY", what: "snappy data", do: decompress("snzip -dc FILE")},
	{magic: "PK\x03\x04", what: "a zip archive or an Office document",
		do: "unpack it: unzip -p FILE | bloomery ...; save a spreadsheet as CSV"},
	{magic: "PK\x05\x06", what: "an empty zip archive", do: "name the file with the keys"},
	{magic: "7z\xbc\xaf\x27\x1c", what: "a 7z archive", do: "unpack it: 7z x -so FILE | bloomery ..."},
	{magic: "Rar!\x1a\x07", what: "a rar archive", do: "unpack it: unrar p -inul FILE | bloomery ..."},
	{magic: "PAR1\x15", what: "a Parquet file",
		do: `export the column of the keys: duckdb -csv -noheader -c "select KEY from 'FILE'" | bloomery ...`},
	{magic: "ARROW1\x00", what: "an Arrow file", do: "export the column of the keys as text or CSV"},
	{magic: "Obj\x01", what: "an Avro file", do: "export the column of the keys as text or CSV"},
	{magic: "SQLite format 3\x00", what: "an SQLite database",
		do: `export the keys: sqlite3 FILE "select KEY from TABLE" | bloomery ...`},
	{magic: "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", what: "an Office document", do: "save it as CSV"},
	{magic: "\x89BLMRY\r\n", what: "a filter of Bloomery", // package container
		do: "it does not contain its keys: name the list that it was built from"},
	{magic: "\x89BLWIN\r\n", what: "a filter of Bloomery whose keys expire", // package window
		do: "it does not contain its keys: name the list that it was built from"},
	{magic: "\x89BLX", what: "an exact set of Bloomery", // package exact
		do: "it does not contain its keys: name the lists that it was built from"},
	{magic: "\x7fELF", what: "a program", do: "name the file with the keys"},
	{magic: "\x89PNG\r\n\x1a\n", what: "an image", do: "name the file with the keys"},
	{magic: "\xff\xfe\x00\x00", what: "UTF-32 text", do: convertText("UTF-32")},
	{magic: "\x00\x00\xfe\xff", what: "UTF-32 text", do: convertText("UTF-32")},
	{magic: "\xff\xfe", what: "UTF-16 text", do: convertText("UTF-16")},
	{magic: "\xfe\xff", what: "UTF-16 text", do: convertText("UTF-16")},
	{magic: bom},
}

const (
	// bom is the byte-order mark in UTF-8, which editors and spreadsheets write at the start of a file.
	bom = "\xef\xbb\xbf"
	// anyDigit stands for one of the digits 1 to 9 in a signature. No signature has it as a literal byte.
	anyDigit = "\xf0"
	// anySkip, at the start, stands for the bytes 0x50 to 0x5f, the possible first bytes of a skippable frame of zstd.
	anySkip = "\xf1"
)

func decompress(command string) string { return "decompress it first: " + command + " | bloomery ..." }

func convertText(from string) string {
	return "convert it first: iconv -f " + from + " -t UTF-8 FILE | bloomery ..."
}

// begins reports whether data and magic agree up to the end of the shorter one.
func (s *signature) begins(data []byte) bool {
	for i := range min(len(data), len(s.magic)) {
		c, want := data[i], s.magic[i]
		switch {
		case c == want:
		case want == anyDigit[0] && c >= '1' && c <= '9':
		case want == anySkip[0] && c&0xf0 == 0x50:
		default:
			return false
		}
	}
	return true
}

// peekSignature returns the signature with which br begins, or nil, and the codec if br ends within a signature of
// compressed data. It peeks no further than needed: a short key of a
// live stream must not wait for the next one. An error is repeated by the first Read.
func peekSignature(br *bufio.Reader) (found *signature, cutOf string) {
	for n := 1; ; n++ {
		head, err := br.Peek(n)
		found = nil
		open := false // with more bytes, a longer signature may match
		for i := range signatures {
			if s := &signatures[i]; !s.begins(head) {
				continue
			} else if len(s.magic) > len(head) {
				open = true
			} else if found == nil || len(s.magic) > len(found.magic) {
				found = s
			}
		}
		if err == io.EOF && found == nil {
			cutOf = cutCodec(head)
		}
		if err != nil || !open {
			return found, cutOf
		}
	}
}

// cutCodec returns the codec if head is a truncated signature of compressed data, or "". Shorter parts cannot be
// distinguished from text.
func cutCodec(head []byte) (codec string) {
	least := map[string]int{"gzip": 2, "zstd": 2, "bzip2": 4}
	for i := range signatures {
		s := &signatures[i]
		text := strings.HasPrefix(s.magic, anySkip) // all but its last byte
		if n := least[s.codec]; n > 0 && !text && len(head) >= n && len(head) < len(s.magic) && s.begins(head) {
			return s.codec
		}
	}
	return ""
}

// Compressed reports whether data that begins with head has a compression that Open decompresses. If head has less than
// HeadSize bytes, it must be all of the data.
func Compressed(head []byte) bool {
	sign, _ := peekSignature(bufio.NewReader(bytes.NewReader(head)))
	return sign != nil && sign.codec != ""
}

// HeadSize is the number of bytes that Compressed needs: more than the longest signature.
const HeadSize = 64

// otherFormat returns an error if an input with a NUL byte that begins with start is not a list of keys.
func otherFormat(input string, start []byte) error {
	const tarMagic = 257 // offset
	if order := utf16Order(start); order != "" {
		return &UnsupportedError{Input: input, Found: "UTF-16 text", Advice: convertText("UTF-16" + order)}
	}
	if len(start) > tarMagic && bytes.HasPrefix(start[tarMagic:], []byte("ustar")) {
		return &UnsupportedError{Input: input, Found: "a tar archive", Advice: "unpack it: tar -xOf FILE | bloomery ..."}
	}
	return nil
}

// nulError returns the error for a NUL byte in a line.
func nulError(input string, line int64, format Format) error {
	e := &UnsupportedError{Input: input, Line: line, Found: "there is a NUL byte in the line",
		Advice: "is this a list of keys?"}
	if format == Lines {
		e.Advice = "if NUL bytes end the keys, as find -print0 writes them, add -0 (--null)"
	}
	return e
}

// utf16Order returns "LE" or "BE" if data is the start of UTF-16 text without a byte-order mark, else "". It looks for
// line feeds and at least three NUL bytes, all at positions where UTF-16 has them. data may end in half a character.
func utf16Order(data []byte) string {
	for nul, order := range []string{"BE", "LE"} { // the upper half of an ASCII character comes first, or second
		feeds, nuls, fits := 0, 0, true
		for i, c := range data {
			switch {
			case c == 0 && i%2 != nul:
				fits = false
			case c == 0:
				nuls++
			case c == '\n' && (i%2 == nul || i^1 < len(data) && data[i^1] != 0):
				fits = false
			case c == '\n':
				feeds++
			}
		}
		// Fewer NUL bytes may be accidents in another kind of file.
		if fits && feeds > 0 && nuls >= 3 {
			return order
		}
	}
	return ""
}
