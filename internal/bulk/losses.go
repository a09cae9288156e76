package bulk

import (
	"fmt"
	"maps"
	"math"
	"sync"
	"sync/atomic"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/drift"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/except"
	"github.com/bloomery/bloomery/internal/family"
)

// Losses detects lost keys or counts in a Set that replaces an older one, by Config.Like.Set or an Optimizer.
type Losses struct {
	old     engine.Engine // nil: nothing is guarded
	allowed float64       // the part that may be lost
	limit   atomic.Uint64 // hashes with a smaller Hi are in the sample
	mu      sync.Mutex
	sample  map[filter.Hash]struct{} // nil unless old counts
	lost    lost
}

// lost compares the contents of a Set with an older one.
type lost struct {
	allowedBefore, allowedAfter uint64 // keys of Config.Allow
	sampled                     uint64 // keys whose counts are compared
	before, after               uint64 // additions of these keys beyond the first
}

// sampleSize is the approximate number of keys that are compared if the new list contains all keys of the old Set. The
// sample never has more than twice as many.
const sampleSize = 1 << 16

// NewLosses returns the guard for Sets that replace old.
func NewLosses(old engine.Engine, option float64) (*Losses, error) {
	allowed, err := drift.AllowedShrink(option, drift.ShrinkOfList)
	if err != nil {
		return nil, err
	}

	l := &Losses{old: old, allowed: allowed}
	l.limit.Store(math.MaxUint64)
	if n := old.Len(); n > sampleSize {
		// The quotient comes first, because the product would overflow. n is larger than sampleSize, so the result
		// fits.
		l.limit.Store(math.MaxUint64 / n * sampleSize)
	}

	main, _ := except.Split(old.Facts().Filter) // each shard of a sharded Set has its own guard
	if _, counts := main.(family.Counter); counts {
		l.sample = map[filter.Hash]struct{}{}
	}
	return l, nil
}

// Samples reports whether Add needs the keys of the new list.
func (l *Losses) Samples() bool { return l.sample != nil }

// Add puts keys of the new list into the sample.
func (l *Losses) Add(hs []filter.Hash) error {
	for _, h := range hs {
		if h.Hi < l.limit.Load() {
			l.mu.Lock()
			l.sample[h] = struct{}{}
			if len(l.sample) > 2*sampleSize { // the new list is far longer than the old set: halve the sample
				l.limit.Store(l.limit.Load() / 2)
				maps.DeleteFunc(l.sample, func(h filter.Hash, _ struct{}) bool { return h.Hi >= l.limit.Load() })
			}
			l.mu.Unlock()
		}
	}
	return nil
}

// Compare records the counts of the new Set. Call it before the old one is closed.
func (l *Losses) Compare(set engine.Engine) error {
	if l == nil {
		return nil
	}

	l.lost.allowedBefore, l.lost.allowedAfter = l.old.Info().Allowed, set.Info().Allowed
	for h := range l.sample {
		was, err := copies(l.old, h)
		if err != nil {
			return err
		}
		now, err := copies(set, h)
		if err != nil {
			return err
		}
		l.lost.sampled++
		l.lost.before += max(was, 1) - 1
		l.lost.after += max(now, 1) - 1
	}
	return nil
}

// copies returns the count of a key.
func copies(e engine.Engine, h filter.Hash) (uint64, error) {
	one, err := e.At(h, false)
	if err != nil {
		return 0, err
	}
	n, _, err := one.Count(h)
	return n, err
}

// DistinctLen returns Len, or the approximate number of distinct keys if repeated keys make it clearly smaller.
func DistinctLen(e engine.Engine) uint64 {
	n := e.Len()
	if e.Parts() != nil {
		return n
	}
	if x, err := e.EstimateInterval(); err == nil && !x.Counted && x.High < 0.95*float64(n) {
		return uint64(x.High)
	}
	return n
}

// AddShard adds the losses of a shard.
func (l *Losses) AddShard(one *Losses, set engine.Engine) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost.allowedBefore += one.old.Info().Allowed
	l.lost.allowedAfter += set.Info().Allowed // with its exceptions, which Compare did not see
	l.lost.sampled += one.lost.sampled
	l.lost.before += one.lost.before
	l.lost.after += one.lost.after
}

// Check returns a *drift.ShrinkError if the new Set, with the given number of keys, has lost too many.
func (l *Losses) Check(keys uint64) error {
	if l == nil {
		return nil
	}

	x := l.lost
	if err := drift.CheckShrink("keys", DistinctLen(l.old), keys, l.allowed); err != nil {
		return err
	}
	if err := drift.CheckShrink("allowed keys", x.allowedBefore, x.allowedAfter, l.allowed); err != nil {
		return err
	}

	// Keys that look alike share counts, at the false-positive rate.
	if x.before <= 1 {
		return nil
	}
	// Three times the expected number of accidental matches: a filter without real repetitions is not refused.
	if alike := 1 + 3*l.old.Info().FPRPosterior*float64(x.sampled); float64(x.before) > alike {
		return drift.CheckShrink("repetitions of keys, which the filter counts", x.before, x.after, l.allowed)
	}
	return nil
}

// DistinctKeys estimates the number of distinct keys of a filter, from its bits or from its distinct fingerprints. A
// full filter does not tell the number, which is then Len.
func DistinctKeys[E ~struct {
	Keys, Low, High float64
	Counted         bool
}](set interface {
	Len() uint64
	Spec() filter.Spec
	Info() filter.Info
	EstimateInterval() (E, error) // engine.Estimate, or its twin in the root package
}) engine.Estimate {
	estimate, err := set.EstimateInterval()
	x := engine.Estimate(estimate)
	switch n := float64(set.Len()); {
	case err != nil || math.IsInf(x.High, 1):
		return engine.Estimate{Keys: n, Low: n, High: n, Counted: true}
	case x.Counted && family.Given(set.Spec(), "counting"):
		return keysOfFingerprints(x.Keys, set.Info().FPRPosterior)
	}
	return x
}

// keysOfFingerprints estimates the number of distinct keys with low distinct fingerprints. A key has the fingerprint of
// another one at the false-positive rate, which grew from 0 to rate with the keys.
func keysOfFingerprints(low, rate float64) engine.Estimate {
	keys := low
	if rate > 0 && rate < 1 {
		keys *= -math.Log1p(-rate) / rate
	}
	half := z95 * math.Sqrt(keys-low)
	return engine.Estimate{Keys: keys, Low: max(low, keys-half), High: keys + half}
}

// z95 is the number of standard deviations to each side of a 95% interval.
const z95 = 1.96

// CheckCapacity returns an error wrapping filter.ErrFull if a Set of keys keys, duplicates included, has more distinct
// keys than capacity, unless this is 0. distinct is DistinctKeys, or its sum over the shards. If all keys may be
// distinct, they count as distinct, else the lowest possible number of distinct keys counts. A wrong answer needs an
// estimate that is off by five standard deviations, which happens to one filter in a million.
func CheckCapacity(keys uint64, distinct engine.Estimate, capacity uint64) error {
	const wider = 5 / z95
	if x := distinct; x.Keys+wider*(x.High-x.Keys) < float64(keys) {
		keys = uint64(math.Ceil(max(0, x.Keys-wider*(x.Keys-x.Low))))
	}
	if capacity == 0 || keys <= capacity {
		return nil
	}
	return fmt.Errorf("%d keys for a capacity of %d: %w", keys, capacity, filter.ErrFull)
}
