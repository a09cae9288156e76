package patch

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/container"
)

// The modes of a section.
const (
	same   = iota // the section is as in the base
	raw           // the bytes
	gaps          // list of the bits that differ
	blocks        // list of the blocks that differ, with the bits of each
	cells         // lists of the cells that fall by one, rise by one, or have another value
	modes
)

const modeBits = 3

// form is the coding of a section.
type form struct {
	trial
	bytes uint64 // length of the section
	body  bitWriter
}

// flipped returns the delta of method 1 or 2, or nil if it would have more than limit bytes.
func (c *change) flipped(ctx context.Context, limit int) ([]byte, error) {
	w := &bitWriter{}
	c.header.writeFields(w)
	return c.buildDelta(ctx, w, Bits, c.header.flags, 0, limit)
}

// buildDelta appends the modes of the sections from first on, then their bodies, and returns the delta, or nil if it
// would have more than limit bytes. Bits becomes Cells if a section has that mode.
func (c *change) buildDelta(
	ctx context.Context, w *bitWriter, m Method, flags byte, first, limit int,
) (d []byte, err error) {
	forms := make([]form, len(c.to.Sections)-first)
	for i := range forms {
		f := &forms[i]
		if *f, err = c.choose(ctx, first+i); err != nil {
			return nil, err
		}
		w.field(uint64(f.mode), modeBits)
		switch {
		case f.mode == raw:
			w.number(f.bytes / 8)
		case f.mode == cells && m == Bits:
			m = Cells
		}
	}

	for i := range forms {
		if forms[i].mode == raw {
			w.raw(c.to.Section(first + i))
		} else {
			w.appendBits(&forms[i].body)
		}
	}
	if len(w.b) > limit {
		return nil, nil
	}
	return append(startDelta(m, flags, c.from.Checksum(), c.to.Bytes), w.finish()...), nil
}

// choose returns the form of section i that takes the fewest bits.
func (c *change) choose(ctx context.Context, i int) (form, error) {
	b := c.to.Section(i)
	whole := form{trial: trial{mode: raw}, bytes: uint64(len(b))}
	if i >= len(c.from.Sections) || len(c.from.Section(i)) != len(b) {
		return whole, nil
	}

	p := newPair(c.from.Section(i), b)
	if p.flips == 0 {
		return form{trial: trial{mode: same}, bytes: whole.bytes}, nil
	}

	all, err := p.better(ctx)
	if err != nil {
		return whole, err
	}
	return p.smallest(ctx, all, whole, 8*whole.bytes)
}

// smallest returns the form of the trial that takes the fewest bits, or best if none takes less than least.
func (p *pair) smallest(ctx context.Context, all []trial, best form, least uint64) (form, error) {
	for _, t := range all {
		if ctx.Err() != nil {
			return best, context.Cause(ctx)
		}
		var w bitWriter
		if p.putTrial(t, &w, least) && w.bitLen() < least {
			least = w.bitLen()
			best = form{t, best.bytes, w}
		}
	}
	return best, nil
}

// readFile reads the sections after the stored ones, and returns the new file with all sections.
func (h *header) readFile(
	ctx context.Context, r *bitReader, from *container.Image, stored [][]uint64, limit uint64,
) ([]byte, error) {
	forms := readForms(r, from, len(stored), h.sections, limit)
	if r.err != nil {
		return nil, r.err
	}

	var sizes []uint64
	for _, s := range stored {
		sizes = append(sizes, 8*uint64(len(s)))
	}

	for _, f := range forms {
		sizes = append(sizes, f.bytes)
	}

	to, err := container.NewImage(h.head, h.spec, sizes, limit)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}

	for i, s := range stored {
		bitvec.FixOrder(s)
		copy(to.Section(i), bitvec.Bytes(s))
	}

	for i, f := range forms {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		f.readSection(r, from, to, len(stored)+i)
		if r.err != nil {
			return nil, r.err
		}
	}
	if err := r.checkEnd(); err != nil {
		return nil, err
	}
	to.Seal()
	return to.Bytes, nil
}

// readSection reads section i of the new file.
func (f *form) readSection(r *bitReader, from, to *container.Image, i int) {
	b := to.Section(i)
	if f.mode == raw {
		copy(b, r.bytes(uint64(len(b))))
		return
	}

	old := from.Section(i)
	copy(b, old)
	switch f.mode {
	case gaps:
		getGaps(r, b)
	case blocks:
		getBlocks(r, b, old)
	case cells:
		getCells(r, b, old)
	}
}

// readForms reads the modes of sections [first, end).
func readForms(r *bitReader, from *container.Image, first, end int, limit uint64) []form {
	var forms []form
	for i := first; i < end && r.err == nil; i++ {
		f := form{trial: trial{mode: int(r.field(modeBits))}}
		switch {
		case f.mode >= modes:
			r.fail(errNumber)
		case f.mode == raw:
			f.bytes = 8 * r.numberUpTo(min(limit, uint64(len(r.b)))/8)
		case i >= len(from.Sections):
			r.fail(errNumber)
		default:
			f.bytes = from.Sections[i].Bytes
		}
		forms = append(forms, f)
	}
	return forms
}

// pair is two sections of equal length.
type pair struct {
	old, new []byte
	flips    uint64   // number of bits that differ
	at       []uint64 // positions of these bits; empty if the list would be larger than the section and listMemory
}

// listMemory is the size in bytes of a list of bits for a section of any size.
const listMemory = 8 << 20

func newPair(old, new []byte) pair {
	p := pair{old: old, new: new}
	p.flips = p.countFlips()
	if 8*p.flips <= max(uint64(len(old)), listMemory) {
		p.at = slices.AppendSeq(make([]uint64, 0, p.flips), p.scanFlips)
	}
	return p
}

// countFlips returns the number of bits that differ.
func (p *pair) countFlips() (n uint64) {
	for at := 0; at < len(p.old); at += 8 {
		n += uint64(bits.OnesCount64(p.differ(at)))
	}
	return n
}

// differ returns the bits that differ in the 8 bytes from position at on.
func (p *pair) differ(at int) uint64 {
	return binary.LittleEndian.Uint64(p.old[at:]) ^ binary.LittleEndian.Uint64(p.new[at:])
}

// trial is one way to code a section.
type trial struct {
	mode  int
	log   uint // logarithm of the size of a block or cell in bits
	apart bool // for blocks: set bits are listed apart
}

// trials returns the ways to code the section that may be the smallest.
func (p *pair) trials() []trial {
	if float64(p.flips) > 0.45*8*float64(len(p.new)) { // a delta would take about one bit per bit of the section
		return nil
	}

	all := []trial{{mode: gaps}}
	for log := range uint(cellSizes) {
		all = append(all, trial{mode: cells, log: log})
	}

	for log := uint(leastBlock); log <= mostBlock && len(p.at) > 0; log++ {
		if 1<<log < 8*len(p.new) {
			all = append(all, trial{blocks, log, false}, trial{blocks, log, true})
		}
	}
	return all
}

// sample is the number of differing bits in the part of a section on which the trials are compared, if the section has
// at least twice as many.
const sample = 1 << 14

// better returns the trials for the whole section. With many changes, that is only the best trial on a part of the
// section.
func (p *pair) better(ctx context.Context) ([]trial, error) {
	all := p.trials()
	if len(all) == 0 || len(p.at) < 2*sample {
		return all, nil
	}
	end := (p.at[sample] + 63) / 64 * 8
	part := newPair(p.old[:end], p.new[:end])
	best, err := part.smallest(ctx, all, form{trial: all[0]}, math.MaxUint64)
	return []trial{best.trial}, err
}

// putTrial appends the section by a trial. It returns false, with part of the bits written, if it takes at least most,
// or if the section has no such form.
func (p *pair) putTrial(t trial, w *bitWriter, most uint64) bool {
	switch t.mode {
	case gaps:
		return p.putGaps(w, most)
	case cells:
		return p.putCells(t.log, w, most)
	}
	return p.putBlocks(t.log, t.apart, w, most)
}
