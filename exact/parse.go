package exact

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/sums"
)

// cursor reads numbers from a file in memory. After an error it returns zeros.
type cursor struct {
	data []byte
	at   uint64 // offset of the next byte
	err  error  // a *container.FormatError

	secret  *filter.Secret // the secret of a keyed hash, or nil
	inspect bool           // accept a keyed hash without its secret, for a set that is described but not queried
	// mend is for tests: it replaces wrong checksums and trailers in data, so that damaged data reaches the code behind
	// these checks.
	mend bool
}

// fail keeps the first error.
func (c *cursor) fail(what string, err error) {
	if c.err == nil {
		c.err = container.Broken(c.at, what, err)
	}
}

func (c *cursor) corrupt(what, format string, args ...any) {
	c.fail(what, fmt.Errorf("%w: %s", filter.ErrCorrupt, fmt.Sprintf(format, args...)))
}

func (c *cursor) remaining() uint64 { return uint64(len(c.data)) - c.at }

// bytes reads n bytes. The result shares the memory of the file.
func (c *cursor) bytes(what string, n uint64) []byte {
	if c.err == nil && n > c.remaining() {
		// The error names the end of the file, because the first missing byte is there.
		c.at = uint64(len(c.data))
		c.fail(what, io.ErrUnexpectedEOF)
	}
	if c.err != nil {
		// Callers decode up to 8 bytes before they look at err. n may be a hostile length, so the buffer stays this
		// small.
		return make([]byte, min(n, 8))
	}
	c.at += n
	return c.data[c.at-n : c.at : c.at]
}

func (c *cursor) uvarint(what string) uint64 {
	if c.err != nil {
		return 0
	}

	v, n := binary.Uvarint(c.data[c.at:])
	switch {
	case n == 0:
		c.fail(what, io.ErrUnexpectedEOF)
	// A last byte of 0 pads a number. It is refused, so that equal sets have equal bytes.
	case n < 0 || n > 1 && c.data[c.at+uint64(n)-1] == 0:
		c.corrupt(what, "the number has too many bytes")
	default:
		c.at += uint64(n)
		return v
	}
	return 0
}

// limited reads a number and refuses one above largest.
func (c *cursor) limited(what string, largest uint64) uint64 {
	at := c.at
	v := c.uvarint(what)
	if v > largest {
		// The error names the offset of the number, not the byte behind it.
		c.at = at
		c.corrupt(what, "%d, want at most %d", v, largest)
		return 0
	}
	return v
}

// checksum reads a CRC and compares it with the CRC of the bytes between offset from and the current offset.
func (c *cursor) checksum(what string, from uint64) uint32 {
	sum := sums.CRC(c.data[from:c.at])
	stored := c.bytes(what+" checksum", crcSize)
	if c.mend && c.err == nil {
		binary.LittleEndian.PutUint32(stored, sum)
	}
	if c.err == nil && binary.LittleEndian.Uint32(stored) != sum {
		c.at -= crcSize
		c.fail(what, filter.ErrChecksum)
	}
	return sum
}

// parseSet reads the records of a file. The words of the set share the memory of the file where they can.
func (c *cursor) parseSet() (*Set, error) {
	s := &Set{}
	for c.err == nil && !s.parseTrailer(c) {
		if len(s.records) > MaxUpdates {
			c.corrupt("update", "there are more than %d", MaxUpdates)
		}
		s.records = append(s.records, s.parseRecord(c))
	}
	if c.err != nil {
		return nil, c.err
	}
	return s, nil
}

// parseTrailer returns false if another record follows; otherwise it reads the trailer.
func (s *Set) parseTrailer(c *cursor) bool {
	if len(s.records) == 0 {
		return false
	}
	// Without the trailer, a file that was cut behind a record would pass for an older version of the set.
	if c.remaining() == 0 {
		c.fail("trailer", fmt.Errorf("%w: the file was cut at the end of a record", io.ErrUnexpectedEOF))
		return true
	}
	if !bytes.HasPrefix(c.data[c.at:], []byte(container.ExactTrailerMagic)) {
		return false
	}

	at, updates := c.at, uint32(len(s.records)-1)
	b := c.bytes("trailer", container.ExactTrailerSize)
	if c.err != nil {
		return true
	}

	last := s.records[updates].crc
	if c.mend {
		container.ExactTrailer{Length: c.at, Updates: updates}.Append(b[:0], last)
	}

	end, err := container.ReadExactTrailer(b, last)
	switch {
	case err != nil:
		c.at = at
		c.fail("trailer", err)
	case end.Length != c.at || end.Updates != updates:
		c.at = at
		c.corrupt("trailer", "it is for %d bytes with %d updates", end.Length, end.Updates)
	case c.remaining() > 0:
		c.corrupt("trailer", "there are %d bytes behind it", c.remaining())
	}
	return true
}

func (s *Set) parseRecord(c *cursor) *record {
	start := c.at
	r := &record{}
	if m := c.bytes("magic", uint64(len(magic))); c.err == nil && string(m) != magic {
		c.at = start
		c.fail("magic", badMagic(c.data[start:]))
	}
	if v := c.uvarint("version"); c.err == nil && v != version {
		c.fail("version", fmt.Errorf("%w: version %d", filter.ErrVersion, v))
	}
	if r.kind = c.limited("kind", kindPositions); c.err == nil && (r.kind == kindBase) != (len(s.records) == 0) {
		c.corrupt("kind", "the first record must be a base, and no other")
	}
	if r.kind == kindBase {
		s.parseHasher(c)
	} else {
		s.parsePrevious(c)
	}

	s.parseCounts(c, r)
	if r.kind == kindPositions {
		r.parsePositions(c, start)
		return r
	}

	r.parseClasses(c)
	var parts []family.Encoded
	forms := r.partForms()
	for _, f := range forms {
		parts = append(parts, readGeometry(c, f))
	}

	c.checksum("header", start)
	if r.kind == kindBase {
		for _, b := range c.bytes("padding", padding(c.at)) {
			if b != 0 {
				c.corrupt("padding", "it must be zero")
			}
		}
	}

	r.parseBody(c, forms, parts)
	r.size = c.at - start
	return r
}

// parsePrevious reads the CRC of the previous record, which ties an update to the records that it was made for.
func (s *Set) parsePrevious(c *cursor) {
	stored := c.bytes("previous", crcSize)
	if c.err != nil {
		return
	}
	last := s.records[len(s.records)-1].crc
	if c.mend {
		binary.LittleEndian.PutUint32(stored, last)
	}
	if binary.LittleEndian.Uint32(stored) != last {
		c.corrupt("previous", "the update is for another record")
	}
}

// parseHasher reads the hash function and its seed or key check.
func (s *Set) parseHasher(c *cursor) {
	id := c.uvarint("hash")
	seed := binary.LittleEndian.Uint64(c.bytes("seed", 8))
	switch {
	case c.err != nil:
	case id == uint64(filter.XXH3):
		s.hasher = filter.NewHasher(seed)
	case id != uint64(filter.SipHash):
		c.fail("hash", filter.ErrHash)
	// A KeyCheck is never 0, so a file with 0 here was not written by this package.
	case seed == 0:
		c.corrupt("check of the secret", "it is 0")
	case c.inspect:
	case c.secret == nil:
		c.fail("check of the secret", filter.ErrNoSecret)
	default:
		if s.hasher = filter.NewKeyedHasher(*c.secret); s.hasher.KeyCheck() != seed {
			c.fail("check of the secret", filter.ErrSecret)
		}
	}
}

// parseCounts reads the counts of a record.
func (s *Set) parseCounts(c *cursor, r *record) {
	r.universe = c.uvarint("universe")
	r.members = c.limited("members", r.universe)
	if r.partitions = c.uvarint("partitions"); r.partitions > 0 && r.kind != kindPositions {
		r.entropy = c.uvarint("entropy")
	}
	// A query hashes the partition with the key in all records or in none.
	if len(s.records) > 0 && c.err == nil && (r.partitions > 0) != s.partitioned() {
		c.corrupt("partitions", "all records have some, or none")
	}
}

func (r *record) parseClasses(c *cursor) {
	n := c.limited("number of classes", maxClasses)
	if c.err == nil && (n == 0 || n > 1 && r.partitions == 0) {
		c.corrupt("number of classes", "%d", n)
	}

	for i := range n {
		at := class{code: code(c.limited("class", maxCodes-1))}
		// Ascending codes are distinct, so no class is counted twice and the classes with one rate are neighbours.
		if i > 0 && at.code <= r.classes[i-1].code && c.err == nil {
			c.corrupt("class", "the classes are not in order")
		}
		at.keys = c.uvarint("keys of a class")
		at.tally.members = c.limited("members of a class", at.keys)
		if c.err != nil {
			return
		}
		r.classes = append(r.classes, at)
	}
}

// parseBody checks that the sizes of the parts fit in the rest of the file, and reads the parts.
func (r *record) parseBody(c *cursor, forms []form, all []family.Encoded) {
	var size uint64
	sections := make([][]uint64, len(all))
	for i, e := range all {
		words, n, err := sectionsOf(e.Spec, r.kind)
		// The sizes come from the file. A sum that wrapped around would pass the length check below.
		sum, over := bits.Add64(size, n, 0)
		if err == nil && over != 0 {
			err = filter.ErrTooLarge
		}
		if err != nil {
			c.corrupt("geometry", "%v", err)
			return
		}
		sections[i], size = words, sum
	}

	at := c.at
	body := c.bytes("body", size)
	r.crc = c.checksum("body", at)
	if c.err != nil {
		return
	}

	for i, e := range all {
		for section, n := range sections[i] {
			bytes := sectionBytes(e.Spec, r.kind, section, n)
			e.Sections = append(e.Sections, bitvec.Words(body[:bytes], n))
			body = body[bytes:]
		}
		var err error
		if *forms[i].part, err = decodePart(e); err != nil {
			c.at = at
			c.fail("body", errors.Join(filter.ErrCorrupt, err))
			return
		}
	}
}
