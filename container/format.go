// Package container is the one file format of Bloomery. All numbers are little endian.
//
//	offset  bytes
//	     0      8  magic: 89 42 4C 4D 52 59 0D 0A ("\x89BLMRY\r\n": a transfer as text breaks it, and it shows)
//	     8      2  format version, 1
//	    10      2  family: 1 standard, 2 blocked, 3 fuse, 4 partitioned, 5 blockpartitioned, 6 twochoice, 7 rankindexed, 8 counting, 9 dleft,
//	          20 guava, 21 bitsandblooms, 22 redisbloom
//	    12      2  hash: 1 xxh3-128 with seed, 2 siphash-128 with a secret that is not in the file,
//	          3 xxh64, 4 murmur3-x64-128, 5 murmur3-x64-128-twice, 6 murmur64a-twice: those of other systems
//	    14      2  number of sections, 1 to 8
//	    16      8  seed of hash 1, else 0
//	    24      8  check of the secret of hash 2, else 0
//	    32      8  number of keys
//	    40      8  length of the file in bytes
//	    48      4  length of the spec in bytes, 1 to 512
//	    52      8  zero
//	    60      4  CRC-32C of bytes 0 to 59, of the section table and of the spec
//	    64     24  a section: its offset (8), its length (8), both in bytes, its CRC-32C (4), zero (4); and so on
//	           ..  the spec, in canonical form; zeros up to a multiple of 64
//	           ..  the sections, each at a multiple of 64, zeros between them; the last one ends the file
//
// Every size follows from the spec and is checked against it before anything is allocated; every byte is under a checksum
// or must be zero. A section is 64-bit words in the layout that the family's Encode documents, ready to be mapped.
package container

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/bloomery/bloomery/families"
	"github.com/bloomery/bloomery/filter"
)

// Version is the format version that is written.
const Version = 1

const (
	magic       = "\x89BLMRY\r\n"
	headerSize  = 64
	sectionSize = 24
	maxSections = 8
	maxWords    = 1 << 56 // of a section, so that no sum of bytes overflows
	alignment   = 64
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Stored is a filter with all that a file says of it.
type Stored struct {
	Filter    filter.Filter
	Hasher    filter.Hasher
	Version   uint16
	FileBytes uint64
	Trimmed   bool // the file holds the trimmed form of the filter
}

// header is a parsed header: what Read knows before it allocates anything.
type header struct {
	family   families.Family
	hash     filter.HashID
	seed     uint64
	keyCheck uint64
	keys     uint64
	length   uint64
	spec     filter.Spec
	sections []section
	dataAt   uint64 // where the first section begins
	inflated uint64 // bytes that a trimmed filter takes beside its sections
	trimmed  bool
}

type section struct {
	offset, length uint64
	crc            uint32
}

func align(n uint64) uint64 { return (n + alignment - 1) &^ (alignment - 1) }

// layout places the sections of a spec in a file and returns where the first begins and the file ends.
func layout(specLen int, words []uint64) (sections []section, dataAt, length uint64, err error) {
	dataAt = align(uint64(headerSize + sectionSize*len(words) + specLen))
	length = dataAt
	for _, w := range words {
		if w > maxWords {
			return nil, 0, 0, fmt.Errorf("%d words: %w", w, filter.ErrTooLarge)
		}
		at := align(length)
		sections = append(sections, section{offset: at, length: 8 * w})
		length = at + 8*w
	}
	return sections, dataAt, length, nil
}

// specAt returns where the spec begins.
func (h *header) specAt() uint64 { return headerSize + sectionSize*uint64(len(h.sections)) }

// marshal returns the bytes before the first section.
func (h *header) marshal() []byte {
	spec := h.spec.String()
	b := make([]byte, h.dataAt)
	copy(b, magic)
	le := binary.LittleEndian
	le.PutUint16(b[8:], Version)
	le.PutUint16(b[10:], h.family.ID)
	le.PutUint16(b[12:], uint16(h.hash))
	le.PutUint16(b[14:], uint16(len(h.sections)))
	le.PutUint64(b[16:], h.seed)
	le.PutUint64(b[24:], h.keyCheck)
	le.PutUint64(b[32:], h.keys)
	le.PutUint64(b[40:], h.length)
	le.PutUint32(b[48:], uint32(len(spec)))
	at := headerSize
	for _, s := range h.sections {
		le.PutUint64(b[at:], s.offset)
		le.PutUint64(b[at+8:], s.length)
		le.PutUint32(b[at+16:], s.crc)
		at += sectionSize
	}
	at += copy(b[at:], spec)
	le.PutUint32(b[60:], headerCRC(b, at))
	return b
}

// headerCRC sums all that lies before byte end but the checksum itself.
func headerCRC(b []byte, end int) uint32 {
	return crc32.Update(crc32.Checksum(b[:60], castagnoli), castagnoli, b[headerSize:end])
}

// prefix checks the first 64 bytes and returns how many bytes lie before the first section.
func prefix(b []byte) (dataAt uint64, err error) {
	le := binary.LittleEndian
	fail := func(at uint64, what string, err error) (uint64, error) { return 0, &FormatError{at, what, err} }
	if string(b[:8]) != magic {
		return fail(0, "magic", ErrMagic)
	}
	if v := le.Uint16(b[8:]); v != Version {
		return fail(8, fmt.Sprintf("version %d", v), ErrVersion)
	}
	n, spec := le.Uint16(b[14:]), le.Uint32(b[48:])
	if n < 1 || n > maxSections {
		return fail(14, fmt.Sprintf("%d sections", n), ErrCorrupt)
	}
	if spec < 1 || spec > filter.MaxSpecLen {
		return fail(48, fmt.Sprintf("spec of %d bytes", spec), ErrCorrupt)
	}
	return align(headerSize + sectionSize*uint64(n) + uint64(spec)), nil
}

// parse reads all bytes before the first section, whose number prefix returned.
func parse(b []byte) (*header, error) {
	le := binary.LittleEndian
	fail := func(at int, what string, err error) (*header, error) { return nil, &FormatError{uint64(at), what, err} }
	n, specLen := int(le.Uint16(b[14:])), int(le.Uint32(b[48:]))
	specAt := headerSize + sectionSize*n
	if headerCRC(b, specAt+specLen) != le.Uint32(b[60:]) {
		return fail(60, "header", ErrChecksum)
	}
	h := &header{
		hash: filter.HashID(le.Uint16(b[12:])), seed: le.Uint64(b[16:]), keyCheck: le.Uint64(b[24:]),
		keys: le.Uint64(b[32:]), length: le.Uint64(b[40:]),
	}
	id := le.Uint16(b[10:])
	family, err := families.ByID(id)
	if err != nil {
		return fail(10, fmt.Sprintf("family %d", id), families.ErrFamily)
	}
	h.family = family
	if h.hash != filter.XXH3 && h.hash != filter.SipHash && !h.hash.Foreign() {
		return fail(12, fmt.Sprintf("hash %d", h.hash), ErrHash)
	}
	if (h.hash != filter.SipHash) != (h.keyCheck == 0) || h.hash != filter.XXH3 && h.seed != 0 {
		return fail(16, "seed and check of the secret", ErrCorrupt)
	}
	if le.Uint64(b[52:]) != 0 || len(bytes.Trim(b[specAt+specLen:], "\x00")) != 0 {
		return fail(52, "reserved bytes", ErrCorrupt)
	}
	text := string(b[specAt : specAt+specLen])
	spec, err := filter.ParseSpec(text)
	if err != nil || spec.String() != text || spec.Family() != h.family.Name {
		return fail(specAt, fmt.Sprintf("spec %q", text), ErrCorrupt)
	}
	if !h.family.TakesHash(spec, h.hash) {
		return fail(12, fmt.Sprintf("hash %s of a filter %s", h.hash, text), ErrCorrupt)
	}
	h.spec, h.trimmed = spec, spec.Has("trimmed")
	words, err := h.family.SectionWords(spec)
	if err != nil || len(words) != n {
		return fail(specAt, fmt.Sprintf("spec %q: %v", text, err), ErrCorrupt)
	}
	if h.family.Inflated != nil {
		if h.inflated, err = h.family.Inflated(spec); err != nil {
			return fail(specAt, fmt.Sprintf("spec %q", text), err)
		}
	}
	want, dataAt, length, err := layout(specLen, words)
	if err != nil || length != h.length {
		return fail(40, fmt.Sprintf("length of the file is %d, the spec asks for %d", h.length, length), ErrCorrupt)
	}
	h.dataAt = dataAt
	for i, w := range want {
		at := headerSize + sectionSize*i
		if le.Uint64(b[at:]) != w.offset || le.Uint64(b[at+8:]) != w.length || le.Uint32(b[at+20:]) != 0 {
			return fail(at, fmt.Sprintf("section %d", i), ErrCorrupt)
		}
		w.crc = le.Uint32(b[at+16:])
		h.sections = append(h.sections, w)
	}
	return h, nil
}

// hasher returns the hasher that the header names; secret is nil or the secret of a keyed one.
func (h *header) hasher(secret *[filter.SecretSize]byte) (filter.Hasher, error) {
	switch {
	case h.hash == filter.XXH3:
		return filter.NewHasher(h.seed), nil
	case h.hash.Foreign():
		return filter.ForeignHasher(h.hash)
	}
	if secret != nil {
		if k := filter.NewKeyedHasher(*secret); k.KeyCheck() == h.keyCheck {
			return k, nil
		}
	}
	return filter.Hasher{}, &FormatError{24, "check of the secret", ErrSecret}
}
