package container

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/bloomery/bloomery/filter"
)

// vectorKey is a key of a test vector: text, bytes, or an integer.
type vectorKey struct {
	kind  string // "text", "bytes" or "integer", as in the JSON
	bytes []byte // an integer: eight bytes, little endian
}

func textKey(s string) vectorKey { return vectorKey{"text", []byte(s)} }
func integerKey(n uint64) vectorKey {
	return vectorKey{"integer", binary.LittleEndian.AppendUint64(nil, n)}
}
func textKeys(s ...string) (all []vectorKey) {
	for _, s := range s {
		all = append(all, textKey(s))
	}
	return all
}

// bytesKey returns a key of n bytes in which every byte differs from its neighbours.
func bytesKey(n int) vectorKey {
	k := vectorKey{"bytes", make([]byte, n)}
	for i := range k.bytes {
		k.bytes[i] = byte(i*151 + n)
	}
	return k
}

// inJSON returns the key as it stands in the JSON.
func (k vectorKey) inJSON() string {
	switch k.kind {
	case "bytes":
		return hex.EncodeToString(k.bytes)
	case "integer":
		return strconv.FormatUint(binary.LittleEndian.Uint64(k.bytes), 10)
	}
	return string(k.bytes)
}

// hash hashes the key as its kind.
func (k vectorKey) hash(h filter.Hasher) filter.Hash {
	switch k.kind {
	case "text":
		return h.SumString(string(k.bytes))
	case "integer":
		return h.SumUint64(binary.LittleEndian.Uint64(k.bytes))
	}
	return h.Sum(k.bytes)
}

// longLengths are lengths of keys around the limits of XXH3: each vector has one of them.
var longLengths = []int{241, 242, 256, 257, 511, 512, 513, 1023, 1024, 1025, 1088, 1200}

// allLengths are lengths of keys on both sides of every limit of the hash functions.
var allLengths = []int{
	0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 47, 48, 63, 64, 65, 96, 97, 127, 128, 129, 144, 160, 192,
	239, 240, 241, 255, 256, 257, 512, 513, 1024, 1025,
}

// mixedKeys returns keys of all kinds. Number chooses the length of the longest one. Filters hold some of the first
// half; no filter holds one of the second half.
func mixedKeys(number int) (held, absent []vectorKey) {
	long := longLengths[number%len(longLengths)]
	held = append(textKeys("", "a", "bloomery", "example.com", "Grüße", "日本語", "🙂 emoji"),
		bytesKey(1), bytesKey(5), bytesKey(11), bytesKey(16), bytesKey(40), bytesKey(150), bytesKey(long),
		integerKey(0), integerKey(255), integerKey(1<<53+1), integerKey(1<<64-1))
	absent = append(textKeys("b", "bloomerz", "example.org", "Grüsse", "日本", "🙁", "c", "é", "no such key", strings.Repeat("long ", 30)),
		bytesKey(2), bytesKey(8), bytesKey(13), bytesKey(20), bytesKey(129), bytesKey(240),
		integerKey(1), integerKey(256), integerKey(1<<53+3), integerKey(1<<63))
	return held, absent
}

// vector is one key of a file of vectors.
type vector struct {
	vectorKey
	sum       filter.Hash
	positions []uint64
	answer
}

// line returns the vector as JSON without a line end.
func (v vector) line() string {
	texts := make([]string, len(v.positions))
	for i, at := range v.positions {
		texts[i] = strconv.Quote(strconv.FormatUint(at, 10))
	}
	var b strings.Builder
	fmt.Fprintf(&b, `{%q: %s, "hi": "%016x", "lo": "%016x", "positions": [%s], "has": %t`,
		v.kind, quoted(v.inJSON()), v.sum.Hi, v.sum.Lo, strings.Join(texts, ", "), v.has)
	if v.counts {
		fmt.Fprintf(&b, `, "count": "%d"`, v.count)
	}
	if v.saturated {
		b.WriteString(`, "saturated": true`)
	}
	if v.hasValue {
		fmt.Fprintf(&b, `, "value": "%d"`, v.value)
	}
	b.WriteString("}")
	return b.String()
}

// quoted returns s as a JSON string.
func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}
