package container

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"os"

	"github.com/bloomery/bloomery/internal/bitvec"
)

// Open maps the filter in a file into memory, so that it is shared with other processes and loaded as it is used, and
// returns it with a function that unmaps it; the filter must not be used afterwards. All checksums are verified first,
// which reads the file once. Adding to the filter changes this process's copy only. While it is open the file may be
// replaced by rename, as WriteFile does, but must not be truncated: the operating system kills who reads beyond its end.
// Where files cannot be mapped it is ReadFile. A trimmed filter is made in memory of this process, which nobody shares. Errors are those of Read.
func Open(path string, o Options) (*Stored, func() error, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	data, unmap, err := mapFile(f)
	if err != nil || !bitvec.LittleEndian {
		if err == nil {
			_ = unmap()
		}
		s, err := ReadFile(path, o)
		return s, func() error { return nil }, err
	}
	s, err := fromBytes(data, o)
	if err != nil {
		_ = unmap()
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, unmap, nil
}

// fromBytes makes a filter whose sections lie in data, a whole file.
func fromBytes(data []byte, o Options) (*Stored, error) {
	h, err := readHeader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if h.length > uint64(len(data)) {
		return nil, readFull(bytes.NewReader(nil), make([]byte, 1), uint64(len(data)))
	}
	if h.length < uint64(len(data)) {
		return nil, &FormatError{h.length, "bytes behind the filter", ErrCorrupt}
	}
	hasher, err := h.hasher(o.Secret)
	if err != nil {
		return nil, err
	}
	at := h.dataAt
	var words [][]uint64
	for i, s := range h.sections {
		if err := readZeros(bytes.NewReader(data[at:]), at, s.offset-at); err != nil {
			return nil, err
		}
		b := data[s.offset:][:s.length]
		if crc32.Checksum(b, castagnoli) != s.crc {
			return nil, &FormatError{s.offset, fmt.Sprintf("section %d", i), ErrChecksum}
		}
		w, ok := bitvec.View(b)
		if !ok {
			return nil, fmt.Errorf("section %d is not aligned in memory", i)
		}
		words = append(words, w)
		at = s.offset + s.length
	}
	return h.decode(words, hasher)
}
