package hashes

import (
	"encoding/binary"
	"fmt"
	"io"
	"sync"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/crc"
)

// Writer writes a run file. It is not safe for concurrent use: the order of Add is that of the file.
type Writer struct {
	w      io.Writer
	header Header
	buffer *Buffer
	group  int // hashes of a group; tests make it smaller
	index  Index
	buf    []byte
	err    error // sticky
}

// NewWriter returns a Writer and writes the header.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	r := &Writer{w: w, header: h, group: GroupKeys, index: Index{Shards: int(h.Shards)}}
	r.buffer = NewBuffer(int(h.Shards), GroupKeys)
	_, r.err = w.Write(h.marshal())
	return r, r.err
}

// Add adds hashes and does not keep hs. The error is that of the io.Writer; all later calls return it too.
func (w *Writer) Add(hs []filter.Hash) error {
	return w.add(len(hs), func(from, to int) { w.buffer.Add(hs[from:to]) })
}

// AddValues is Add for hashes with values below 2^32, of a file whose Header says that it has values.
func (w *Writer) AddValues(hs []filter.Hash, values []uint64) error {
	return w.add(len(hs), func(from, to int) { w.buffer.AddValues(hs[from:to], values[from:to]) })
}

// add adds that many hashes; put adds a part of them to the buffer.
func (w *Writer) add(hashes int, put func(from, to int)) error {
	for at := 0; at < hashes && w.err == nil; {
		n := min(hashes-at, w.group-w.buffer.Len())
		put(at, at+n)
		if at += n; w.buffer.Len() == w.group {
			w.flush()
		}
	}
	return w.err
}

func (w *Writer) flush() {
	var counts []Count
	if counts, w.buf, w.err = w.buffer.writeGroup(w.w, w.buf); w.err == nil {
		w.index.Counts = append(w.index.Counts, counts...)
		w.buffer.Reset()
	}
}

// Close writes the last group and the index, and returns the index. It does not close the io.Writer.
func (w *Writer) Close() (*Index, error) {
	if w.buffer.Len() > 0 && w.err == nil {
		w.flush()
	}
	if w.err == nil {
		_, w.err = w.w.Write(w.index.tail(w.header))
	}
	if w.err != nil {
		return nil, w.err
	}
	w.err = fmt.Errorf("run: the Writer is %w", filter.ErrClosed)
	w.buffer = nil
	return &w.index, nil
}

// writeGroup writes the hashes shard by shard. It returns the counts, and buf for the next call.
func (b *Buffer) writeGroup(w io.Writer, buf []byte) ([]Count, []byte, error) {
	if buf == nil {
		buf = make([]byte, 0, bufferSize)
	}
	buf = buf[:0]
	counts := make([]Count, len(b.lanes))
	for s := range counts {
		from := len(buf) // of the bytes of this shard that have no checksum yet
		err := b.Each(s, func(hs []filter.Hash) error {
			if len(buf)+len(hs)*hashSize > cap(buf) {
				counts[s].CRC = crc.Update(counts[s].CRC, buf[from:])
				if _, err := w.Write(buf); err != nil {
					return err
				}
				buf, from = buf[:0], 0
			}
			for _, h := range hs {
				buf = binary.LittleEndian.AppendUint64(buf, h.Hi)
				buf = binary.LittleEndian.AppendUint64(buf, h.Lo)
			}
			return nil
		})
		if err != nil {
			return nil, buf, err
		}
		counts[s].Keys = uint32(b.Count(s))
		counts[s].CRC = crc.Update(counts[s].CRC, buf[from:])
	}
	_, err := w.Write(buf)
	return counts, buf, err
}

const bufferSize = 256 << 10

// buffers are those of Read.
var buffers = sync.Pool{New: func() any {
	return &readBuffer{make([]byte, bufferSize), make([]filter.Hash, bufferSize/hashSize)}
}}

type readBuffer struct {
	bytes  []byte
	hashes []filter.Hash
}

// Read reads a segment from r, which begins with its first byte, and calls f with the hashes, at most 16,384 at a time.
// f must not keep them. The error wraps ErrDamaged if the checksum is wrong or r is too short, or is one of r or f.
// After an error the hashes that f got must not be used.
func Read(r io.Reader, g Segment, f func(hs []filter.Hash) error) error {
	b := buffers.Get().(*readBuffer)
	defer buffers.Put(b)
	sum := uint32(0)
	for left := int64(g.Keys) * hashSize; left > 0; {
		part := b.bytes[:min(left, bufferSize)]
		if _, err := io.ReadFull(r, part); err != nil {
			if err == io.EOF || err == io.ErrUnexpectedEOF {
				err = fmt.Errorf("%w: it ends too early", ErrDamaged)
			}
			return err
		}
		left -= int64(len(part))
		sum = crc.Update(sum, part)
		hs := b.hashes[:len(part)/hashSize]
		for i := range hs {
			hs[i].Hi = binary.LittleEndian.Uint64(part[i*hashSize:])
			hs[i].Lo = binary.LittleEndian.Uint64(part[i*hashSize+8:])
		}
		if err := f(hs); err != nil {
			return err
		}
	}
	if sum != g.CRC {
		return fmt.Errorf("%w: wrong checksum", ErrDamaged)
	}
	return nil
}

// Bytes returns the length of a segment in bytes.
func (g Segment) Bytes() int64 { return int64(g.Keys) * hashSize }
