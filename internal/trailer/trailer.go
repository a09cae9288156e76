// Package trailer has the end of the file of an exact set, by which a reader sees that the file is whole.
//
//	 0  4  magic: 89 42 4C 45
//	 4  8  length of the file in bytes, this trailer included
//	12  4  number of updates
//	16  4  CRC-32C of the CRC of the last record, which is the 4 bytes before the trailer, and of bytes 0 to 15
//
// Numbers are little endian. An update replaces the trailer by its record and a new trailer, so that a file that was
// cut anywhere has none at its end. Files of version 1 have no trailer. docs/format/exact.md describes the whole file.
package trailer

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/crc"
)

const (
	// Size is the number of bytes of a trailer.
	Size = 20
	// Magic begins a trailer.
	Magic = "\x89BLE"

	// FirstVersion is the first version of the file that has a trailer.
	FirstVersion = 2
	versionAt    = 4 // in the file; the versions so far take one byte
)

// Trailer is the content of a trailer.
type Trailer struct {
	Length  uint64 // of the file, with the trailer
	Updates uint32
}

// Append appends the trailer of a file to b. last is the CRC of its last record.
func (t Trailer) Append(b []byte, last uint32) []byte {
	start := len(b)
	b = append(b, Magic...)
	b = binary.LittleEndian.AppendUint64(b, t.Length)
	b = binary.LittleEndian.AppendUint32(b, t.Updates)
	before := binary.LittleEndian.AppendUint32(nil, last)
	return binary.LittleEndian.AppendUint32(b, crc.Sum(before, b[start:]))
}

// Read reads a trailer of Size bytes. last is the CRC of the last record. The error wraps filter.ErrCorrupt if the
// magic differs, or filter.ErrChecksum.
func Read(b []byte, last uint32) (t Trailer, err error) {
	t = Trailer{Length: binary.LittleEndian.Uint64(b[4:]), Updates: binary.LittleEndian.Uint32(b[12:])}
	switch {
	case string(b[:len(Magic)]) != Magic:
		return Trailer{}, fmt.Errorf("%w: it is not there", filter.ErrCorrupt)
	case string(t.Append(nil, last)) != string(b):
		return Trailer{}, filter.ErrChecksum
	}
	return t, nil
}

// Records returns the records of a file that begins with the magic of an exact set: the file without its trailer. It
// verifies the trailer, and nothing else. Of a file of version 1 it returns all bytes. The error wraps
// io.ErrUnexpectedEOF if the file does not end with its trailer.
func Records(file []byte) ([]byte, error) {
	switch {
	case len(file) <= versionAt:
		return nil, io.ErrUnexpectedEOF
	case file[versionAt] < FirstVersion:
		return file, nil
	case len(file) < versionAt+Size+4:
		return nil, io.ErrUnexpectedEOF
	}
	records := file[:len(file)-Size]
	t, err := Read(file[len(records):], binary.LittleEndian.Uint32(records[len(records)-4:]))
	if err != nil || t.Length != uint64(len(file)) {
		return nil, fmt.Errorf("the exact set does not end with its trailer; it was cut or changed: %w",
			io.ErrUnexpectedEOF)
	}
	return records, nil
}
