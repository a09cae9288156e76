package buckets

import (
	"container/list"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
)

// ErrClosed means that a Set was used after Close. It wraps filter.ErrClosed.
var ErrClosed = fmt.Errorf("the set of the bucket is %w", filter.ErrClosed)

// hashSum is the SHA-256 of a shard and its key in the cache, so that a shard that is in two manifests is fetched once.
type hashSum = [sha256.Size]byte

// cache keeps fetched shards within a limit of bytes. An entry goes through these states:
//
//	absent ──► loading ──► in use ◄──► idle ──► absent (evicted, least recently used first)
//	              └──► absent, on error or when nobody waits any more
//
// Room is reserved before a fetch begins. A query that uses an entry never waits for another entry, so every wait for
// room ends.
type cache struct {
	limit   int64
	timeout time.Duration
	place   place
	stats   *counters

	base context.Context // context of all fetches
	stop context.CancelCauseFunc
	wg   sync.WaitGroup // wait group of fetches

	mu      sync.Mutex
	used    int64
	entries map[hashSum]*entry
	order   list.List     // order of *entry, loaded or kept, least recently used first
	waiting int           // for freed
	freed   chan struct{} // if a goroutine waits: closed when an entry becomes idle or absent
	closed  bool
}

// place is the place of the bytes of shards: memory, or a folder.
type place interface {
	// loadShard returns the Set of a shard, from the kept bytes or from fetch.
	loadShard(ctx context.Context, key hashSum, bytes int64, fetch fetcher) (*bloomery.Set, error)
	// dropShard removes the kept bytes of a shard.
	dropShard(key hashSum) error
	// close ends the use of the place. It does not remove files.
	close() error
}

type entry struct {
	key     hashSum
	bytes   int64
	users   int           // queries that read it or wait for it
	at      *list.Element // element of order, or nil
	loading chan struct{} // closed when the load ends; nil in other states
	cancel  context.CancelFunc
	held    bool // room is reserved
	set     *bloomery.Set
	err     error
}

var errAbandoned = errors.New("nobody waits for the shard any more")

func newCache(o Options, p place, stats *counters) *cache {
	c := &cache{
		limit: o.CacheBytes, timeout: o.Timeout, place: p, stats: stats,
		entries: map[hashSum]*entry{}, freed: make(chan struct{}),
	}
	c.base, c.stop = context.WithCancelCause(context.Background())
	return c
}

// useIfLoaded marks the entry of a shard as in use and returns it, or returns nil if the shard is not loaded. Release
// the entry after use.
func (c *cache) useIfLoaded(key hashSum) *entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[key]
	if e == nil || e.set == nil || c.closed {
		return nil
	}
	e.users++
	c.stats.hits.Add(1)
	return e
}

// useShard is useIfLoaded, but loads the shard if needed, once for all waiting queries.
func (c *cache) useShard(ctx context.Context, key hashSum, bytes int64, fetch fetcher) (*entry, error) {
	for first := true; ; first = false {
		c.mu.Lock()
		if c.closed {
			c.mu.Unlock()
			return nil, ErrClosed
		}
		e := c.entries[key]
		if e == nil {
			e = &entry{key: key, bytes: bytes}
			c.entries[key] = e
		}
		e.users++
		if e.set != nil {
			c.mu.Unlock()
			c.stats.hits.Add(1)
			return e, nil
		}
		if first {
			c.stats.misses.Add(1)
		}
		if e.loading == nil {
			c.startLoad(e, fetch)
		}
		loading := e.loading
		c.mu.Unlock()

		select {
		case <-loading:
		case <-ctx.Done():
			c.release(e)
			return nil, context.Cause(ctx)
		}
		if e.err == nil {
			return e, nil
		}
		// All queries that waited for the load had ended before this one came: load again.
		if !errors.Is(e.err, errAbandoned) {
			return nil, e.err
		}
	}
}

// release ends a use. If no query waits for a running load any more, it cancels the load.
func (c *cache) release(e *entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.at != nil {
		c.order.MoveToBack(e.at)
	}
	if e.users--; e.users > 0 {
		return
	}
	if e.set != nil {
		c.wakeWaiting()
	} else if e.cancel != nil {
		e.cancel()
	}
}

// wakeWaiting wakes up all goroutines that wait for an entry to become idle or absent.
func (c *cache) wakeWaiting() {
	if c.waiting > 0 {
		close(c.freed)
		c.freed, c.waiting = make(chan struct{}), 0
	}
}

// oldestIdle returns the idle entry that was used least recently, or nil.
func (c *cache) oldestIdle() *entry {
	for at := c.order.Front(); at != nil; at = at.Next() {
		if e := at.Value.(*entry); e.users == 0 && e.loading == nil {
			return e
		}
	}
	return nil
}

// startLoad loads an entry in its own goroutine, so that the load does not end with the query that began it.
func (c *cache) startLoad(e *entry, fetch fetcher) {
	ctx, stop := c.fetching()
	ctx, abandon := context.WithCancelCause(ctx)
	e.loading, e.err = make(chan struct{}), nil
	e.cancel = func() { abandon(errAbandoned) }
	c.wg.Go(func() {
		defer stop()
		defer abandon(nil)
		err := c.reserveRoom(ctx, e)
		var set *bloomery.Set
		if err == nil {
			set, err = c.place.loadShard(ctx, e.key, e.bytes, fetch)
		}
		if err != nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}

		c.mu.Lock()
		defer c.mu.Unlock()
		e.set, e.err, e.cancel = set, err, nil
		close(e.loading)
		e.loading = nil
		if err != nil {
			c.removeEntry(e)
			return
		}
		if e.at == nil {
			e.at = c.order.PushBack(e)
		}
		if e.users == 0 { // the queries ended during the load, so the entry is idle at once
			c.wakeWaiting()
		}
	})
}

// fetching returns the context of a fetch.
func (c *cache) fetching() (context.Context, context.CancelFunc) {
	late := fmt.Errorf("%w: not fetched within %v", context.DeadlineExceeded, c.timeout)
	return context.WithTimeoutCause(c.base, c.timeout, late)
}

// reserveRoom makes room for an entry. It waits while the entries in use take the whole cache.
func (c *cache) reserveRoom(ctx context.Context, e *entry) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for !e.held {
		for c.used+e.bytes > c.limit {
			old := c.oldestIdle()
			if old == nil {
				break
			}
			if err := c.evictEntry(old); err != nil {
				return err
			}
		}
		if c.used+e.bytes <= c.limit {
			c.used += e.bytes
			e.held = true
			break
		}

		// Take the channel under the lock: an entry that becomes idle after Unlock closes this channel.
		freed := c.freed
		c.waiting++
		c.mu.Unlock()
		select {
		case <-freed:
		case <-ctx.Done():
		}

		c.mu.Lock()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

// evictEntry removes an idle entry and its kept bytes.
func (c *cache) evictEntry(e *entry) error {
	var err error
	if e.set != nil {
		err = e.set.Close()
		e.set = nil
	}
	err = errors.Join(err, c.place.dropShard(e.key))
	c.stats.evictions.Add(1)
	c.removeEntry(e)
	return err
}

// removeEntry makes an entry absent.
func (c *cache) removeEntry(e *entry) {
	if e.held {
		c.used -= e.bytes
		e.held = false
	}
	if e.at != nil {
		c.order.Remove(e.at)
		e.at = nil
	}
	delete(c.entries, e.key)
	c.wakeWaiting()
}

// adoptShard adds a shard that the place has kept from an earlier Set. The first query loads the shard. adoptShard
// returns false if the cache has no room for it.
func (c *cache) adoptShard(key hashSum, bytes int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.used+bytes > c.limit || c.entries[key] != nil {
		return false
	}
	e := &entry{key: key, bytes: bytes, held: true}
	c.used += bytes
	c.entries[key] = e
	e.at = c.order.PushBack(e)
	return true
}

// resident returns the bytes in the cache, reserved room included, and the number of loaded shards.
func (c *cache) resident() (bytes int64, shards int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.entries {
		if e.set != nil {
			shards++
		}
	}
	return c.used, shards
}

// firstError returns an error if the file of a loaded shard was overwritten, or ErrClosed.
func (c *cache) firstError() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return ErrClosed
	}

	for _, e := range c.entries {
		if e.set != nil {
			if err := e.set.Err(); err != nil {
				return err
			}
		}
	}
	return nil
}

// close cancels fetches, waits for queries, and closes all shards.
func (c *cache) close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.stop(ErrClosed)
	c.wg.Wait() // outside of the lock, which the fetches take at their end

	c.mu.Lock()
	defer c.mu.Unlock()
	for c.hasUsers() { // an open mapping must not end under a query
		freed := c.freed
		c.waiting++
		c.mu.Unlock()
		<-freed
		c.mu.Lock()
	}

	var all []error
	for _, e := range c.entries {
		if e.set != nil {
			all = append(all, e.set.Close())
		}
	}

	clear(c.entries)
	c.order.Init()
	return errors.Join(append(all, c.place.close())...)
}

// hasUsers reports whether a query reads a shard.
func (c *cache) hasUsers() bool {
	for _, e := range c.entries {
		if e.set != nil && e.users > 0 {
			return true
		}
	}
	return false
}
