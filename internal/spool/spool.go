// Package spool keeps the hashes of keys until they have been counted.
package spool

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"sync"

	"github.com/bloomery/bloomery/filter"
)

const (
	// DefaultMemory is the memory limit of a Spool in bytes if that of New is not positive.
	DefaultMemory = 64 << 20

	hashSize  = 16      // bytes of a hash, in memory and on disk
	chunkSize = 1 << 20 // bytes of hashes that are stored, written and read together
)

var errSpoolClosed = errors.New("the list of keys is closed")

// Spool stores the hashes of keys that can be read only once. The first hashes stay in memory, up to a limit; the
// others go to one temporary file, 16 bytes each, Hi before Lo, little endian. A Spool is safe for concurrent use.
type Spool struct {
	dir       string
	chunkLen  int // hashes of a full chunk
	maxChunks int // limit of len(chunks), without the tail

	mu      sync.Mutex
	chunks  [][]filter.Hash // full; their hashes never change
	spilled int64           // hashes in file
	tail    []filter.Hash   // the newest hashes, less than a chunk
	file    *os.File        // nil until the memory is full
	removed bool            // the file is already unlinked
	buf     []byte          // for writes to the file
	err     error           // sticky: returned by all methods except Len and Close
}

// New returns an empty Spool. It keeps at most about memoryLimit bytes of hashes in memory, or DefaultMemory
// if memoryLimit is not positive, and buffers of at most 2 MiB. Further hashes go to a file in dir, or in os.TempDir()
// if dir is empty. Only this user can read the file. Close removes it; on Unix it also vanishes whenever the process
// ends.
func New(memoryLimit int64, dir string) *Spool {
	if memoryLimit <= 0 {
		memoryLimit = DefaultMemory
	}
	memoryLimit = min(memoryLimit, math.MaxInt)
	chunkLen := max(min(memoryLimit, chunkSize)/hashSize, 1)
	return &Spool{dir: dir, chunkLen: int(chunkLen), maxChunks: int(memoryLimit / (chunkLen * hashSize))}
}

// Add appends hashes. It does not keep hs. After an error, such as a full disk, the Spool is unusable: every method
// except Len and Close returns that error.
func (s *Spool) Add(hs []filter.Hash) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(hs) > 0 && s.err == nil {
		if s.tail == nil {
			s.tail = make([]filter.Hash, 0, s.chunkLen)
		}
		n := min(len(hs), s.chunkLen-len(s.tail))
		s.tail = append(s.tail, hs[:n]...)
		hs = hs[n:]
		if len(s.tail) < s.chunkLen {
			break
		}
		if len(s.chunks) < s.maxChunks {
			s.chunks = append(s.chunks, s.tail)
			s.tail = nil
		} else if s.err = s.spill(); s.err == nil {
			s.tail = s.tail[:0]
		}
	}
	return s.err
}

// spill writes the tail to the end of the file.
func (s *Spool) spill() error {
	if s.file == nil {
		f, err := os.CreateTemp(s.dir, "bloomery-spool-*")
		if err != nil {
			return fmt.Errorf("creating a temporary file for keys that are not counted yet: %w", err)
		}
		s.file = f
		s.removed = os.Remove(f.Name()) == nil // fails on Windows for an open file: Close removes it
		s.buf = make([]byte, s.chunkLen*hashSize)
	}
	for i, h := range s.tail {
		binary.LittleEndian.PutUint64(s.buf[i*hashSize:], h.Hi)
		binary.LittleEndian.PutUint64(s.buf[i*hashSize+8:], h.Lo)
	}
	if _, err := s.file.WriteAt(s.buf, s.spilled*hashSize); err != nil {
		return fmt.Errorf("writing the keys that are not counted yet to a temporary file; is the disk full? %w", err)
	}
	s.spilled += int64(len(s.tail))
	return nil
}

// Len returns the number of hashes in the Spool.
func (s *Spool) Len() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return uint64(len(s.chunks))*uint64(s.chunkLen) + uint64(s.spilled) + uint64(len(s.tail))
}

// Each calls f with batches of all hashes that were added before the call of Each, in the order in which they were
// added. f must not change a batch or keep it after it returns. Each stops at the first error of f and returns it, or
// returns the cause of ctx when ctx is done. It may be called more than once. Do not call Close while Each runs.
func (s *Spool) Each(ctx context.Context, f func(hs []filter.Hash) error) error {
	s.mu.Lock()
	chunks, spilled, file, err := s.chunks, s.spilled, s.file, s.err
	tail := append([]filter.Hash(nil), s.tail...) // copied, because Add changes it
	s.mu.Unlock()
	if err != nil {
		return err
	}
	visit := func(hs []filter.Hash) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return f(hs)
	}
	for _, hs := range chunks {
		if err := visit(hs); err != nil {
			return err
		}
	}
	if spilled > 0 {
		if err := s.eachSpilled(file, spilled, visit); err != nil {
			return err
		}
	}
	if len(tail) == 0 {
		return nil
	}
	return visit(tail)
}

// eachSpilled calls visit with the first spilled hashes of file, one chunk at a time. The file holds whole chunks only.
func (s *Spool) eachSpilled(file *os.File, spilled int64, visit func(hs []filter.Hash) error) error {
	buf := make([]byte, s.chunkLen*hashSize)
	hs := make([]filter.Hash, s.chunkLen)
	for at := int64(0); at < spilled; at += int64(s.chunkLen) {
		if _, err := file.ReadAt(buf, at*hashSize); err != nil {
			return fmt.Errorf("reading keys back from a temporary file: %w", err)
		}
		for i := range hs {
			hs[i].Hi = binary.LittleEndian.Uint64(buf[i*hashSize:])
			hs[i].Lo = binary.LittleEndian.Uint64(buf[i*hashSize+8:])
		}
		if err := visit(hs); err != nil {
			return err
		}
	}
	return nil
}

// Close frees the memory and removes the file. The Spool is empty then; Add and Each return an error.
func (s *Spool) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = errSpoolClosed
	}
	s.chunks, s.tail, s.buf, s.spilled = nil, nil, nil, 0
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	if !s.removed {
		err = errors.Join(err, os.Remove(s.file.Name()))
	}
	s.file = nil
	return err
}
