package hashes

import (
	"math/bits"
	"sync"

	"github.com/bloomery/bloomery/filter"
)

const (
	mostLen  = 4096 / hashSize // hashes of the largest chunk
	leastLen = 4               // and of the smallest
	none     = ^uint32(0)      // no chunk
	mostKeys = 1 << 31         // of a buffer: chunks have numbers of 32 bits
)

// usedHashes has blocks of closed buffers, for reuse.
var usedHashes Pool[filter.Hash]

// buffer keeps hashes in memory, each in the list of its shard, in the order of add. A list is a chain of chunks of 64
// bytes to 4 KiB. Besides 16 bytes per hash it takes 16 bytes and on average half a chunk per shard. It is not safe for
// concurrent use.
type buffer struct {
	lanes []lane
	chunk int               // hashes of a chunk, a power of two
	list  List[filter.Hash] // of all chunks
	next  []uint32          // by chunk: the next one of the same shard
	n     int
}

// lane is the list of the hashes of one shard. The last chunk is full if n is a multiple of the length of a chunk.
type lane struct {
	first, last uint32 // chunks
	n           int
}

// newBuffer returns an empty buffer for about that many keys.
func newBuffer(shards, keys int) *buffer {
	b := &buffer{lanes: make([]lane, shards), chunk: leastLen, list: List[filter.Hash]{Pool: &usedHashes}}
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

// count returns the number of hashes of a shard.
func (b *buffer) count(s int) int { return b.lanes[s].n }

// add adds hashes. It does not keep hs.
func (b *buffer) add(hs []filter.Hash) {
	b.n += len(hs)
	if len(b.lanes) > 1 {
		for _, h := range hs {
			b.put(h, h)
		}
		return
	}

	l := &b.lanes[0]
	for len(hs) > 0 {
		n := copy(b.room(l), hs)
		l.n += n
		hs = hs[n:]
	}
}

// addValues adds hashes with values below 2^32 in the form of WithValue.
func (b *buffer) addValues(hs []filter.Hash, values []uint64) {
	for i, h := range hs {
		b.put(h, WithValue(h, values[i]))
	}
	b.n += len(hs)
}

// addPairs adds two entries for each hash: the hash, and one with the value in place of Lo. This keeps all bits of a
// hash; addValues drops 32.
func (b *buffer) addPairs(hs []filter.Hash, values []uint64) {
	for i, h := range hs {
		b.put(h, h)
		b.put(h, filter.Hash{Hi: h.Hi, Lo: values[i]})
	}
	b.n += 2 * len(hs)
}

// put adds an entry to the list of the shard of h.
func (b *buffer) put(h, entry filter.Hash) {
	l := &b.lanes[Route(h, len(b.lanes))]
	b.room(l)[0] = entry
	l.n++
}

// room returns the free end of the last chunk of a list, at least one hash.
func (b *buffer) room(l *lane) []filter.Hash {
	used := l.n & (b.chunk - 1)
	if used == 0 {
		b.extend(l)
	}
	return b.at(l.last, 1)[used:]
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

	if uint64(len(b.next)*b.chunk) > b.list.Len() { // else it is a chunk from before reset
		b.list.Next(b.chunk)
	}
}

// at returns n chunks that lie in one block, from c on.
func (b *buffer) at(c uint32, n int) []filter.Hash {
	block, from := b.place(c)
	return b.list.Blocks[block][from : from+n*b.chunk]
}

// place returns the block of a chunk and the position in the block at which the chunk begins.
func (b *buffer) place(c uint32) (block, from int) {
	const blockLen = BlockSize / hashSize
	at := uint(c) << bits.TrailingZeros(uint(b.chunk))
	return int(at / blockLen), int(at % blockLen)
}

// each calls f with the hashes of a shard in the order of add, at most 1 MiB at a time, until f fails. f must not keep
// or change them. Several goroutines may call each at the same time.
func (b *buffer) each(s int, f func(hs []filter.Hash) error) error {
	c, left := b.lanes[s].first, b.lanes[s].n
	for left > 0 {
		// Pass consecutive chunks of a block to f together.
		first, n := c, 1
		c = b.next[c]
		for n*b.chunk < left && c == first+uint32(n) {
			if _, from := b.place(c); from == 0 {
				break
			}
			n++
			c = b.next[c]
		}

		hs := b.at(first, n)
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
	return g.add(len(hs), 1, func(from, to int) { g.buffer.add(hs[from:to]) })
}

// AddValues is Add for hashes with values below 2^32, which it keeps in the form of WithValue.
func (g *grouper) AddValues(hs []filter.Hash, values []uint64) error {
	return g.add(len(hs), 1, func(from, to int) { g.buffer.addValues(hs[from:to], values[from:to]) })
}

// add adds that many hashes, each with that many entries; put adds a part of them to the buffer.
func (g *grouper) add(hashes, entries int, put func(from, to int)) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for at := 0; at < hashes && g.err == nil; {
		n := min(hashes-at, (g.limit-g.buffer.n)/entries)
		put(at, at+n)
		at += n

		if g.buffer.n+entries > g.limit {
			g.err = g.flush()
		}
	}
	return g.err
}
