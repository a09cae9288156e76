package exact

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/bloomery/bloomery/family/ribbon"
	"github.com/bloomery/bloomery/filter"
)

const (
	tailSection = 2

	maxLayers = 16
	maxTail   = 256
	maxSeed   = 1<<16 - 1
	maxStarts = 1 << 48
	startUnit = 64 // a number of starts is a multiple of it
)

// A part is a filter of family ribbon: this file is the only one of the package that depends on the family.
type (
	part      = ribbon.Filter
	partMaker = ribbon.Builder
)

// newMaker returns a builder of a part with that form and width, for about that many keys.
func newMaker(f form, keys uint64, w uint) (*partMaker, error) {
	return ribbon.NewBuilder(ribbon.Config{
		Keys: keys, R: uint(f.r), ValueBits: uint(f.valueBits), Static: f.r == 0, W: w,
	})
}

// decodePart returns the part of a stored form.
func decodePart(e filter.Encoded) (*part, error) { return ribbon.Decode(e) }

// form is what the classes decide about a part.
type form struct {
	r, valueBits int
}

// forms returns the forms of the parts of a record with these classes, in the order of the file.
func forms(classes []class) (all []form) {
	if n := indexBits(len(classes)); n > 0 {
		all = append(all, form{0, n})
	}
	for i, c := range classes {
		if c.layered() && (i == 0 || classes[i-1].rate() != c.rate()) {
			all = append(all, form{c.rate(), 0})
		}
	}
	return append(all, form{0, 1})
}

// tailBits returns the number of bits of the tail of a part.
func tailBits(f *part) uint64 {
	r := f.Encode().Spec.Reader()
	return r.Uint("tail") * (r.Uint("r") + r.Uint("value_bits"))
}

// appendGeometry appends the geometry of a part.
func appendGeometry(b []byte, f *part) []byte {
	e := f.Encode()
	b = binary.AppendUvarint(b, e.Keys)
	if e.Keys == 0 {
		return b
	}
	r := e.Spec.Reader()
	var starts []string
	if e.Spec.Has("starts") {
		starts = strings.Split(r.Text("starts", ""), "-")
	}
	shape := 2 * uint64(len(starts))
	if r.Uint("w") == 128 {
		shape++
	}
	b = binary.AppendUvarint(b, shape)
	b = binary.AppendUvarint(b, r.Uint("seed"))
	for _, text := range starts {
		n, _ := strconv.ParseUint(text, 10, 64) // of a Spec that the family wrote
		b = binary.AppendUvarint(b, n/startUnit)
	}
	b = binary.AppendUvarint(b, r.Uint("tail"))
	return binary.AppendUvarint(b, r.Uint("tail_seed"))
}

// geometry is a part that has been read up to its body.
type geometry struct {
	spec filter.Spec
	keys uint64
	tail uint64 // bits of the tail
}

// readGeometry reads the geometry of a part with that form.
func readGeometry(c *cursor, f form) (g geometry, err error) {
	const maxKeys = 1 << 56
	if g.keys = c.limited("keys of a part", maxKeys-1); c.err != nil || g.keys == 0 {
		g.spec = newSpec(f, 64)
		return g, c.err
	}
	shape := c.limited("shape", 2*maxLayers+1)
	w := 64 * (1 + shape%2)
	g.spec = newSpec(f, w)
	with := func(name string, value uint64) {
		if value != 0 {
			g.spec = g.spec.With(name, value)
		}
	}
	with("seed", c.limited("seed of a part", maxSeed))
	var starts []string
	for range shape / 2 {
		n := c.limited("starts of a layer", maxStarts/startUnit)
		starts = append(starts, strconv.FormatUint(n*startUnit, 10))
	}
	if len(starts) > 0 {
		g.spec = g.spec.With("starts", strings.Join(starts, "-"))
	}
	tail := c.limited("tail of a part", maxTail)
	with("tail", tail)
	with("tail_seed", c.limited("seed of a tail", maxSeed))
	g.tail = tail * uint64(f.r+f.valueBits)
	return g, c.err
}

func newSpec(f form, w uint64) filter.Spec {
	s := filter.NewSpec(ribbon.Family, "r", f.r, "w", w)
	if f.valueBits > 0 {
		s = s.With("value_bits", f.valueBits)
	}
	return s
}

// sections returns the number of words of each section, and the number of bytes that they take in a record of a kind.
func (g geometry) sections(kind uint64) (words []uint64, bytes uint64, err error) {
	if words, err = ribbon.SectionWords(g.spec); err != nil {
		return nil, 0, err
	}
	for i, n := range words {
		if n > math.MaxInt64/64 {
			return nil, 0, fmt.Errorf("a part of %d words is %w", n, filter.ErrTooLarge)
		}
		bytes += sectionBytes(kind, i, n, g.tail)
	}
	return words, bytes, nil
}

// sectionBytes returns the number of bytes of a section of n words in a record of a kind.
func sectionBytes(kind uint64, section int, n, tailBits uint64) uint64 {
	if kind != kindBase && section == tailSection {
		return (tailBits + 7) / 8
	}
	return 8 * n
}
