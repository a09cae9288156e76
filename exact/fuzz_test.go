package exact

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/bloomery/bloomery/filter"
)

// mended corrects the checksums and the trailer in a copy of data, as far as the file can be read. It returns the set
// in the copy, and the copy.
func mended(data []byte) (*Set, []byte, error) {
	data = bytes.Clone(data)
	s, err := (&cursor{data: data, secret: &vectorSecret, mend: true}).parseSet()
	return s, data, err
}

// use queries a set that was read from arbitrary data, and checks that it is written with the same bytes.
func use(t *testing.T, s *Set, data []byte) {
	t.Helper()
	again, err := s.appendTo(nil)
	if err != nil || !bytes.Equal(again, data) {
		t.Errorf("%d bytes become %d: %v", len(data), len(again), err)
	}
	s.Contains([]byte("key"))
	s.in([]byte("partition"), []byte("key"))
	s.manyIn(make([]bool, 2), [][]byte{nil, {1}}, [][]byte{nil, {1}})
	s.Info()
}

// FuzzRead reads files with wrong and with corrected checksums. With corrected checksums, the data reaches the decoder.
func FuzzRead(f *testing.F) {
	for _, data := range files(f, 3500, 12) {
		f.Add(data)
	}
	if corpus, err := os.ReadDir("testdata/fuzz/FuzzRead"); err != nil || len(corpus) < 20 {
		f.Fatalf("%d files in the corpus: %v", len(corpus), err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if s, err := FromBytes(data, WithSecret(&vectorSecret)); err == nil {
			use(t, s, data)
		}
		s, data, err := mended(data)
		switch {
		case errors.Is(err, filter.ErrChecksum):
			t.Errorf("a checksum was not mended: %v", err)
		case err != nil:
			return
		}
		if _, err := FromBytes(data, WithSecret(&vectorSecret)); err != nil {
			t.Errorf("mended: %v", err)
		}
		use(t, s, data)
	})
}

// TestFuzzReaches checks that many randomly damaged files are read as a set once their checksums are corrected, and
// none before.
func TestFuzzReaches(t *testing.T) {
	const seed, rounds = 28, 2000
	r := rand.New(rand.NewPCG(seed, 1))
	all := files(t, 3500, 12)
	var read, refused int
	for range rounds {
		data := bytes.Clone(all[r.IntN(len(all))])
		for range 1 + r.IntN(3) {
			data[r.IntN(len(data))] ^= 1 << r.IntN(8)
		}
		if _, err := FromBytes(data, WithSecret(&vectorSecret)); err == nil {
			continue // a bit was flipped twice
		}
		s, data, err := mended(data)
		if err != nil {
			refused++
			continue
		}
		use(t, s, data)
		read++
	}
	t.Logf("%d damaged files with right checksums: %d read, %d refused", read+refused, read, refused)
	if read < rounds/2 || refused < rounds/20 {
		t.Errorf("seed %d: of %d damaged files with right checksums %d are read and %d refused", seed, rounds, read, refused)
	}
}
