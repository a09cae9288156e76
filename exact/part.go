package exact

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/family/ribbon"
)

const (
	tailSection = 2

	maxLayers = 16
	maxTail   = 256
	maxSeed   = 1<<16 - 1
	maxStarts = 1 << 48
	startUnit = 64 // the number of starts is a multiple of this

	// tryBoth is the number of keys below which a part is built with both widths, and the smaller one is taken. Above
	// it, width 128 is always smaller.
	tryBoth = 1 << 17
	// partBatch is the number of keys that a partBuilder passes on together.
	partBatch = 1 << 10
)

// A part is a filter of family ribbon: this file is the only one of the package that depends on the family.
type part = ribbon.Filter

func decodePart(e family.Encoded) (*part, error) { return ribbon.Decode(e) }

// form holds the properties of a part that follow from the classes.
type form struct {
	r, valueBits int
	part         **part // its field in the record
}

// partForms returns the forms of the parts of a record with classes, in the order of the file.
func (r *record) partForms() (all []form) {
	if n := indexBits(len(r.classes)); n > 0 {
		all = append(all, form{0, n, &r.index})
	}
	for i, c := range r.classes {
		if c.layered() && (i == 0 || r.classes[i-1].rate() != c.rate()) {
			all = append(all, form{c.rate(), 0, &r.first[c.rate()]})
		}
	}
	return append(all, form{0, 1, &r.last})
}

func appendGeometry(b []byte, f *part) []byte {
	e := f.Encode()
	b = binary.AppendUvarint(b, e.Keys)
	if e.Keys == 0 {
		return b
	}

	r := family.Reader(e.Spec)
	var starts []string
	if family.Given(e.Spec, "starts") {
		starts = strings.Split(r.Text("starts", ""), "-")
	}

	shape := 2 * uint64(len(starts))
	if r.Uint("w") == 128 {
		shape++
	}

	b = binary.AppendUvarint(b, shape)
	b = binary.AppendUvarint(b, r.Uint("seed"))
	for _, text := range starts {
		// The family wrote this Spec, so the number parses.
		n, _ := strconv.ParseUint(text, 10, 64)
		b = binary.AppendUvarint(b, n/startUnit)
	}
	b = binary.AppendUvarint(b, r.Uint("tail"))
	return binary.AppendUvarint(b, r.Uint("tail_seed"))
}

// readGeometry reads the geometry of a part with that form. The result has no sections yet.
func readGeometry(c *cursor, f form) family.Encoded {
	const maxKeys = 1 << 56
	e := family.Encoded{Keys: c.limited("keys of a part", maxKeys-1)}
	if e.Keys == 0 {
		e.Spec = newSpec(f, 64)
		return e
	}

	shape := c.limited("shape", 2*maxLayers+1)
	e.Spec = newSpec(f, 64*(1+shape%2))
	with := func(name string, value uint64) {
		if value != 0 {
			e.Spec = e.Spec.With(name, value)
		}
	}

	with("seed", c.limited("seed of a part", maxSeed))
	var starts []string
	for range shape / 2 {
		n := c.limited("starts of a layer", maxStarts/startUnit)
		starts = append(starts, strconv.FormatUint(n*startUnit, 10))
	}
	if len(starts) > 0 {
		e.Spec = e.Spec.With("starts", strings.Join(starts, "-"))
	}

	with("tail", c.limited("tail of a part", maxTail))
	with("tail_seed", c.limited("seed of a tail", maxSeed))
	return e
}

func newSpec(f form, w uint64) filter.Spec {
	s := family.NewSpec(ribbon.Family, "r", f.r, "w", w)
	if f.valueBits > 0 {
		s = s.With("value_bits", f.valueBits)
	}
	return s
}

// sectionsOf returns the number of words of each section of a part, and the number of bytes that they take in a record
// of a kind.
func sectionsOf(s filter.Spec, kind uint64) (words []uint64, bytes uint64, err error) {
	if words, err = ribbon.SectionWords(s); err != nil {
		return nil, 0, err
	}
	for i, n := range words {
		if n > math.MaxInt64/64 {
			return nil, 0, fmt.Errorf("a part of %d words is %w", n, filter.ErrTooLarge)
		}
		bytes += sectionBytes(s, kind, i, n)
	}
	return words, bytes, nil
}

// sectionBytes returns the number of bytes of a section of n words in a record of a kind.
func sectionBytes(s filter.Spec, kind uint64, section int, n uint64) uint64 {
	if kind == kindBase || section != tailSection {
		return 8 * n
	}
	r := family.Reader(s)
	return (r.Uint("tail")*(r.Uint("r")+r.Uint("value_bits")) + 7) / 8
}

// partBuilder gathers the keys of a part.
type partBuilder struct {
	builders []*ribbon.Builder // one per width to try
	keys     uint64            // the expected number of keys
	valued   bool              // whether keys have values
	hashes   []filter.Hash
	values   []uint64 // values of hashes, if valued
}

// newPart returns a builder of a part with form f, for about the given number of keys.
func newPart(f form, keys uint64, c Config, memory int64) (*partBuilder, error) {
	p := &partBuilder{valued: f.valueBits > 0, keys: keys}
	widths := []uint{64, 128}
	if keys >= tryBoth {
		widths = widths[1:]
	}

	for _, w := range widths {
		b, err := ribbon.NewBuilder(ribbon.Config{
			Keys: keys, R: uint(f.r), ValueBits: uint(f.valueBits), Static: f.r == 0, W: w,
		})
		if err != nil {
			return nil, err
		}
		o := family.BuildOptions{Workers: c.Workers}
		if c.Memory > 0 {
			// A limit of 0 would be no limit, so a share that is rounded down to 0 becomes 1 byte.
			o.Memory, o.Dir = max(memory, 1), c.TempDir
		}
		b.SetOptions(o)
		p.builders = append(p.builders, b)
	}
	return p, nil
}

// addKey adds a key without a value.
func (p *partBuilder) addKey(h filter.Hash) error {
	if p.hashes = append(p.hashes, h); len(p.hashes) < partBatch {
		return nil
	}
	return p.flush()
}

// addValue adds a key and its value.
func (p *partBuilder) addValue(h filter.Hash, v uint64) error {
	p.values = append(p.values, v)
	return p.addKey(h)
}

func (p *partBuilder) flush() (err error) {
	if len(p.hashes) == 0 {
		return nil
	}

	for _, b := range p.builders {
		if p.valued {
			err = errors.Join(err, b.AddValues(p.hashes, p.values))
		} else {
			err = errors.Join(err, b.AddMany(p.hashes))
		}
	}
	p.hashes, p.values = p.hashes[:0], p.values[:0]
	return err
}

// expected returns the approximate number of keys of the part, 0 for nil.
func (p *partBuilder) expected() uint64 {
	if p == nil {
		return 0
	}
	return p.keys
}

// build returns the part. Its keys are steps of the stage.
func (p *partBuilder) build(ctx context.Context, steps *stages) (best *part, err error) {
	if err := p.flush(); err != nil {
		return nil, err
	}

	before := steps.steps
	for _, b := range p.builders {
		b.Progress = func(now filter.Progress) { steps.raiseTo(before + uint64(now.Done*float64(p.keys))) }
		f, err := b.Build(ctx)
		if err != nil {
			return nil, err
		}
		if p := f.(*part); best == nil || p.Info().Bits < best.Info().Bits {
			best = p
		}
	}

	steps.raiseTo(before + p.keys)
	p.builders, p.hashes, p.values = nil, nil, nil
	return best, nil
}

// close drops the keys.
func (p *partBuilder) close() (err error) {
	for _, b := range p.builders {
		err = errors.Join(err, b.Close())
	}
	return err
}
