package bloomery

import (
	"math/rand/v2"
	"sync"

	"github.com/bloomery/bloomery/filter"
)

// Add adds a key.
func (b *Builder) Add(key []byte) error {
	if b.raw != nil {
		return b.raw.add(string(key))
	}
	return b.AddHash(b.hasher.Sum(key))
}

// AddString is Add for a string.
func (b *Builder) AddString(key string) error {
	if b.raw != nil {
		return b.raw.add(string([]byte(key))) // a copy, so that key does not escape
	}
	return b.AddHash(b.hasher.SumString(key))
}

// AddUint64 is Add for the eight bytes of key, little endian.
func (b *Builder) AddUint64(key uint64) error {
	if b.raw != nil {
		return b.raw.add(string(littleEndian(key)))
	}
	return b.AddHash(b.hasher.SumUint64(key))
}

// AddHash adds a key hashed by Hasher. Families that take raw keys return an error wrapping errors.ErrUnsupported.
func (b *Builder) AddHash(h filter.Hash) error {
	if b.raw != nil {
		return errRawKeys
	}
	s := &b.stripes[rand.Uint32()%stripes]
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.spent {
		return errSpent
	}
	if s.hs == nil {
		s.hs = make([]filter.Hash, 0, stripeLen)
	}
	s.hs = append(s.hs, h)
	if len(s.hs) < stripeLen {
		return nil
	}
	hs := s.hs
	s.hs = s.hs[:0]
	return b.give(hs)
}

// AddMany adds keys. Batches of a few thousand keys are fastest.
func (b *Builder) AddMany(keys [][]byte) error {
	if b.raw != nil {
		return b.raw.addMany(keys)
	}
	buf := hashBuffers.Get().(*[]filter.Hash)
	hs := (*buf)[:0]
	for _, k := range keys {
		hs = append(hs, b.hasher.Sum(k))
	}
	err := b.give(hs)
	*buf = hs[:0]
	hashBuffers.Put(buf)
	return err
}

var hashBuffers = sync.Pool{New: func() any { return new([]filter.Hash) }}

// AddHashes adds keys hashed by Hasher. It does not keep hs. Errors are those of AddHash.
func (b *Builder) AddHashes(hs []filter.Hash) error {
	if b.raw != nil {
		return errRawKeys
	}
	return b.give(hs)
}

// Hasher returns the hash function of the keys.
func (b *Builder) Hasher() filter.Hasher { return b.hasher }

// give passes hashes to the builder or the spool.
func (b *Builder) give(hs []filter.Hash) error {
	b.added.Add(uint64(len(hs)))
	b.losses.add(hs)
	switch {
	case b.shards != nil:
		return b.shards.Add(hs)
	case b.spool != nil:
		return b.spool.Add(hs)
	case b.inner != nil:
		if b.members != nil {
			if err := b.members.Add(hs); err != nil {
				return err
			}
		}
		return b.inner.AddMany(hs)
	}
	return errSpent
}
