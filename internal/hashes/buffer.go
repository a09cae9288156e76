package hashes

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/shard"
)

const (
	slabLen  = 1 << 16         // hashes that are allocated together: 1 MiB
	mostLen  = 4096 / hashSize // hashes of the largest chunk
	leastLen = 4               // and of the smallest
	none     = ^uint32(0)      // no chunk
	mostKeys = int64(1) << 32  // of a Buffer: chunks have numbers of 32 bits
)

// Buffer keeps hashes in memory, each in the list of its shard, in the order of Add. Besides 16 bytes a hash it takes
// 48 bytes and on average half a chunk a shard; a chunk has 64 bytes to 4 KiB. It is not safe for concurrent use.
type Buffer struct {
	lanes []lane
	chunk int             // hashes of a chunk
	pages [][]filter.Hash // chunk c lies in page c/(slabLen/chunk)
	next  []uint32        // by chunk: the next one of the same shard
	n     int
}

// lane is the list of the hashes of one shard.
type lane struct {
	free        []filter.Hash // the rest of the last chunk, with length 0
	first, last uint32        // chunks
	n           int
}

// NewBuffer returns an empty Buffer for about that many keys.
func NewBuffer(shards, keys int) *Buffer {
	b := &Buffer{lanes: make([]lane, shards), chunk: leastLen}
	for b.chunk < mostLen && b.chunk < keys/shards/8 {
		b.chunk *= 2
	}
	b.Reset()
	return b
}

// Reset removes all hashes and keeps the memory.
func (b *Buffer) Reset() {
	for i := range b.lanes {
		b.lanes[i] = lane{first: none, last: none}
	}
	b.next, b.n = b.next[:0], 0
}

// Len returns the number of hashes.
func (b *Buffer) Len() int { return b.n }

// Count returns the number of hashes of a shard.
func (b *Buffer) Count(s int) int { return b.lanes[s].n }

// Add adds hashes. It does not keep hs.
func (b *Buffer) Add(hs []filter.Hash) {
	for _, h := range hs {
		b.put(h, h)
	}
	b.n += len(hs)
}

// AddValues adds hashes with values below 2^32; Each then gives what WithValue returns.
func (b *Buffer) AddValues(hs []filter.Hash, values []uint64) {
	for i, h := range hs {
		b.put(h, WithValue(h, values[i]))
	}
	b.n += len(hs)
}

// AddPairs adds two entries for each hash: the hash, and one with the value in place of Lo. This keeps all bits of a
// hash; AddValues drops 32.
func (b *Buffer) AddPairs(hs []filter.Hash, values []uint64) {
	for i, h := range hs {
		b.put(h, h)
		b.put(h, filter.Hash{Hi: h.Hi, Lo: values[i]})
	}
	b.n += 2 * len(hs)
}

// put adds an entry to the list of the shard of h.
func (b *Buffer) put(h, entry filter.Hash) {
	l := &b.lanes[shard.Route(h, len(b.lanes))]
	if len(l.free) == cap(l.free) {
		b.extend(l)
	}
	l.free = append(l.free, entry)
	l.n++
}

// WithValue returns h with a value below 2^32 in the low half of Lo: static functions tell keys apart by the other 96
// bits. ValuesOf returns the values.
func WithValue(h filter.Hash, value uint64) filter.Hash {
	return filter.Hash{Hi: h.Hi, Lo: h.Lo>>32<<32 | value&(1<<32-1)}
}

// ValuesOf returns the values of hashes from WithValue.
func ValuesOf(hs []filter.Hash) []uint64 {
	values := make([]uint64, len(hs))
	for i, h := range hs {
		values[i] = h.Lo & (1<<32 - 1)
	}
	return values
}

func (b *Buffer) extend(l *lane) {
	c := uint32(len(b.next))
	if b.next = append(b.next, none); l.last == none {
		l.first = c
	} else {
		b.next[l.last] = c
	}
	l.last, l.free = c, b.at(c)[:0]
}

func (b *Buffer) at(c uint32) []filter.Hash {
	perPage := slabLen / b.chunk
	page, from := int(c)/perPage, int(c)%perPage*b.chunk
	for page >= len(b.pages) {
		b.pages = append(b.pages, make([]filter.Hash, slabLen))
	}
	return b.pages[page][from : from+b.chunk : from+b.chunk]
}

// Each calls f with the hashes of a shard, in the order of Add and at most 256 at a time, until f fails. f must not
// keep or change them. Several goroutines may call Each at the same time.
func (b *Buffer) Each(s int, f func(hs []filter.Hash) error) error {
	left := b.lanes[s].n
	for c := b.lanes[s].first; left > 0; c = b.next[c] {
		hs := b.at(c)[:min(left, b.chunk)]
		if err := f(hs); err != nil {
			return err
		}
		left -= len(hs)
	}
	return nil
}
