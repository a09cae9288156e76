package container

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/bloomery/bloomery/filter"
)

// TestExactRecords: the file of an exact set must end with a trailer for its length.
func TestExactRecords(t *testing.T) {
	records := []byte("\x89BLX\x01 some records")
	crc := [4]byte{1, 2, 3, 4}
	records = append(records, crc[:]...)
	end := ExactTrailer{Length: uint64(len(records)) + ExactTrailerSize, Updates: 7}
	file := end.Append(bytes.Clone(records), 0x04030201)
	if got, err := ExactRecords(file); err != nil || !bytes.Equal(got, records) {
		t.Errorf("%q, %v", got, err)
	}
	got, err := ReadExactTrailer(file[len(records):], 0x04030201)
	if want := (ExactTrailer{uint64(len(file)), 7}); err != nil || got != want {
		t.Errorf("%v, want %v: %v", got, want, err)
	}
	if _, err := ReadExactTrailer(file[len(records):], 0x04030200); !errors.Is(err, filter.ErrChecksum) {
		t.Errorf("another record: %v", err)
	}
	for n := range file {
		if _, err := ExactRecords(file[:n]); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("cut to %d bytes: %v", n, err)
		}
		if n >= len(records) {
			flipped := bytes.Clone(file)
			flipped[n] ^= 1
			if _, err := ExactRecords(flipped); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("byte %d flipped: %v", n, err)
			}
		}
	}
	if _, err := ExactRecords(append(bytes.Clone(file), 0)); err == nil {
		t.Error("a byte behind the trailer is ignored")
	}
}
