package buckets

import (
	"bytes"
	"container/list"
	"sync"

	"golang.org/x/sync/singleflight"
)

// blockCache keeps blocks within a limit of bytes, and drops the least recently used blocks.
type blockCache struct {
	headers singleflight.Group // reads of headers
	slots   chan struct{}      // one element per running request for blocks

	mu    sync.Mutex
	limit int64
	used  int64
	all   map[blockKey]*list.Element
	order list.List // order of *block, least recently used first
}

// blockKey contains the generation, so that after a Refresh no block of an older generation is found.
type blockKey struct {
	g      *generation
	shard  int
	offset int64 // offset in the file
}

type block struct {
	key  blockKey
	data []byte
}

// blockOverhead is an estimate of the memory that a block takes in addition to its bytes: in the map, the list and the
// allocator.
const blockOverhead = 256

func newBlockCache(limit int64, fetches int) *blockCache {
	return &blockCache{limit: limit, slots: make(chan struct{}, fetches), all: map[blockKey]*list.Element{}}
}

// blockOf returns a block, or nil. Do not change it.
func (c *blockCache) blockOf(key blockKey) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.all[key]
	if e == nil {
		return nil
	}
	c.order.MoveToBack(e)
	return e.Value.(*block).data
}

// addBlock adds a copy of a block that was compared with sums. If the shard has other sums by now, it adds nothing: the
// block was not compared with these.
func (c *blockCache) addBlock(key blockKey, data []byte, sums *chunks) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all[key] != nil || key.g.sums[key.shard].Load() != sums || int64(len(data))+blockOverhead > c.limit {
		return
	}

	c.all[key] = c.order.PushBack(&block{key, bytes.Clone(data)})
	c.used += int64(len(data)) + blockOverhead
	for c.used > c.limit {
		c.removeElement(c.order.Front())
	}
}

// removeElement removes an element of order.
func (c *blockCache) removeElement(e *list.Element) {
	old := c.order.Remove(e).(*block)
	delete(c.all, old.key)
	c.used -= int64(len(old.data)) + blockOverhead
}

// forgetShard removes the blocks of a shard whose sums have changed.
func (c *blockCache) forgetShard(g *generation, shard int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var next *list.Element
	for e := c.order.Front(); e != nil; e = next {
		next = e.Next()
		if key := e.Value.(*block).key; key.g == g && key.shard == shard {
			c.removeElement(e)
		}
	}
}
