package redisbloom

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// Sizes in bytes of the two parts of the header that BF.SCANDUMP returns first.
const (
	ChainHeader = 20 // header of the chain, once
	LinkHeader  = 53 // header of each link
)

// MaxLinks is the largest number of links in a chain. Their headers take 53 MiB.
const MaxLinks = 1 << 20

// Option bits of the header. RedisBloom has others for 32-bit hashes and for sizes rounded to powers of two.
const (
	noRound   = 1
	hash64    = 4
	noScaling = 8
)

// Header returns the header of the chain as BF.SCANDUMP does. All numbers are little endian:
//
//	bytes  the chain
//	    8  number of keys
//	    4  number of links
//	    4  options: 1 no rounding, 4 hashes of 64 bits, 8 the chain does not grow
//	    4  growth
//	bytes  each link
//	    8  size in bytes
//	    8  size in bits
//	    8  number of keys
//	    8  false-positive rate, a float64
//	    8  bits per key, a float64
//	    4  probes per key
//	    8  capacity in keys
//	    1  zero
func (f *Filter) Header() []byte {
	le := binary.LittleEndian
	options := uint32(noRound | hash64)
	if !f.scales {
		options |= noScaling
	}

	b := le.AppendUint64(make([]byte, 0, ChainHeader+LinkHeader*len(f.links)+7), f.keyCount())
	b = le.AppendUint32(b, uint32(len(f.links)))
	b = le.AppendUint32(b, options)
	b = le.AppendUint32(b, f.growth)
	for _, l := range f.links {
		b = le.AppendUint64(b, l.Bits/8)
		b = le.AppendUint64(b, l.Bits)
		b = le.AppendUint64(b, l.Keys)
		b = le.AppendUint64(b, math.Float64bits(l.Rate))
		b = le.AppendUint64(b, math.Float64bits(l.BitsPerKey))
		b = le.AppendUint32(b, uint32(l.K))
		b = le.AppendUint64(b, l.Capacity)
		b = append(b, 0)
	}
	return b
}

// ErrOldForm means that a chain has an old form that RedisBloom no longer makes and this package does not read.
var ErrOldForm = errors.New("an older form of RedisBloom")

// HeaderLinks returns the number of links, 1 to MaxLinks, of a header that begins with the ChainHeader bytes b. The
// error wraps ErrOldForm if the chain has 32-bit hashes or sizes that are rounded to powers of two.
func HeaderLinks(b []byte) (uint64, error) {
	if len(b) < ChainHeader {
		return 0, fmt.Errorf("a header of %d bytes, want at least %d", len(b), ChainHeader)
	}

	le := binary.LittleEndian
	links, options := le.Uint32(b[8:]), le.Uint32(b[12:])
	switch {
	case options&^(noRound|hash64|noScaling|2) != 0:
		return 0, fmt.Errorf("options %#x", options)
	case links == 0 || links > MaxLinks:
		return 0, fmt.Errorf("%d links, want 1 to %d", links, MaxLinks)
	case options&hash64 == 0:
		return 0, fmt.Errorf("options %#x, hashes of 32 bits, %w", options, ErrOldForm)
	case options&^noScaling != noRound|hash64:
		return 0, fmt.Errorf("options %#x, sizes rounded to powers of two, %w", options, ErrOldForm)
	}
	return uint64(links), nil
}

// parseHeader parses a whole header. It returns a filter without its words, and the number of its words, which is below
// 2^56. b may be longer than the header.
func parseHeader(b []byte) (f *Filter, words uint64, err error) {
	le := binary.LittleEndian
	n, err := HeaderLinks(b)
	if err != nil {
		return nil, 0, err
	}

	if uint64(len(b)) < ChainHeader+LinkHeader*n {
		return nil, 0, fmt.Errorf("a header of %d links in %d bytes", n, len(b))
	}

	f = &Filter{growth: le.Uint32(b[16:]), scales: le.Uint32(b[12:])&noScaling == 0, links: make([]Link, 0, n)}
	var keys uint64 // at most 2^62
	for i := range n {
		h := b[ChainHeader+LinkHeader*i:][:LinkHeader]
		l := Link{
			Bits: le.Uint64(h[8:]), Keys: le.Uint64(h[16:]), Rate: math.Float64frombits(le.Uint64(h[24:])),
			BitsPerKey: math.Float64frombits(le.Uint64(h[32:])), K: int(le.Uint32(h[40:])), Capacity: le.Uint64(h[44:]),
		}
		switch {
		case h[52] != 0:
			err = fmt.Errorf("a size of 2^%d bits: %w", h[52], ErrOldForm)
		case l.Bits == 0 || l.Bits%64 != 0 || l.Bits/8 != le.Uint64(h):
			err = fmt.Errorf("%d bits in %d bytes, want a multiple of 64", l.Bits, le.Uint64(h))
		case l.Bits >= 1<<62:
			err = filter.ErrTooLarge
		case !(l.Rate > 0 && l.Rate < 1):
			err = fmt.Errorf("rate %v, want more than 0 and less than 1", l.Rate)
		case l.K < 1 || l.K > MaxK || float64(l.K) != math.Ceil(ln2*l.BitsPerKey):
			err = fmt.Errorf("%d probes for %v bits per key", l.K, l.BitsPerKey)
		case l.Keys > 1<<62-keys || l.Capacity == 0:
			err = fmt.Errorf("%d keys of a capacity of %d", l.Keys, l.Capacity)
		}
		if err != nil {
			return nil, 0, fmt.Errorf("link %d: %w", i, err)
		}

		keys += l.Keys
		words += l.Bits / 64 // at most 2^20 · 2^56
		if words >= 1<<56 {
			return nil, 0, fmt.Errorf("link %d: %w", i, filter.ErrTooLarge)
		}
		f.links = append(f.links, l)
	}

	if keys != le.Uint64(b) {
		return nil, 0, fmt.Errorf("%d keys in the chain, but %d in its links", le.Uint64(b), keys)
	}
	return f, words, nil
}

// EncodedHeader checks a whole header. It returns the Spec and the first section of the stored filter with this header,
// and the number of words of its second section, which is below 2^56. The error wraps ErrOldForm or filter.ErrTooLarge,
// or describes the invalid field of the header.
func EncodedHeader(b []byte) (s filter.Spec, section []uint64, words uint64, err error) {
	f, words, err := parseHeader(b)
	if err != nil {
		return s, nil, 0, err
	}
	return family.NewSpec(Family, "links", len(f.links), "words", words), f.headerWords(), words, nil
}

// headerWords returns the header as little-endian words, padded with zeros.
func (f *Filter) headerWords() []uint64 {
	b := f.Header()
	b = append(b, make([]byte, -len(b)&7)...)
	words := make([]uint64, len(b)/8)
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return words
}

func (f *Filter) builtSpec() filter.Spec {
	return family.NewSpec(Family, "links", len(f.links), "words", len(f.words))
}

// Encode returns two sections: the bytes of Header as little-endian words, padded with zeros, and the words of all
// links.
func (f *Filter) Encode() family.Encoded {
	return family.Encoded{Spec: f.builtSpec(), Keys: f.keyCount(), Sections: [][]uint64{f.headerWords(), f.words}}
}

// SectionWords returns the number of words of each section of a stored filter with this Spec. The error wraps
// filter.ErrConfig if no built filter has this Spec.
func SectionWords(s filter.Spec) ([]uint64, error) {
	r := family.Reader(s)
	links, words := r.Uint("links"), r.Uint("words")
	if err := r.Err(); err != nil {
		return nil, err
	}
	if links == 0 || links > MaxLinks || words == 0 || words >= 1<<56 {
		return nil, family.Invalid("spec", s, "want redisbloom(links=,words=)")
	}
	return []uint64{(ChainHeader + LinkHeader*links + 7) / 8, words}, nil
}

// Decode returns the filter that Encode stored. It keeps the words of the second section and does not copy them. It
// returns an error if the sections do not have the sizes of SectionWords, or if header, words and number of keys
// contradict each other.
func Decode(e family.Encoded) (*Filter, error) {
	if err := e.CheckSections(SectionWords(e.Spec)); err != nil {
		return nil, err
	}

	b := make([]byte, 0, 8*len(e.Sections[0]))
	for _, w := range e.Sections[0] {
		b = binary.LittleEndian.AppendUint64(b, w)
	}

	n, err := HeaderLinks(b)
	if err != nil {
		return nil, err
	}

	if end := ChainHeader + LinkHeader*n; (end+7)/8 != uint64(len(e.Sections[0])) {
		return nil, fmt.Errorf("a header of %d links in %d words", n, len(e.Sections[0]))
	} else if string(b[end:]) != string(make([]byte, len(b)-int(end))) {
		return nil, errors.New("the padding after the header is not zero")
	}

	f, words, err := parseHeader(b)
	if err != nil {
		return nil, err
	}

	if words != uint64(len(e.Sections[1])) || f.keyCount() != e.Keys {
		return nil, fmt.Errorf("%d words and %d keys, but %d and %d in the header",
			len(e.Sections[1]), e.Keys, words, f.keyCount())
	}

	f.words = e.Sections[1]
	return f, nil
}
