package window

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/bloomery/bloomery/filter"
)

// TestNeverEarly continuously adds keys and queries keys that must still be present: the oldest one at each step, and
// random ones. With -long it runs 10^9 operations.
func TestNeverEarly(t *testing.T) {
	operations := 400_000
	if *long {
		operations = 250_000_000
	}
	if testing.Short() {
		operations = 100_000
	}
	for _, pattern := range []string{"even", "bursts", "worst", "at the hand"} {
		for _, laps := range startLaps {
			t.Run(fmt.Sprintf("%s/laps=%d", pattern, laps), func(t *testing.T) {
				newStream(t, pattern, laps).run(operations / len(startLaps))
			})
		}
	}
}

// stream is a filter, the keys that were added to it, and when.
type stream struct {
	*testing.T
	pattern string
	c       Config
	f       *Filter[filter.Hash]
	seed    uint64
	rng     *rand.Rand
	now     int64

	added  []int64       // by number modulo the length: the last time the key was added, or none
	hashes []filter.Hash // the same
	next   uint64        // number of the next key
	oldest uint64        // all keys before it are older than ttl, or were overwritten

	operations, asked, refused, lookalikes, late, gone, jumps, restarts int
}

const none = -1 << 63

func newStream(t *testing.T, pattern string, laps int64) *stream {
	s := &stream{T: t, pattern: pattern, seed: rand.Uint64()}
	s.c = Config{Keys: 30_000, TTL: 7 * time.Second, FPR: 0.01, EventTime: true}
	if pattern == "bursts" || pattern == "worst" {
		s.c.Burst = 0.5
	}
	s.rng = rand.New(rand.NewPCG(s.seed, 1))
	s.f = begun[filter.Hash](t, s.c, laps, 0)
	s.added, s.hashes = make([]int64, 1<<16), make([]filter.Hash, 1<<16)
	t.Logf("seed %d", s.seed)
	return s
}

// run goes from epoch to epoch.
func (s *stream) run(operations int) {
	for e := 0; s.operations < operations; e++ {
		at := 0.9 * s.rng.Float64()
		if s.pattern == "worst" { // at the end of an epoch, and eight epochs later at the start
			at = 0.9 * float64(1-e/stamps%2)
		}
		burst := max(s.c.Burst, 0.1)
		start := s.now
		arrivals(int(s.c.Keys/epochs), burst, at, func(x float64) {
			s.advance(start + int64(x*float64(s.c.TTL)/epochs))
			s.add(x)
			s.ask()
		})
		s.advance(start + int64(s.c.TTL)/epochs)
		switch s.rng.IntN(60) {
		case 0: // forward, mostly by less than a lifetime
			s.jumps++
			s.advance(s.now + s.rng.Int64N(int64(s.c.TTL))*(1+s.rng.Int64N(4))/3)
		case 1:
			s.restarts++
			s.f = restarted(s.T, s.f, s.c)
		case 2: // backward, without effect
			s.f.Advance(time.Unix(0, s.now-s.rng.Int64N(int64(s.c.TTL))))
		}
	}
	s.Logf("%d operations on %d keys: %d asked for, none forgotten early; %d looked like another one, %d refused",
		s.operations, s.next, s.asked, s.lookalikes, s.refused)
	s.Logf("%d jumps, %d restarts; of %d keys older than 8/7 of ttl, %d were present", s.jumps, s.restarts, s.gone, s.late)
	if s.asked < s.operations/4 || s.refused > 0 || float64(s.late) > 1.2*s.c.FPR*float64(s.gone)+100 {
		s.Errorf("seed %d: want fewer", s.seed)
	}
}

func (s *stream) advance(now int64) {
	s.now = now
	s.f.Advance(time.Unix(0, now))
}

// add adds a new key, or renews one that must be present.
func (s *stream) add(x float64) {
	s.operations++
	if s.rng.IntN(16) == 0 && s.next > 0 {
		i := s.some()
		if err := s.f.Add(s.hashes[i]); err != nil {
			s.Fatalf("seed %d: %v", s.seed, err)
		}
		s.added[i] = s.now
		return
	}
	h := filter.Hash{Hi: s.rng.Uint64(), Lo: s.rng.Uint64()}
	if s.pattern == "at the hand" { // in the bucket that the hand is passing, or next to it
		h.Hi = uint64(x*(1<<63))<<1 + s.rng.Uint64N(1<<56) - 1<<55
	}
	i := s.next % uint64(len(s.added))
	present, err := s.f.TestAndAdd(h)
	s.hashes[i], s.added[i] = h, s.now
	if present { // the key was not added
		s.added[i] = none
		s.lookalikes++
	}
	if err != nil {
		if !errors.Is(err, filter.ErrFull) {
			s.Fatal(err)
		}
		s.added[i] = none
		s.refused++
	}
	s.next++
}

// some returns the index of a random recent key.
func (s *stream) some() uint64 {
	return (s.next - 1 - s.rng.Uint64N(min(s.next, uint64(len(s.added))))) % uint64(len(s.added))
}

// ask queries the oldest key that must be present, a random key, and a key that must have expired.
func (s *stream) ask() {
	n := uint64(len(s.added))
	s.oldest = max(s.oldest, s.next-min(s.next, n))
	for s.oldest < s.next && !s.owed(s.oldest%n) {
		s.oldest++
	}
	if s.oldest < s.next {
		s.must(s.oldest % n)
	}
	for range 2 {
		i := s.some()
		if s.owed(i) {
			s.must(i)
		} else if s.added[i] != none && s.now-s.added[i] > int64(s.c.TTL)*stamps/epochs+1 {
			s.operations++
			s.gone++
			if s.f.Contains(s.hashes[i]) {
				s.late++
			}
		}
	}
}

func (s *stream) owed(i uint64) bool { return s.added[i] != none && s.now-s.added[i] <= int64(s.c.TTL) }

func (s *stream) must(i uint64) {
	s.operations++
	s.asked++
	if !s.f.Contains(s.hashes[i]) {
		s.Fatalf("seed %d, operation %d: a key is forgotten %v after it was added, ttl %v", s.seed, s.operations,
			time.Duration(s.now-s.added[i]), s.c.TTL)
	}
}
