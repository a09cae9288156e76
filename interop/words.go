package interop

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"slices"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/container"
)

// reader reads from r and counts bytes. After an error it reads nothing.
type reader struct {
	r   io.Reader
	at  uint64 // bytes that were read
	max uint64 // bytes that a whole filter may have
	end uint64 // end of the header, if its first bytes determine it; else 0
	err error  // the error of r, or a *container.FormatError

	first []byte // the first bytes that were read, at most otherHead
}

// fail sets the error, which wraps err and gives the offset of the next byte, unless an error is already set.
func (r *reader) fail(err error, format string, args ...any) {
	if r.err == nil {
		r.err = container.Broken(r.at, fmt.Sprintf(format, args...), err)
	}
}

// fill fills b. If the input ends too early, the error wraps io.ErrUnexpectedEOF.
func (r *reader) fill(b []byte) {
	if r.err != nil {
		return
	}
	n, err := io.ReadFull(r.r, b)
	r.at += uint64(n)
	r.first = append(r.first, b[:min(n, otherHead-len(r.first))]...)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		r.fail(io.ErrUnexpectedEOF, "end of the input")
	} else {
		r.err = err
	}
}

// readBytes returns the next n bytes.
func (r *reader) readBytes(n int) []byte {
	b := make([]byte, n)
	r.fill(b)
	return b
}

// appendBytes appends the next n bytes to b. It allocates as bytes arrive, each time at most the number that it already
// has, or 512.
func (r *reader) appendBytes(b []byte, n uint64) []byte {
	if n > r.max || r.at > r.max-n {
		r.fail(filter.ErrTooLarge, "a header with %d more bytes, over the limit of %d in total", n, r.max)
	}
	for n > 0 && r.err == nil {
		part := min(n, max(uint64(len(b)), 512))
		b = slices.Grow(b, int(part))[:uint64(len(b))+part]
		r.fill(b[uint64(len(b))-part:])
		n -= part
	}
	return b
}

// firstWords is the number of words to allocate before any has arrived: 8 MiB.
const firstWords = 1 << 20

// readWords reads n words. It allocates as words arrive, each time at most twice the number that it already has, or
// firstWords.
func (r *reader) readWords(n uint64, bigEnd bool) (words []uint64) {
	if n > r.max/8 || r.at > r.max-8*n {
		r.fail(filter.ErrTooLarge, "%d words of 8 bytes, over the limit of %d bytes in total", n, r.max)
	}

	for have := uint64(0); r.err == nil && (have < n || words == nil); have = uint64(len(words)) {
		// A hostile header may announce any number of words, so memory grows only with the words that arrive.
		grown, err := bitvec.Alloc(min(n, max(2*have, firstWords)))
		if err != nil {
			r.fail(err, "%d words", n)
			break
		}
		copy(grown, words)
		r.fill(bitvec.Bytes(grown[have:]))
		fixOrder(grown[have:], bigEnd)
		words = grown
	}
	return words
}

// fixOrder converts words between the byte orders of a file and of this machine, in place. It is its own inverse.
func fixOrder(words []uint64, bigEnd bool) {
	// Words of the same order as this machine need no change.
	if bigEnd != bitvec.LittleEndian {
		return
	}
	for i, w := range words {
		words[i] = bits.ReverseBytes64(w)
	}
}

// writeWords writes words in the byte order of a file, 512 KiB at a time.
func writeWords(w io.Writer, words []uint64, bigEnd bool) error {
	var copied []uint64
	for part := range slices.Chunk(words, 1<<16) {
		copied = append(copied[:0], part...)
		fixOrder(copied, bigEnd)
		if _, err := w.Write(bitvec.Bytes(copied)); err != nil {
			return err
		}
	}
	return nil
}

// writeSlots writes the first bytes of words in little-endian order.
func writeSlots(w io.Writer, words []uint64, bytes uint64) error {
	// The libraries require 12 slots even for a filter without keys, more than ours stores.
	if bytes/8 >= uint64(len(words)) {
		words = make([]uint64, bytes/8+1)
	}
	if err := writeWords(w, words[:bytes/8], false); err != nil {
		return err
	}
	_, err := w.Write(binary.LittleEndian.AppendUint64(nil, words[bytes/8])[:bytes%8])
	return err
}
