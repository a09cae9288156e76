package patch

import (
	"bytes"
	"encoding/binary"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
)

// Offsets of the fields of a file's header that a delta may change. All others must be equal.
const (
	atFamily   = 10
	atSections = 14
	atFlags    = 15
	atSeed     = 16
	atKeys     = 32
	atRate     = 48
)

// header is the part of a new file's header that does not follow from its content.
type header struct {
	head     []byte // the fixed fields, with the new values
	spec     string
	sections int
	flags    byte  // the fields that differ from the base
	keys     int64 // difference of the numbers of keys
}

// compare returns the new header, or false if the files differ in family, hash, seed or secret.
func compare(from, to *container.Image) (header, bool) {
	a, b := from.Bytes[:container.HeadSize], to.Bytes[:container.HeadSize]
	h := header{head: b, spec: to.Spec, sections: len(to.Sections), keys: int64(to.Keys - from.Keys)}
	if from.Keys >= maxNumber/4 || to.Keys >= maxNumber/4 ||
		!bytes.Equal(a[atFamily:atSections], b[atFamily:atSections]) ||
		!bytes.Equal(a[atSeed:atKeys], b[atSeed:atKeys]) {
		return h, false
	}

	set := func(flag byte, differs bool) {
		if differs {
			h.flags |= flag
		}
	}

	set(flagKeys, h.keys != 0)
	set(flagRate, !bytes.Equal(a[atRate:atRate+8], b[atRate:atRate+8]))
	set(flagSpec, from.Spec != to.Spec)
	set(flagForm, !bytes.Equal(a[atSections:atSeed], b[atSections:atSeed]))
	return h, true
}

// writeFields appends the fields whose flags are set.
func (h *header) writeFields(w *bitWriter) {
	if h.flags&flagKeys != 0 {
		w.signed(h.keys)
	}
	if h.flags&flagRate != 0 {
		w.field(binary.LittleEndian.Uint64(h.head[atRate:]), 64)
	}
	if h.flags&flagSpec != 0 {
		w.text(h.spec)
	}
	if h.flags&flagForm != 0 {
		w.field(uint64(h.sections), 8)
		w.field(uint64(h.head[atFlags]), 8)
	}
}

// readHeader reads the output of write.
func readHeader(r *bitReader, from *container.Image, flags byte) header {
	h := header{head: bytes.Clone(from.Bytes[:container.HeadSize]), spec: from.Spec, sections: len(from.Sections)}
	if flags&flagKeys != 0 {
		h.keys = r.signed()
		h.setKeys(from.Keys + uint64(h.keys))
	}
	if flags&flagRate != 0 {
		binary.LittleEndian.PutUint64(h.head[atRate:], r.field(64))
	}
	if flags&flagSpec != 0 {
		h.spec = r.text(filter.MaxSpecLen)
	}
	if flags&flagForm != 0 {
		h.sections = int(r.field(8))
		h.head[atFlags] = byte(r.field(8))
	}
	return h
}

func (h *header) setKeys(n uint64) { binary.LittleEndian.PutUint64(h.head[atKeys:], n) }
