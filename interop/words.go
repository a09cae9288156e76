package interop

import (
	"errors"
	"fmt"
	"io"
	"math/bits"
	"slices"

	"github.com/bloomery/bloomery/container"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
)

// reader reads and knows how far it came.
type reader struct {
	r       io.Reader
	at, max uint64
}

// fail returns an error about the byte that comes next.
func (r *reader) fail(err error, format string, args ...any) error {
	return &container.FormatError{Offset: r.at, What: fmt.Sprintf(format, args...), Err: err}
}

// full reads b, or fails at the byte where the input ends.
func (r *reader) full(b []byte) error {
	n, err := io.ReadFull(r.r, b)
	r.at += uint64(n)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return r.fail(io.ErrUnexpectedEOF, "end of the input")
	}
	return err
}

// more returns b and the next n bytes, in memory that doubles as they come.
func (r *reader) more(b []byte, n uint64) ([]byte, error) {
	if n > r.max || r.at > r.max-n {
		return nil, r.fail(filter.ErrTooLarge, "%d bytes of header, over the limit of %d in all", n, r.max)
	}
	for n > 0 {
		part := min(n, max(uint64(len(b)), 512))
		b = slices.Grow(b, int(part))[:uint64(len(b))+part]
		if err := r.full(b[uint64(len(b))-part:]); err != nil {
			return nil, err
		}
		n -= part
	}
	return b, nil
}

// firstWords is how much is allocated before anything has come, 8 MiB.
const firstWords = 1 << 20

// words reads n words into memory that doubles as they come.
func (r *reader) words(n uint64, bigEnd bool) ([]uint64, error) {
	if n > r.max/8 || r.at > r.max-8*n {
		return nil, r.fail(filter.ErrTooLarge, "%d words, over the limit of %d bytes in all", n, r.max)
	}
	var words []uint64
	for have := uint64(0); have < n || words == nil; have = uint64(len(words)) {
		grown, err := bitvec.Alloc(min(n, max(2*have, firstWords)))
		if err != nil {
			return nil, r.fail(err, "%d words", n)
		}
		copy(grown, words)
		if err := r.full(bitvec.Bytes(grown[have:])); err != nil {
			return nil, err
		}
		order(grown[have:], bigEnd)
		words = grown
	}
	return words, nil
}

// order makes words of bytes as they came, or bytes of words as they go; it is its own inverse.
func order(words []uint64, bigEnd bool) {
	if bigEnd != bitvec.LittleEndian {
		return
	}
	for i, w := range words {
		words[i] = bits.ReverseBytes64(w)
	}
}

// writeWords writes words, half a megabyte at a time.
func writeWords(w io.Writer, words []uint64, bigEnd bool) error {
	room := make([]uint64, min(len(words), 1<<16))
	for len(words) > 0 {
		n := copy(room, words)
		words = words[n:]
		order(room[:n], bigEnd)
		if _, err := w.Write(bitvec.Bytes(room[:n])); err != nil {
			return err
		}
	}
	return nil
}
