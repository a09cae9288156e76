package main

import (
	"encoding/binary"
	"hash/crc32"
)

// exactMagic begins a record of an exact set, and trailerSize is the length of the trailer behind the last one; see
// docs/format/exact.md.
const (
	exactMagic  = "\x89BLX"
	trailerSize = 20
)

// checksumsOf returns for each checksum of an exact set the first byte under it, and its place.
func checksumsOf(file []byte) (all [][2]int) {
	file = file[:len(file)-trailerSize]
	for from := 0; from < len(file); {
		at := checksumFrom(file, from)
		all = append(all, [2]int{from, at})
		from = at + 4
		if len(all) == 1 { // the base has zeros in front of its body
			from = (from + 7) &^ 7
		}
	}
	return all
}

// checksumFrom returns the place of the first bytes that are the CRC of those from a byte on. A record may have no
// body.
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

// mendExact computes the checksums at their old places anew, the checksum of the trailer too, and what updates say of
// the checksum before them.
func mendExact(b []byte, sums [][2]int) {
	const previousAt = 6 // after magic, version and kind
	for i, sum := range sums {
		if i > 0 && string(b[sum[0]:min(sum[0]+4, len(b))]) == exactMagic {
			copy(b[sum[0]+previousAt:][:4], b[sum[0]-4:])
		}
		binary.LittleEndian.PutUint32(b[sum[1]:], crc32.Checksum(b[sum[0]:sum[1]], castagnoli))
	}
	end := len(b) - trailerSize // its checksum is also one of the last record's checksum
	binary.LittleEndian.PutUint32(b[len(b)-4:], crc32.Checksum(b[end-4:len(b)-4], castagnoli))
}
