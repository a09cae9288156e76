package container

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
)

// Options say how to read. The zero value reads a filter without a secret.
type Options struct {
	Secret *[filter.SecretSize]byte // of a keyed hash
}

// Read reads one filter from r, of at most maxBytes with its header; a trimmed one counts with what it becomes, besides
// what it is. It verifies the header before it allocates, and all checksums before it builds anything; it stops at the end
// of the filter, whatever follows. It allocates half as much again as the filter has, and up to 8 MiB for each of its
// sections; and never more than three times what has come and 8 MiB, whatever the header promises. When all of a trimmed
// filter has come and its checksums hold, it allocates what that becomes, which the family bounds: 64 times its size and a
// MiB in rankindexed. On error the filter is nil and the error is a *FormatError that wraps ErrMagic, ErrVersion,
// families.ErrFamily, ErrHash, ErrSecret, ErrChecksum, ErrCorrupt, filter.ErrTooLarge or io.ErrUnexpectedEOF and says at which byte
// reading stopped, or the error of r.
func Read(r io.Reader, maxBytes uint64, o Options) (*Stored, error) {
	h, err := readHeader(r)
	if err != nil {
		return nil, err
	}
	if h.length > maxBytes {
		return nil, &FormatError{40, fmt.Sprintf("a filter of %d bytes is over the limit of %d", h.length, maxBytes), filter.ErrTooLarge}
	}
	if h.inflated > maxBytes-h.length {
		return nil, &FormatError{h.specAt(), fmt.Sprintf("a trimmed filter of %d bytes, and %d when it is read, is over the limit of %d", h.length, h.inflated, maxBytes), filter.ErrTooLarge}
	}
	hasher, err := h.hasher(o.Secret)
	if err != nil {
		return nil, err
	}
	at := h.dataAt
	var words [][]uint64
	for i, s := range h.sections {
		if err := readZeros(r, at, s.offset-at); err != nil {
			return nil, err
		}
		w, err := readWords(r, s.offset, s.length/8)
		if err != nil {
			return nil, err
		}
		if crc32.Checksum(bitvec.Bytes(w), castagnoli) != s.crc {
			return nil, &FormatError{s.offset, fmt.Sprintf("section %d", i), ErrChecksum}
		}
		bitvec.FixOrder(w)
		words = append(words, w)
		at = s.offset + s.length
	}
	return h.decode(words, hasher)
}

func (h *header) decode(words [][]uint64, hasher filter.Hasher) (*Stored, error) {
	f, err := h.family.Decode(filter.Encoded{Spec: h.spec, Keys: h.keys, Sections: words})
	if err != nil {
		if errors.Is(err, filter.ErrTooLarge) { // a trimmed filter that becomes too large, for one
			return nil, &FormatError{h.dataAt, "filter", err}
		}
		return nil, &FormatError{h.dataAt, err.Error(), ErrCorrupt}
	}
	return &Stored{Filter: f, Hasher: hasher, Version: Version, FileBytes: h.length, Trimmed: h.trimmed}, nil
}

func readHeader(r io.Reader) (*header, error) {
	b := make([]byte, headerSize)
	if err := readFull(r, b, 0); err != nil {
		return nil, err
	}
	dataAt, err := prefix(b)
	if err != nil {
		return nil, err
	}
	b = append(b, make([]byte, dataAt-headerSize)...)
	if err := readFull(r, b[headerSize:], headerSize); err != nil {
		return nil, err
	}
	return parse(b)
}

// chunkWords is how much readWords allocates at a time, 8 MiB, while more is promised than has come.
const chunkWords = 1 << 20

// readWords reads words in file order. What has come stays in chunks until it is half of what is promised, so that a
// header that promises more than follows costs at most three times of what followed and a chunk, and an honest one
// half as much again as its words and a chunk.
func readWords(r io.Reader, at, n uint64) ([]uint64, error) {
	var chunks [][]uint64
	have := uint64(0)
	for n-have > max(have, chunkWords) {
		c, err := bitvec.Alloc(chunkWords)
		if err != nil {
			return nil, err
		}
		if err := readFull(r, bitvec.Bytes(c), at+8*have); err != nil {
			return nil, err
		}
		chunks = append(chunks, c)
		have += chunkWords
	}
	words, err := bitvec.Alloc(n)
	if err != nil {
		return nil, &FormatError{at, "section", err}
	}
	rest := words
	for _, c := range chunks {
		rest = rest[copy(rest, c):]
	}
	if err := readFull(r, bitvec.Bytes(rest), at+8*have); err != nil {
		return nil, err
	}
	return words, nil
}

func readZeros(r io.Reader, at, n uint64) error {
	var b [alignment]byte
	if err := readFull(r, b[:n], at); err != nil {
		return err
	}
	if b != [alignment]byte{} {
		return &FormatError{at, "padding", ErrCorrupt}
	}
	return nil
}

func readFull(r io.Reader, b []byte, at uint64) error {
	n, err := io.ReadFull(r, b)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &FormatError{at + uint64(n), "end of the file", io.ErrUnexpectedEOF}
	}
	return err
}

// ReadFile reads the filter in a file into memory. The file must hold one filter and nothing else. A pipe is read as well;
// only what comes bounds the memory that it takes, see Read.
func ReadFile(path string, o Options) (*Stored, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s, err := Read(f, math.MaxInt64, o)
	if err == nil {
		var b [1]byte
		if n, _ := io.ReadFull(f, b[:]); n > 0 {
			err = &FormatError{s.FileBytes, "bytes behind the filter", ErrCorrupt}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// HasMagic reports whether what r gives begins like a filter file. It reads eight bytes.
func HasMagic(r io.Reader) bool {
	var b [len(magic)]byte
	_, err := io.ReadFull(r, b[:])
	return err == nil && string(b[:]) == magic
}
