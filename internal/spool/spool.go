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
	// DefaultMemory is the memory limit of a Spool, in bytes, where New is given 0.
	DefaultMemory = 64 << 20

	hashSize  = 16      // bytes of a hash, in memory and on disk
	chunkSize = 1 << 20 // bytes of hashes that are kept, written and read together
)

var errSpoolClosed = errors.New("spool is closed")

// Spool keeps the hashes of keys that can be read only once until they have been counted. The first of them stay in
// memory, up to a limit; the others go to one temporary file, 16 bytes each, Hi before Lo, little endian. It
// is safe for concurrent use.
type Spool struct {
	dir       string
	chunkLen  int // hashes of a full chunk
	maxChunks int // chunks in memory, the tail not counted

	mu      sync.Mutex
	chunks  [][]filter.Hash // full, and never changed again
	spilled int64           // hashes in file
	tail    []filter.Hash   // the newest, less than a chunk
	file    *os.File        // nil until the memory is full
	removed bool            // the file has no name any more
	buf     []byte          // of the last write
	err     error           // once set, the answer to everything
}

// New returns an empty Spool that keeps about memoryLimit bytes of hashes in memory, DefaultMemory if it
// is not positive, and buffers of at most 2 MiB. Past that it makes a file in dir, os.TempDir() if empty, that
// only this user can read and that is gone after Close, or on Unix after the process has ended in any way.
func New(memoryLimit int64, dir string) *Spool {
	if memoryLimit <= 0 {
		memoryLimit = DefaultMemory
	}
	memoryLimit = min(memoryLimit, math.MaxInt)
	chunkLen := max(min(memoryLimit, chunkSize)/hashSize, 1)
	return &Spool{dir: dir, chunkLen: int(chunkLen), maxChunks: int(memoryLimit / (chunkLen * hashSize))}
}

// Add appends hashes, of which it keeps no reference. After an error, such as a full disk, the Spool is of no use
// and every method but Len and Close returns that error.
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
			return fmt.Errorf("no room to spool keys until they are counted: %w", err)
		}
		s.file = f
		s.removed = os.Remove(f.Name()) == nil // Windows may not let an open file go: Close removes it
		s.buf = make([]byte, s.chunkLen*hashSize)
	}
	for i, h := range s.tail {
		binary.LittleEndian.PutUint64(s.buf[i*hashSize:], h.Hi)
		binary.LittleEndian.PutUint64(s.buf[i*hashSize+8:], h.Lo)
	}
	if _, err := s.file.WriteAt(s.buf, s.spilled*hashSize); err != nil {
		return fmt.Errorf("spooling keys until they are counted; is the disk full? %w", err)
	}
	s.spilled += int64(len(s.tail))
	return nil
}

// Len returns the number of hashes added.
func (s *Spool) Len() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return uint64(len(s.chunks))*uint64(s.chunkLen) + uint64(s.spilled) + uint64(len(s.tail))
}

// Each calls f with batches of all hashes that were added before Each was called, in the order they were added. A
// batch is to be read only, and until f returns. Each may be called more than once; it stops at the first
// error of f, and at the end of ctx with the cause of it. Close must wait until Each has returned.
func (s *Spool) Each(ctx context.Context, f func(hs []filter.Hash) error) error {
	s.mu.Lock()
	chunks, spilled, file, err := s.chunks, s.spilled, s.file, s.err
	tail := append([]filter.Hash(nil), s.tail...) // the only one that changes
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

// eachSpilled calls visit with the first spilled hashes of file, a chunk at a time. Only whole chunks are written.
func (s *Spool) eachSpilled(file *os.File, spilled int64, visit func(hs []filter.Hash) error) error {
	buf := make([]byte, s.chunkLen*hashSize)
	hs := make([]filter.Hash, s.chunkLen)
	for at := int64(0); at < spilled; at += int64(s.chunkLen) {
		if _, err := file.ReadAt(buf, at*hashSize); err != nil {
			return fmt.Errorf("reading spooled keys back: %w", err)
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

// Close frees the memory and removes the file. The Spool is then empty and closed for good.
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
