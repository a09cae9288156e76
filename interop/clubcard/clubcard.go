// Package clubcard reads Clubcards of format version 4: the exact sets in which Mozilla's CRLite and upki publish the
// revoked certificates of the Web PKI. It answers whether a certificate is revoked. It does not build Clubcards.
//
// [CertificateOf] takes the fields for a query from an x509.Certificate. [CheckDir] queries a folder of files in the
// layout of upki; for one file, call [Read] and [Filter.Check].
//
// The bytes of a file and the order of the tests follow https://c2sp.org/upki-revocation@v1.0.0. All integers
// are big endian:
//
//	version     1 byte, 4; then 1 byte, 0
//	coverage    count (2 bytes); for each CT log: its id (32), first and last timestamp (8 + 8, ms since 1970)
//	issuers     count (4 bytes); for each issuer, in the order of the hashes (any order is read):
//	              SHA-256 of its SubjectPublicKeyInfo (32), approx_m (4), approx_rank (1), approx_offset (4),
//	              exact_m (4), exact_offset (4), inverted (1; 0, or not 0),
//	              count of exceptions (2), each: length (1, not 0) and serial number
//	approximate count of columns (1 byte); for each column: count of words (4), words of 64 bits
//	exact       one column: count of words (4), words of 64 bits
//
// Bit i of a column is bit i mod 64 of word i div 64. Bits after the last word are 0.
//
// The query follows J. M. Schanck, "Clubcards for the WebPKI", IEEE S&P 2025, section 4.3. The digest SHA-256(issuer
// hash, serial number) is read as four little-endian words a[0] to a[3], and the lowest bit of a[0] is set. The row of
// a key in a matrix of m rows is a[3] mod m, plus the offset of the issuer. The key passes a column if an even number
// of the 256 bits from its row on are 1 in the column and in a. A key is in the set of its issuer if it passes the
// first approx_rank columns of the approximate matrix and the column of the exact matrix, and is not an exception. An
// issuer with approx_m = 0 has an empty set; with exact_m = 0 the row of each key in the exact matrix is exact_offset.
// If inverted is not 0, the set holds the certificates that are not revoked.
//
// A folder of several files has an index, which names the files to query for a timestamp: see CheckDir.
//
// An answer is only right for a certificate that the makers of the file knew: it must be correctly logged, in a covered
// log at a covered time. Files have no checksum and no signature: authenticate their transfer. Input may be hostile:
// Read and CheckDir check every length before they use it.
package clubcard

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"
	"time"
)

// HashSize is the length of SHA-256 in bytes.
const HashSize = sha256.Size

// Version is the format version that Read accepts.
const Version = 4

var (
	// ErrFormat means that the bytes are not a Clubcard, or have a version that this package does not read.
	ErrFormat = errors.New("not a Clubcard of version 4")
	// ErrIndex means that the bytes are not an index of Clubcards, or have a version that this package does not read.
	ErrIndex = errors.New("not an index of Clubcards of version upkiidx1")
	// ErrNoneCovers means that the files which the index names for a timestamp do not cover it: the folder
	// is damaged, or is being replaced.
	ErrNoneCovers = errors.New("the index names files for the certificate, but none of them covers it")
)

// Status is an answer about a certificate. The answers are ordered: if several Clubcards cover a certificate, the
// highest of their answers holds.
type Status uint8

// The answers.
const (
	// NotCovered means that the set has no answer: it covers none of the certificate's timestamps.
	NotCovered Status = iota
	// NotEnrolled means that the set covers a timestamp but has no answers for certificates of the issuer.
	NotEnrolled
	// NotRevoked means that the certificate was not revoked when the set was made.
	NotRevoked
	// Revoked means that the certificate is revoked.
	Revoked
)

var statusNames = [...]string{"not covered", "not enrolled", "not revoked", "revoked"}

// String returns "revoked", "not revoked", "not enrolled" or "not covered".
func (s Status) String() string {
	if int(s) < len(statusNames) {
		return statusNames[s]
	}
	return "unknown status"
}

// MarshalText returns String.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Certificate is the fields of a certificate that a query needs. CertificateOf makes one.
type Certificate struct {
	Issuer [HashSize]byte // SHA-256 of the DER encoding of the issuer's SubjectPublicKeyInfo
	Serial []byte         // value bytes of the DER encoding of the serial number; keep a leading 0 byte
	SCTs   []SCT          // signed certificate timestamps; one covered timestamp is enough
}

// SCT is the fields of a signed certificate timestamp that determine coverage.
type SCT struct {
	Log       [HashSize]byte // id of the log: SHA-256 of its public key
	Timestamp uint64         // timestamp in milliseconds since 1970
}

// Coverage is the range of timestamps of a log that a Clubcard covers: from First to Last, both included, in
// milliseconds since 1970. The range is empty if Last < First.
type Coverage struct {
	Log         [HashSize]byte
	First, Last uint64
}

// Filter is a Clubcard. Its methods are safe for concurrent use.
type Filter struct {
	size    int        // length of the file in bytes
	logs    []Coverage // sorted by log
	blocks  []block    // sorted by issuer
	columns []column   // columns of the approximate matrix
	exact   column     // column of the exact matrix
}

// block is the set of an issuer.
type block struct {
	issuer     [HashSize]byte
	approx     band
	exact      band
	rank       uint8  // number of columns of the approximate matrix that a key must pass
	inverted   bool   // the set holds the certificates that are not revoked
	exceptions []byte // for each exception its length, 1 byte, and its serial number; Read has checked the lengths
}

// band is the rows of a matrix that belong to a block.
type band struct{ m, offset uint32 }

// column is the words of a column in the byte order of the file.
type column []byte

// wordAt returns word i, or 0 after the last word.
func (c column) wordAt(i uint64) uint64 {
	if i >= uint64(len(c)/8) {
		return 0
	}
	return binary.BigEndian.Uint64(c[8*i:])
}

// passes reports whether an even number of bits from row on are 1 in the column and in a.
func (c column) passes(row uint64, a *[4]uint64) bool {
	i, shift := row/64, row%64
	var sum uint64
	low := c.wordAt(i)
	for k := range a {
		high := c.wordAt(i + uint64(k) + 1)
		// For shift 0 Go shifts high by 64 bits, which gives 0, as needed.
		sum ^= a[k] & (low>>shift | high<<(64-shift))
		low = high
	}
	return bits.OnesCount64(sum)%2 == 0
}

// rowOf returns the row of a digest in a band. A band without rows counts as a band with one row, as in Mozilla's
// reader.
func (b band) rowOf(a *[4]uint64) uint64 { return uint64(b.offset) + a[3]%uint64(max(b.m, 1)) }

// covers reports whether the file covers one of the timestamps.
func (f *Filter) covers(scts ...SCT) bool {
	return slices.ContainsFunc(scts, func(t SCT) bool {
		i, ok := slices.BinarySearchFunc(f.logs, t.Log, func(c Coverage, log [HashSize]byte) int {
			return bytes.Compare(c.Log[:], log[:])
		})
		return ok && f.logs[i].First <= t.Timestamp && t.Timestamp <= f.logs[i].Last
	})
}

// Check returns the answer for a certificate. It is NotCovered for a certificate without timestamps. It takes time
// linear in the number of exceptions of the issuer, which is at most 65535 and small in published files.
func (f *Filter) Check(c Certificate) Status {
	if !f.covers(c.SCTs...) {
		return NotCovered
	}

	i, ok := slices.BinarySearchFunc(f.blocks, c.Issuer, func(b block, issuer [HashSize]byte) int {
		return bytes.Compare(b.issuer[:], issuer[:])
	})
	switch {
	case !ok:
		return NotEnrolled
	case f.inStoredSet(&f.blocks[i], c) != f.blocks[i].inverted:
		return Revoked
	}
	return NotRevoked
}

// inStoredSet reports whether the stored set of a block contains a certificate. It ignores inverted.
func (f *Filter) inStoredSet(b *block, c Certificate) bool {
	if b.approx.m == 0 {
		return false
	}

	key := sha256.Sum256(append(bytes.Clone(c.Issuer[:]), c.Serial...))
	var a [4]uint64
	for i := range a {
		a[i] = binary.LittleEndian.Uint64(key[8*i:])
	}

	// A vector of zeros would pass every column; the format sets this bit so that no key has one.
	a[0] |= 1
	row := b.approx.rowOf(&a)
	for _, col := range f.columns[:b.rank] {
		if !col.passes(row, &a) {
			return false
		}
	}
	if !f.exact.passes(b.exact.rowOf(&a), &a) {
		return false
	}
	return !b.excepts(c.Serial)
}

// excepts reports whether a serial number is among the exceptions.
func (b *block) excepts(serial []byte) bool {
	for e := b.exceptions; len(e) > 0; {
		n := 1 + int(e[0])
		if bytes.Equal(e[1:n], serial) {
			return true
		}
		e = e[n:]
	}
	return false
}

// Info is a summary of a Clubcard.
type Info struct {
	Version    int       `json:"version"`
	Bytes      int       `json:"bytes"`
	Logs       int       `json:"logs"`            // CT logs that it covers
	Newest     time.Time `json:"newest,omitzero"` // last timestamp covered in any log; zero without logs
	Issuers    int       `json:"issuers"`         // issuers of which it knows certificates
	Inverted   int       `json:"inverted_issuers"`
	Exceptions int       `json:"exceptions"`       // serial numbers that are listed
	Columns    int       `json:"columns"`          // columns of the approximate matrix
	Approx     uint64    `json:"approximate_bits"` // bits of all columns of the approximate matrix
	Exact      uint64    `json:"exact_bits"`
}

// Info returns a summary.
func (f *Filter) Info() Info {
	i := Info{Version: Version, Bytes: f.size, Logs: len(f.logs), Issuers: len(f.blocks),
		Columns: len(f.columns), Exact: 8 * uint64(len(f.exact))}
	for _, c := range f.columns {
		i.Approx += 8 * uint64(len(c))
	}

	for _, b := range f.blocks {
		if b.inverted {
			i.Inverted++
		}
		for e := b.exceptions; len(e) > 0; e = e[1+int(e[0]):] {
			i.Exceptions++
		}
	}

	for n, c := range f.logs {
		if last := timeOf(c.Last); n == 0 || last.After(i.Newest) {
			i.Newest = last
		}
	}
	return i
}

// Coverage returns the logs and times that the file covers, by log id.
func (f *Filter) Coverage() []Coverage { return slices.Clone(f.logs) }
