package container

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/bloomery/bloomery/internal/bitvec"
)

// TestReadPlaces compares the places of the sections with the sections of every sample, read from a header alone, and
// shortens that header.
func TestReadPlaces(t *testing.T) {
	for _, s := range samples(t) {
		want, err := Read(bytes.NewReader(s.file), Options{})
		if err != nil {
			t.Fatal(err)
		}
		head := s.file[:min(len(s.file), MaxHeader)]
		f, places, err := ReadPlaces(bytes.NewReader(head), Options{})
		if err != nil || len(places) != len(want.stored()) || f.Bytes != uint64(len(s.file)) || f.Sections != nil {
			t.Fatalf("%s: %d places, %+v, %v", s.name, len(places), f, err)
		}
		for i, p := range places {
			words := bytes.Clone(bitvec.Bytes(want.stored()[i]))
			if !bitvec.LittleEndian {
				copied := append([]uint64(nil), want.stored()[i]...)
				bitvec.FixOrder(copied)
				words = bitvec.Bytes(copied)
			}
			if !bytes.Equal(s.file[p.Offset:][:p.Bytes], words) {
				t.Errorf("%s: section %d is not at %+v", s.name, i, p)
			}
		}
		for n := range places[0].Offset {
			if _, _, err := ReadPlaces(bytes.NewReader(head[:n]), Options{}); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("%s: cut to %d bytes: %v", s.name, n, err)
			}
		}
		for i := range int(places[0].Offset) {
			b := bytes.Clone(head)
			b[i] ^= 0x10
			if _, _, err := ReadPlaces(bytes.NewReader(b), Options{}); err == nil {
				t.Fatalf("%s: byte %d changed: no error", s.name, i)
			}
		}
	}
	if MaxHeader != 768 {
		t.Errorf("MaxHeader is %d: requests for headers grew", MaxHeader)
	}
}
