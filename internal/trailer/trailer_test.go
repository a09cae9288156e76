package trailer

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/bloomery/bloomery/filter"
)

// TestRecords: a file of version 2 must end with a trailer for its length; one of version 1 has none.
func TestRecords(t *testing.T) {
	records := []byte("\x89BLX\x02 some records")
	crc := [4]byte{1, 2, 3, 4}
	records = append(records, crc[:]...)
	file := Trailer{Length: uint64(len(records)) + Size, Updates: 7}.Append(bytes.Clone(records), 0x04030201)
	if got, err := Records(file); err != nil || !bytes.Equal(got, records) {
		t.Errorf("%q, %v", got, err)
	}
	got, err := Read(file[len(records):], 0x04030201)
	if want := (Trailer{uint64(len(file)), 7}); err != nil || got != want {
		t.Errorf("%v, want %v: %v", got, want, err)
	}
	if _, err := Read(file[len(records):], 0x04030200); !errors.Is(err, filter.ErrChecksum) {
		t.Errorf("another record: %v", err)
	}
	for n := range file {
		if _, err := Records(file[:n]); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("cut to %d bytes: %v", n, err)
		}
		if n >= len(records) {
			flipped := bytes.Clone(file)
			flipped[n] ^= 1
			if _, err := Records(flipped); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("byte %d flipped: %v", n, err)
			}
		}
	}
	if _, err := Records(append(bytes.Clone(file), 0)); err == nil {
		t.Error("a byte behind the trailer is ignored")
	}
	old := []byte("\x89BLX\x01 some records")
	if got, err := Records(old); err != nil || !bytes.Equal(got, old) {
		t.Errorf("version 1: %q, %v", got, err)
	}
}
