package hashes

import (
	"context"
	"encoding/binary"
	"sync"

	"github.com/bloomery/bloomery/filter"
)

// Spool stores the hashes of keys that can be read only once, 16 bytes each, Hi before Lo, little endian. It is safe
// for concurrent use.
type Spool struct {
	mu sync.Mutex
	blocks[filter.Hash]
}

// NewSpool returns an empty Spool. It keeps at most about memoryLimit bytes of hashes in memory, or DefaultMemory if
// memoryLimit is not positive, and buffers of at most 3 MiB. Further hashes go to a Temp in dir, or in os.TempDir() if
// dir is empty.
func NewSpool(memoryLimit int64, dir string) *Spool {
	return &Spool{blocks: newBlocks(memoryLimit, dir, codec[filter.Hash]{hashSize, encode, decode, &usedHashes})}
}

var usedHashes Pool[filter.Hash]

func encode(dst []byte, src []filter.Hash) {
	for i, h := range src {
		binary.LittleEndian.PutUint64(dst[i*hashSize:], h.Hi)
		binary.LittleEndian.PutUint64(dst[i*hashSize+8:], h.Lo)
	}
}

func decode(dst []filter.Hash, src []byte) {
	for i := range dst {
		dst[i].Hi = binary.LittleEndian.Uint64(src[i*hashSize:])
		dst[i].Lo = binary.LittleEndian.Uint64(src[i*hashSize+8:])
	}
}

// Add appends hashes. It does not keep hs. After an error, such as a full disk, the Spool is unusable: every method
// except Len and Close returns that error.
func (s *Spool) Add(hs []filter.Hash) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(hs) > 0 && s.err == nil {
		n := min(len(hs), s.chunk-len(s.tail))
		s.grow(n)
		s.tail = append(s.tail, hs[:n]...)
		hs = hs[n:]
		_ = s.flush() // keeps its error
	}
	return s.err
}

// Len returns the number of hashes in the Spool.
func (s *Spool) Len() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return uint64(s.held + s.spilled() + int64(len(s.tail)))
}

// Each calls f with batches of all hashes that were added before the call of Each, in the order in which they were
// added. f must not change a batch or keep it after it returns. Each stops at the first error of f and returns it, or
// returns the cause of ctx when ctx is done. It may be called more than once. Do not call Close while Each runs.
func (s *Spool) Each(ctx context.Context, f func(hs []filter.Hash) error) error {
	s.mu.Lock()
	now := s.blocks // Add only appends
	s.reads++
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.reads--
		s.mu.Unlock()
	}()
	return now.each(ctx, f)
}

// Close frees the memory and removes the file. The Spool is empty then; Add and Each return an error.
func (s *Spool) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.close()
}
