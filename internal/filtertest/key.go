package filtertest

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/bloomery/bloomery/filter"
)

// VectorKey is a key of a test vector: text, bytes, or an integer.
type VectorKey struct {
	Kind  string // "text", "bytes" or "integer", as in the JSON
	Bytes []byte // an integer: eight bytes, little endian
}

// TextKey returns a key that is text.
func TextKey(s string) VectorKey { return VectorKey{"text", []byte(s)} }

// IntegerKey returns a key that is an integer.
func IntegerKey(n uint64) VectorKey {
	return VectorKey{"integer", binary.LittleEndian.AppendUint64(nil, n)}
}

// TextKeys is TextKey for several keys.
func TextKeys(s ...string) (all []VectorKey) {
	for _, s := range s {
		all = append(all, TextKey(s))
	}
	return all
}

// BytesKey returns a key of n bytes in which every byte differs from its neighbours.
func BytesKey(n int) VectorKey {
	k := VectorKey{"bytes", make([]byte, n)}
	for i := range k.Bytes {
		k.Bytes[i] = byte(i*151 + n)
	}
	return k
}

// Text returns the key as it is written in JSON: bytes in hexadecimal, an integer in decimal.
func (k VectorKey) Text() string {
	switch k.Kind {
	case "bytes":
		return hex.EncodeToString(k.Bytes)
	case "integer":
		return strconv.FormatUint(binary.LittleEndian.Uint64(k.Bytes), 10)
	}
	return string(k.Bytes)
}

// Hash hashes the key by the method for its kind.
func (k VectorKey) Hash(h filter.Hasher) filter.Hash {
	switch k.Kind {
	case "text":
		return h.SumString(string(k.Bytes))
	case "integer":
		return h.SumUint64(binary.LittleEndian.Uint64(k.Bytes))
	}
	return h.Sum(k.Bytes)
}

// longLengths are lengths of keys around the limits of XXH3. The longest key of each vector has one of them.
var longLengths = []int{241, 242, 256, 257, 511, 512, 513, 1023, 1024, 1025, 1088, 1200}

// KeyLengths lists lengths of keys on both sides of every length at which a hash function changes its algorithm.
var KeyLengths = []int{
	0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 47, 48, 63, 64, 65, 96, 97, 127, 128, 129, 144, 160, 192,
	239, 240, 241, 255, 256, 257, 512, 513, 1024, 1025,
}

// MixedKeys returns keys of all kinds. number selects the length of the longest key. Filters contain some of the held
// keys and none of the absent ones.
func MixedKeys(number int) (held, absent []VectorKey) {
	long := longLengths[number%len(longLengths)]
	held = append(TextKeys("", "a", "bloomery", "example.com", "Grüße", "日本語", "🙂 emoji"),
		BytesKey(1), BytesKey(5), BytesKey(11), BytesKey(16), BytesKey(40), BytesKey(150), BytesKey(long),
		IntegerKey(0), IntegerKey(255), IntegerKey(1<<53+1), IntegerKey(1<<64-1))
	absent = append(TextKeys("b", "bloomerz", "example.org", "Grüsse", "日本", "🙁", "c", "é", "no such key",
		strings.Repeat("long ", 30)),
		BytesKey(2), BytesKey(8), BytesKey(13), BytesKey(20), BytesKey(129), BytesKey(240),
		IntegerKey(1), IntegerKey(256), IntegerKey(1<<53+3), IntegerKey(1<<63))
	return held, absent
}

// JSON returns the first members of a vector's JSON object: the key and its hash.
func (k VectorKey) JSON(h filter.Hash) string {
	text, err := json.Marshal(k.Text())
	if err != nil {
		panic(err) // unreachable: a string can always be encoded
	}
	return fmt.Sprintf(`%q: %s, "hi": "%016x", "lo": "%016x"`, k.Kind, text, h.Hi, h.Lo)
}
