package spool

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"
	"sync"

	"github.com/bloomery/bloomery/filter"
)

const hashSize = 16 // bytes of a hash

// Spool stores the hashes of keys that can be read only once, 16 bytes each, Hi before Lo, little endian. It is safe for
// concurrent use.
type Spool struct {
	mu sync.Mutex
	blocks
}

// New returns an empty Spool. It keeps at most about memoryLimit bytes of hashes in memory, or DefaultMemory if
// memoryLimit is not positive, and buffers of at most 3 MiB. Further hashes go to a Temp in dir, or in os.TempDir() if
// dir is empty.
func New(memoryLimit int64, dir string) *Spool {
	return &Spool{blocks: newBlocks(memoryLimit, dir, hashSize)}
}

// Add appends hashes. It does not keep hs. After an error, such as a full disk, the Spool is unusable: every method
// except Len and Close returns that error.
func (s *Spool) Add(hs []filter.Hash) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(hs) > 0 && s.err == nil {
		n := min(len(hs), (s.chunk-len(s.tail))/hashSize)
		for _, h := range hs[:n] {
			s.tail = binary.LittleEndian.AppendUint64(s.tail, h.Hi)
			s.tail = binary.LittleEndian.AppendUint64(s.tail, h.Lo)
		}
		hs = hs[n:]
		_ = s.flush() // keeps its error
	}
	return s.err
}

// Len returns the number of hashes in the Spool.
func (s *Spool) Len() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return uint64(s.held+s.spilled()+int64(len(s.tail))) / hashSize
}

// Each calls f with batches of all hashes that were added before the call of Each, in the order in which they were
// added. f must not keep a batch after it returns. Each stops at the first error of f and returns it, or returns the
// cause of ctx when ctx is done. It may be called more than once. Do not call Close while Each runs.
func (s *Spool) Each(ctx context.Context, f func(hs []filter.Hash) error) error {
	s.mu.Lock()
	now := s.blocks
	now.tail = bytes.Clone(s.tail) // Add changes it
	s.mu.Unlock()
	var hs []filter.Hash
	return now.each(ctx, func(b []byte) error {
		hs = slices.Grow(hs[:0], len(b)/hashSize)
		for ; len(b) > 0; b = b[hashSize:] {
			hs = append(hs, filter.Hash{Hi: binary.LittleEndian.Uint64(b), Lo: binary.LittleEndian.Uint64(b[8:])})
		}
		if len(hs) == 0 {
			return nil
		}
		return f(hs)
	})
}

// Close frees the memory and removes the file. The Spool is empty then; Add and Each return an error.
func (s *Spool) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.close()
}
