package clubcard

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
)

// Lengths in the file, in bytes.
const (
	coverageSize  = HashSize + 8 + 8
	blockSize     = HashSize + 4 + 1 + 4 + 4 + 4 + 1 + 2 // size with no exception
	columnMinSize = 4
)

// Read reads a Clubcard. The filter refers to data, which must not change while it is in use. Read allocates at most
// twice the length of data plus 8 KiB. On error the filter is nil, and the error gives the byte offset where reading
// stopped and wraps ErrFormat, filter.ErrCorrupt, or io.ErrUnexpectedEOF if data ends too early.
func Read(data []byte) (*Filter, error) {
	in := &input{data: data}
	f := &Filter{size: len(data)}
	if v := in.bytes("version", 2); in.err == nil && v[0] != Version {
		in.failAt(0, "version", fmt.Errorf("%w: version %d", ErrFormat, v[0]))
	} else if in.err == nil && v[1] != 0 {
		in.failAt(1, "reserved byte", fmt.Errorf("%w: %d, want 0", ErrFormat, v[1]))
	}

	f.readCoverage(in)
	f.readIssuers(in)
	f.columns = make([]column, in.readCount("columns", 1, columnMinSize))
	for i := range f.columns {
		f.columns[i] = in.readColumn("column")
	}

	f.exact = in.readColumn("exact matrix")
	if in.pos < len(data) {
		in.corrupt("end", "%d more bytes", len(data)-in.pos)
	}

	// The columns follow the issuers in the file, so the ranks can be checked only now.
	for _, b := range f.blocks {
		if int(b.rank) > len(f.columns) {
			in.corrupt("issuers", "issuer %x needs %d columns of %d", b.issuer, b.rank, len(f.columns))
		}
	}
	if in.err != nil {
		return nil, in.err
	}
	return f, nil
}

// readCoverage reads the logs and sorts them.
func (f *Filter) readCoverage(in *input) {
	n := in.readCount("coverage", 2, coverageSize)
	start := in.pos
	f.logs = make([]Coverage, n)
	for i := range f.logs {
		f.logs[i] = Coverage{in.hash("log"), in.uint("first timestamp", 8), in.uint("last timestamp", 8)}
	}

	slices.SortFunc(f.logs, func(a, b Coverage) int { return bytes.Compare(a.Log[:], b.Log[:]) })
	for i := 1; i < len(f.logs); i++ {
		if f.logs[i].Log == f.logs[i-1].Log {
			in.failAt(start, "coverage", fmt.Errorf("%w: log %x comes twice", filter.ErrCorrupt, f.logs[i].Log))
		}
	}
}

// readIssuers reads the blocks and sorts them by issuer. The specification requires ascending order; Mozilla's reader
// does not.
func (f *Filter) readIssuers(in *input) {
	n := in.readCount("issuers", 4, blockSize)
	start := in.pos
	f.blocks = make([]block, 0, n)
	for range n {
		b := block{issuer: in.hash("issuer")}
		b.approx.m = uint32(in.uint("approx_m", 4))
		b.rank = uint8(in.uint("approx_rank", 1))
		b.approx.offset = uint32(in.uint("approx_offset", 4))
		b.exact = band{uint32(in.uint("exact_m", 4)), uint32(in.uint("exact_offset", 4))}
		b.inverted = in.uint("inverted", 1) != 0
		b.exceptions = in.readExceptions()
		if in.err != nil {
			return
		}
		f.blocks = append(f.blocks, b)
	}

	slices.SortFunc(f.blocks, func(a, b block) int { return bytes.Compare(a.issuer[:], b.issuer[:]) })
	for i := 1; i < len(f.blocks); i++ {
		if issuer := f.blocks[i].issuer; issuer == f.blocks[i-1].issuer {
			in.failAt(start, "issuers", fmt.Errorf("%w: issuer %x comes twice", filter.ErrCorrupt, issuer))
		}
	}
}

// input is the bytes of a file, read from the front. After the first error all values are zero.
type input struct {
	data []byte
	pos  int
	err  error
}

// failAt sets the error, with its offset, unless an error is already set.
func (in *input) failAt(pos int, what string, err error) {
	if in.err == nil {
		in.err = container.Broken(uint64(pos), what, err)
	}
}

// fail is failAt the next byte.
func (in *input) fail(what string, err error) { in.failAt(in.pos, what, err) }

// corrupt is fail with an error wrapping filter.ErrCorrupt.
func (in *input) corrupt(what, format string, args ...any) {
	in.fail(what, fmt.Errorf("%w: %s", filter.ErrCorrupt, fmt.Sprintf(format, args...)))
}

// bytes returns the next n bytes, or nil after an error.
func (in *input) bytes(what string, n uint64) []byte {
	if left := uint64(len(in.data) - in.pos); n > left {
		in.fail(what, fmt.Errorf("%w: %d bytes are left, %d are needed", io.ErrUnexpectedEOF, left, n))
	}
	if in.err != nil {
		return nil
	}
	b := in.data[in.pos:][:n:n]
	in.pos += int(n)
	return b
}

// uint returns the next n bytes, at most 8, as a number.
func (in *input) uint(what string, n uint64) (v uint64) {
	for _, b := range in.bytes(what, n) {
		v = v<<8 | uint64(b)
	}
	return v
}

func (in *input) hash(what string) (h [HashSize]byte) {
	copy(h[:], in.bytes(what, HashSize))
	return h
}

// readCount reads a count of n bytes. It fails if the counted elements, each of at least size bytes, do not fit into
// the remaining bytes.
func (in *input) readCount(what string, n, size uint64) uint64 {
	return in.checkCount(what, in.uint(what, n), size)
}

// checkCount returns n. It fails if n elements of at least size bytes each do not fit into the remaining bytes.
func (in *input) checkCount(what string, n, size uint64) uint64 {
	if left := uint64(len(in.data) - in.pos); n > left/size {
		in.fail(what, fmt.Errorf("%w: %d elements do not fit into %d bytes", io.ErrUnexpectedEOF, n, left))
	}
	if in.err != nil {
		return 0
	}
	return n
}

func (in *input) readColumn(what string) column {
	return in.bytes(what, 8*in.uint(what, 4))
}

// readExceptions returns the exceptions of an issuer, without their count.
func (in *input) readExceptions() []byte {
	n := in.readCount("exceptions", 2, 2)
	start := in.pos
	for range n {
		size := in.uint("exception", 1)
		if size == 0 {
			in.corrupt("exception", "an empty serial number")
		}
		in.bytes("exception", size)
	}
	if in.err != nil {
		return nil
	}
	return in.data[start:in.pos:in.pos]
}

// timeOf returns the time of a timestamp. Timestamps after the year 9999 become its last millisecond.
func timeOf(ms uint64) time.Time {
	const last = 253402300799999
	return time.UnixMilli(int64(min(ms, last))).UTC()
}
