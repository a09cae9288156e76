package hashes

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/bloomery/bloomery/filter"
)

// ByShard keeps the hashes of any number of keys by shard, those beyond a limit of memory in a temporary file, which only
// this user can read. Add is safe for concurrent use.
type ByShard struct {
	dir   string
	limit int // hashes in memory

	mu     sync.Mutex
	buffer *Buffer
	counts []uint64 // by shard, of the hashes in the file
	groups [][]Segment
	file   *Temp // nil until the memory is full
	size   int64
	buf    []byte
	err    error // sticky
}

// NewByShard returns an empty ByShard that keeps at most about memory bytes of hashes in memory, but 1 MiB and 128 bytes a
// shard in any case, and the others in a file in dir, or in os.TempDir() if dir is empty.
func NewByShard(shards int, memory int64, dir string) *ByShard {
	limit := max(min(memory/hashSize, mostKeys/2), slabLen, 8*int64(shards))
	return &ByShard{
		dir: dir, limit: int(min(limit, int64(^uint(0)>>1))), counts: make([]uint64, shards),
		buffer: NewBuffer(shards, int(min(limit, GroupKeys))),
	}
}

// Add adds hashes. It does not keep hs. After an error, such as a full disk, all later calls return that error.
func (s *ByShard) Add(hs []filter.Hash) error {
	return s.add(len(hs), 1, func(from, to int) { s.buffer.Add(hs[from:to]) })
}

// AddValues is Add for hashes with values below 2^32; Each then gives what WithValue returns.
func (s *ByShard) AddValues(hs []filter.Hash, values []uint64) error {
	return s.add(len(hs), 1, func(from, to int) { s.buffer.AddValues(hs[from:to], values[from:to]) })
}

// AddPairs is Add for hashes with values of any size. Each then gives two entries for each hash, which count as two:
// the hash, and one with the same Hi and the value in place of Lo.
func (s *ByShard) AddPairs(hs []filter.Hash, values []uint64) error {
	return s.add(len(hs), 2, func(from, to int) { s.buffer.AddPairs(hs[from:to], values[from:to]) })
}

// add adds that many hashes, each with that many entries; put adds a part of them to the buffer.
func (s *ByShard) add(hashes, entries int, put func(from, to int)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for at := 0; at < hashes && s.err == nil; {
		n := min(hashes-at, (s.limit-s.buffer.Len())/entries)
		put(at, at+n)
		if at += n; s.buffer.Len()+entries > s.limit {
			if s.err = s.spill(); s.err != nil {
				s.err = fmt.Errorf("writing key hashes to a temporary file; is the disk full? %w", s.err)
			}
		}
	}
	return s.err
}

func (s *ByShard) spill() error {
	if s.file == nil {
		f, err := CreateTemp(s.dir, "bloomery-shards-*")
		if err != nil {
			return err
		}
		s.file = f
		s.groups = make([][]Segment, len(s.counts))
	}
	counts, buf, err := s.buffer.writeGroup(s.file, s.buf)
	if s.buf = buf; err != nil {
		return err
	}
	for i, c := range counts {
		if c.Keys > 0 {
			s.groups[i] = append(s.groups[i], Segment{s.size, c})
			s.size += int64(c.Keys) * hashSize
			s.counts[i] += uint64(c.Keys)
		}
	}
	s.buffer.Reset()
	return nil
}

// Count returns the number of hashes of a shard.
func (s *ByShard) Count(shard int) uint64 { return s.counts[shard] + uint64(s.buffer.Count(shard)) }

// Each calls f with the hashes of a shard in the order of Add. f must not keep or change them. Several goroutines may
// call Each at the same time, but not Add. It stops at the first error of f, or with the cause of ctx when ctx is done.
func (s *ByShard) Each(ctx context.Context, shard int, f func(hs []filter.Hash) error) error {
	if s.err != nil {
		return s.err
	}
	visit := func(hs []filter.Hash) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return f(hs)
	}
	if s.file != nil {
		for _, g := range s.groups[shard] {
			if err := Read(io.NewSectionReader(s.file, g.Offset, g.Bytes()), g, visit); err != nil {
				return fmt.Errorf("reading key hashes back from a temporary file: %w", err)
			}
		}
	}
	if s.buffer.chunk == mostLen {
		return s.buffer.Each(shard, visit)
	}
	b := buffers.Get().(*readBuffer) // larger batches than a chunk are faster to add
	defer buffers.Put(b)
	batch := b.hashes[:0]
	err := s.buffer.Each(shard, func(hs []filter.Hash) error {
		if len(batch)+len(hs) > cap(batch) {
			full := batch
			batch = batch[:0]
			if err := visit(full); err != nil {
				return err
			}
		}
		batch = append(batch, hs...)
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
		s.err = fmt.Errorf("the list of keys is %w", filter.ErrClosed)
	}
	s.buffer = NewBuffer(len(s.counts), 0)
	file := s.file
	s.file = nil
	return file.Close()
}
