package parquetmeta

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
)

// Types of Thrift's compact protocol.
const (
	kindStop   = 0
	kindTrue   = 1 // in a field; in an element, a byte follows
	kindFalse  = 2
	kindByte   = 3
	kindI16    = 4
	kindI32    = 5
	kindI64    = 6
	kindDouble = 7
	kindBinary = 8
	kindList   = 9
	kindSet    = 10
	kindMap    = 11
	kindStruct = 12
	kindUUID   = 13
)

// maxDepth is the deepest nesting of structs and lists. Parquet's own metadata needs 8.
const maxDepth = 32

// input reads values of the compact protocol. After an error all values are zero.
type input struct {
	r     *bufio.Reader
	left  int64 // remaining bytes of the footer
	at    int64 // offset in the file
	depth int
	err   error
}

// fail sets the error, which wraps err, unless an error is already set.
func (in *input) fail(text string, err error) {
	if in.err == nil {
		in.err = container.Broken(uint64(in.at), text, err)
	}
}

// consume counts the next n bytes as read, and reports whether at least n bytes were left.
func (in *input) consume(n int64) bool {
	if n < 0 || n > in.left {
		in.fail(fmt.Sprintf("%d bytes in a footer that has %d more", n, in.left), filter.ErrCorrupt)
	}
	if in.err != nil {
		return false
	}
	in.left, in.at = in.left-n, in.at+n
	return true
}

// broken records an error of the reader.
func (in *input) broken(err error) {
	switch {
	case err == nil || in.err != nil:
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF): // the file was truncated meanwhile
		in.fail("end of the footer", io.ErrUnexpectedEOF)
	default:
		in.err = err
	}
}

func (in *input) readByte() byte {
	if !in.consume(1) {
		return 0
	}
	b, err := in.r.ReadByte()
	in.broken(err)
	return b
}

// skipBytes skips n bytes.
func (in *input) skipBytes(n int64) {
	for n > 0 && in.consume(min(n, 1<<20)) {
		_, err := in.r.Discard(int(min(n, 1<<20)))
		in.broken(err)
		// Discard takes an int, so a long value is skipped in steps of 1 MiB.
		n -= 1 << 20
	}
}

// readUint reads a varint of at most 10 bytes.
func (in *input) readUint() (v uint64) {
	for shift := uint(0); in.err == nil; shift += 7 {
		b := in.readByte()
		if shift == 63 && b > 1 {
			in.fail("a number of more than 64 bits", filter.ErrCorrupt)
			return 0
		}
		if v |= uint64(b&0x7f) << shift; b < 0x80 {
			return v
		}
	}
	return 0
}

// readInt reads a zigzag varint.
func (in *input) readInt() int64 {
	v := in.readUint()
	return int64(v>>1) ^ -int64(v&1)
}

// length reads a length in bytes or elements. An element has at least one byte.
func (in *input) length() int64 {
	n := in.readUint()
	if n > uint64(in.left) {
		in.fail(fmt.Sprintf("a length of %d in a footer that has %d more bytes", n, in.left), filter.ErrCorrupt)
		return 0
	}
	return int64(n)
}

// maxName is the longest binary that is kept. Longer ones are an error.
const maxName = 1 << 16

// binary reads a string of bytes.
func (in *input) binary() []byte {
	n := in.length()
	if n > maxName {
		in.fail(fmt.Sprintf("a name of %d bytes, want at most %d", n, maxName), filter.ErrCorrupt)
	}
	if !in.consume(n) {
		return nil
	}
	b := make([]byte, n)
	_, err := io.ReadFull(in.r, b)
	in.broken(err)
	return b
}

// structure reads a struct. known reads the value of a field and returns true, or returns false to skip the value.
func (in *input) structure(known func(in *input, id int, kind byte) bool) {
	if in.depth++; in.depth > maxDepth {
		in.fail("structs that are nested too deep", filter.ErrCorrupt)
	}

	for id := 0; in.err == nil; {
		head := in.readByte()
		kind := head & 15
		if kind == kindStop {
			break
		}
		if delta := int(head >> 4); delta > 0 {
			id += delta
		} else {
			// A difference of 0 stands for an absolute field number, which has 16 bits.
			id = int(int16(in.readInt()))
		}
		if in.err == nil && !known(in, id, kind) && kind != kindTrue && kind != kindFalse {
			in.skipValue(kind)
		}
	}
	in.depth--
}

// listHead reads the number and the type of the elements of a list.
func (in *input) listHead() (n int64, kind byte) {
	head := in.readByte()
	if n, kind = int64(head>>4), head&15; n == 15 {
		n = in.length()
	}
	return n, kind
}

// readList reads a list of elements with read, and returns true. It skips a list with elements of another type. If kind
// is not a list, it reads nothing and returns false.
func (in *input) readList(kind, element byte, read func()) bool {
	if kind != kindList {
		return false
	}
	n, have := in.listHead()
	if have != element {
		read = func() { in.skipElement(have) }
	}
	in.repeat(n, read)
	return true
}

// repeat calls read n times, until there is an error.
func (in *input) repeat(n int64, read func()) {
	for i := int64(0); i < n && in.err == nil; i++ {
		read()
	}
}

// skipElement skips an element of a list or map, like skipValue, except that a bool takes a byte.
func (in *input) skipElement(kind byte) {
	if kind == kindTrue || kind == kindFalse {
		kind = kindByte
	}
	in.skipValue(kind)
}

func (in *input) skipValue(kind byte) {
	if in.depth++; in.depth > maxDepth {
		in.fail("values that are nested too deep", filter.ErrCorrupt)
	}

	switch kind {
	case kindByte:
		in.readByte()
	case kindI16, kindI32, kindI64:
		in.readUint()
	case kindDouble:
		in.skipBytes(8)
	case kindUUID:
		in.skipBytes(16)
	case kindBinary:
		in.skipBytes(in.length())
	case kindList, kindSet:
		n, element := in.listHead()
		in.repeat(n, func() { in.skipElement(element) })
	case kindMap:
		if n := in.length(); n > 0 { // an empty map has no types
			kinds := in.readByte()
			in.repeat(n, func() {
				in.skipElement(kinds >> 4)
				in.skipElement(kinds & 15)
			})
		}
	case kindStruct:
		in.structure(func(*input, int, byte) bool { return false })
	default:
		in.fail(fmt.Sprintf("a value of type %d", kind), filter.ErrCorrupt)
	}
	in.depth--
}
