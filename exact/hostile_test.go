package exact

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/sums"
)

// files returns the files of testdata up to a size of most, in bytes. It fails the test if there are fewer than least.
func files(t testing.TB, most, least int) (all [][]byte) {
	paths := must(filepath.Glob("testdata/*.exact"))
	for _, path := range paths {
		data := must(os.ReadFile(path))
		if len(data) <= most {
			all = append(all, data)
		}
	}
	if len(all) < least {
		t.Fatalf("%d files, want at least %d", len(all), least)
	}
	return all
}

// TestTruncated checks that every truncation of a file, and a file with more bytes after its end, is refused.
func TestTruncated(t *testing.T) {
	for _, data := range files(t, 3500, 12) {
		must(FromBytes(data, WithSecret(&vectorSecret)))
		for n := range len(data) {
			_, err := FromBytes(data[:n:n], WithSecret(&vectorSecret))
			if !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("%d of %d bytes: %v", n, len(data), err)
			}
		}
		for _, more := range [][]byte{{0}, make([]byte, 20), data[len(data)-20:], data} {
			if _, err := FromBytes(append(bytes.Clone(data), more...), WithSecret(&vectorSecret)); err == nil {
				t.Errorf("%d bytes behind the file are ignored", len(more))
			}
		}
	}
}

// TestTrailer checks that a trailer is valid only for one length, one number of updates and one last record.
func TestTrailer(t *testing.T) {
	_, s := chain(t)
	data := bytesOf(t, s)
	s = must(FromBytes(data))
	records, last := data[:len(data)-container.ExactTrailerSize], s.records[len(s.records)-1]
	size := uint64(len(data))
	for what, end := range map[string][]byte{
		"length":       container.ExactTrailer{Length: size - 1, Updates: 3}.Append(nil, last.crc),
		"updates":      container.ExactTrailer{Length: size, Updates: 2}.Append(nil, last.crc),
		"other record": container.ExactTrailer{Length: size, Updates: 3}.Append(nil, last.crc+1),
		"two":          slices.Concat(data[len(records):], data[len(records):]),
		"none":         nil,
		"of an update": slices.Concat(data[len(records):], data[len(records)-int(last.size):]),
	} {
		_, err := FromBytes(slices.Concat(records, end))
		if !errors.Is(err, filter.ErrCorrupt) && !errors.Is(err, filter.ErrChecksum) &&
			!errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %v", what, err)
		}
	}
	good := container.ExactTrailer{Length: size, Updates: 3}.Append(nil, last.crc)
	if _, err := FromBytes(slices.Concat(records, good)); err != nil {
		t.Error(err)
	}
}

// TestFlipped flips bits. Every bit belongs to a checksum or is covered by one.
func TestFlipped(t *testing.T) {
	for _, data := range files(t, 1300, 8) {
		for i := range data {
			for _, bit := range []byte{1, 0x80} {
				data[i] ^= bit
				if _, err := FromBytes(data, WithSecret(&vectorSecret)); err == nil {
					t.Fatalf("byte %d of %d: no error", i, len(data))
				}
				data[i] ^= bit
			}
		}
	}
}

// header returns the file of a base with the given numbers after the seed, correct CRCs, and body.
func header(body []byte, numbers ...uint64) []byte {
	b := append([]byte(magic), version, kindBase, byte(filter.XXH3))
	b = binary.LittleEndian.AppendUint64(b, 7)
	b = appendUvarints(b, numbers...)
	b = binary.LittleEndian.AppendUint32(b, sums.CRC(b))
	b = append(b, make([]byte, padding(uint64(len(b))))...)
	b = append(b, body...)
	b = binary.LittleEndian.AppendUint32(b, sums.CRC(body))
	return container.ExactTrailer{Length: uint64(len(b)) + container.ExactTrailerSize}.Append(b, sums.CRC(body))
}

// TestRefusedNumbers checks that numbers are refused if they contradict each other or exceed the length of the file,
// without a large allocation.
func TestRefusedNumbers(t *testing.T) {
	const most = math.MaxUint64
	for name, numbers := range map[string][]uint64{
		"more members than keys":     {1, 2, 0, 1, 64, 1, 0, 0},
		"no class":                   {0, 0, 0, 0, 0},
		"classes without partitions": {2, 1, 0, 2, 0, 1, 0, 64, 1, 1, 0, 0},
		"too many classes":           {0, 0, 1, 0, 67, 0},
		"code":                       {0, 0, 0, 1, 66, 0, 0, 0},
		"codes not in order":         {0, 0, 1, 0, 2, 64, 0, 0, 0, 0, 0, 0, 0},
		"codes twice":                {0, 0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0},
		"members of a class":         {1, 1, 0, 1, 64, 1, 2, 0},
		"keys of a part":             {1, 1, 0, 1, 0, 1, 1, 1 << 56, 1, 0, 1, 0, 0},
		"shape":                      {1, 1, 0, 1, 0, 1, 1, 1, 34, 0, 1, 0, 0},
		"seed of a part":             {1, 1, 0, 1, 0, 1, 1, 1, 2, 1 << 16, 1, 0, 0},
		"no starts":                  {1, 1, 0, 1, 0, 1, 1, 1, 2, 0, 0, 0, 0},
		"starts":                     {1, 1, 0, 1, 0, 1, 1, 1, 2, 0, most, 0, 0},
		"starts for a petabyte":      {1, 1, 0, 1, 0, 1, 1, 1, 2, 0, 1 << 42, 0, 0},
		"starts for a gigabyte":      {1, 1, 0, 1, 0, 1, 1, 1, 2, 0, 1 << 27, 0, 0},
		"many layers":                append([]uint64{1, 1, 0, 1, 0, 1, 1, 1, 32, 0}, append(large(16), 0, 0)...),
		"tail":                       {1, 1, 0, 1, 0, 1, 1, 1, 0, 0, 257, 0},
		"keys without slots":         {1, 1, 0, 1, 0, 1, 1, 1, 0, 0, 0, 0},
		"seed of a tail":             {1, 1, 0, 1, 0, 1, 1, 1, 0, 0, 1, 1 << 16},
	} {
		data := header(nil, numbers...)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := FromBytes(data)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, filter.ErrCorrupt) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %v", name, err)
		}
		if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
			t.Errorf("%s: %d bytes allocated", name, got)
		}
	}
	if _, err := FromBytes(header(nil, 0, 0, 0, 1, 64, 0, 0, 0)); err != nil {
		t.Errorf("an empty set: %v", err)
	}
}

// large returns the numbers of starts, in units of 64, of n layers of the maximum size.
func large(n int) (all []uint64) {
	for range n {
		all = append(all, maxStarts/startUnit)
	}
	return all
}

func TestRefused(t *testing.T) {
	good := header(nil, 0, 0, 0, 1, 64, 0, 0, 0)
	change := func(at int, b byte) []byte {
		data := bytes.Clone(good)
		data[at] = b
		return data
	}
	for name, tt := range map[string]struct {
		data []byte
		is   error
	}{
		"nothing":       {nil, io.ErrUnexpectedEOF},
		"magic":         {change(1, 'C'), filter.ErrMagic},
		"version 0":     {change(4, 0), filter.ErrVersion},
		"version 2":     {change(4, 2), filter.ErrVersion},
		"kind":          {change(5, 3), filter.ErrCorrupt},
		"update first":  {change(5, 1), filter.ErrCorrupt},
		"hash":          {change(6, 3), filter.ErrHash},
		"secret":        {change(6, 2), filter.ErrNoSecret},
		"seed":          {change(7, 8), filter.ErrChecksum},
		"long number":   {append(append([]byte(magic), 0x81, 0), good[5:]...), filter.ErrCorrupt},
		"endless":       {append([]byte(magic), bytes.Repeat([]byte{0xff}, 30)...), filter.ErrCorrupt},
		"a second base": {append(bytes.Clone(good[:len(good)-container.ExactTrailerSize]), good...), filter.ErrCorrupt},
	} {
		_, err := FromBytes(tt.data)
		var at *container.FormatError
		if !errors.Is(err, tt.is) || !errors.As(err, &at) {
			t.Errorf("%s: %v, want %v", name, err, tt.is)
		}
	}
	keyed := must(os.ReadFile("testdata/siphash.exact"))
	if _, err := FromBytes(keyed, WithSecret(new(filter.Secret))); !errors.Is(err, filter.ErrSecret) {
		t.Errorf("the wrong secret: %v", err)
	}
	const limit = math.MaxInt / 4
	for asked, want := range map[uint64]uint64{0: min(DefaultMaxBytes, limit), 7: 7, math.MaxUint64: limit} {
		if got := readLimit(asked); got != want {
			t.Errorf("reads %d bytes of %d, want %d", got, asked, want)
		}
	}
	if _, err := Read(bytes.NewReader(good), WithMaxBytes(uint64(len(good))-1)); !errors.Is(err, filter.ErrTooLarge) {
		t.Errorf("more than maxBytes: %v", err)
	}
	if _, err := Read(bytes.NewReader(good), WithMaxBytes(uint64(len(good)))); err != nil {
		t.Errorf("maxBytes: %v", err)
	}
	if _, err := Open(t.Context(), filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}
