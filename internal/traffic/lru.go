package traffic

import "container/list"

// LRU is a cache of so many objects that evicts the one that was used least recently. The objects of a stream are numbered,
// so a slice finds them; container/list is all that is left to do. (golang-lru has a map there, is a dependency under another
// licence than ours, and would not be shorter.)
type LRU struct {
	size  int
	order *list.List      // the most recent first; values are object numbers
	where []*list.Element // nil for an object that is not in the cache
}

// NewLRU returns an empty cache of that size for a stream of so many objects.
func NewLRU(size, objects int) *LRU {
	return &LRU{size: size, order: list.New(), where: make([]*list.Element, objects)}
}

// Use reports whether an object is in the cache, and makes it the most recent one if so.
func (c *LRU) Use(object uint32) bool {
	e := c.where[object]
	if e != nil {
		c.order.MoveToFront(e)
	}
	return e != nil
}

// Put stores an object that is not in the cache.
func (c *LRU) Put(object uint32) {
	if c.order.Len() < c.size {
		c.where[object] = c.order.PushFront(object)
		return
	}
	e := c.order.Back() // is used again for the new object
	c.where[e.Value.(uint32)] = nil
	e.Value = object
	c.where[object] = e
	c.order.MoveToFront(e)
}
