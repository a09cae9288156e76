// Package crc computes CRC-32C (Castagnoli), the checksum of all files of the project.
package crc

import "hash/crc32"

var table = crc32.MakeTable(crc32.Castagnoli)

// Sum returns the checksum of the parts, one after the other.
func Sum(parts ...[]byte) (sum uint32) {
	for _, b := range parts {
		sum = crc32.Update(sum, table, b)
	}
	return sum
}

// Update returns the checksum of the bytes with checksum sum, followed by b.
func Update(sum uint32, b []byte) uint32 { return crc32.Update(sum, table, b) }
