// Package admission decides which objects a cache stores: those that are requested for a second time.
//
// Most objects that a content delivery network serves are requested once and never again. Storing one costs a disk
// write and evicts an object that is worth more. [New] makes a [Doorkeeper], and [Doorkeeper.Admit] says for each
// request whether to store its object. A Doorkeeper is a filter of recent keys in fixed memory, in two generations:
//
//	                  one shard                   two arrays of blocks; each shard owns the same range in both
//	         ┌──────────────────────┐        ┌────────┬────────┬────────┬─────┐
//	key ──┬─ │ current:   has? put  │        │ A  ... │ A prev │ A cur  │ ... │
//	      │  ├──────────────────────┤        ├────────┼────────┼────────┼─────┤
//	      └─ │ previous:  has?      │        │ B  ... │ B cur  │ B prev │ ... │
//	         └──────────────────────┘        └────────┴────────┴────────┴─────┘
//	                                          shard 0   shard 1  shard 2  ...
//
// What happens to a key:
//
//   - A request tests both generations and adds the key to the current one.
//   - When the current generation is full, it becomes the previous one. The old previous generation is cleared and
//     becomes the current one. This is a rotation.
//   - A key is therefore remembered for one to two generations after its last request. A filter with one generation
//     would forget all keys at once.
//
// Keys are divided among shards of about 16,384 keys. Each shard has a lock and a key count and rotates on its own. A
// rotation clears one generation of one shard, about 23 kB at a rate of 1%. It takes 1 to 2 µs and blocks requests for
// that shard only. No spare generation is needed. Keys fall into shards at random, so the memory of one shard spans
// Keys other keys give or take about 1%.
//
// Bits of the hash:
//
//	Hi -> block ⌊Hi·blocks / 2^64⌋, and with it the shard: all shards have the same number of blocks
//	Lo -> the bits in the block (family blocked, layout=line)
//
// Sources: "cache on second hit" is by Maggs and Sitaraman, CCR 45, 2015. The name is from TinyLFU (Einziger, Friedman
// and Manes, ACM ToS 13, 2017), a filter in front of a cache that is cleared from time to time.
package admission

import (
	"math/bits"
	"sync"

	"github.com/bloomery/bloomery/filter"
)

// Doorkeeper admits a key that was requested before. It is safe for concurrent use. A request holds the lock of one
// shard. Printing, logging or marshalling a Doorkeeper gives its sizes only, never its secret.
type Doorkeeper struct {
	hasher      filter.Hasher
	geometry    geometry
	generations [2]*generation
	shards      []shard
}

// shard is the state of one part of the keys. It fills one cache line, so that two shards never share one.
type shard struct {
	mu                            sync.Mutex
	current                       uint64 // index of the current generation, 0 or 1
	held                          uint64 // keys that set a bit in the current generation
	requests, admitted, rotations uint64
	_                             [16]byte
}

// shardBytes is the size of a shard in bytes.
const shardBytes = 64

// New returns an empty Doorkeeper. Errors wrap filter.ErrConfig or filter.ErrTooLarge.
func New(c Config) (*Doorkeeper, error) {
	s, err := c.geometry()
	if err != nil {
		return nil, err
	}
	d := &Doorkeeper{hasher: c.Hasher, geometry: s}
	if d.hasher == (filter.Hasher{}) {
		d.hasher = filter.NewKeyedHasher(*filter.NewSecret())
	}
	for i := range d.generations {
		if d.generations[i], err = s.generation(); err != nil {
			return nil, err
		}
	}
	d.shards = make([]shard, s.shards)
	return d, nil
}

// Admit reports whether the key was requested before and is still remembered, and remembers this request.
//
// Both happen in one atomic step: of any number of concurrent first requests for a key, exactly one returns false. If
// the key is a false positive, none does. Admit does not allocate.
func (d *Doorkeeper) Admit(key []byte) bool { return d.AdmitHash(d.hasher.Sum(key)) }

// AdmitString is Admit([]byte(key)) without a copy of the key.
func (d *Doorkeeper) AdmitString(key string) bool { return d.AdmitHash(d.hasher.SumString(key)) }

// AdmitHash is Admit for the hash of a key. The hash comes from Hasher or from another function with 128 uniform bits.
// If clients can compute the hash, they can choose keys that are admitted at their first request; see Config.Hasher.
func (d *Doorkeeper) AdmitHash(h filter.Hash) bool {
	at, _ := bits.Mul64(h.Hi, uint64(len(d.shards)))
	s := &d.shards[at]
	s.mu.Lock()
	known := d.generations[s.current^1].Has(h)
	if d.generations[s.current].Put(h) {
		if s.held++; s.held == d.geometry.limit {
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

// rotate begins a new generation in shard number at. The caller holds its lock.
func (d *Doorkeeper) rotate(s *shard, at uint64) {
	s.current ^= 1
	d.generations[s.current].Clear(at*d.geometry.blocks, (at+1)*d.geometry.blocks)
	s.held = 0
	s.rotations++
}

// Hasher returns the Hasher to use for AdmitHash.
func (d *Doorkeeper) Hasher() filter.Hasher { return d.hasher }

// Stats are counts since New.
type Stats struct {
	Requests  uint64 // calls of Admit, AdmitString and AdmitHash
	Admitted  uint64 // calls that returned true
	Rotations uint64 // of all shards; divided by Shards, the generations that were begun anew
	Held      uint64 // keys in the current generations, without those that were false positives when added
	Shards    int
}

// Stats returns the counts. It locks one shard after the other, so requests that run at the same time may or may not be
// counted.
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
