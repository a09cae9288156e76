package hashes

import (
	"math/bits"
	"sync"

	"github.com/bloomery/bloomery/filter"
)

const (
	mostLen  = 4096 / hashSize // hashes of the largest chunk
	leastLen = 4               // hashes of the smallest chunk
	none     = ^uint32(0)      // no chunk
	mostKeys = 1 << 31         // largest number of hashes of a buffer, because chunks are numbered by 32 bits
)

// usedHashes holds blocks of closed buffers for reuse.
var usedHashes Pool[filter.Hash]

// buffer keeps hashes in memory, each in the list of its shard, in the order of add. A list is a chain of chunks of 64
// bytes to 4 KiB. Besides 16 bytes per hash it takes 16 bytes and on average half a chunk per shard. It is not safe for
// concurrent use.
type buffer struct {
	lanes []lane
	chunk int               // hashes of a chunk, a power of two
	list  List[filter.Hash] // the memory of all chunks
	next  []uint32          // next[c] is the chunk after chunk c in the list of the same shard, or none
	n     int               // number of hashes
}

// lane is the list of the hashes of one shard. The last chunk is full if n is a multiple of the length of a chunk.
type lane struct {
	first, last uint32 // chunks
	n           int
}

// newBuffer returns an empty buffer for about keys keys.
func newBuffer(shards, keys int) *buffer {
	b := &buffer{lanes: make([]lane, shards), chunk: leastLen, list: List[filter.Hash]{Pool: &usedHashes}}
	// On average half a chunk per shard stays empty, so chunks are short beside the hashes of a shard.
	for b.chunk < mostLen && b.chunk < keys/shards/8 {
		b.chunk *= 2
	}
	b.reset()
	return b
}

// reset removes all hashes and keeps the memory.
func (b *buffer) reset() {
	for i := range b.lanes {
		b.lanes[i] = lane{first: none, last: none}
	}
	b.next, b.n = b.next[:0], 0
}

// countOf returns the number of hashes of a shard.
func (b *buffer) countOf(s int) int { return b.lanes[s].n }

// addHashes adds hashes. It does not keep hs.
func (b *buffer) addHashes(hs []filter.Hash) {
	b.n += len(hs)
	if len(b.lanes) > 1 {
		for _, h := range hs {
			b.addEntry(h, h)
		}
		return
	}

	l := &b.lanes[0]
	for len(hs) > 0 {
		n := copy(b.freeChunk(l), hs)
		l.n += n
		hs = hs[n:]
	}
}

// addValues adds hashes with values below 2^32 in the form of WithValue.
func (b *buffer) addValues(hs []filter.Hash, values []uint64) {
	for i, h := range hs {
		b.addEntry(h, WithValue(h, values[i]))
	}
	b.n += len(hs)
}

// addPairs adds two entries for each hash: the hash, and one with the value in place of Lo. This keeps all bits of a
// hash; addValues drops 32.
func (b *buffer) addPairs(hs []filter.Hash, values []uint64) {
	for i, h := range hs {
		b.addEntry(h, h)
		b.addEntry(h, filter.Hash{Hi: h.Hi, Lo: values[i]})
	}
	b.n += 2 * len(hs)
}

// addEntry adds an entry to the list of the shard of h.
func (b *buffer) addEntry(h, entry filter.Hash) {
	l := &b.lanes[Route(h, len(b.lanes))]
	b.freeChunk(l)[0] = entry
	l.n++
}

// freeChunk returns the free end of the last chunk of a list, at least one hash.
func (b *buffer) freeChunk(l *lane) []filter.Hash {
	used := l.n & (b.chunk - 1)
	if used == 0 {
		b.extend(l)
	}
	return b.chunksAt(l.last, 1)[used:]
}

// extend appends a chunk to a list.
func (b *buffer) extend(l *lane) {
	c := uint32(len(b.next))
	b.next = append(b.next, none)
	if l.last == none {
		l.first = c
	} else {
		b.next[l.last] = c
	}

	l.last = c
	if uint64(len(b.next)*b.chunk) > b.list.Len() { // else reset has left the memory of this chunk
		b.list.Next(b.chunk)
	}
}

// chunksAt returns n chunks that lie in one block, from c on.
func (b *buffer) chunksAt(c uint32, n int) []filter.Hash {
	block, from := b.locate(c)
	return b.list.Blocks[block][from : from+n*b.chunk]
}

// locate returns the block of a chunk and the position in the block at which the chunk begins.
func (b *buffer) locate(c uint32) (block, from int) {
	const blockLen = BlockSize / hashSize
	at := uint(c) << bits.TrailingZeros(uint(b.chunk))
	return int(at / blockLen), int(at % blockLen)
}

// eachHash calls f with the hashes of a shard in the order of add, at most 1 MiB at a time, until f fails. f must not
// keep or change them. Several goroutines may call each at the same time.
func (b *buffer) eachHash(s int, f func(hs []filter.Hash) error) error {
	c, left := b.lanes[s].first, b.lanes[s].n
	for left > 0 {
		// Pass consecutive chunks of a block to f together.
		first, n := c, 1
		c = b.next[c]
		for n*b.chunk < left && c == first+uint32(n) {
			if _, from := b.locate(c); from == 0 {
				break
			}
			n++
			c = b.next[c]
		}

		hs := b.chunksAt(first, n)
		hs = hs[:min(left, len(hs))]
		if err := f(hs); err != nil {
			return err
		}
		left -= len(hs)
	}
	return nil
}

// grouper collects hashes in a buffer and calls flush whenever the buffer is full. It is the common part of ByShard and
// Writer.
type grouper struct {
	mu     sync.Mutex
	buffer *buffer
	limit  int          // entries of a full buffer
	flush  func() error // writes and empties the buffer
	err    error        // sticky
}

// Add adds hashes. It does not keep hs. After an error, such as a full disk, all later calls return that error. Add is
// safe for concurrent use.
func (g *grouper) Add(hs []filter.Hash) error {
	return g.addParts(len(hs), 1, func(from, to int) { g.buffer.addHashes(hs[from:to]) })
}

// AddValues is Add for hashes with values below 2^32, which it keeps in the form of WithValue.
func (g *grouper) AddValues(hs []filter.Hash, values []uint64) error {
	return g.addParts(len(hs), 1, func(from, to int) { g.buffer.addValues(hs[from:to], values[from:to]) })
}

// addParts adds a number of hashes, each with the given number of entries. put adds a part of the hashes to the buffer.
func (g *grouper) addParts(hashes, entries int, put func(from, to int)) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for at := 0; at < hashes && g.err == nil; {
		n := min(hashes-at, (g.limit-g.buffer.n)/entries)
		put(at, at+n)
		at += n

		// A full buffer is written at once, not at the next call, so that the error belongs to the call that caused it.
		if g.buffer.n+entries > g.limit {
			g.err = g.flush()
		}
	}
	return g.err
}
