package container

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/sums"
)

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
	Length  uint64 // of the file, with the trailer
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
