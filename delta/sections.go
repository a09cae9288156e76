package delta

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"github.com/bloomery/bloomery/container"
)

// The modes of a section.
const (
	same   = iota // as in the base
	raw           // the bytes
	gaps          // list of the bits that differ
	blocks        // list of the blocks that differ, with the bits of each
	cells         // lists of the cells that fall by one, rise by one, or have another value
	modes
)

const modeBits = 3

// form is how a section is coded.
type form struct {
	mode  int
	bytes uint64 // length of the section
	body  bitWriter
}

// flipped returns the delta of method 1 or 2, or nil if it would have more than limit bytes.
func flipped(ctx context.Context, c change, limit uint64) ([]byte, error) {
	w := &bitWriter{}
	c.header.write(w)
	method, err := putSections(ctx, w, c, 0)
	if err != nil || uint64(len(w.b)) > limit {
		return nil, err
	}
	return append(start(method, c.header.flags, c.from.Checksum(), c.to.Bytes), w.bytes()...), nil
}

// putSections appends the modes of the sections from first on, then their bodies.
func putSections(ctx context.Context, w *bitWriter, c change, first int) (method Method, err error) {
	method = Bits
	forms := make([]form, len(c.to.Sections)-first)
	for i := range forms {
		f := &forms[i]
		if *f, err = choose(ctx, c, first+i); err != nil {
			return 0, err
		}
		w.field(uint64(f.mode), modeBits)
		switch f.mode {
		case raw:
			w.number(f.bytes / 8)
		case cells:
			method = Cells
		}
	}
	for i := range forms {
		if forms[i].mode == raw {
			w.align()
			w.b = append(w.b, c.to.Section(first+i)...)
		} else {
			w.join(&forms[i].body)
		}
	}
	return method, nil
}

// choose returns the form of section i that takes the fewest bits.
func choose(ctx context.Context, c change, i int) (best form, err error) {
	b := c.to.Section(i)
	best = form{mode: raw, bytes: uint64(len(b))}
	if i >= len(c.from.Sections) || len(c.from.Section(i)) != len(b) {
		return best, nil
	}
	p := newPair(c.from.Section(i), b)
	if p.flips == 0 {
		return form{mode: same, bytes: best.bytes}, nil
	}
	least := 8 * best.bytes
	for _, t := range p.better() {
		if ctx.Err() != nil {
			return best, context.Cause(ctx)
		}
		var w bitWriter
		if p.put(t, &w, least) && w.bits() < least {
			least = w.bits()
			best = form{mode: t.mode, bytes: best.bytes, body: w}
		}
	}
	return best, nil
}

// flip returns the new file of methods 1 and 2.
func flip(ctx context.Context, r *bitReader, from *container.Image, h header, limit uint64) ([]byte, error) {
	forms := readForms(r, from, 0, h.sections, limit)
	if r.err != nil {
		return nil, r.err
	}
	to, err := container.NewImage(h.head, h.spec, lengths(forms), limit)
	if err != nil {
		return nil, refused(err)
	}
	return finish(ctx, r, from, to, forms)
}

// refused returns the error of container.NewImage for the numbers of a delta.
func refused(err error) error { return fmt.Errorf("%w: %w", ErrCorrupt, err) }

func lengths(forms []form) []uint64 {
	n := make([]uint64, len(forms))
	for i, f := range forms {
		n[i] = f.bytes
	}
	return n
}

// readForms reads the modes of sections [first, end).
func readForms(r *bitReader, from *container.Image, first, end int, limit uint64) []form {
	var forms []form
	for i := first; i < end && r.err == nil; i++ {
		f := form{mode: int(r.field(modeBits))}
		switch {
		case f.mode >= modes:
			r.fail(errNumber)
		case f.mode == raw:
			f.bytes = 8 * r.count(min(limit, uint64(len(r.b)))/8)
		case i >= len(from.Sections):
			r.fail(errNumber)
		default:
			f.bytes = from.Sections[i].Bytes
		}
		forms = append(forms, f)
	}
	return forms
}

// finish fills the last sections of the new file, those of forms, and writes its checksums.
func finish(ctx context.Context, r *bitReader, from, to *container.Image, forms []form) ([]byte, error) {
	first := len(to.Sections) - len(forms)
	for i, f := range forms {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		b := to.Section(first + i)
		if f.mode == raw {
			copy(b, r.bytes(uint64(len(b))))
			continue
		}
		old := from.Section(first + i)
		copy(b, old)
		switch f.mode {
		case gaps:
			getGaps(r, b)
		case blocks:
			getBlocks(r, b, old)
		case cells:
			getCells(r, b, old)
		}
		if r.err != nil {
			return nil, r.err
		}
	}
	if err := r.end(); err != nil {
		return nil, err
	}
	to.Seal()
	return to.Bytes, nil
}

// pair is two sections of equal length.
type pair struct {
	old, new []byte
	flips    uint64   // bits that differ
	at       []uint64 // these bits; empty if the list would take more memory than the section and listMemory
}

// listMemory is the size in bytes of a list of bits for a section of any size.
const listMemory = 8 << 20

func newPair(old, new []byte) pair {
	p := pair{old: old, new: new}
	p.flips = p.count()
	if 8*p.flips <= max(uint64(len(old)), listMemory) {
		p.at = make([]uint64, 0, p.flips)
		p.scan(func(bit uint64) bool {
			p.at = append(p.at, bit)
			return true
		})
	}
	return p
}

// count returns the number of bits that differ.
func (p *pair) count() (n uint64) {
	for at := 0; at < len(p.old); at += 8 {
		n += uint64(bits.OnesCount64(p.differ(at)))
	}
	return n
}

// differ returns the bits that differ in the word at that byte.
func (p *pair) differ(at int) uint64 {
	return binary.LittleEndian.Uint64(p.old[at:]) ^ binary.LittleEndian.Uint64(p.new[at:])
}

// trial is one way to code a section.
type trial struct {
	mode  int
	log   uint // of the size of a block or cell
	apart bool // of blocks
}

// trials returns the ways to code the section that may be the smallest.
func (p *pair) trials() []trial {
	if float64(p.flips) > 0.45*8*float64(len(p.new)) { // about a bit for each bit: no saving
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

// sample is the number of bits that differ in the part of a section on which the ways to code it are compared, if it
// has twice as many.
const sample = 1 << 14

// better returns the trials that are worth trying with all of the section: of many changes the best in a part of it.
func (p *pair) better() []trial {
	all := p.trials()
	if len(all) == 0 || len(p.at) < 2*sample {
		return all
	}
	end := (p.at[sample] + 63) / 64 * 8
	part := newPair(p.old[:end], p.new[:end])
	best, least := all[0], uint64(math.MaxUint64)
	for _, t := range all {
		var w bitWriter
		if part.put(t, &w, least) && w.bits() < least {
			best, least = t, w.bits()
		}
	}
	return []trial{best}
}

// put appends the section by a trial. It returns false, with part of the bits written, if it takes at least most, or if
// the section has no such form.
func (p *pair) put(t trial, w *bitWriter, most uint64) bool {
	switch t.mode {
	case gaps:
		return p.putGaps(w, most)
	case cells:
		return p.putCells(t.log, w, most)
	}
	return p.putBlocks(t.log, t.apart, w, most)
}
