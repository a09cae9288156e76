package admission

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"

	"github.com/bloomery/bloomery/family/blocked"
	"github.com/bloomery/bloomery/filter"
)

// DefaultFPR is the rate of false admissions that a Config without a size aims at.
const DefaultFPR = 0.01

// Config says what to remember and how well. Fields that are 0 have the default that stands with them.
type Config struct {
	// Keys is how many distinct keys a generation holds: a key is forgotten after as many others came, at the earliest, and
	// after twice as many at the latest, on average over generations; of those that look like others as many are reckoned as
	// are expected. Needed. Some times the number of objects that the cache holds is a good start.
	Keys uint64
	// FPR is the rate of false admissions that is kept: the share of keys asked for the first time that are admitted all the
	// same, when both generations are full, which is when it is highest. Each generation has about half of it. Default:
	// DefaultFPR, unless Bytes is set.
	FPR float64 // 1e-18 to 0.5
	// Bytes is the memory of all, instead of FPR.
	Bytes uint64
	// Hasher hashes keys. Default: SipHash under a secret that is drawn anew for every Doorkeeper, so that nobody can compute
	// which keys look like others: a client who could would have objects stored that nobody else asks for, or fill one shard to
	// have it forget. filter.NewHasher is faster, for keys that no stranger chooses. One of 64 bits (filter.XXH64) is an error.
	Hasher filter.Hasher
	// Shards is the number of parts that have locks, and rotate, on their own. Default: one for every 16384 keys. More of
	// them make requests wait less for each other, and the memory of each vary more: by the inverse of the root of its keys.
	Shards int
}

// shardKeys is the number of keys of a shard if Config.Shards does not say.
const shardKeys = 16384

// shape is the size of a Doorkeeper.
type shape struct {
	shards uint64
	keys   uint64 // distinct ones that a generation of a shard takes
	limit  uint64 // those of them that set a bit, as expected: so many end a generation
	blocks uint64 // of a generation of a shard
	k      int    // probes a key
}

// shape returns the size. Errors wrap filter.ErrConfig or filter.ErrTooLarge.
func (c Config) shape() (s shape, err error) {
	switch {
	case c.Keys == 0:
		return s, &filter.ConfigError{Field: "Keys", Value: 0, Reason: "want how many keys a generation holds"}
	case c.Shards < 0 || uint64(c.Shards) > c.Keys:
		return s, &filter.ConfigError{Field: "Shards", Value: c.Shards, Reason: "want 1 to Keys"}
	case !(c.FPR == 0 || c.FPR >= minFPR && c.FPR <= maxFPR):
		return s, &filter.ConfigError{Field: "FPR", Value: c.FPR, Reason: fmt.Sprintf("want a rate of %g to %g, such as 0.01", minFPR, maxFPR)}
	case c.Hasher.ID() == filter.XXH64:
		return s, &filter.ConfigError{Field: "Hasher", Value: c.Hasher.ID(), Reason: "want a hash of 128 bits: with fewer the rate would not be kept"}
	case c.FPR != 0 && c.Bytes != 0:
		return s, &filter.ConfigError{Field: "Bytes", Value: c.Bytes, Reason: "give one of FPR and Bytes"}
	}
	if s.shards = uint64(c.Shards); s.shards == 0 {
		s.shards = (c.Keys-1)/shardKeys + 1
	}
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
		return s, &filter.ConfigError{Field: "Bytes", Value: c.Bytes, Reason: fmt.Sprintf("too little for %d keys: more than %g of those asked for once would be admitted", c.Keys, maxFPR)}
	}
	s.limit = s.changing()
	return s, nil
}

// maxFPR is the highest rate that makes sense. Beside, a block with all bits set would never rotate.
const maxFPR = 0.5

// minFPR is the lowest that a filter of blocks keeps at a size that makes sense.
const minFPR = 1e-18

// keep chooses as few blocks as keep a rate.
func (s *shape) keep(rate float64) (err error) {
	each := -math.Expm1(math.Log1p(-rate) / 2) // 1-(1-each)² = rate
	s.blocks, s.k, err = blocked.Config{Keys: s.keys, Size: filter.Sizing{FPR: each}}.Geometry()
	return err
}

// fit chooses as many blocks as bytes allow.
func (s *shape) fit(bytes uint64) (err error) {
	hi, least := bits.Mul64(s.shards, 2*blockBytes+shardBytes)
	if hi != 0 || bytes < least {
		return &filter.ConfigError{Field: "Bytes", Value: bytes, Reason: fmt.Sprintf("want %d or more for %d shards", least, s.shards)}
	}
	s.blocks, s.k, err = blocked.Config{Keys: s.keys, Blocks: (bytes/s.shards - shardBytes) / (2 * blockBytes)}.Geometry()
	return err
}

// changing returns how many of the keys of a generation are expected to set a bit. The others look like keys that are there and
// leave no trace to be counted: after as many as the rate says, the mean of 1 - rate over a generation that fills.
func (s *shape) changing() uint64 {
	const steps = 12
	var same float64
	for i := range steps {
		n := (2*float64(i) + 1) / (2 * steps) * float64(s.keys)
		same += blocked.FPR(uint64(n), s.blocks, s.k, blocked.Line)
	}
	return max(1, s.keys-uint64(same/steps*float64(s.keys)))
}

// blockBytes is the size of a block of the filters.
const blockBytes = 64

// Bytes returns the memory that a Doorkeeper takes, now and for ever, but for some hundred bytes.
func (d *Doorkeeper) Bytes() uint64 {
	return 2*d.generations[0].Bytes() + uint64(len(d.shards))*shardBytes
}

// FPR returns the predicted rate of false admissions just before a rotation, when it is highest: the share of keys asked for
// the first time that would be admitted. It is at most Config.FPR.
func (d *Doorkeeper) FPR() float64 { return d.FPRAt(d.shape.keys, d.shape.keys) }

// FPRAt returns the predicted rate of false admissions of a shard whose generations have taken so many distinct keys. It takes
// about a millisecond.
func (d *Doorkeeper) FPRAt(previous, current uint64) float64 { return d.shape.rate(previous, current) }

// rate is 1-(1-p)(1-q), p and q being the rates of the two generations (blocked.FPR).
func (s *shape) rate(previous, current uint64) float64 {
	p := blocked.FPR(previous, s.blocks, s.k, blocked.Line)
	q := p
	if current != previous {
		q = blocked.FPR(current, s.blocks, s.k, blocked.Line)
	}
	return p + q - p*q
}
