package main

import (
	"encoding/binary"
	"hash/crc32"
)

// Places of the header; see docs/format.md.
const (
	headerBytes = 64
	entryBytes  = 24 // bytes of the section table
	alignment   = 64
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// parts holds the parts of a file: its first 64 bytes, its spec and its sections.
type parts struct {
	head     []byte
	spec     string
	sections [][]byte
}

// takeApart splits a valid file into its parts.
func takeApart(file []byte) parts {
	le := binary.LittleEndian
	p := parts{head: append([]byte(nil), file[:headerBytes]...)}
	n := int(file[14])
	p.spec = string(file[headerBytes+entryBytes*n:][:le.Uint32(file[56:])])
	for i := range n {
		entry := file[headerBytes+entryBytes*i:]
		p.sections = append(p.sections, append([]byte(nil), file[le.Uint64(entry):][:le.Uint64(entry[8:])]...))
	}
	return p
}

// padded returns b with zeros up to a multiple of the alignment.
func padded(b []byte) []byte { return append(b, make([]byte, -len(b)&(alignment-1))...) }

// join assembles a file with correct lengths and places. mend adds the checksums.
func (p parts) join() []byte {
	le := binary.LittleEndian
	b := append([]byte(nil), p.head...)
	b[14] = byte(len(p.sections))
	le.PutUint32(b[56:], uint32(len(p.spec)))
	b = append(b, make([]byte, entryBytes*len(p.sections))...)
	b = padded(append(b, p.spec...))
	for i, s := range p.sections {
		b = padded(b)
		le.PutUint64(b[headerBytes+entryBytes*i:], uint64(len(b)))
		le.PutUint64(b[headerBytes+entryBytes*i+8:], uint64(len(s)))
		b = append(b, s...)
	}
	le.PutUint64(b[40:], uint64(len(b)))
	mend(b)
	return b
}

// mend recomputes all checksums whose bytes are in the file.
func mend(b []byte) {
	le := binary.LittleEndian
	if len(b) < headerBytes {
		return
	}
	n, spec := uint64(b[14]), uint64(le.Uint32(b[56:]))
	for i := range n {
		at := headerBytes + entryBytes*i
		if at+entryBytes > uint64(len(b)) {
			break
		}
		offset, length := le.Uint64(b[at:]), le.Uint64(b[at+8:])
		if offset <= uint64(len(b)) && length <= uint64(len(b))-offset {
			le.PutUint32(b[at+16:], crc32.Checksum(b[offset:][:length], castagnoli))
		}
	}
	if end := headerBytes + entryBytes*n + spec; end <= uint64(len(b)) {
		crc := crc32.Update(crc32.Checksum(b[:60], castagnoli), castagnoli, b[headerBytes:end])
		le.PutUint32(b[60:], crc)
	}
}

// exactMagic begins a record of an exact set, and trailerSize is the length of the trailer after the last record; see
// docs/format/exact.md.
const (
	exactMagic  = "\x89BLX"
	trailerSize = 20
)

// checksumsOf returns for each checksum of an exact set the offset of the first byte that it covers, and its own
// offset.
func checksumsOf(file []byte) (all [][2]int) {
	file = file[:len(file)-trailerSize]
	for from := 0; from < len(file); {
		at := checksumFrom(file, from)
		all = append(all, [2]int{from, at})
		from = at + 4
		if len(all) == 1 { // the base has zeros before its body
			from = (from + 7) &^ 7
		}
	}
	return all
}

// checksumFrom returns the offset of the first bytes that equal the CRC of the bytes from an offset up to them. A
// record may have no body.
func checksumFrom(file []byte, from int) int {
	var sum uint32
	if string(file[from:min(from+4, len(file))]) != exactMagic && binary.LittleEndian.Uint32(file[from:]) == 0 {
		return from
	}
	for at := from; at+4 < len(file); at++ {
		sum = crc32.Update(sum, castagnoli, file[at:at+1])
		if binary.LittleEndian.Uint32(file[at+1:]) == sum {
			return at + 1
		}
	}
	return len(file) - 4
}

// mendExact recomputes the checksums at their old offsets, including the checksum of the trailer, and the copies of
// previous checksums in updates.
func mendExact(b []byte, sums [][2]int) {
	const previousAt = 6 // after magic, version and kind
	for i, sum := range sums {
		if i > 0 && string(b[sum[0]:min(sum[0]+4, len(b))]) == exactMagic {
			copy(b[sum[0]+previousAt:][:4], b[sum[0]-4:])
		}
		binary.LittleEndian.PutUint32(b[sum[1]:], crc32.Checksum(b[sum[0]:sum[1]], castagnoli))
	}
	end := len(b) - trailerSize // its checksum also covers the checksum of the last record
	binary.LittleEndian.PutUint32(b[len(b)-4:], crc32.Checksum(b[end-4:len(b)-4], castagnoli))
}
