package hashes

import (
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/sums"
)

// Writer writes a run file. Use it from one goroutine: the order of Add is the order in the file.
type Writer struct {
	grouper
	w      io.Writer
	header Header
	index  Index
}

// NewWriter returns a Writer and writes the header. Errors of w are returned unchanged.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	r := &Writer{w: w, header: h, index: Index{Shards: int(h.Shards)}}
	r.grouper = grouper{buffer: newBuffer(int(h.Shards), GroupKeys), limit: GroupKeys, flush: r.writeGroup}
	_, r.err = w.Write(h.marshal())
	return r, r.err
}

func (w *Writer) writeGroup() error {
	counts, err := w.buffer.writeGroup(w.w)
	if err != nil {
		return err
	}
	w.index.Counts = append(w.index.Counts, counts...)
	w.buffer.reset()
	return nil
}

// Close writes the last group and the index, and returns the index. It does not close the io.Writer.
func (w *Writer) Close() (*Index, error) {
	if w.err == nil && w.buffer.n > 0 {
		w.err = w.writeGroup()
	}
	if w.err == nil {
		_, w.err = w.w.Write(w.index.endBytes(w.header))
	}
	if w.err != nil {
		return nil, w.err
	}

	w.err = errClosed
	w.buffer.list.Free()
	w.buffer = nil
	return &w.index, nil
}

// writeGroup writes the hashes shard by shard.
func (b *buffer) writeGroup(w io.Writer) ([]Count, error) {
	r := buffers.Get().(*readBuffer)
	defer buffers.Put(r)
	buf := r.bytes[:0]
	counts := make([]Count, len(b.lanes))
	for s := range counts {
		from := len(buf) // of the bytes of this shard that have no checksum yet
		err := b.eachHash(s, func(hs []filter.Hash) error {
			for part := range slices.Chunk(hs, mostLen) {
				if len(buf)+len(part)*hashSize > cap(buf) {
					counts[s].CRC = sums.UpdateCRC(counts[s].CRC, buf[from:])
					if _, err := w.Write(buf); err != nil {
						return err
					}
					buf, from = buf[:0], 0
				}
				buf = appendHashes(buf, part)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		counts[s].Keys = uint32(b.countOf(s))
		counts[s].CRC = sums.UpdateCRC(counts[s].CRC, buf[from:])
	}
	_, err := w.Write(buf)
	return counts, err
}

const bufferSize = 256 << 10

// buffers are the buffers of reads and writes.
var buffers = sync.Pool{New: func() any {
	return &readBuffer{make([]byte, bufferSize), make([]filter.Hash, bufferSize/hashSize)}
}}

type readBuffer struct {
	bytes  []byte
	hashes []filter.Hash
}

// Read reads a segment from r, which begins with its first byte, and calls f with the hashes, at most 16,384 at a time.
// f must not keep them. The error wraps ErrDamaged if the checksum is wrong or r is too short. Errors of r and f are
// returned unchanged. After an error, discard the hashes that f received.
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
		sum = sums.UpdateCRC(sum, part)
		hs := b.hashes[:len(part)/hashSize]
		for i := range hs {
			hs[i] = hashAt(part[i*hashSize:])
		}
		// The checksum comes last, so f receives hashes that may turn out to be damaged: callers discard them after an
		// error.
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
