package exact

import (
	"encoding/binary"
	"io"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/sums"
)

const (
	magic   = container.ExactMagic
	crcSize = 4

	version = 1 // version of the format, in each record

	kindBase      = 0
	kindUpdate    = 1
	kindPositions = 2

	// maxClasses is the largest number of classes, one for each code.
	maxClasses = maxCodes
)

// Constants of rehash: the first 32 bytes of the SHA-256 hash of the text "bloomery exact level 2".
const (
	mixHi, mixHiBy = 0xd62833eb990dae16, 0xca4e615764ca1c4f
	mixLo, mixLoBy = 0x681c64a0847dd1a6, 0xa50932dd2babb779
)

// class is an entry of the class table of a record.
type class struct {
	code
	tally // totals of its partitions; members are the keys that the record contains
}

// record is a record of a file. See docs/format/exact.md.
type record struct {
	kind              uint64
	universe, members uint64
	partitions        uint64 // 0 if the set has none
	entropy           uint64 // entropy of the partitions, in bits
	classes           []class

	index *part           // the class of a partition, nil if there is one class
	first [constant]*part // level 1, by r; nil where no class needs it
	last  *part           // level 2

	positions *positions // for kindPositions; of the fields above, only the counts are then set

	crc  uint32 // CRC of the body
	size uint64 // size in bytes
}

// allParts returns the parts in the order of the file.
func (r *record) allParts() (all []*part) {
	if r.kind == kindPositions {
		return nil
	}
	for _, f := range r.partForms() {
		all = append(all, *f.part)
	}
	return all
}

// sizeInBits returns the size of the parts in bits.
func (r *record) sizeInBits() (n uint64) {
	if r.kind == kindPositions {
		return 8 * uint64(len(r.positions.appendTo(nil)))
	}
	for _, f := range r.allParts() {
		n += f.Info().Bits
	}
	return n
}

// place holds what the bytes of a record depend on besides the record.
type place struct {
	hasher   filter.Hasher
	at       uint64 // offset of the record
	previous uint32 // CRC at the end of the previous record
}

// appendStart appends the bytes with which all records begin.
func (r *record) appendStart(b []byte, p place) []byte {
	b = append(b, magic...)
	b = appendUvarints(b, version, r.kind)
	if r.kind == kindBase {
		b = appendUvarints(b, uint64(p.hasher.ID()))
		b = binary.LittleEndian.AppendUint64(b, p.hasher.Seed()|p.hasher.KeyCheck())
	} else {
		b = binary.LittleEndian.AppendUint32(b, p.previous)
	}
	return appendUvarints(b, r.universe, r.members, r.partitions)
}

// appendHeader appends the header of a record of parts, with its CRC.
func (r *record) appendHeader(b []byte, p place) []byte {
	start := len(b)
	b = r.appendStart(b, p)
	if r.partitions > 0 {
		b = appendUvarints(b, r.entropy)
	}

	b = appendUvarints(b, uint64(len(r.classes)))
	for _, c := range r.classes {
		b = appendUvarints(b, uint64(c.code), c.keys, c.tally.members)
	}

	for _, f := range r.allParts() {
		b = appendGeometry(b, f)
	}
	return binary.LittleEndian.AppendUint32(b, sums.CRC(b[start:]))
}

func appendUvarints(b []byte, values ...uint64) []byte {
	for _, v := range values {
		b = binary.AppendUvarint(b, v)
	}
	return b
}

// writeTo writes the record at its place, and sets its CRC and size.
func (r *record) writeTo(w io.Writer, p place) error {
	if r.kind == kindPositions {
		_, err := w.Write(r.appendPositions(p))
		return err
	}

	head := r.appendHeader(nil, p)
	if r.kind == kindBase {
		// Readers share the words of a base with the file, which needs alignment. Updates are small and copied instead.
		head = append(head, make([]byte, padding(p.at+uint64(len(head))))...)
	}
	if _, err := w.Write(head); err != nil {
		return err
	}

	r.crc, r.size = 0, uint64(len(head))
	for _, f := range r.allParts() {
		e := f.Encode()
		for i, words := range e.Sections {
			// The last word of an update's tail is written only as far as its used bytes.
			left := sectionBytes(e.Spec, r.kind, i, uint64(len(words)))
			err := bitvec.Pieces(words, func(b []byte) error {
				b = b[:min(uint64(len(b)), left)]
				left -= uint64(len(b))
				r.size += uint64(len(b))
				r.crc = sums.UpdateCRC(r.crc, b)
				_, err := w.Write(b)
				return err
			})
			if err != nil {
				return err
			}
		}
	}

	r.size += crcSize
	_, err := w.Write(binary.LittleEndian.AppendUint32(nil, r.crc))
	return err
}

// padding returns the number of bytes that pad n bytes to a multiple of 8.
func padding(n uint64) uint64 { return -n % 8 }
