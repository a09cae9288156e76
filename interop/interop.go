// Package interop reads and writes the filter files of other systems, byte for byte. What was read answers as in its own
// system, keeps its own hash function, takes keys, and is stored as a file of ours like any other filter.
//
//	format            is                                              as a filter of ours                       hash
//	parquet           Thrift header and bitset, as in a Parquet file  blocked(blocks=,k=8,layout=split)         xxh64
//	guava             BloomFilter.writeTo                             guava(k=,strategy=32|64,words=)           murmur3-x64-128
//	bits-and-blooms   WriteTo, MarshalBinary of version 3             bitsandblooms(k=,m=)                      murmur3-x64-128-twice
//	redisbloom        what BF.SCANDUMP gives, one after the other     redisbloom(links=,words=)                 murmur64a-twice
//
// Keys are bytes; each format's file says which bytes the other system makes of a value. Only RedisBloom stores the number of
// keys; of other filters it is estimated from their bits.
//
// Input may be hostile: sizes are checked against each other and the limit, and memory is taken as bytes come.
package interop

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/container"
	"github.com/bloomery/bloomery/families"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
)

// Format names the filter files of a system.
type Format string

// The formats.
const (
	Parquet       Format = "parquet"
	Guava         Format = "guava"
	BitsAndBlooms Format = "bits-and-blooms"
	RedisBloom    Format = "redisbloom"
)

// ErrFormat says that a file is not of a format, or that a filter cannot be written in it.
var ErrFormat = errors.New("not of this format")

// ErrForm says that a file is of a format, in a form that cannot be read. It is an ErrFormat.
var ErrForm error = formError{}

type formError struct{}

func (formError) Error() string        { return "a form of the format that cannot be read" }
func (formError) Is(target error) bool { return target == ErrFormat }

// codec is what a format needs.
type codec struct {
	format Format
	bigEnd bool // words are written with their highest byte first
	// head reads what stands before the words.
	head func(*reader) (*header, error)
	// marshal returns what stands before the words of a filter, and what its bits are made of.
	marshal func(filter.Filter) ([]byte, error)
	// want says which filters of ours the format is for.
	family string
	hash   filter.HashID
	want   string
}

// header is what is known of a filter before its words have come.
type header struct {
	spec   filter.Spec
	before [][]uint64 // sections before that of the words
	words  uint64
	keys   func(words []uint64) uint64
}

func codecs() []codec { return []codec{parquet, guavaFile, bitsAndBlooms, redisBloom} }

// Formats lists the formats.
func Formats() (all []Format) {
	for _, c := range codecs() {
		all = append(all, c.format)
	}
	return all
}

// codecOf returns the codec of a format, or an error that lists those there are.
func codecOf(f Format) (codec, error) {
	all := codecs()
	if i := slices.IndexFunc(all, func(c codec) bool { return c.format == f }); i >= 0 {
		return all[i], nil
	}
	var names []string
	for _, c := range all {
		names = append(names, string(c.format))
	}
	return codec{}, fmt.Errorf("unknown format %q; there are %s", f, strings.Join(names, ", "))
}

// FormatOf returns the format in which a set can be written, and false if there is none.
func FormatOf(s *bloomery.Set) (Format, bool) {
	for _, c := range codecs() {
		if c.is(s) {
			return c.format, true
		}
	}
	return "", false
}

// is reports whether family and hash are those of the format; blocked takes hash XXH64 in the split layout only.
func (c *codec) is(s *bloomery.Set) bool {
	return s.Hasher().ID() == c.hash && filter.SpecOf(s.Filter()).Family() == c.family
}

// check returns an error where a set is not of the format.
func (c *codec) check(s *bloomery.Set) error {
	if c.is(s) {
		return nil
	}
	return fmt.Errorf("%s with hash %s: %w: %s is for %s with hash %s", filter.SpecOf(s.Filter()), s.Hasher().ID(), ErrFormat, c.format, c.want, c.hash)
}

// Read reads one filter of at most maxBytes with its header. It stops at the filter's end, whatever follows, and allocates
// at most three times what has come, and 8 MiB; nine times the header of a RedisBloom filter. On error the set is nil and the
// error is that of r, or a *container.FormatError with the byte where reading stopped that wraps ErrFormat, ErrForm,
// container.ErrCorrupt, filter.ErrTooLarge or io.ErrUnexpectedEOF.
func Read(r io.Reader, f Format, maxBytes uint64) (*bloomery.Set, error) {
	c, err := codecOf(f)
	if err != nil {
		return nil, err
	}
	in := &reader{r: r, max: maxBytes}
	h, err := c.head(in)
	if err != nil {
		return nil, err
	}
	words, err := in.words(h.words, c.bigEnd)
	if err != nil {
		return nil, err
	}
	family, err := families.ByName(c.family)
	if err != nil {
		return nil, err
	}
	e := filter.Encoded{Spec: h.spec, Keys: h.keys(words), Sections: append(h.before, words)}
	decoded, err := family.Decode(e)
	if err != nil {
		return nil, &container.FormatError{Offset: in.at, What: err.Error(), Err: container.ErrCorrupt}
	}
	hasher, err := filter.ForeignHasher(c.hash)
	if err != nil {
		return nil, err
	}
	return bloomery.NewSet(decoded, hasher), nil
}

// Write writes a set in a format. Sets that Read gave, or of the same family and hash, are written as the other system would;
// of others nothing is written and the error wraps ErrFormat.
func Write(w io.Writer, s *bloomery.Set, f Format) error {
	c, err := codecOf(f)
	if err != nil {
		return err
	}
	if err := c.check(s); err != nil {
		return err
	}
	head, err := c.marshal(s.Filter())
	if err != nil {
		return fmt.Errorf("%s: %w: %w", filter.SpecOf(s.Filter()), ErrFormat, err)
	}
	if _, err := w.Write(head); err != nil {
		return err
	}
	sections := s.Filter().(filter.Encoder).Encode().Sections
	return writeWords(w, sections[len(sections)-1], c.bigEnd)
}

// Detect returns the format of a file of that size: the one whose header, as far as r gives it, says that the file ends where
// it does. Its error wraps ErrFormat if there is none, and ErrForm if the file is of a format and cannot be read.
func Detect(r io.ReaderAt, size int64) (Format, error) {
	for _, c := range codecs() {
		in := &reader{r: io.NewSectionReader(r, 0, size), max: uint64(size)}
		if h, err := c.head(in); err == nil && in.at+8*h.words == uint64(size) {
			return c.format, nil
		} else if errors.Is(err, ErrForm) {
			return "", fmt.Errorf("%s: %w", c.format, err)
		}
	}
	return "", fmt.Errorf("%w, nor of another that is known", ErrFormat)
}

// estimate returns how many keys set the first m bits as they are, with k probes each: -m/k · ln(1-f) (Swamidass and Baldi,
// 2007), for a full filter as if half a bit were free. In the split blocks of Parquet, where 8 probes of a key never meet,
// it holds as well: a key sets one bit in 32 of each word.
func estimate(m uint64, k int) func(words []uint64) uint64 {
	return func(words []uint64) uint64 {
		ones := bitvec.OnesBelow(words, m)
		if ones == 0 {
			return 0
		}
		fill := min(float64(ones), float64(m)-0.5) / float64(m)
		return uint64(max(1, math.Round(-math.Log1p(-fill)*float64(m)/float64(k))))
	}
}
