package bloomery

import (
	"maps"
	"math"
	"sync"
	"sync/atomic"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/except"
	"github.com/bloomery/bloomery/internal/shrink"
)

// losses notices that a Set which replaces an older one, by Config.Like or an Optimizer, has lost keys or counts.
type losses struct {
	old     *Set          // nil: nothing is guarded
	allowed float64       // the part that may be lost
	limit   atomic.Uint64 // hashes with a smaller Hi are in the sample
	mu      sync.Mutex
	sample  map[filter.Hash]struct{} // nil unless old counts
	lost    lost
}

// lost is what a Set has of an older one.
type lost struct {
	allowedBefore, allowedAfter uint64 // keys of Config.Allow
	sampled                     uint64 // keys whose counts are compared
	before, after               uint64 // additions of these keys beyond the first
}

// sampleSize is about how many keys are compared if all keys of the old Set come again. There are never more than twice
// as many.
const sampleSize = 1 << 16

// newLosses returns the guard for Sets that replace old.
func newLosses(old *Set, option float64) (*losses, error) {
	allowed, err := shrink.Allowed(option, shrink.List)
	if err != nil {
		return nil, err
	}
	l := &losses{old: old, allowed: allowed}
	l.limit.Store(math.MaxUint64)
	if n := old.Len(); n > sampleSize {
		l.limit.Store(math.MaxUint64 / n * sampleSize)
	}
	main, _ := except.Split(old.Filter()) // of a sharded Set each shard has a guard of its own
	if _, counts := main.(filter.Counter); counts {
		l.sample = map[filter.Hash]struct{}{}
	}
	return l, nil
}

// add puts keys of the new list into the sample.
func (l *losses) add(hs []filter.Hash) error {
	for _, h := range hs {
		if h.Hi < l.limit.Load() {
			l.mu.Lock()
			l.sample[h] = struct{}{}
			if len(l.sample) > 2*sampleSize { // the new list is far longer
				l.limit.Store(l.limit.Load() / 2)
				maps.DeleteFunc(l.sample, func(h filter.Hash, _ struct{}) bool { return h.Hi >= l.limit.Load() })
			}
			l.mu.Unlock()
		}
	}
	return nil
}

// compare notes what the new Set has, before the old one is closed.
func (l *losses) compare(set *Set) error {
	if l == nil {
		return nil
	}
	l.lost.allowedBefore, l.lost.allowedAfter = l.old.Info().Allowed, set.Info().Allowed
	for h := range l.sample {
		was, _, err := l.old.CountHash(h)
		if err != nil {
			return err
		}
		now, _, err := set.CountHash(h)
		if err != nil {
			return err
		}
		l.lost.sampled++
		l.lost.before += max(was, 1) - 1
		l.lost.after += max(now, 1) - 1
	}
	return nil
}

// distinctLen returns Len, or about the number of distinct keys if keys that came several times make it clearly less.
func (s *Set) distinctLen() uint64 {
	n := s.Len()
	if s.Filter() == nil {
		return n
	}
	if e, err := s.EstimateInterval(); err == nil && !e.Counted && e.High < 0.95*float64(n) {
		return uint64(e.High)
	}
	return n
}

// addShard adds what a shard has lost.
func (l *losses) addShard(one *losses, set *Set) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost.allowedBefore += one.old.Info().Allowed
	l.lost.allowedAfter += set.Info().Allowed // with its exceptions, which compare did not see
	l.lost.sampled += one.lost.sampled
	l.lost.before += one.lost.before
	l.lost.after += one.lost.after
}

// check returns a *filter.ShrinkError if a Set of that many keys has lost too much.
func (l *losses) check(keys uint64) error {
	if l == nil {
		return nil
	}
	x := l.lost
	if err := shrink.Check("keys", l.old.distinctLen(), keys, l.allowed); err != nil {
		return err
	}
	if err := shrink.Check("allowed keys", x.allowedBefore, x.allowedAfter, l.allowed); err != nil {
		return err
	}
	// Keys that look alike share counts, at the false-positive rate.
	if x.before <= 1 {
		return nil
	}
	if alike := 1 + 3*l.old.Info().FPRPosterior*float64(x.sampled); float64(x.before) > alike {
		return shrink.Check("repetitions of keys, which the filter counts", x.before, x.after, l.allowed)
	}
	return nil
}
