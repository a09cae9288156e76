package buckets

import (
	"bytes"
	"container/list"
	"sync"

	"golang.org/x/sync/singleflight"
)

// blockCache holds blocks within a limit of bytes, and drops the least recently used ones.
type blockCache struct {
	headers singleflight.Group // reads of headers
	slots   chan struct{}      // one for each request for blocks that runs

	mu    sync.Mutex
	limit int64
	used  int64
	all   map[blockKey]*list.Element
	order list.List // of *block, least recently used first
}

// blockKey contains the generation, so that after a Refresh no block of an older generation is found.
type blockKey struct {
	g      *generation
	shard  int
	offset int64 // in the file
}

type block struct {
	key  blockKey
	data []byte
}

// blockOverhead is about the memory of a block in addition to its bytes: for the map, the list and the allocator.
const blockOverhead = 256

func newBlockCache(limit int64, fetches int) *blockCache {
	return &blockCache{limit: limit, slots: make(chan struct{}, fetches), all: map[blockKey]*list.Element{}}
}

// get returns a block, or nil. Do not change it.
func (c *blockCache) get(key blockKey) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.all[key]
	if e == nil {
		return nil
	}
	c.order.MoveToBack(e)
	return e.Value.(*block).data
}

// put adds a copy of a block that was compared with sums, unless the shard has new sums.
func (c *blockCache) put(key blockKey, data []byte, sums *chunks) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all[key] != nil || key.g.sums[key.shard].Load() != sums || int64(len(data))+blockOverhead > c.limit {
		return
	}
	c.all[key] = c.order.PushBack(&block{key, bytes.Clone(data)})
	c.used += int64(len(data)) + blockOverhead
	for c.used > c.limit {
		c.remove(c.order.Front())
	}
}

// remove removes an element of order.
func (c *blockCache) remove(e *list.Element) {
	old := c.order.Remove(e).(*block)
	delete(c.all, old.key)
	c.used -= int64(len(old.data)) + blockOverhead
}

// forget removes the blocks of a shard, which has got new sums.
func (c *blockCache) forget(g *generation, shard int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var next *list.Element
	for e := c.order.Front(); e != nil; e = next {
		next = e.Next()
		if key := e.Value.(*block).key; key.g == g && key.shard == shard {
			c.remove(e)
		}
	}
}
