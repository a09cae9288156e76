package container

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/sums"
	"github.com/bloomery/bloomery/internal/untrusted"
)

// Options are the options of Read. The zero value reads a filter of any size.
type Options struct {
	// MaxBytes limits the length of the file. 0: no limit.
	MaxBytes uint64
	// Check, if not nil, is called after the header has been verified and before memory is allocated for the sections.
	// It gets the File without sections, and the number of words of each section of the family, not of the exceptions.
	// If it returns an error, so does Read.
	Check func(f *File, words []uint64) error
	// Window also accepts files of package window; File.Window then tells them apart. If false, their error wraps
	// ErrWindow.
	Window bool
	// Regular makes ReadFile and Map refuse anything but a regular file, such as a pipe, without waiting to open it.
	// The error wraps untrusted.ErrNotRegular.
	Regular bool
	// Context, if not nil, ends Read, ReadFile, Map and FromBytes when it ends; they then return its cause. It also
	// ends the wait for the writer of a pipe.
	Context context.Context
}

func (o Options) openFile(path string) (*os.File, error) {
	if o.Regular {
		f, _, err := untrusted.Open(path)
		return f, err
	}
	if o.Context != nil {
		return untrusted.OpenStream(o.Context, path)
	}
	return os.Open(path)
}

// contextError returns the cause of Context if that has ended.
func (o Options) contextError() error {
	if o.Context != nil && o.Context.Err() != nil {
		return context.Cause(o.Context)
	}
	return nil
}

func (o Options) maxBytes() uint64 { return cmp.Or(o.MaxBytes, math.MaxInt64) }

// Read reads one filter from r and stops at its end. It verifies the header before it allocates and all checksums
// before it returns. Peak memory: the filter + 1 MiB if r is a regular file, a bytes.Reader, a bytes.Buffer or a
// strings.Reader; for other readers, whose size is unknown, 1.5x the filter + 8 MiB per section, and at most 3x the
// bytes received + 8 MiB, even if the header announces more.
//
// On error the File is nil and the error is the error of r, or a *FormatError with the byte where reading stopped that
// wraps filter.ErrMagic, filter.ErrVersion, filter.ErrHash, filter.ErrChecksum, filter.ErrCorrupt, filter.ErrFamily,
// filter.ErrTooLarge or io.ErrUnexpectedEOF.
func Read(r io.Reader, o Options) (*File, error) {
	has := remaining(r)
	if o.Context != nil {
		r = untrusted.Reader(o.Context, r)
	}

	h, err := acceptHeader(r, o)
	if err != nil {
		return nil, err
	}

	zeros := func(at, n uint64) error { return readZeros(r, at, n) }
	return h.loadAll(zeros, func(s section) ([]uint64, uint32, error) {
		return readWords(r, s.offset, s.length/8, has >= h.Bytes)
	})
}

// loadAll returns the File with its sections. In file order, it calls zeros for the bytes before each section and
// words for the section, which also returns its checksum.
func (h *header) loadAll(zeros func(at, n uint64) error, words func(section) ([]uint64, uint32, error)) (*File, error) {
	at := h.dataAt
	for i, s := range h.sections {
		if err := zeros(at, s.offset-at); err != nil {
			return nil, err
		}
		w, sum, err := words(s)
		if err == nil && sum != s.crc {
			err = Broken(s.offset, fmt.Sprintf("section %d", i), filter.ErrChecksum)
		}
		if err != nil {
			return nil, err
		}
		h.addSection(w, i == len(h.sections)-1)
		at = s.offset + s.length
	}
	return &h.File, nil
}

// MaxHeader is the largest length of a header in bytes: the place of the first section.
const MaxHeader = (headerSize + maxSections*sectionSize + filter.MaxSpecLen + alignment - 1) / alignment * alignment

// Place is the place of a section in a file.
type Place struct{ Offset, Bytes uint64 }

// ReadPlaces reads and verifies the header of a file, up to the first section. The File has no Sections, and its Bytes
// are the length that the header announces. It also returns the places of the sections; the section of the exceptions
// is last, if there is one. It returns the same errors as Read.
func ReadPlaces(r io.Reader, o Options) (*File, []Place, error) {
	h, err := acceptHeader(r, o)
	if err != nil {
		return nil, nil, err
	}
	return &h.File, h.places(), nil
}

func (h *header) places() (all []Place) {
	for _, s := range h.sections {
		all = append(all, Place{s.offset, s.length})
	}
	return all
}

// FromBytes reads the filter in b, which must be the whole file. If shared is true, the sections share the memory of b,
// which must not change while they are in use. They are copies if b is not aligned to 8 bytes or this machine is big
// endian. FromBytes returns the same errors as Read.
func FromBytes(b []byte, o Options) (f *File, shared bool, err error) {
	if _, ok := bitvec.View(b); !ok {
		f, err := readWhole(bytes.NewReader(b), o)
		return f, false, err
	}

	h, err := checkHeader(bytes.NewReader(b), uint64(len(b)), o)
	if err != nil {
		return nil, false, err
	}

	zeros := func(at, n uint64) error { return readZeros(bytes.NewReader(b[at:]), at, n) }
	f, err = h.loadAll(zeros, func(s section) ([]uint64, uint32, error) {
		part := b[s.offset:][:s.length:s.length]
		w, _ := bitvec.View(part) // b is aligned, and the offsets of sections are multiples of 64 bytes
		sum := uint32(0)
		for piece := range slices.Chunk(part, 8*pieceWords) {
			if err := o.contextError(); err != nil {
				return nil, 0, err
			}
			sum = sums.UpdateCRC(sum, piece)
		}
		return w, sum, nil
	})
	return f, err == nil, err
}

// checkLength returns an error unless the file has the length that the header announces.
func (h *header) checkLength(length uint64) error {
	if h.Bytes > length {
		return Broken(length, "end of the file", io.ErrUnexpectedEOF)
	}
	if h.Bytes < length {
		return behind(h.Bytes)
	}
	return nil
}

// behind returns the error for bytes after the end of the filter.
func behind(length uint64) error { return Broken(length, "bytes behind the filter", filter.ErrCorrupt) }

// checkHeader returns the accepted header of a file of that length.
func checkHeader(r io.Reader, length uint64, o Options) (*header, error) {
	h, err := acceptHeader(r, o)
	if err == nil {
		err = h.checkLength(length)
	}
	return h, err
}

func acceptHeader(r io.Reader, o Options) (*header, error) {
	h, err := readHeader(r, o.Window)
	if err == nil {
		err = h.accept(o)
	}
	return h, err
}

// readHeader returns the header of a filter file, or if window is true, also of a file of package window.
func readHeader(r io.Reader, window bool) (*header, error) {
	b := make([]byte, headerSize)
	n, err := io.ReadFull(r, b)
	// A wrong magic is reported as such even if the input is shorter than a header.
	if m := min(n, len(magic)); string(b[:m]) != magic[:m] && !(window && string(b[:m]) == windowMagic[:m]) {
		return nil, Broken(0, "magic", OtherKind(b[:n]))
	}
	if err != nil {
		return nil, ended(err, uint64(n))
	}

	dataAt, err := prefix(b)
	if err != nil {
		return nil, err
	}

	b = append(b, make([]byte, dataAt-headerSize)...)
	if err := readFull(r, b[headerSize:], headerSize); err != nil {
		return nil, err
	}
	return parseHeader(b)
}

// remaining returns how many bytes r has left, or 0 if that is unknown.
func remaining(r io.Reader) uint64 {
	left := int64(0)
	switch r := r.(type) {
	case *bytes.Reader:
		left = int64(r.Len())
	case *bytes.Buffer:
		left = int64(r.Len())
	case *strings.Reader:
		left = int64(r.Len())
	case *os.File:
		st, err := r.Stat()
		if err != nil || !st.Mode().IsRegular() {
			return 0
		}
		at, err := r.Seek(0, io.SeekCurrent)
		if err != nil {
			return 0
		}
		left = st.Size() - at
	}
	return uint64(max(left, 0))
}

// chunkWords is the size of the chunks that readWords allocates: 8 MiB.
const chunkWords = 1 << 20

// readWords reads n words, which are in file order, and returns them in the order of this machine, with their checksum.
// If whole is true, the reader is known to have them all, and readWords allocates the result at once. Else it collects
// the first half in chunks and then allocates the result. So it allocates at most 1.5 times the words + 1 chunk, and
// for a file shorter than its header announces, at most 3 times the bytes received + 1 chunk.
func readWords(r io.Reader, at, n uint64, whole bool) (words []uint64, crc uint32, err error) {
	var chunks [][]uint64
	have := uint64(0)
	for !whole && n-have > max(have, chunkWords) {
		c, err := bitvec.Alloc(chunkWords)
		if err != nil {
			return nil, 0, err
		}
		if err := readSummed(r, c, at+8*have, &crc); err != nil {
			return nil, 0, err
		}
		chunks = append(chunks, c)
		have += chunkWords
	}
	if words, err = bitvec.Alloc(n); err != nil {
		return nil, 0, Broken(at, "section", err)
	}

	rest := words
	for _, c := range chunks {
		rest = rest[copy(rest, c):]
	}

	err = readSummed(r, rest, at+8*have, &crc)
	bitvec.FixOrder(words)
	return words, crc, err
}

// readSummed fills words and updates their checksum, a mebibyte at a time, so that the bytes are still in the cache.
func readSummed(r io.Reader, words []uint64, at uint64, sum *uint32) error {
	for part := range slices.Chunk(words, pieceWords) {
		b := bitvec.Bytes(part)
		if err := readFull(r, b, at); err != nil {
			return err
		}
		*sum = sums.UpdateCRC(*sum, b)
		at += uint64(len(b))
	}
	return nil
}

func readZeros(r io.Reader, at, n uint64) error {
	var b [alignment]byte
	if err := readFull(r, b[:n], at); err != nil {
		return err
	}
	if b != [alignment]byte{} {
		return Broken(at, "padding", filter.ErrCorrupt)
	}
	return nil
}

func readFull(r io.Reader, b []byte, at uint64) error {
	n, err := io.ReadFull(r, b)
	return ended(err, at+uint64(n))
}

// ended returns err unless it is the end of the input; then it returns an error wrapping io.ErrUnexpectedEOF at that
// byte.
func ended(err error, at uint64) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return Broken(at, "end of the file", io.ErrUnexpectedEOF)
	}
	return err
}

// ReadFile reads the filter in a file into memory. The file must hold one filter and nothing else. It may be a pipe.
// Peak memory for a regular file: the filter + 1 MiB. Errors come from Read or the file system, and name the path.
func ReadFile(path string, o Options) (*File, error) {
	in, err := o.openFile(path)
	if err != nil {
		return nil, err
	}
	return readFile(in, o)
}

// readFile is ReadFile for an open file, which it closes.
func readFile(in *os.File, o Options) (*File, error) {
	defer in.Close()
	read := func() (*File, error) { return readWhole(in, o) }
	if st, err := in.Stat(); o.Context != nil && err == nil && !st.Mode().IsRegular() {
		whole := read
		read = func() (*File, error) { return untrusted.Interruptible(o.Context, whole) }
	}
	f, err := read()
	if err != nil {
		err = cmp.Or(o.contextError(), err)
		return nil, fmt.Errorf("%s: %w", in.Name(), err)
	}
	return f, nil
}

// readWhole is Read that returns an error if bytes follow the filter.
func readWhole(r io.Reader, o Options) (*File, error) {
	f, err := Read(r, o)
	if err != nil {
		return nil, err
	}
	var b [1]byte
	if n, _ := io.ReadFull(r, b[:]); n > 0 {
		return nil, behind(f.Bytes)
	}
	return f, nil
}

// HasMagic reads 8 bytes and reports whether they are the magic bytes of a filter file.
func HasMagic(r io.Reader) bool { return begins(r, magic) }

// HasExactMagic reads 4 bytes and reports whether they are the magic bytes of an exact set.
func HasExactMagic(r io.Reader) bool { return begins(r, ExactMagic) }

func begins(r io.Reader, magic string) bool {
	b := make([]byte, len(magic))
	_, err := io.ReadFull(r, b)
	return err == nil && string(b) == magic
}

// FormatError is an error at a position of a file. It wraps one of the errors of files of package filter, or
// io.ErrUnexpectedEOF.
type FormatError struct {
	Offset uint64 // offset in bytes from the start of the file
	What   string // the part of the file at Offset
	Err    error
}

func (e *FormatError) Error() string {
	if e.Offset == 0 && errors.Is(e.Err, filter.ErrMagic) { // the kind of the file is wrong, not a part of it
		return e.Err.Error()
	}
	return fmt.Sprintf("%s at byte %d: %v", e.What, e.Offset, e.Err)
}

func (e *FormatError) Unwrap() error { return e.Err }

// Broken returns a *FormatError for a part of a file, at an offset in bytes from its start.
func Broken(offset uint64, what string, err error) error {
	return &FormatError{Offset: offset, What: what, Err: err}
}

// ErrWindow is the error of readers of other files for a file of package window. It wraps filter.ErrMagic.
var ErrWindow error = windowError{}

type windowError struct{}

func (windowError) Error() string {
	return "a file of package window, a filter whose keys expire; open it with package window"
}

func (windowError) Unwrap() error { return filter.ErrMagic }

// OtherKind returns the error for a file that begins with b and is not a filter file: filter.ErrExact, ErrWindow or an
// error that wraps filter.ErrMagic and shows the beginning.
func OtherKind(b []byte) error {
	switch {
	case bytes.HasPrefix(b, []byte(ExactMagic)):
		return filter.ErrExact
	case bytes.HasPrefix(b, []byte(windowMagic)):
		return ErrWindow
	}

	const shown = 16 // bytes
	return fmt.Errorf("%w: it begins with %q", filter.ErrMagic, b[:min(len(b), shown)])
}
