package otel

import (
	"context"
	"math"
	"sync"
	"sync/atomic"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/window"
)

// memory remembers the keys of records that the next consumer has accepted.
type memory struct {
	shards  []*shard
	refresh bool

	mu      sync.Mutex // guards sending, and orders changes of shards
	sending map[filter.Hash]*batch
}

// A shard has the keys of a part of all hashes.
type shard struct {
	*window.Filter[filter.Hash]
	path    string
	unsaved atomic.Bool // has keys that the file at path may not have
	early   uint64      // forgotten early so far; only the goroutine of keep uses it
}

// A batch is the keys of the records of a call, in the order of the records.
type batch struct {
	keys     []recordKey
	room     []byte        // for the text of a key
	done     chan struct{} // closed at the end
	repeated int           // number of keys with the verdict isRepeated
	keyless  int           // number of records without key
}

type recordKey struct {
	hash    filter.Hash
	verdict verdict
}

type verdict uint8

const (
	isNew verdict = iota
	isRepeated
	hasNoKey
)

const (
	shardKeys  = 1_000_000 // about the number of keys of a shard
	mostShards = 64
)

// shardsFor returns the number of shards for keys in all, and for how many keys each shard must have room: the keys of a
// shard are binomially distributed, and seven standard deviations more are never seen.
func shardsFor(keys uint64) (shards int, each uint64) {
	shards = int(min((keys+shardKeys-1)/shardKeys, mostShards))
	mean := float64(keys) / float64(shards)
	if shards > 1 {
		mean += 7 * math.Sqrt(mean)
	}
	return shards, uint64(math.Ceil(mean))
}

// shardOf returns the shard of a key. A filter uses the upper bits of Hi for the place of a key, and Lo for the rest.
func (m *memory) shardOf(h filter.Hash) *shard {
	return m.shards[uint64(uint32(h.Hi))*uint64(len(m.shards))>>32]
}

func (b *batch) reset() {
	clear(b.keys)
	*b = batch{keys: b.keys[:0], room: b.room, done: make(chan struct{})}
}

// add adds the next record, with the hash of its key, if any.
func (b *batch) add(h filter.Hash, ok bool) {
	k := recordKey{hash: h}
	if !ok {
		k.verdict = hasNoKey
		b.keyless++
	}
	b.keys = append(b.keys, k)
}

// begin decides which keys of a batch are new and reserves them until end. While another batch sends a record with one
// of the keys, begin waits, and reserves nothing meanwhile: so two batches never wait for each other.
func (m *memory) begin(ctx context.Context, b *batch) error {
	for {
		other := m.reserve(b)
		if other == nil {
			return nil
		}
		select {
		case <-other:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// reserve is begin without the wait: if another batch sends a record with one of the keys, it reserves nothing and
// returns the channel that is closed at the end of that batch.
func (m *memory) reserve(b *batch) (other <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b.repeated = 0
	for i := range b.keys {
		k := &b.keys[i]
		if k.verdict == hasNoKey {
			continue
		}

		k.verdict = isRepeated
		switch holder := m.sending[k.hash]; {
		case holder == b:
			b.repeated++
		case holder != nil:
			m.release(b.keys[:i])
			return holder.done
		case m.shardOf(k.hash).Contains(k.hash):
			b.repeated++
		default:
			k.verdict = isNew
			m.sending[k.hash] = b
		}
	}
	return nil
}

// release ends the reservation of the new keys. The caller holds mu.
func (m *memory) release(keys []recordKey) {
	for _, k := range keys {
		if k.verdict == isNew {
			delete(m.sending, k.hash)
		}
	}
}

// end ends the reservation of begin. If the records were accepted, it remembers the new keys, and renews the others with
// Config.Refresh.
func (m *memory) end(b *batch, accepted bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, k := range b.keys {
		if !accepted || k.verdict == hasNoKey || k.verdict == isRepeated && !m.refresh {
			continue
		}
		s := m.shardOf(k.hash)
		_ = s.Add(k.hash) // never full: a filter with window.Shorten makes room
		s.unsaved.Store(true)
	}
	m.release(b.keys)
	close(b.done)
}

// usage describes all shards together.
type usage struct {
	keys, capacity uint64
	fpr            float64 // of a new key now
	early          uint64  // keys that were forgotten early
}

func (m *memory) usage() (u usage) {
	for _, s := range m.shards {
		i := s.Info()
		u.keys += i.Keys
		u.capacity += i.Capacity
		u.early += i.Shortened
		u.fpr += i.FPR / float64(len(m.shards))
	}
	return u
}
