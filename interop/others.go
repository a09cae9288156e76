package interop

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
)

// otherError is the error for a file that is recognised as another kind of file than a filter of a known format. It
// wraps ErrFormat.
type otherError struct {
	what, advice string
	sure         bool // if false, the file may also be a truncated filter
}

func (e *otherError) Error() string {
	return fmt.Sprintf("%v or any other known one: it looks like %s; %s", ErrFormat, e.what, e.advice)
}

func (e *otherError) Unwrap() error { return ErrFormat }

// Advice returns what to do.
func (e *otherError) Advice() string { return e.advice }

const (
	decompress = "decompress it first: "
	useWriteTo = "write the filter there with WriteTo of bits-and-blooms, Save of xorfilter, or bincode in xorf"
	bitSet     = "a bit set of bits-and-blooms without the filter around it"
	noHeader   = "Encode of seiflotfy/cuckoofilter, which has no header"
	rebuild    = "build a filter here from the keys, such as rankindexed, from which keys can be removed, too"
)

// others are kinds of files that users mistake for filters of a known format. Each is recognised by its first bytes and
// its size; a size of 0 means that the size is not known. Package keyio has a similar table for lists of keys.
var others = []struct {
	what, advice string
	is           func(head []byte, size uint64) bool
}{
	{"a filter whose keys expire", "open it with package window", starts("\x89BLWIN\r\n")},
	{"gzip data", decompress + "zcat FILE > FILTER", starts("\x1f\x8b\x08")},
	{"zstd data", decompress + "zstd -dc FILE > FILTER", starts("\x28\xb5\x2f\xfd")},
	{"bzip2 data", decompress + "bzip2 -dc FILE > FILTER", starts("BZh")},
	{"xz data", decompress + "xz -dc FILE > FILTER", starts("\xfd7zXZ\x00")},
	{"a zip archive", "unpack it first: unzip -p FILE > FILTER", starts("PK\x03\x04")},
	{"an object of Java's serialization (ObjectOutputStream)",
		"read it in Java, and write the filter with BloomFilter.writeTo of Guava or Spark", starts("\xac\xed\x00\x05")},
	{"a Python pickle", "load it in Python, and write the bytes of the filter alone", isPickle},
	{"JSON of bits-and-blooms", "decode it in Go with json.Unmarshal: write the filter with WriteTo", starts(`{"m":`)},
	{"JSON of npm's bloom-filters", rebuild, starts(`{"type":"`)},
	{"gob of a ScalableCuckooFilter of seiflotfy/cuckoofilter", rebuild, isScalableCuckoo},
	{"JSON", "load it where it was written: " + useWriteTo, isJSON},
	{"gob, an encoding of Go", "decode it in Go: " + useWriteTo, isGob},
	{"a bits-and-blooms filter whose bit set is little endian",
		"call bitset.BigEndian() before WriteTo, after a read with bitset.LittleEndian()", isLittleEndianBits},
	{bitSet, "call WriteTo of the BloomFilter, not of its BitSet", isBitSet},
	{"CF.SCANDUMP, a cuckoo filter of RedisBloom", rebuild, isCuckoo},
	{noHeader, rebuild, isFingerprints},
}

// otherHead is the number of bytes of a file that the table others needs.
const otherHead = 64

// otherKind returns the error for a file that begins with head, or nil if its kind is not recognised.
func otherKind(head []byte, size uint64) *otherError {
	for _, o := range others {
		if o.is(head, size) {
			return &otherError{o.what, o.advice, o.what != bitSet && o.what != noHeader}
		}
	}
	return nil
}

func starts(magic string) func([]byte, uint64) bool {
	return func(head []byte, _ uint64) bool { return bytes.HasPrefix(head, []byte(magic)) }
}

// isPickle accepts pickle protocols 2 to 5, which begin with their number and, from 4 on, a frame.
func isPickle(head []byte, _ uint64) bool {
	return len(head) > 2 && head[0] == 0x80 && (head[1] == 4 || head[1] == 5) && head[2] == 0x95
}

// isJSON accepts an object or array that contains a text, a number, or another object or array.
func isJSON(head []byte, _ uint64) bool {
	text := bytes.TrimLeft(head, " \t\r\n")
	if len(text) < 2 || text[0] != '{' && text[0] != '[' || bytes.HasPrefix(text, []byte(jsonHead)) { // of xorf
		return false
	}
	rest := bytes.TrimLeft(text[1:], " \t\r\n")
	return len(rest) > 0 && bytes.IndexByte([]byte(`"{[0123456789}]`), rest[0]) >= 0
}

// isGob accepts a stream whose first message, of fewer than 128 bytes, describes a type: its negated number, below -64,
// its kind, 1 to 7, its name, if it has one, and its number.
func isGob(head []byte, _ uint64) bool {
	if len(head) < 8 || head[0] > 127 {
		return false
	}
	kind := head[2:]
	if head[1] == 0xff { // the number has one more byte
		kind = head[3:]
	}
	return (head[1] == 0x7f || head[1] == 0xff) && kind[0] >= 1 && kind[0] <= 7 && kind[1] == 1 &&
		(kind[2] == 1 || kind[2] == 2)
}

// isScalableCuckoo accepts gob that begins with the description of a type Store.
func isScalableCuckoo(head []byte, size uint64) bool {
	return isGob(head, size) && bytes.Contains(head[:min(len(head), 16)], []byte("\x01\x05Store\x01"))
}

// isLittleEndianBits accepts m and k in big endian, then m again in little endian, before the words.
func isLittleEndianBits(head []byte, size uint64) bool {
	if len(head) < 24 {
		return false
	}
	m, k, length := binary.BigEndian.Uint64(head), binary.BigEndian.Uint64(head[8:]), littleUint64(head[16:])
	return m == length && m > 0 && m < 1<<62 && k > 0 && k < 1<<16 && (size == 0 || size == 24+(m+63)/64*8)
}

// isBitSet accepts a number of bits, in either byte order, and the words for these bits.
func isBitSet(head []byte, size uint64) bool {
	if len(head) < 16 {
		return false
	}
	for _, length := range []uint64{binary.BigEndian.Uint64(head), littleUint64(head)} {
		if length > 1 && length < 1<<62 && size == 8+(length+63)/64*8 {
			return true
		}
	}
	return false
}

// isCuckoo accepts a header of 38 bytes: the numbers of items, buckets, deletions and filters, 8 bytes each, then slots
// per bucket, iterations and expansion, 2 bytes each. A slot takes a byte, and each filter is expansion times as large
// as the previous one.
func isCuckoo(head []byte, size uint64) bool {
	const header = 38
	if len(head) < header {
		return false
	}

	buckets, filters := littleUint64(head[8:]), littleUint64(head[24:])
	slots, expansion := uint64(binary.LittleEndian.Uint16(head[32:])), uint64(binary.LittleEndian.Uint16(head[36:]))
	if buckets == 0 || bits.OnesCount64(buckets) != 1 || buckets > 1<<48 || slots == 0 || filters == 0 || filters > 64 {
		return false
	}

	whole, each := uint64(header), buckets*slots
	for range filters {
		if each == 0 || each > 1<<60 || whole > 1<<60 {
			return false
		}
		whole += each
		each *= expansion
	}
	return whole == size
}

// isFingerprints accepts buckets of four fingerprints of a byte, in a number of bytes that is a power of two. Insert
// fills the first free place of a bucket, so that 0, which is a free place, comes last there until keys are deleted.
func isFingerprints(head []byte, size uint64) bool {
	if len(head) < otherHead || bits.OnesCount64(size) != 1 {
		return false
	}

	taken, free := 0, 0
	for bucket := range slices.Chunk(head, 4) {
		used := bytes.TrimRight(bucket, "\x00")
		if bytes.IndexByte(used, 0) >= 0 {
			return false
		}
		taken, free = taken+len(used), free+4-len(used)
	}
	return taken > 0 && free > 0
}
