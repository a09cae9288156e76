// Package container reads and writes the file format of Bloomery, as a family.Encoded. It does not depend on the
// families: package families decodes filters from it. All numbers are little endian.
//
//	offset  bytes
//	     0      8  magic: 89 42 4C 4D 52 59 0D 0A ("\x89BLMRY\r\n"; a transfer in text mode breaks it)
//	     8      2  format version: 1
//	    10      2  family: 1 standard, 2 blocked, 3 fuse, 4 partitioned, 5 blockpartitioned, 6 twochoice, 7 rankindexed,
//	               8 counting, 10 ribbon (9 and 11 are not used), 20 guava, 21 bitsandblooms, 22 redisbloom, 23 spark,
//	               24 dcso
//	    12      2  hash: 1 xxh3-128 with seed, 2 siphash-128 with a secret that is not in the file, and of other
//	               systems: 3 xxh64, 4 murmur3-x64-128, 5 murmur3-x64-128-twice, 6 murmur64a-twice,
//	               7 murmur3-x86-32-twice, 8 uint64: the key itself, 9 fnv1-64
//	    14      1  number of sections, 1 to 8; with exceptions from 2 on
//	    15      1  flags: bit 0 if the file has exceptions; the other bits are zero
//	    16      8  hash 1: its seed; hash 2: the check of its secret, never zero; others: zero
//	    24      1  form of the keys: bit 0 if they were trimmed, bit 1 if A to Z were lowered; the other bits are zero
//	    25      1  their type: 0 bytes, 1 text, 2 int32, 3 uint32, 4 int64, 5 uint64, 6 date, 7 decimal32, 8 decimal64,
//	               9 decimal, 10 fixed: see filter.KeyType
//	    26      1  scale of a decimal, else zero
//	    27      1  width of decimal and fixed, in bytes, else zero
//	    28      4  reserved, zero
//	    32      8  number of keys
//	    40      8  length of the file in bytes
//	    48      8  planned false-positive rate, a float64 above 0 and below 1, or zero for none
//	    56      4  length of the spec in bytes, 1 to 512
//	    60      4  CRC-32C of bytes 0 to 59, of the section table and of the spec
//	    64     24  one entry per section: its offset (8) and length (8), both in bytes, its CRC-32C (4), zero (4)
//	           ..  the spec in canonical form, then zeros up to a multiple of 64
//	           ..  the sections, each at a multiple of 64, zeros between them; the last one ends the file
//
// A later version may use other flags and types and the reserved bytes: a reader that finds one of them refuses the
// file as newer than itself. The same content has one encoding.
//
// The last section of a file with exceptions does not belong to the family. It holds keys for which the answer is false
// although the filter's bits say true. Package internal/except has their layout. Such a file has one of the hash
// functions 1 and 2.
//
// A file of package window has the same layout with another magic, 89 42 4C 57 49 4E 0D 0A ("\x89BLWIN\r\n"), and
// family 0: its answers depend on the time, so that readers of filters must refuse it.
//
// Every byte is under a checksum or must be zero. A section is 64-bit words in the layout that the family's Encode
// documents, ready to be mapped. The sizes of the sections follow from the spec: Options.Check compares them before
// memory is taken.
package container

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/sums"
)

// Version is the format version.
const Version = 1

const (
	magic       = "\x89BLMRY\r\n"
	windowMagic = "\x89BLWIN\r\n"
	headerSize  = 64
	sectionSize = 24
	maxSections = 8

	// flagExceptions is the flag of a file whose last section holds exceptions.
	flagExceptions = 1

	flagTrim, flagLower = 1, 2 // flags of the form of keys

	maxWords  = 1 << 56 // largest number of words of a section, so that no sum of bytes overflows
	alignment = 64
)

// File is the content of a filter file.
type File struct {
	family.Encoded
	Window   bool          // whether this is a file of package window, which has its own magic number
	Family   uint16        // number of the family in families; 0 with Window
	Hash     filter.HashID // the hash function of its keys
	Seed     uint64        // seed of XXH3, else 0
	KeyCheck uint64        // filter.Hasher.KeyCheck of SipHash, else 0
	Form     filter.KeyForm
	// FPRPlanned is the false-positive rate that the filter was sized for, above 0 and below 1, or 0 for none.
	FPRPlanned float64
	// Exceptions are the words of the section of exceptions. It is nil if the file has none, and empty but not nil if
	// it has some and only its header was read. Sections does not include them.
	Exceptions []uint64
	Bytes      uint64 // length of the file that was read
	// Intact, if not nil, returns an error if another program has changed the sections: see Mapping.Err.
	Intact func() error
}

// New returns a File of a stored filter and the hasher of its keys. It shares the words of e.
func New(family uint16, e family.Encoded, h filter.Hasher) *File {
	return &File{Encoded: e, Family: family, Hash: h.ID(), Seed: h.Seed(), KeyCheck: h.KeyCheck(),
		Form: h.Form()}
}

// CheckHeader returns a *FormatError with the place of the first field that differs between the headers of f and want:
// family, hash function, seed, check of the secret, form of keys, number of keys and length. It wraps foreign.
func (f *File) CheckHeader(want *File, foreign error) error {
	for _, field := range []struct {
		at         uint64
		what       string
		have, want any
	}{
		{10, "family", f.Spec.Family(), want.Spec.Family()},
		{12, "hash", f.Hash, want.Hash},
		{16, "seed", f.Seed, want.Seed},
		{16, "check of the secret", f.KeyCheck, want.KeyCheck},
		{24, "form of keys", f.Form, want.Form},
		{32, "number of keys", f.Keys, want.Keys},
		{40, "length", f.Bytes, want.Bytes},
	} {
		if field.have != field.want {
			return Broken(field.at, fmt.Sprintf("%s %v, want %v", field.what, field.have, field.want), foreign)
		}
	}
	return nil
}

// HasExceptions reports whether the file has a section of exceptions, also if only its header was read. A reader that
// ignores exceptions must refuse the file.
func (f *File) HasExceptions() bool { return f.Exceptions != nil }

// stored returns the sections in the order of the file: the family's sections, then the exceptions.
func (f *File) stored() [][]uint64 {
	if f.Exceptions == nil {
		return f.Sections
	}
	return append(slices.Clone(f.Sections), f.Exceptions)
}

// addSection adds a section that was read. last reports whether it is the last one of the file.
func (f *File) addSection(words []uint64, last bool) {
	switch {
	case !last || !f.HasExceptions():
		f.Sections = append(f.Sections, words)
	case len(words) > 0: // no words: the exceptions stay empty, and not nil
		f.Exceptions = words
	}
}

// Hasher returns the hasher of the keys. The error wraps filter.ErrSecret if the hash is keyed and secret is wrong, and
// filter.ErrNoSecret if it is nil.
func (f *File) Hasher(secret *filter.Secret) (h filter.Hasher, err error) {
	switch {
	case f.Hash == filter.XXH3:
		h = filter.NewHasher(f.Seed)
	case family.Foreign(f.Hash):
		if h, err = filter.ForeignHasher(f.Hash); err != nil {
			return h, err
		}
	case secret == nil:
		return h, Broken(16, "check of the secret", filter.ErrNoSecret)
	default:
		if h = filter.NewKeyedHasher(*secret); h.KeyCheck() != f.KeyCheck {
			return filter.Hasher{}, Broken(16, "check of the secret", filter.ErrSecret)
		}
	}
	return h.WithForm(f.Form)
}

// SpecAt returns the offset of the spec in the file.
func (f *File) SpecAt() uint64 { return headerSize + sectionSize*uint64(len(f.stored())) }

// SectionAt returns the offset of section i in the file.
func (f *File) SectionAt(i int) uint64 {
	all, _, _, err := layout(len(f.Spec.String()), wordsOf(f))
	if err != nil {
		return 0
	}
	return all[i].offset
}

// header is the part of a file before the sections. Its Bytes are the length of the file.
type header struct {
	File
	sections []section
	dataAt   uint64 // offset of the first section
}

type section struct {
	offset, length uint64
	crc            uint32
}

// sectionWords returns the number of words of each section of the family.
func (h *header) sectionWords() []uint64 {
	sections := h.sections
	if h.HasExceptions() {
		sections = sections[:len(sections)-1]
	}
	words := make([]uint64, len(sections))
	for i, s := range sections {
		words[i] = s.length / 8
	}
	return words
}

func alignUp(n uint64) uint64 { return (n + alignment - 1) &^ (alignment - 1) }

// layout places sections of these numbers of words. It returns the offset of the first one and the length of the file.
func layout(specLen int, words []uint64) (sections []section, dataAt, length uint64, err error) {
	dataAt = alignUp(uint64(headerSize + sectionSize*len(words) + specLen))
	length = dataAt
	for _, w := range words {
		if w > maxWords {
			return nil, 0, 0, fmt.Errorf("%d words: %w", w, filter.ErrTooLarge)
		}
		at := alignUp(length)
		sections = append(sections, section{offset: at, length: 8 * w})
		length = at + 8*w
	}
	return sections, dataAt, length, nil
}

func (h *header) specAt() uint64 { return headerSize + sectionSize*uint64(len(h.sections)) }

// marshal returns the bytes before the first section.
func (h *header) marshal() []byte {
	spec := h.Spec.String()
	b := make([]byte, h.dataAt)
	copy(b, magic)
	if h.Window {
		copy(b, windowMagic)
	}

	le := binary.LittleEndian
	le.PutUint16(b[8:], Version)
	le.PutUint16(b[10:], h.Family)
	le.PutUint16(b[12:], uint16(h.Hash))
	b[14] = byte(len(h.sections))
	if h.HasExceptions() {
		b[15] = flagExceptions
	}

	le.PutUint64(b[16:], h.Seed|h.KeyCheck) // one of them is zero
	if h.Form.Trim {
		b[24] |= flagTrim
	}
	if h.Form.Lower {
		b[24] |= flagLower
	}
	b[25], b[26], b[27] = byte(h.Form.Type), h.Form.Scale, h.Form.Width

	le.PutUint64(b[32:], h.Keys)
	le.PutUint64(b[40:], h.Bytes)
	if h.FPRPlanned != 0 { // -0 is stored as 0
		le.PutUint64(b[48:], math.Float64bits(h.FPRPlanned))
	}

	le.PutUint32(b[56:], uint32(len(spec)))

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

// headerCRC returns the checksum of the bytes before end, except the checksum itself.
func headerCRC(b []byte, end int) uint32 {
	return sums.CRC(b[:60], b[headerSize:end])
}

// prefix checks the first 64 bytes and returns the number of bytes before the first section.
func prefix(b []byte) (dataAt uint64, err error) {
	le := binary.LittleEndian
	fail := func(at uint64, what string, err error) (uint64, error) { return 0, Broken(at, what, err) }
	switch v := le.Uint16(b[8:]); {
	case v == 0:
		return fail(8, "version 0", filter.ErrCorrupt)
	case v > Version:
		return fail(8, fmt.Sprintf("version %d", v), filter.ErrVersion)
	}

	n, spec := b[14], le.Uint32(b[56:])
	if n < 1 || n > maxSections {
		return fail(14, fmt.Sprintf("%d sections", n), filter.ErrCorrupt)
	}
	if spec < 1 || spec > filter.MaxSpecLen {
		return fail(56, fmt.Sprintf("spec of %d bytes", spec), filter.ErrCorrupt)
	}
	return alignUp(headerSize + sectionSize*uint64(n) + uint64(spec)), nil
}

// parseHeader parses the bytes before the first section; prefix returned their number.
func parseHeader(b []byte) (*header, error) {
	le := binary.LittleEndian
	fail := func(at int, what string, err error) (*header, error) { return nil, Broken(uint64(at), what, err) }
	n, flags, specLen := int(b[14]), b[15], int(le.Uint32(b[56:]))
	specAt := headerSize + sectionSize*n
	if headerCRC(b, specAt+specLen) != le.Uint32(b[60:]) {
		return fail(60, "header", filter.ErrChecksum)
	}

	// This check follows the checksum, so that damage of these bytes is not reported as a newer version.
	if flags&^flagExceptions != 0 {
		return fail(15, fmt.Sprintf("flags %#x", flags), filter.ErrVersion)
	}
	form := filter.KeyForm{Trim: b[24]&flagTrim != 0, Lower: b[24]&flagLower != 0, Type: filter.KeyType(b[25]),
		Scale: b[26], Width: b[27]}
	if _, err := filter.NewHasher(0).WithForm(form); err != nil || b[24] > flagTrim|flagLower || le.Uint32(b[28:]) != 0 {
		return fail(24, fmt.Sprintf("form of keys %x", b[24:32]), filter.ErrVersion)
	}

	h := &header{File: File{
		Window: string(b[:len(windowMagic)]) == windowMagic,
		Family: le.Uint16(b[10:]), Hash: filter.HashID(le.Uint16(b[12:])),
		FPRPlanned: math.Float64frombits(le.Uint64(b[48:])),
		Bytes:      le.Uint64(b[40:]), Encoded: family.Encoded{Keys: le.Uint64(b[32:])}, Form: form,
	}}
	if err := h.setHash(le.Uint64(b[16:])); err != nil {
		return nil, err
	}
	if le.Uint64(b[48:]) != 0 && !(h.FPRPlanned > 0 && family.ValidRate(h.FPRPlanned)) {
		return fail(48, fmt.Sprintf("planned rate %v", h.FPRPlanned), filter.ErrCorrupt)
	}
	if flags&flagExceptions != 0 {
		if n < 2 {
			return fail(14, "exceptions without a filter", filter.ErrCorrupt)
		}
		if family.Foreign(h.Hash) {
			return fail(12, fmt.Sprintf("exceptions with hash %s", h.Hash), filter.ErrCorrupt)
		}
		h.Exceptions = []uint64{}
	}

	if len(bytes.Trim(b[specAt+specLen:], "\x00")) != 0 {
		return fail(specAt+specLen, "padding", filter.ErrCorrupt)
	}

	text := string(b[specAt : specAt+specLen])
	spec, err := filter.ParseSpec(text)
	if err != nil || spec.String() != text {
		return fail(specAt, fmt.Sprintf("spec %q", text), filter.ErrCorrupt)
	}

	h.Spec = spec
	words := make([]uint64, n)
	for i := range words {
		words[i] = le.Uint64(b[headerSize+sectionSize*i+8:]) / 8
	}

	want, dataAt, length, err := layout(specLen, words)
	if err != nil || length != h.Bytes {
		return fail(40, fmt.Sprintf("length of the file is %d, its sections take %d", h.Bytes, length), filter.ErrCorrupt)
	}

	h.dataAt = dataAt
	for i, w := range want {
		at := headerSize + sectionSize*i
		if le.Uint64(b[at:]) != w.offset || le.Uint64(b[at+8:]) != w.length || le.Uint32(b[at+20:]) != 0 {
			return fail(at, fmt.Sprintf("section %d", i), filter.ErrCorrupt)
		}
		w.crc = le.Uint32(b[at+16:])
		h.sections = append(h.sections, w)
	}
	return h, nil
}

// setHash stores bytes 16 to 23 as the seed or as the check of the secret, depending on the hash function.
func (h *header) setHash(field uint64) error {
	switch {
	case h.Hash == filter.XXH3:
		h.Seed = field
	case h.Hash == filter.SipHash:
		h.KeyCheck = field
	case !family.Foreign(h.Hash):
		return Broken(12, fmt.Sprintf("hash %d", h.Hash), filter.ErrHash)
	}
	if (h.Hash == filter.SipHash) != (h.KeyCheck != 0) || family.Foreign(h.Hash) && field != 0 {
		return Broken(16, fmt.Sprintf("seed or check of the secret of hash %s", h.Hash), filter.ErrCorrupt)
	}
	return nil
}

// accept calls Options.Check with the header, before memory is allocated for the sections.
func (h *header) accept(o Options) error {
	if h.Bytes > o.maxBytes() {
		what := fmt.Sprintf("a filter of %d bytes is over the limit of %d", h.Bytes, o.maxBytes())
		return Broken(40, what, filter.ErrTooLarge)
	}
	if o.Check == nil {
		return nil
	}

	err := o.Check(&h.File, h.sectionWords())
	var format *FormatError
	switch {
	case err == nil || errors.As(err, &format):
		return err
	case errors.Is(err, filter.ErrTooLarge) || errors.Is(err, filter.ErrFamily):
		return Broken(h.specAt(), "spec", err)
	}
	return Broken(h.specAt(), err.Error(), filter.ErrCorrupt)
}
