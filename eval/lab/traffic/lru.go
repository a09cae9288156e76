package traffic

import "container/list"

// LRU is a cache of a fixed number of objects that evicts the least recently used one. Objects are numbered from 0, so
// that a slice replaces the map of general caches such as golang-lru. It is not safe for concurrent use.
type LRU struct {
	size  int
	order *list.List      // the most recent first; values are object numbers
	where []*list.Element // nil for an object that is not in the cache
}

// NewLRU returns an empty cache of size objects, at least 1, for objects 0 ... objects-1.
func NewLRU(size, objects int) *LRU {
	return &LRU{size: size, order: list.New(), where: make([]*list.Element, objects)}
}

// Use reports whether an object is in the cache. If so it becomes the most recently used one.
func (c *LRU) Use(object uint32) bool {
	e := c.where[object]
	if e != nil {
		c.order.MoveToFront(e)
	}
	return e != nil
}

// Put stores an object, which must not be in the cache.
func (c *LRU) Put(object uint32) {
	if c.order.Len() < c.size {
		c.where[object] = c.order.PushFront(object)
		return
	}
	e := c.order.Back() // reused for the new object
	c.where[e.Value.(uint32)] = nil
	e.Value = object
	c.where[object] = e
	c.order.MoveToFront(e)
}
