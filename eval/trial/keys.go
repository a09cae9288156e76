package main

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"strconv"
	"unicode/utf16"

	"github.com/cespare/xxhash/v2"
)

// kind is the kind of the keys of a filter. It determines which bytes are hashed.
type kind string

// The kinds of keys. A key file contains the bytes that are hashed. For wide and xxh64 it contains the strings in
// UTF-8.
const (
	text  kind = "text"  // UTF-8
	raw   kind = "bytes" // any bytes
	long  kind = "int64" // 8 bytes, little endian
	short kind = "int32" // 4 bytes, little endian
	wide  kind = "utf16" // a string that is hashed as 2 bytes a char, little endian
	xxh64 kind = "xxh64" // a string whose XXH64 is the key, a number of 8 bytes, little endian
)

// generate returns n keys of the kind, all distinct. Keys with the same seed and other numbers are also distinct.
func generate(k kind, seed uint64, first, n int) [][]byte {
	r := rand.New(rand.NewPCG(seed, uint64(first)))
	keys := make([][]byte, n)
	for i := range keys {
		number := uint64(first + i)
		switch k {
		case long:
			keys[i] = binary.LittleEndian.AppendUint64(nil, mix64(number+seed<<32))
		case short:
			keys[i] = binary.LittleEndian.AppendUint32(nil, mix32(uint32(number+seed<<24)))
		case raw:
			keys[i] = words(r, number, func(b []byte) []byte { return append(b, byte(r.Uint32())) })
		default:
			keys[i] = words(r, number, func(b []byte) []byte { return append(b, alphabet[r.IntN(len(alphabet))]...) })
		}
	}
	return keys
}

// alphabet lists characters of 1 to 4 bytes in UTF-8, and the zero byte.
var alphabet = []string{
	"a", "b", "c", "x", "y", "z", "Q", "7", ".", "/", " ", "\x00", "é", "ß", "Ж", "ل", "漢", "字", "€", "😀",
}

// words returns the number in the digits 0 to 9 and a to z, a colon, and 0 to 30 random letters. Number 0 is the empty
// key.
func words(r *rand.Rand, number uint64, letter func([]byte) []byte) []byte {
	if number == 0 {
		return []byte{}
	}
	b := append(strconv.AppendUint(nil, number, 36), ':')
	for range r.IntN(31) {
		b = letter(b)
	}
	return b
}

// mix64 maps numbers one to one to numbers that look random: the finalizer of SplitMix64.
func mix64(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// mix32 is mix64 for 32 bits: the finalizer of MurmurHash3.
func mix32(x uint32) uint32 {
	x ^= x >> 16
	x *= 0x85ebca6b
	x ^= x >> 13
	x *= 0xc2b2ae35
	return x ^ x>>16
}

// hashed returns the bytes that the other system hashes for the keys.
func hashed(k kind, keys [][]byte) [][]byte {
	if k != wide && k != xxh64 {
		return keys
	}
	all := make([][]byte, len(keys))
	for i, key := range keys {
		if k == xxh64 {
			all[i] = binary.LittleEndian.AppendUint64(nil, xxhash.Sum64(key))
			continue
		}
		for _, char := range utf16.Encode([]rune(string(key))) {
			all[i] = binary.LittleEndian.AppendUint16(all[i], char)
		}
	}
	return all
}

// writeKeys writes a file of keys: for each key the length in 4 bytes, little endian, and its bytes.
func writeKeys(path string, keys [][]byte) error {
	var b []byte
	for _, k := range keys {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(k)))
		b = append(b, k...)
	}
	return os.WriteFile(path, b, 0o666)
}
