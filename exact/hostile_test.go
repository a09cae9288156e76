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
	"github.com/bloomery/bloomery/internal/crc"
	"github.com/bloomery/bloomery/internal/trailer"
)

// files returns the files of testdata of a version of up to most bytes, at least that many.
func files(t testing.TB, version, most, least int) (all [][]byte) {
	paths, err := filepath.Glob([]string{1: "testdata/*.exact", 2: "testdata/v2/*.exact"}[version])
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(data) <= most {
			all = append(all, data)
		}
	}
	if len(all) < least {
		t.Fatalf("%d files, want at least %d", len(all), least)
	}
	return all
}

// TestTruncated reads every beginning of files. None is a file. Of version 1, one that ends where a record ends is.
func TestTruncated(t *testing.T) {
	for version := firstVersion; version <= 2; version++ {
		for _, data := range files(t, version, 3500, 12) {
			s, err := FromBytes(data, &vectorSecret)
			if err != nil || s.Info().Version != version {
				t.Fatal(err)
			}
			ends, at := map[uint64]bool{}, uint64(0)
			for _, r := range s.records {
				at += r.size
				ends[at] = version == 1
			}
			for n := range len(data) {
				_, err := FromBytes(data[:n:n], &vectorSecret)
				if ends[uint64(n)] != (err == nil) || err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Fatalf("version %d, %d of %d bytes: %v", version, n, len(data), err)
				}
			}
			for _, more := range [][]byte{{0}, make([]byte, 20), data[at:], data[len(data)-20:], data} {
				if _, err := FromBytes(append(bytes.Clone(data), more...), &vectorSecret); err == nil && len(more) > 0 {
					t.Errorf("version %d: %d bytes behind the file are ignored", version, len(more))
				}
			}
		}
	}
}

// TestTrailer: a trailer is for one length, one number of updates and one last record.
func TestTrailer(t *testing.T) {
	_, s := chain(t)
	data := bytesOf(t, s)
	s, err := FromBytes(data, nil)
	if err != nil {
		t.Fatal(err)
	}
	records, last := data[:len(data)-trailer.Size], s.records[len(s.records)-1]
	size := uint64(len(data))
	for what, end := range map[string][]byte{
		"length":       trailer.Trailer{Length: size - 1, Updates: 3}.Append(nil, last.crc),
		"updates":      trailer.Trailer{Length: size, Updates: 2}.Append(nil, last.crc),
		"other record": trailer.Trailer{Length: size, Updates: 3}.Append(nil, last.crc+1),
		"two":          slices.Concat(data[len(records):], data[len(records):]),
		"none":         nil,
		"of an update": slices.Concat(data[len(records):], data[len(records)-int(last.size):]),
	} {
		_, err := FromBytes(slices.Concat(records, end), nil)
		if !errors.Is(err, filter.ErrCorrupt) && !errors.Is(err, filter.ErrChecksum) &&
			!errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %v", what, err)
		}
	}
	good := trailer.Trailer{Length: size, Updates: 3}.Append(nil, last.crc)
	if _, err := FromBytes(slices.Concat(records, good), nil); err != nil {
		t.Error(err)
	}
}

// TestFlipped flips bits. Every one is under a checksum, or is one itself.
func TestFlipped(t *testing.T) {
	for _, data := range append(files(t, 1, 1300, 8), files(t, 2, 1300, 8)...) {
		for i := range data {
			for _, bit := range []byte{1, 0x80} {
				data[i] ^= bit
				if _, err := FromBytes(data, &vectorSecret); err == nil {
					t.Fatalf("byte %d of %d: no error", i, len(data))
				}
				data[i] ^= bit
			}
		}
	}
}

// header returns the file of a base with these numbers behind the seed, with a right CRC, and body.
func header(body []byte, numbers ...uint64) []byte {
	b := append([]byte(magic), firstVersion, kindBase, byte(filter.XXH3))
	b = binary.LittleEndian.AppendUint64(b, 7)
	b = appendUvarints(b, numbers...)
	b = binary.LittleEndian.AppendUint32(b, crc.Sum(b))
	b = append(b, make([]byte, padding(uint64(len(b))))...)
	b = append(b, body...)
	return binary.LittleEndian.AppendUint32(b, crc.Sum(body))
}

// TestRefusedNumbers gives numbers that contradict each other, or name more than the file has. No memory is taken for
// what is not there.
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
		_, err := FromBytes(data, nil)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, filter.ErrCorrupt) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %v", name, err)
		}
		if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
			t.Errorf("%s: %d bytes allocated", name, got)
		}
	}
	if _, err := FromBytes(header(nil, 0, 0, 0, 1, 64, 0, 0, 0), nil); err != nil {
		t.Errorf("an empty set: %v", err)
	}
}

// large returns the numbers of starts, in units of 64, of n layers that are as large as they may be.
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
		"version 3":     {change(4, 3), filter.ErrVersion},
		"version 2":     {change(4, 2), filter.ErrChecksum},
		"kind":          {change(5, 3), filter.ErrCorrupt},
		"update first":  {change(5, 1), filter.ErrCorrupt},
		"hash":          {change(6, 3), filter.ErrHash},
		"secret":        {change(6, 2), filter.ErrNoSecret},
		"seed":          {change(7, 8), filter.ErrChecksum},
		"long number":   {append(append([]byte(magic), 0x81, 0), good[5:]...), filter.ErrCorrupt},
		"endless":       {append([]byte(magic), bytes.Repeat([]byte{0xff}, 30)...), filter.ErrCorrupt},
		"a second base": {append(bytes.Clone(good), good...), filter.ErrCorrupt},
	} {
		_, err := FromBytes(tt.data, nil)
		var at *filter.FormatError
		if !errors.Is(err, tt.is) || !errors.As(err, &at) {
			t.Errorf("%s: %v, want %v", name, err, tt.is)
		}
	}
	keyed, err := os.ReadFile("testdata/siphash.exact")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := FromBytes(keyed, new(filter.Secret)); !errors.Is(err, filter.ErrSecret) {
		t.Errorf("the wrong secret: %v", err)
	}
	const limit = math.MaxInt / 4
	for asked, want := range map[uint64]uint64{0: min(DefaultMaxBytes, limit), 7: 7, math.MaxUint64: limit} {
		if got := readLimit(asked); got != want {
			t.Errorf("reads %d bytes of %d, want %d", got, asked, want)
		}
	}
	if _, err := Read(bytes.NewReader(good), uint64(len(good))-1, nil); !errors.Is(err, filter.ErrTooLarge) {
		t.Errorf("more than maxBytes: %v", err)
	}
	if _, err := Read(bytes.NewReader(good), uint64(len(good)), nil); err != nil {
		t.Errorf("maxBytes: %v", err)
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}
