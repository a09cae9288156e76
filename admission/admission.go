// Package admission decides what is worth a place in a cache: what is asked for a second time. Most objects that a content
// delivery network is asked for are never asked for again; to store them costs a disk write each, and evicts something better.
//
// Doorkeeper is a filter that forgets, in two generations. Who asks for a key asks both, and puts it into the current one;
// when that has taken so many keys it becomes the previous one, and what was the previous one is emptied and takes its place:
//
//	                  one shard                    the blocks of two arrays, as many to each shard
//	         ┌──────────────────────┐        ┌────────┬────────┬────────┬─────┐
//	key ──┬─ │ current:   has? put  │        │ A  ... │ A prev │ A cur  │ ... │
//	      │  ├──────────────────────┤        ├────────┼────────┼────────┼─────┤
//	      └─ │ previous:  has?      │        │ B  ... │ B cur  │ B prev │ ... │
//	         └──────────────────────┘        └────────┴────────┴────────┴─────┘
//	                                          shard 0   shard 1  shard 2  ...
//
// So a key is remembered for one to two generations after it was asked for last, in memory that never grows. "Cache on second
// hit" is the rule of Maggs and Sitaraman (CCR 45, 2015); a filter at the door that is dropped now and then is the doorkeeper
// of TinyLFU (Einziger, Friedman and Manes, ACM ToS 13, 2017), hence the name. One of a single generation forgets everything
// at once; two forget by age.
//
// The keys are divided among shards of some 16 thousand, each with its lock, its count and its own time to rotate. A rotation
// empties one generation of one shard, some 23 kB at a rate of 1%, which takes one or two microseconds and has only requests
// for that shard wait: there is no moment at which all stand still, and no spare to swap in. Shards get their keys at random, so
// that the memory of one is a generation of Keys other keys give or take a hundredth.
//
//	Hash  Hi -> block ⌊Hi·blocks / 2^64⌋ and with it the shard, which holds as many blocks as any other
//	      Lo -> the bits in it (package blocked, line layout)
package admission

import (
	"crypto/rand"
	"math/bits"
	"sync"

	"github.com/bloomery/bloomery/family/blocked"
	"github.com/bloomery/bloomery/filter"
)

// Doorkeeper admits a key that was asked for before. It is safe for concurrent use, and a request takes one short lock.
type Doorkeeper struct {
	hasher      filter.Hasher
	shape       shape
	generations [2]*blocked.Bits
	shards      []shard
}

// shard is a part of the keys. It fills a cache line, so that no two wait for each other by accident.
type shard struct {
	mu                            sync.Mutex
	current                       uint64 // which of the two generations
	held                          uint64 // keys that set a bit in it
	requests, admitted, rotations uint64
	_                             [16]byte
}

// shardBytes is the size of a shard.
const shardBytes = 64

// New returns a Doorkeeper that remembers nothing yet. Errors wrap filter.ErrConfig or filter.ErrTooLarge.
func New(c Config) (*Doorkeeper, error) {
	s, err := c.shape()
	if err != nil {
		return nil, err
	}
	d := &Doorkeeper{hasher: c.Hasher, shape: s}
	if d.hasher == (filter.Hasher{}) {
		var secret [filter.SecretSize]byte
		_, _ = rand.Read(secret[:]) // never fails
		d.hasher = filter.NewKeyedHasher(secret)
	}
	for i := range d.generations {
		if d.generations[i], err = blocked.NewBits(s.blocks*s.shards, s.k); err != nil {
			return nil, err
		}
	}
	d.shards = make([]shard, s.shards)
	return d, nil
}

// Admit reports whether the key was asked for before, as far as the memory goes, and remembers that it was now. Both are one
// step: of any number of concurrent first requests for a key exactly one is told false, or none if the key is taken for
// another one by mistake. Admit does not allocate.
func (d *Doorkeeper) Admit(key []byte) bool { return d.AdmitHash(d.hasher.Sum(key)) }

// longest is the longest string that is copied to the stack, where the hash wants bytes.
const longest = 256

// AdmitString is Admit([]byte(key)). It does not allocate unless the key is longer than 256 bytes and the hash is a keyed one.
func (d *Doorkeeper) AdmitString(key string) bool {
	if d.hasher.ID() == filter.SipHash && len(key) <= longest {
		var room [longest]byte
		return d.Admit(room[:copy(room[:], key)])
	}
	return d.AdmitHash(d.hasher.SumString(key))
}

// AdmitHash is Admit for a key that was hashed before: by Hasher, or by any other hash of 128 bits that are all as good as
// random. A hash that clients can compute lets them choose keys that are admitted at their first request; see Config.Hasher.
func (d *Doorkeeper) AdmitHash(h filter.Hash) bool {
	at, _ := bits.Mul64(h.Hi, uint64(len(d.shards)))
	s := &d.shards[at]
	s.mu.Lock()
	known := d.generations[s.current^1].Has(h)
	if d.generations[s.current].Put(h) {
		if s.held++; s.held == d.shape.limit {
			d.rotate(s, at)
		}
	} else {
		known = true
	}
	s.requests++
	if known {
		s.admitted++
	}
	s.mu.Unlock()
	return known
}

// rotate begins a generation of a shard, which is locked.
func (d *Doorkeeper) rotate(s *shard, at uint64) {
	s.current ^= 1
	d.generations[s.current].Clear(at*d.shape.blocks, (at+1)*d.shape.blocks)
	s.held = 0
	s.rotations++
}

// Hasher returns what hashes keys for AdmitHash.
func (d *Doorkeeper) Hasher() filter.Hasher { return d.hasher }

// Stats is what a Doorkeeper has done since it was made.
type Stats struct {
	Requests  uint64 // calls of Admit and its kin
	Admitted  uint64 // those that were told true
	Rotations uint64 // generations that were begun anew, in all shards; divided by Shards, those of the whole
	Held      uint64 // keys in the current generations, but for those that looked like others
	Shards    int
}

// Stats returns the counts. It takes the lock of one shard after the other, so that requests which are under way meanwhile
// may be counted or not.
func (d *Doorkeeper) Stats() Stats {
	all := Stats{Shards: len(d.shards)}
	for i := range d.shards {
		s := &d.shards[i]
		s.mu.Lock()
		all.Requests += s.requests
		all.Admitted += s.admitted
		all.Rotations += s.rotations
		all.Held += s.held
		s.mu.Unlock()
	}
	return all
}
