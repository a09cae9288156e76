package hashes

import (
	"context"
	"io"
	"math/bits"
	"sync/atomic"

	"github.com/bloomery/bloomery/filter"
)

// ByShard keeps the hashes of any number of keys by shard. Hashes beyond a limit of memory go to a temporary file. With
// one shard, it keeps the keys of an input that can be read only once until they are counted.
type ByShard struct {
	grouper
	temp
	segments [][]Segment  // segments by shard, of the file
	reads    atomic.Int64 // calls of Each that have not ended
}

// NewByShard returns an empty ByShard that keeps at most about memory bytes of hashes in memory, or DefaultMemory if
// memory is not positive. The others go to a file in dir, or in os.TempDir() if dir is empty. The smallest limit is
// 4 KiB, 1 KiB per shard up to 1 MiB, or 128 bytes per shard, whichever is the largest.
func NewByShard(shards int, memory int64, dir string) *ByShard {
	if memory <= 0 {
		memory = DefaultMemory
	}
	n := int64(shards)
	// With fewer hashes in the buffer, the part of a shard in each group of the file would be too short to read well.
	least := max(minRun, min(64*n, BlockSize/hashSize), 8*n)
	limit := limitOf(memory, least, mostKeys)

	s := &ByShard{temp: newTemp(dir), segments: make([][]Segment, shards)}
	s.grouper = grouper{buffer: newBuffer(shards, min(limit, GroupKeys)), limit: limit, flush: s.spillToFile}
	return s
}

// AddPairs is Add for hashes with values of any size. Each then gives two entries for each hash, which count as two:
// the hash, and one with the same Hi and the value in place of Lo.
func (s *ByShard) AddPairs(hs []filter.Hash, values []uint64) error {
	return s.addParts(len(hs), 2, func(from, to int) { s.buffer.addPairs(hs[from:to], values[from:to]) })
}

// spillToFile moves the hashes of the buffer to the file.
func (s *ByShard) spillToFile() error {
	at := s.size
	counts, err := s.buffer.writeGroup(&s.temp)
	if err != nil {
		return err
	}

	for i, c := range counts {
		if c.Keys > 0 {
			g := Segment{at, c}
			s.segments[i] = append(s.segments[i], g)
			at += g.Bytes()
		}
	}
	s.buffer.reset()
	return nil
}

// Count returns the number of hashes of a shard.
func (s *ByShard) Count(shard int) uint64 {
	n := uint64(s.buffer.countOf(shard))
	for _, g := range s.segments[shard] {
		n += uint64(g.Keys)
	}
	return n
}

// Each calls f with the hashes of a shard in the order of Add. f must not keep or change them. Several goroutines may
// call Each at the same time, but not Add. It stops at the first error of f, or with the cause of ctx when ctx is done.
func (s *ByShard) Each(ctx context.Context, shard int, f func(hs []filter.Hash) error) error {
	if s.err != nil {
		return s.err
	}

	s.reads.Add(1)
	defer s.reads.Add(-1)
	visit := func(hs []filter.Hash) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return f(hs)
	}

	for _, g := range s.segments[shard] {
		if err := Read(io.NewSectionReader(&s.temp, g.Offset, g.Bytes()), g, visit); err != nil {
			return err
		}
	}

	if s.buffer.chunk == mostLen {
		return s.buffer.eachHash(shard, visit)
	}

	// f is faster for larger batches than these short chunks, so they are collected.
	b := buffers.Get().(*readBuffer)
	defer buffers.Put(b)
	batch := b.hashes[:0]
	err := s.buffer.eachHash(shard, func(hs []filter.Hash) error {
		for len(hs) > 0 {
			if len(batch) == cap(batch) {
				if err := visit(batch); err != nil {
					return err
				}
				batch = batch[:0]
			}
			n := min(len(hs), cap(batch)-len(batch))
			batch, hs = append(batch, hs[:n]...), hs[n:]
		}
		return nil
	})
	if err != nil || len(batch) == 0 {
		return err
	}
	return visit(batch)
}

// Close removes the hashes and the file.
func (s *ByShard) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = errClosed
	}

	clear(s.segments)
	kept := s.buffer
	s.buffer = newBuffer(len(s.segments), 0)
	if s.reads.Load() == 0 { // otherwise an Each still reads the memory, which another store must not reuse
		kept.list.Free()
	}
	return s.close()
}

// MaxShards is the largest number of shards of a set.
const MaxShards = 1 << 20

// Constants of routing 1: the first 64-bit words of the fractional parts of sqrt(7), sqrt(11) and sqrt(13). No family
// uses them.
const (
	routeHi  = 0xA54FF53A5F1D36F1
	routeLo  = 0x510E527FADE682D1
	routeMix = 0x9B05688C2B3E6C1F
)

// Route is shard.Route.
func Route(h filter.Hash, shards int) int {
	x := mulXor(mulXor(h.Hi^routeHi, h.Lo^routeLo)^routeHi, routeMix)
	s, _ := bits.Mul64(x, uint64(shards))
	return int(s)
}

// mulXor returns the high half of a·b XORed with its low half.
func mulXor(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}
