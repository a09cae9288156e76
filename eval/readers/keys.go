package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"unicode/utf8"
)

// The kinds of a key in a file of keys.
const (
	kindBytes = iota
	kindText
	kindInteger
	kindPair // key of an exact set with partitions: the length of the partition's name (1 byte), the name, the key
)

// key is a key of the trial.
type key struct {
	kind  byte
	bytes []byte // an integer has eight bytes, little endian
}

// appendRecord appends the key in the form that the readers read: its kind, the length of its bytes (4 bytes), and its
// bytes.
func (k key) appendRecord(b []byte) []byte {
	b = append(b, k.kind)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(k.bytes)))
	return append(b, k.bytes...)
}

func (k key) String() string {
	switch k.kind {
	case kindText:
		return fmt.Sprintf("text %q", k.bytes)
	case kindInteger:
		return fmt.Sprintf("integer %d", binary.LittleEndian.Uint64(k.bytes))
	}
	return fmt.Sprintf("bytes %x", k.bytes)
}

// in returns the key as a key of a partition, whose name has at most 255 bytes.
func (k key) in(partition []byte) key {
	return key{kindPair, append(append([]byte{byte(len(partition))}, partition...), k.bytes...)}
}

// apart returns the partition of a key and its bytes within the partition.
func (k key) apart() (partition, name []byte) {
	if k.kind != kindPair {
		return nil, k.bytes
	}
	n := 1 + int(k.bytes[0])
	return k.bytes[1:n], k.bytes[n:]
}

// byCommand reports whether the command accepts the key. It does not accept keys with a NUL byte.
func (k key) byCommand() bool { return bytes.IndexByte(k.bytes, 0) < 0 }

// keySource makes random keys of the kinds that one filter contains.
type keySource struct {
	r     *rand.Rand
	kinds []func(*keySource) key
	next  uint64 // the next consecutive integer
	text  bool   // the system of the filter has no integers: ask for their bytes
}

func newKeySource(r *rand.Rand) *keySource {
	all := []func(*keySource) key{
		(*keySource).name, (*keySource).name, (*keySource).number, (*keySource).raw, (*keySource).anyText,
		(*keySource).rowOfIntegers, (*keySource).anyInteger, (*keySource).long,
	}
	s := &keySource{r: r, next: r.Uint64() >> r.IntN(64)}
	s.kinds = all
	if r.IntN(10) >= 4 {
		s.kinds = all[r.IntN(len(all)-1):][:1] // not only long keys
	}
	return s
}

// key returns a random key.
func (s *keySource) key() key {
	k := s.kinds[s.r.IntN(len(s.kinds))](s)
	if s.text && k.kind == kindInteger {
		k.kind = kindBytes
	}
	return k
}

// name returns text such as a domain.
func (s *keySource) name() key {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789-"
	var b []byte
	for range 1 + s.r.IntN(3) {
		for range 1 + s.r.IntN(12) {
			b = append(b, letters[s.r.IntN(len(letters))])
		}
		b = append(b, '.')
	}
	return key{kindText, append(b, "example"...)}
}

// number returns a number as text.
func (s *keySource) number() key { return key{kindText, fmt.Append(nil, s.r.Uint64N(1<<40))} }

// anyText returns text of any characters, which UTF-8 writes with 1 to 4 bytes.
func (s *keySource) anyText() key {
	var b strings.Builder
	for range s.r.IntN(20) {
		limit := []int{0x80, 0x800, 0x10000, utf8.MaxRune + 1}[s.r.IntN(4)]
		c := rune(s.r.IntN(limit))
		if !utf8.ValidRune(c) { // a surrogate
			c = '\uFEFF' // a decoder must not drop it
		}
		b.WriteRune(c)
	}
	return key{kindText, []byte(b.String())}
}

// raw returns bytes.
func (s *keySource) raw() key { return s.bytes(s.r.IntN(64)) }

// long returns bytes or text of lengths for which the hash functions use special code.
func (s *keySource) long() key {
	limits := []int{16, 128, 240, 256, 512, 1024, 2048}
	k := s.bytes(max(0, limits[s.r.IntN(len(limits))]-8+s.r.IntN(17)))
	if s.r.IntN(2) == 0 {
		k.kind = kindText
		for i := range k.bytes {
			k.bytes[i] = ' ' + k.bytes[i]%('~'-' ')
		}
	}
	return k
}

// bytes returns a key of n random bytes. Half of these keys contain no 0.
func (s *keySource) bytes(n int) key {
	b, zero := make([]byte, n), s.r.IntN(2) == 0
	for i := range b {
		if b[i] = byte(s.r.Uint32()); b[i] == 0 && !zero {
			b[i] = 255
		}
	}
	return key{kindBytes, b}
}

// rowOfIntegers returns the next integer of a row.
func (s *keySource) rowOfIntegers() key {
	s.next++
	return integerKey(s.next)
}

// anyInteger returns an integer of 0 to 64 bits, often near a power of two.
func (s *keySource) anyInteger() key {
	switch n := uint64(1) << s.r.IntN(64); s.r.IntN(4) {
	case 0:
		return integerKey(n + s.r.Uint64N(1000))
	case 1:
		return integerKey(n - s.r.Uint64N(1000))
	}
	return integerKey(s.r.Uint64() >> s.r.IntN(64))
}

func integerKey(n uint64) key { return key{kindInteger, binary.LittleEndian.AppendUint64(nil, n)} }

// records returns the file of keys for the readers.
func records(keys []key) []byte {
	var b []byte
	for _, k := range keys {
		b = k.appendRecord(b)
	}
	return b
}
