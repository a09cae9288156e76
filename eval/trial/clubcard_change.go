package main

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
)

// changesPerFile is how many changed files are made from each filter.
const changesPerFile = 30

// The layout of a Clubcard; see package clubcard. An issuer consists of the hash, the fields and the exceptions.
const (
	logsAt    = 2  // the number of logs, 2 bytes
	logSize   = 48 // id and two times
	hashSize  = 32
	inverted  = hashSize + 17 // the field inverted
	fieldsEnd = hashSize + 20 // offset of the exceptions
)

// numbers lists the offsets of the fields of 4 bytes in an issuer: approx_m, approx_offset, exact_m and exact_offset.
var numbers = []int{hashSize, hashSize + 5, hashSize + 9, hashSize + 13}

// changed returns a copy of a Clubcard with another value in one field of an issuer, with two issuers exchanged, or
// with random bits changed in the matrices.
func changed(file []byte, r *rand.Rand) []byte {
	b := slices.Clone(file)
	issuers, end := issuersOf(b)
	at := issuers[r.IntN(len(issuers))]
	switch r.IntN(6) {
	case 0:
		b[at+inverted] = byte(r.Uint32())
	case 1:
		clear(b[at+numbers[r.IntN(len(numbers))]:][:4])
	case 2:
		field := b[at+numbers[r.IntN(len(numbers))]:]
		binary.BigEndian.PutUint32(field, binary.BigEndian.Uint32(field)+r.Uint32N(1000))
	case 3:
		binary.BigEndian.PutUint32(b[at+numbers[r.IntN(len(numbers))]:], r.Uint32()>>r.IntN(32))
	case 4:
		other := issuers[r.IntN(len(issuers))]
		for i := range hashSize {
			b[at+i], b[other+i] = b[other+i], b[at+i]
		}
	default:
		for _, m := range matrices(b, end) {
			for range min(20, m.end-m.first) {
				b[m.first+r.IntN(m.end-m.first)] ^= 1 << r.IntN(8)
			}
		}
	}
	return b
}

// issuersOf returns the offsets at which the issuers of a Clubcard begin, and the end of the last one.
func issuersOf(b []byte) (starts []int, end int) {
	at := logsAt + 2 + logSize*int(binary.BigEndian.Uint16(b[logsAt:]))
	n := binary.BigEndian.Uint32(b[at:])
	at += 4
	for range n {
		starts = append(starts, at)
		exceptions := binary.BigEndian.Uint16(b[at+fieldsEnd-2:])
		at += fieldsEnd
		for range exceptions {
			at += 1 + int(b[at])
		}
	}
	return starts, at
}

// matrices returns the positions of the words of the columns and of the exact matrix in a file whose issuers end at
// byte at.
func matrices(b []byte, at int) (all []span) {
	columns := int(b[at])
	at++
	for range columns + 1 {
		words := span{at + 4, at + 4 + 8*int(binary.BigEndian.Uint32(b[at:]))}
		all = append(all, words)
		at = words.end
	}
	return all
}
