// Package interop reads and writes the filter files of other systems, byte for byte: Parquet, Guava, bits-and-blooms,
// RedisBloom, Spark, DCSO's bloom and FastFilter. A filter that was read gives the same answers as in its own system,
// keeps that system's hash function, takes more keys, and is stored in a Bloomery file like any other.
//
// [Read] reads a file of a known format as a bloomery.Set, [Detect] tells the format, and [Write] writes a Set. To make
// a filter for another system, build a Set of its family, and for Parquet set Config.Hashing.ID to filter.XXH64:
//
//	format           content of the file                     Spec                               hash
//	parquet          BloomFilterHeader and bitset            blocked(blocks=,k=8,layout=split)  XXH64
//	guava            output of BloomFilter.writeTo           guava(k=,strategy=32|64,words=)    Murmur3
//	bits-and-blooms  output of WriteTo or MarshalBinary, v3  bitsandblooms(k=,m=)               Murmur3Twice
//	redisbloom       all data of BF.SCANDUMP, concatenated   redisbloom(links=,words=)          Murmur64A
//	spark            output of BloomFilter.writeTo, V1, V2   spark(k=,version=1|2,words=)       Murmur3x86
//	dcso             output of the program bloom of DCSO     dcso(k=,m=,n=)                     FNV1
//	xorfilter8 ...   binary fuse filters of FastFilter       fuse(...,width=8|16|32)            Uint64
//
// Keys are bytes. The [guide] describes how the other systems turn values into bytes. RedisBloom, DCSO's bloom and
// FastFilter in C store the number of keys; for the other formats it is estimated from the bits or slots that are set.
//
// Input may be hostile. Sizes are checked against each other and against the limit of the caller, and memory is
// allocated as bytes arrive. These formats have no checksums: a damaged file may be read as another filter.
//
// [guide]: https://github.com/bloomery/bloomery/blob/main/docs/guides/interop.md
package interop

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/probe"
)

// Format names the file format of another system.
type Format string

// The formats.
const (
	Parquet       Format = "parquet"
	Guava         Format = "guava"
	BitsAndBlooms Format = "bits-and-blooms"
	RedisBloom    Format = "redisbloom"
	Spark         Format = "spark"
	DCSO          Format = "dcso"
	// Binary fuse filters of FastFilter with slots of 8, 16 and 32 bits: of Go, C and Rust.
	XorFilter8   Format = "xorfilter8"
	XorFilter16  Format = "xorfilter16"
	XorFilter32  Format = "xorfilter32"
	FastFilter8  Format = "fastfilter8"
	FastFilter16 Format = "fastfilter16"
	Xorf8        Format = "xorf8"
	Xorf16       Format = "xorf16"
	Xorf32       Format = "xorf32"
)

// ErrFormat means that a file does not have the format, or that a filter cannot be written in it.
var ErrFormat = errors.New("not of this format")

// ErrForm means that a file has a variant of the format that cannot be read. errors.Is(ErrForm, ErrFormat) is true.
var ErrForm error = formError{}

type formError struct{}

func (formError) Error() string        { return "a form of the format that cannot be read" }
func (formError) Is(target error) bool { return target == ErrFormat }

// Formats returns all formats.
func Formats() (all []Format) {
	for _, c := range codecs() {
		all = append(all, c.format)
	}
	return all
}

// codecOf returns the codec of a format, or an error that lists all formats.
func codecOf(f Format) (codec, error) {
	all := codecs()
	if i := slices.IndexFunc(all, func(c codec) bool { return c.format == f }); i >= 0 {
		return all[i], nil
	}
	var names []string
	for _, c := range all {
		names = append(names, string(c.format))
	}
	return codec{}, fmt.Errorf("unknown format %q: want %s", f, strings.Join(names, ", "))
}

// FormatOf returns the format in which a Set can be written, or false if there is none.
func FormatOf(s *bloomery.Set) (Format, bool) {
	for _, c := range codecs() {
		if c.canWrite(s) {
			return c.format, true
		}
	}
	return "", false
}

// canWrite reports whether a Set can be written in the format. Family blocked uses hash XXH64 only in the split layout,
// so the hash alone tells the layout of Parquet from ours.
func (c *codec) canWrite(s *bloomery.Set) bool {
	spec := s.Spec() // the zero Spec if the Set has no filter
	return s.Manifest() == nil && s.Hasher().ID() == c.hash && spec.Family() == c.requiredSpec().Family() &&
		(c.width == 0 || c.width == family.Reader(spec).Uint("width"))
}

// checkSet returns an error wrapping ErrFormat if a Set cannot be written in the format.
func (c *codec) checkSet(s *bloomery.Set) error {
	if c.canWrite(s) {
		return nil
	}
	have := "a Set without a filter"
	if s.Spec() != (filter.Spec{}) {
		have = fmt.Sprintf("%s with hash %s", s.Spec(), s.Hasher().ID())
	}
	return fmt.Errorf("%s: %w: %s is for %s with hash %s", have, ErrFormat, c.format, c.requiredSpec(), c.hash)
}

// Read reads one filter of at most maxBytes, header included, from r. It stops at the end of the filter, and does not
// read the bytes after it, such as the data attached to a filter of DCSO. It takes the options of bloomery.FromBytes;
// WithMaxBytes limits the size in our own format, which is at most 1 KiB larger. It allocates at most four times the
// bytes that arrived plus 8 MiB; for the header of a RedisBloom filter at most twelve times its bytes. On error the Set
// is nil, and the error comes from r, or gives the byte offset where reading stopped and wraps ErrFormat, ErrForm,
// filter.ErrCorrupt, filter.ErrTooLarge or io.ErrUnexpectedEOF. The error wraps errors.ErrUnsupported if the family has
// no form for WithConcurrent.
func Read(r io.Reader, f Format, maxBytes uint64, o ...bloomery.Option) (*bloomery.Set, error) {
	return ReadAs(r, f, filter.KeyForm{}, maxBytes, o...)
}

// ReadAs is Read for a filter whose keys have a form that the file does not say: of Column.Form for a Parquet file, or
// filter.KeyInt32 for Guava's integerFunnel. Write drops the form.
func ReadAs(
	r io.Reader, f Format, form filter.KeyForm, maxBytes uint64, o ...bloomery.Option,
) (*bloomery.Set, error) {
	c, err := codecOf(f)
	if err != nil {
		return nil, err
	}

	in := &reader{r: r, max: maxBytes}
	h := c.head(in)
	// A known variant, or a file of another kind, gets an error with advice instead of the offset of the first wrong
	// byte.
	if h.form != nil {
		in.fail(ErrForm, "%s", h.form.what)
	} else if in.err != nil && !errors.Is(in.err, ErrForm) {
		if known := otherKind(in.first, 0); known != nil {
			return nil, known
		}
	}

	words := in.readWords(h.words, c.bigEnd)
	if h.slots != nil {
		words = in.appendTail(words, h.slots.slotBytes()%8)
	}
	if in.err != nil {
		return nil, in.err
	}

	kind, err := families.ByName(c.requiredSpec().Family())
	if err != nil {
		return nil, err
	}

	e := family.Encoded{Spec: h.spec, Keys: h.keys(words), Sections: append(h.before, words)}
	decoded, err := kind.Decode(e)
	if err != nil {
		return nil, container.Broken(in.at, err.Error(), filter.ErrCorrupt)
	}

	hasher, err := filter.ForeignHasher(c.hash)
	if err == nil {
		form.Type = cmp.Or(form.Type, kind.KeyType)
		hasher, err = hasher.WithForm(form)
	}
	if err != nil {
		return nil, err
	}

	file := container.New(kind.ID, e, hasher)
	file.FPRPlanned = h.rate
	if r, ok := decoded.(interface{ FPR() float64 }); ok && r.FPR() < 1 { // the format stores the planned rate
		file.FPRPlanned = r.FPR()
	}

	// FromBytes checks what any other file is checked for, and applies the options of the caller.
	b, err := container.Marshal(file)
	if err != nil {
		return nil, err
	}
	return bloomery.FromBytes(b, o...)
}

// storedForm returns the stored form of a Set in separate memory.
func storedForm(s *bloomery.Set) (*container.File, error) {
	b, err := s.MarshalBinary()
	if err != nil {
		return nil, err
	}
	file, _, err := container.FromBytes(b, container.Options{})
	return file, err
}

// Write writes a Set in a format, with the bytes that the other system would write. If the Set does not have the
// family and hash of the format, Write writes nothing and the error wraps ErrFormat. Other errors come from
// Set.MarshalBinary and w. Peak memory: one copy of the filter.
func Write(w io.Writer, s *bloomery.Set, f Format) error {
	c, err := codecOf(f)
	if err != nil {
		return err
	}
	if err := c.checkSet(s); err != nil {
		return err
	}

	e, err := storedForm(s)
	if err != nil {
		return err
	}

	head, err := c.marshal(e)
	if err != nil {
		return fmt.Errorf("%s: %w: %w", e.Spec, ErrFormat, err)
	}

	if _, err := w.Write(head); err != nil {
		return err
	}

	words := e.Sections[len(e.Sections)-1]
	if c.width == 0 {
		return writeWords(w, words, c.bigEnd)
	}
	return writeSlots(w, words, slotsOf(e.Encoded).slotBytes())
}

// shortest is the size in bytes of the smallest file of all formats: a Guava filter of one word.
const shortest = 6 + 8

// Detect returns the format of a file of size bytes: the one whose header is valid and implies that size, or for DCSO
// at most that size, because data may be attached to such a filter. It reads only headers. The error wraps ErrForm if a
// format matches in a variant that cannot be read, and ErrFormat if no format matches. It then also wraps
// filter.ErrFamily for a file of package window, and io.ErrUnexpectedEOF for a file that begins with a valid header but
// is too short; its text names the likely format and the length. Other errors come from r.
func Detect(r io.ReaderAt, size int64) (Format, error) {
	if size < shortest {
		const text = "%w or any other known one: it has %d bytes, a filter at least %d"
		return "", fmt.Errorf(text, ErrFormat, size, shortest)
	}

	var form error  // the first ErrForm; the size of the file does not show whether it is the right one
	var short error // the format whose header implies the fewest bytes, if all imply more than the file has
	least := uint64(math.MaxUint64)
	for _, c := range codecs() {
		in := &reader{r: io.NewSectionReader(r, 0, size), max: uint64(size)}
		h := c.head(in)
		whole, what := in.at+h.bodyBytes(), "%s filter of %d bytes"
		switch {
		case h.form != nil:
			whole = h.form.least
			if in.err == nil && whole <= uint64(size) && uint64(size) <= h.form.most {
				in.fail(ErrForm, "%s", h.form.what)
				return "", fmt.Errorf("%s: %w", c.format, in.err)
			}
		case in.end > uint64(size):
			whole, what = in.end, "%s filter, whose header alone has %d bytes"
		}
		var invalid *container.FormatError
		switch {
		case in.err == nil && h.form == nil && (whole == uint64(size) || c.tail && whole < uint64(size)):
			return c.format, nil
		case (in.err == nil || in.end > uint64(size)) && whole > uint64(size) && whole < least:
			least = whole
			what = fmt.Sprintf("end of what looks like a "+what, c.format, whole)
			short = fmt.Errorf("%w or any other known one: %w", ErrFormat,
				container.Broken(uint64(size), what, io.ErrUnexpectedEOF))
			if c.tail { // its long header is no coincidence, but looks like an older form of RedisBloom
				form = nil
			}
		case errors.Is(in.err, ErrForm) && form == nil:
			form = fmt.Errorf("%s: %w", c.format, in.err)
		case in.err != nil && !errors.As(in.err, &invalid):
			return "", in.err
		}
	}

	start := make([]byte, min(otherHead, size))
	// A short read leaves fewer bytes to recognise; the errors of r were returned above.
	n, _ := r.ReadAt(start, 0)
	known := otherKind(start[:n], uint64(size))
	if known != nil && known.sure {
		return "", known
	}
	if form != nil {
		return "", form
	}
	if short != nil {
		return "", short
	}
	if known != nil {
		return "", known
	}
	return "", fmt.Errorf("%w or any other known one", ErrFormat)
}

// MaxSize returns the length in bytes of the longest file of any format whose header is in head, the first bytes of an
// input: 0 if no format matches, and math.MaxInt64 if a header is longer than head.
func MaxSize(head []byte) (most uint64) {
	for _, c := range codecs() {
		in := &reader{r: bytes.NewReader(head), max: math.MaxInt64}
		switch h := c.head(in); {
		case in.err == nil && h.form != nil:
			most = max(most, h.form.most)
		case in.err == nil && h.words <= math.MaxInt64/16:
			most = max(most, in.at+h.bodyBytes())
		case errors.Is(in.err, io.ErrUnexpectedEOF):
			most = math.MaxInt64
		}
	}
	return most
}

// estimate returns a function that estimates the number of keys, with k probes each, from the number of set bits among
// the first m: probe.EstimateKeys, rounded, and at least 1 if any bit is set. In a full filter half a bit counts as
// free. The estimate also holds for the split blocks of Parquet, where the 8 probes of a key go to 8 words: a key sets
// one of 32 bits in each.
func estimate(m uint64, k int) func(words []uint64) uint64 {
	return func(words []uint64) uint64 {
		ones := bitvec.OnesBelow(words, m)
		switch {
		case ones == 0:
			return 0
		case m == 1:
			return 1
		}
		fill := min(float64(ones), float64(m)-0.5) / float64(m)
		return uint64(max(1, math.Round(probe.EstimateKeys(fill, m, k))))
	}
}
