package intake

import (
	"math/rand/v2"
	"sync"

	"github.com/bloomery/bloomery/filter"
)

const (
	stripes   = 16   // goroutines that can add single keys at the same time without waiting for each other
	stripeLen = 4096 // hashes of a full stripe: 64 KiB
)

// stripe collects the hashes of keys that are added one by one.
type stripe struct {
	mu     sync.Mutex
	hs     []filter.Hash
	valued []filter.Hash // hashes of keys with values
	values []uint64      // the values of valued
	err    error         // the reason why the stripe accepts no keys, or nil
	_      [32]byte      // so that two locks do not share a cache line
}

// AddHash adds a hashed key.
func (in *Intake) AddHash(h filter.Hash) error {
	s := &in.stripes[rand.Uint32()%stripes]
	s.mu.Lock()
	// In the usual case the stripe does not become full, and there is no deferred call.
	if len(s.hs)+1 < cap(s.hs) {
		s.hs = append(s.hs, h)
		s.mu.Unlock()
		return nil
	}
	defer s.mu.Unlock()
	return in.addLast(s, h)
}

// addLast adds a hashed key to a stripe that becomes full, is new, or accepts no keys.
func (in *Intake) addLast(s *stripe, h filter.Hash) error {
	if s.err != nil {
		return s.err
	}
	if s.hs == nil {
		s.hs = make([]filter.Hash, 0, stripeLen)
	}
	if s.hs = append(s.hs, h); len(s.hs) < stripeLen {
		return nil
	}

	// The Sink does not keep hs, and the caller holds the lock, so the stripe can reuse the memory.
	hs := s.hs
	s.hs = s.hs[:0]
	return in.AddHashes(hs)
}

// AddValueHash adds a hashed key with its value. If the Sink does not take the value, the key is not added.
func (in *Intake) AddValueHash(h filter.Hash, value uint64) error {
	if err := in.checkValues(value); err != nil {
		return err
	}

	s := &in.stripes[rand.Uint32()%stripes]
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}

	s.valued, s.values = append(s.valued, h), append(s.values, value)
	if len(s.valued) < stripeLen {
		return nil
	}

	hs, values := s.valued, s.values
	s.valued, s.values = s.valued[:0], s.values[:0]
	return in.giveValues(hs, values)
}

// Flush passes on the keys that wait in stripes. After Close it returns ErrSpent.
func (in *Intake) Flush() (err error) {
	if in.closers == nil {
		return ErrSpent
	}

	for i := range in.stripes {
		s := &in.stripes[i]
		if len(s.hs) > 0 && err == nil {
			err = in.AddHashes(s.hs)
		}
		if len(s.valued) > 0 && err == nil {
			err = in.giveValues(s.valued, s.values)
		}
		s.hs, s.valued, s.values = nil, nil, nil
	}
	return err
}

// refuse makes stripes return an error instead of taking keys.
func (in *Intake) refuse(err error) {
	for i := range in.stripes {
		s := &in.stripes[i]
		s.mu.Lock()
		s.hs, s.valued, s.values, s.err = nil, nil, nil, err
		s.mu.Unlock()
	}
}
