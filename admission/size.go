package admission

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/family/blocked"
)

// DefaultFPR is the rate of false admissions if Config has neither FPR nor Bytes.
const DefaultFPR = 0.01

// Config is what a Doorkeeper remembers and how well. Zero fields take the default noted beside them.
type Config struct {
	// Keys is the number of distinct keys that a generation holds. Required. A key is forgotten after at
	// least Keys and at most 2·Keys other distinct keys, on average over generations. Keys that are false
	// positives leave no trace and are counted as the number expected. A good start is a small multiple of
	// the number of objects in the cache.
	Keys uint64
	// FPR bounds the rate of false admissions: the share of keys that are admitted at their first request
	// when both generations are full, which is the worst moment. Each generation contributes about half.
	// Range: 1e-18 to 0.5. Default: DefaultFPR, unless Bytes is set.
	FPR float64
	// Bytes is the total memory, instead of FPR.
	Bytes uint64
	// Hasher hashes keys. Default: SipHash with a random secret for each Doorkeeper, so that clients cannot
	// compute keys that are false positives, or that fall into one shard and push its keys out.
	// filter.NewHasher is faster; use it if no outsider chooses the keys. A hash of 64 bits (filter.XXH64)
	// is an error.
	Hasher filter.Hasher
	// Shards is the number of parts with a lock and a rotation of their own, 1 to Keys. Default: one for
	// each 16,384 keys. With more shards requests wait less for each other, but the memory of a shard
	// varies more: relative to its size, by 1/√(keys of a shard).
	Shards int
}

// shardKeys is the number of keys of a shard if Config.Shards is 0.
const shardKeys = 16384

// geometry holds the sizes of a Doorkeeper.
type geometry struct {
	shards uint64
	keys   uint64 // distinct keys that one generation of one shard takes
	limit  uint64 // how many of them are expected to set a bit; a generation ends at this count
	blocks uint64 // blocks of one generation of one shard
	k      int    // probes a key
}

// generation is the bits of one generation of all shards.
type generation = blocked.Bits

// generation returns an empty generation.
func (s geometry) generation() (*generation, error) { return blocked.NewBits(s.blocks*s.shards, s.k) }

// geometry returns the sizes. Errors wrap filter.ErrConfig or filter.ErrTooLarge.
func (c Config) geometry() (s geometry, err error) {
	switch {
	case c.Keys == 0:
		return s, family.Invalid("Keys", 0, "must be at least 1")
	case c.Shards < 0 || uint64(c.Shards) > c.Keys:
		return s, family.Invalid("Shards", c.Shards, "must be 1 to Keys")
	case !(c.FPR == 0 || c.FPR >= minFPR && c.FPR <= maxFPR):
		return s, family.Invalid("FPR", c.FPR, "must be %g to %g, such as 0.01", minFPR, maxFPR)
	case c.Hasher.ID() == filter.XXH64:
		return s, family.Invalid("Hasher", c.Hasher.ID(), "must have 128 bits: a shorter hash cannot keep the rate")
	case c.FPR != 0 && c.Bytes != 0:
		return s, family.Invalid("Bytes", c.Bytes, "FPR and Bytes exclude each other")
	}
	s.shards = cmp.Or(uint64(c.Shards), (c.Keys-1)/shardKeys+1)
	if s.keys = (c.Keys-1)/s.shards + 1; s.keys > 1<<53 {
		return s, fmt.Errorf("%d keys: %w", c.Keys, filter.ErrTooLarge)
	}
	if c.Bytes != 0 {
		err = s.fit(c.Bytes)
	} else {
		err = s.keep(cmp.Or(c.FPR, DefaultFPR))
	}
	if hi, all := bits.Mul64(s.blocks, s.shards); err == nil && (hi != 0 || all >= 1<<53) {
		err = fmt.Errorf("%d keys: %w", c.Keys, filter.ErrTooLarge)
	}
	switch {
	case err != nil:
		return s, err
	case s.rate(s.keys, s.keys) > maxFPR:
		const reason = "too small for %d keys: the rate of false admissions would be above %g"
		return s, family.Invalid("Bytes", c.Bytes, reason, c.Keys, maxFPR)
	}
	s.limit = s.changing()
	return s, nil
}

// maxFPR is the highest rate allowed. A shard whose bits are all set would never rotate.
const maxFPR = 0.5

// minFPR is the lowest rate allowed: below it, blocked filters become unreasonably large.
const minFPR = 1e-18

// keep sets the smallest number of blocks that keeps the rate, and k.
func (s *geometry) keep(rate float64) (err error) {
	each := -math.Expm1(math.Log1p(-rate) / 2) // 1-(1-each)² = rate
	s.blocks, s.k, err = blocked.Config{Keys: s.keys, Size: family.Sizing{FPR: each}, Mean: true}.Geometry()
	return err
}

// fit sets the largest number of blocks that fits into bytes, and k.
func (s *geometry) fit(bytes uint64) (err error) {
	hi, least := bits.Mul64(s.shards, 2*blockBytes+shardBytes)
	if hi != 0 || bytes < least {
		return family.Invalid("Bytes", bytes, "must be at least %d for %d shards", least, s.shards)
	}
	s.blocks, s.k, err = blocked.Config{Keys: s.keys, Blocks: (bytes/s.shards - shardBytes) / (2 * blockBytes)}.Geometry()
	return err
}

// changing returns the expected number of keys of a generation that set a bit: keys times the mean of 1 - rate while
// the generation fills. The other keys are false positives of the current generation and cannot be counted.
func (s *geometry) changing() uint64 {
	const steps = 12
	var same float64
	for i := range steps {
		n := (2*float64(i) + 1) / (2 * steps) * float64(s.keys)
		same += blocked.FPR(uint64(n), s.blocks, s.k, blocked.Line)
	}
	return max(1, s.keys-uint64(same/steps*float64(s.keys)))
}

// blockBytes is the size of a block in bytes.
const blockBytes = 64

// Bytes returns the memory of the Doorkeeper in bytes, without a fixed part of a few hundred bytes. It never changes.
func (d *Doorkeeper) Bytes() uint64 {
	return 2*d.generations[0].Bytes() + uint64(len(d.shards))*shardBytes
}

// FPR returns the predicted rate of false admissions just before a rotation, when it is highest: the share of keys that
// are admitted at their first request. It is at most Config.FPR.
func (d *Doorkeeper) FPR() float64 { return d.FPRAt(d.geometry.keys, d.geometry.keys) }

// FPRAt returns the predicted rate of false admissions of a shard whose previous and current generations have taken the
// given numbers of distinct keys. A call takes about 1 ms.
func (d *Doorkeeper) FPRAt(previous, current uint64) float64 {
	return d.geometry.rate(previous, current)
}

// rate returns 1-(1-p)(1-q), where p and q are the rates of the two generations (blocked.FPR).
func (s *geometry) rate(previous, current uint64) float64 {
	p := blocked.FPR(previous, s.blocks, s.k, blocked.Line)
	q := p
	if current != previous {
		q = blocked.FPR(current, s.blocks, s.k, blocked.Line)
	}
	return p + q - p*q
}
