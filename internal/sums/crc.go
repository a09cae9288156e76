package sums

import "hash/crc32"

var table = crc32.MakeTable(crc32.Castagnoli)

// CRC returns the CRC-32C (Castagnoli) of the parts, one after the other.
func CRC(parts ...[]byte) (sum uint32) {
	for _, b := range parts {
		sum = crc32.Update(sum, table, b)
	}
	return sum
}

// UpdateCRC returns the checksum of the bytes with checksum sum, followed by b.
func UpdateCRC(sum uint32, b []byte) uint32 { return crc32.Update(sum, table, b) }
