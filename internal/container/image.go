package container

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/sums"
)

// HeadSize is the length in bytes of the fields of fixed length at the start of a file.
const HeadSize = headerSize

// Image is the bytes of a filter file, for programs that copy and change them without regard to the family.
type Image struct {
	Bytes    []byte  // the whole file
	Spec     string  // spec in canonical form
	Keys     uint64  // number of keys
	Sections []Place // sections in order; the last one ends the file
}

// ParseImage verifies the header of the file in b, whose length must be the one in the header, and returns its parts,
// which share b. It does not verify the checksums of the sections. It returns the same errors as Read.
func ParseImage(b []byte) (*Image, error) {
	h, err := readHeader(bytes.NewReader(b), false)
	if err != nil {
		return nil, err
	}
	if err := h.checkLength(uint64(len(b))); err != nil {
		return nil, err
	}
	return &Image{Bytes: b, Spec: h.Spec.String(), Keys: h.Keys, Sections: h.places()}, nil
}

// Section returns the bytes of section i.
func (m *Image) Section(i int) []byte {
	p := m.Sections[i]
	return m.Bytes[p.Offset:][:p.Bytes:p.Bytes]
}

// Checksum returns the checksum in the header. It depends on all bytes of the file, by way of the checksums of the
// sections.
func (m *Image) Checksum() uint32 { return ChecksumOf(m.Bytes) }

// ChecksumOf returns the checksum in the first HeadSize bytes of a file.
func ChecksumOf(head []byte) uint32 { return binary.LittleEndian.Uint32(head[60:]) }

// NewImage returns a file with that spec and sections of these lengths in bytes, all 0. Its first HeadSize bytes are a
// copy of head, except for the lengths. The caller fills the sections and then calls Seal. The error wraps
// filter.ErrTooLarge if the file would have more than limit bytes, or filter.ErrCorrupt if no file can have this spec
// or these sections.
func NewImage(head []byte, spec string, sections []uint64, limit uint64) (*Image, error) {
	if n := len(sections); n < 1 || n > maxSections {
		return nil, fmt.Errorf("%d sections: %w", n, filter.ErrCorrupt)
	}

	parsed, err := filter.ParseSpec(spec)
	if err != nil || parsed.String() != spec || len(spec) > filter.MaxSpecLen {
		return nil, fmt.Errorf("spec %.80q: %w", spec, filter.ErrCorrupt)
	}

	words := make([]uint64, len(sections))
	for i, n := range sections {
		if words[i] = n / 8; n%8 != 0 {
			return nil, fmt.Errorf("a section of %d bytes: %w", n, filter.ErrCorrupt)
		}
	}

	places, _, length, err := layout(len(spec), words)
	if err != nil {
		return nil, err
	}
	if length > min(limit, math.MaxInt) {
		return nil, fmt.Errorf("a file of %d bytes is over the limit of %d: %w", length, limit, filter.ErrTooLarge)
	}

	b := make([]byte, length)
	copy(b, head[:headerSize])
	le := binary.LittleEndian
	b[14] = byte(len(sections))
	le.PutUint64(b[40:], length)
	le.PutUint32(b[56:], uint32(len(spec)))
	m := &Image{Bytes: b, Spec: spec, Keys: le.Uint64(b[32:])}
	for i, p := range places {
		m.Sections = append(m.Sections, Place{p.offset, p.length})
		le.PutUint64(b[headerSize+sectionSize*i:], p.offset)
		le.PutUint64(b[headerSize+sectionSize*i+8:], p.length)
	}
	copy(b[headerSize+sectionSize*len(sections):], spec)
	return m, nil
}

// Seal writes the checksums of the sections and of the header.
func (m *Image) Seal() {
	le := binary.LittleEndian
	for i := range m.Sections {
		le.PutUint32(m.Bytes[headerSize+sectionSize*i+16:], sums.CRC(m.Section(i)))
	}
	end := headerSize + sectionSize*len(m.Sections) + len(m.Spec)
	le.PutUint32(m.Bytes[60:], headerCRC(m.Bytes, end))
}

// This file is for programs that detect, copy or patch the file of an exact set; package exact has the rest.

const (
	// ExactMagic begins each record of an exact set, and so its file.
	ExactMagic = "\x89BLX"
	// ExactTrailerMagic begins the trailer, which ends the file.
	ExactTrailerMagic = "\x89BLE"
	// ExactTrailerSize is the number of bytes of the trailer.
	ExactTrailerSize = 20
)

// ExactTrailer is the content of the trailer of an exact set. It shows a reader that the file is complete:
//
//	 0  4  magic: 89 42 4C 45
//	 4  8  length of the file in bytes, this trailer included
//	12  4  number of updates
//	16  4  CRC-32C of the CRC of the last record, which is the 4 bytes before the trailer, and of bytes 0 to 15
//
// Numbers are little endian. An update overwrites the trailer with its record and a new trailer, so a truncated file
// does not end with a trailer.
type ExactTrailer struct {
	Length  uint64 // length of the file, with the trailer
	Updates uint32
}

// Append appends the trailer of a file to b. last is the CRC of its last record.
func (t ExactTrailer) Append(b []byte, last uint32) []byte {
	start := len(b)
	b = append(b, ExactTrailerMagic...)
	b = binary.LittleEndian.AppendUint64(b, t.Length)
	b = binary.LittleEndian.AppendUint32(b, t.Updates)

	before := binary.LittleEndian.AppendUint32(nil, last)
	return binary.LittleEndian.AppendUint32(b, sums.CRC(before, b[start:]))
}

// ReadExactTrailer reads a trailer of ExactTrailerSize bytes. last is the CRC of the last record. The error wraps
// filter.ErrCorrupt if the magic differs, or filter.ErrChecksum.
func ReadExactTrailer(b []byte, last uint32) (t ExactTrailer, err error) {
	t = ExactTrailer{Length: binary.LittleEndian.Uint64(b[4:]), Updates: binary.LittleEndian.Uint32(b[12:])}
	switch {
	case string(b[:len(ExactTrailerMagic)]) != ExactTrailerMagic:
		return ExactTrailer{}, fmt.Errorf("%w: it is not there", filter.ErrCorrupt)
	case string(t.Append(nil, last)) != string(b):
		return ExactTrailer{}, filter.ErrChecksum
	}
	return t, nil
}

// ExactRecords returns the records of a file that begins with ExactMagic: the file without its trailer. It verifies the
// trailer, and nothing else. The error wraps io.ErrUnexpectedEOF if the file does not end with its trailer.
func ExactRecords(file []byte) ([]byte, error) {
	const crcSize = 4
	if len(file) < len(ExactMagic)+crcSize+ExactTrailerSize {
		return nil, io.ErrUnexpectedEOF
	}

	records := file[:len(file)-ExactTrailerSize]
	last := binary.LittleEndian.Uint32(records[len(records)-crcSize:])

	t, err := ReadExactTrailer(file[len(records):], last)
	if err != nil || t.Length != uint64(len(file)) {
		return nil, fmt.Errorf("the exact set does not end with its trailer; it was cut or changed: %w",
			io.ErrUnexpectedEOF)
	}
	return records, nil
}
