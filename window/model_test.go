package window

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
)

var long = flag.Bool("long", false, "run the long tests")

// A model is a simple implementation of the promise and the specification of a Filter, without a hand, sweeps or late
// buckets.
//
// The promise is a map with times: a key is present from its time in owed until ttl later; a key is absent if neither
// it nor a key with the same fingerprint was seen for 8/7 of ttl.
//
// The specification is a map from the fingerprints of keys to the epoch in which a key was written. The epoch of a
// bucket is the number of times that the hand has passed it, and follows from the time alone.
type model struct {
	ttl, origin, now int64
	started, refresh bool
	buckets          uint64
	chains           uint64
	remainder        int
	written          map[look]*big.Int     // epoch
	seen             map[look]int64        // last write
	owed             map[filter.Hash]int64 // last time from which a key must be present
}

// look is the fingerprint that indistinguishable keys share.
type look struct{ bucket, chain, remainder uint64 }

func newModel(r *ring) *model {
	g := r.table.Geometry()
	return &model{
		ttl: int64(r.ttl), refresh: r.refresh, buckets: g.Buckets, chains: uint64(g.Chains), remainder: g.Remainder,
		written: map[look]*big.Int{}, seen: map[look]int64{}, owed: map[filter.Hash]int64{},
	}
}

func (m *model) look(h filter.Hash) look {
	bucket, _ := bits.Mul64(h.Hi, m.buckets)
	chain, rest := bits.Mul64(h.Lo, m.chains)
	return look{bucket, chain, rest >> (64 - m.remainder)}
}

func (m *model) advance(now int64) {
	if !m.started {
		m.started, m.origin, m.now = true, now, now
	}
	m.now = max(m.now, now)
}

// epoch returns the number of times that the hand has passed a bucket: the number of whole k >= 0 with k +
// (bucket+1)/buckets <= 7·(now-origin)/ttl.
func (m *model) epoch(bucket uint64) *big.Int {
	number := func(x int64) *big.Int { return big.NewInt(x) }
	x := new(big.Int).Sub(number(m.now), number(m.origin))
	x.Mul(x, number(epochs)).Mul(x, new(big.Int).SetUint64(m.buckets))
	x.Sub(x, new(big.Int).Mul(new(big.Int).SetUint64(bucket+1), number(m.ttl)))
	x.Div(x, new(big.Int).Mul(number(m.ttl), new(big.Int).SetUint64(m.buckets))) // rounds down, as the divisor is positive
	return x.Add(x, number(1))
}

// has returns the answer of the specification.
func (m *model) has(h filter.Hash) bool {
	e, ok := m.written[m.look(h)]
	return ok && new(big.Int).Sub(m.epoch(m.look(h).bucket), e).Cmp(big.NewInt(epochs)) <= 0
}

// check returns an error if an answer of the specification breaks the promise.
func (m *model) check(h filter.Hash, present bool) error {
	since := func(from int64) *big.Int { return new(big.Int).Sub(big.NewInt(m.now), big.NewInt(from)) }
	if from, ok := m.owed[h]; ok && !present && since(from).Cmp(big.NewInt(m.ttl)) <= 0 {
		return fmt.Errorf("forgotten %v after it was seen, ttl %v", since(from), m.ttl)
	}
	if !present {
		return nil
	}
	last, ok := m.seen[m.look(h)]
	age, most := since(last), new(big.Int).Mul(big.NewInt(m.ttl), big.NewInt(stamps))
	if !ok || age.Mul(age, big.NewInt(epochs)).Cmp(most) > 0 {
		return fmt.Errorf("remembered %v after it was seen, ttl %v", since(last), m.ttl)
	}
	return nil
}

// put returns the result of TestAndAdd, or if refresh is true, of Add.
func (m *model) put(h filter.Hash, refresh bool) (present bool) {
	present = m.has(h)
	if !present || refresh {
		l := m.look(h)
		m.written[l], m.seen[l], m.owed[h] = m.epoch(l.bucket), m.now, m.now
	}
	return present
}

func (m *model) len() (n uint64) {
	for l, e := range m.written {
		if new(big.Int).Sub(m.epoch(l.bucket), e).Cmp(big.NewInt(epochs)) <= 0 {
			n++
		}
	}
	return n
}

// TestModel runs random operations of every kind on Filters and on the model, and compares all results. Filters are
// small and large, and the time comes from events or from a clock that advances in steps of all sizes and jumps.
func TestModel(t *testing.T) {
	operations := 100_000
	if *long {
		operations = 10_000_000
	}
	if testing.Short() {
		operations = 20_000
	}
	configs := []Config{
		{Keys: 1, TTL: time.Second, FPR: 0.01},
		{Keys: 2, TTL: time.Minute, FPR: 1e-9, Refresh: true},
		{Keys: 30, TTL: time.Millisecond, FPR: 0.3},
		{Keys: 200, TTL: 7 * time.Second, FPR: 0.05, Refresh: true},
		{Keys: 3000, TTL: time.Hour + 1, FPR: 0.01},
		{Keys: 20_000, TTL: 24 * time.Hour, FPR: 0.001, Burst: 0.5, Refresh: true},
		{Keys: 3000, TTL: 60 * time.Hour, FPR: 1e-4},
		{Keys: 50_000, TTL: 12_345_678_901, FPR: 0.02},
	}
	for i, c := range configs {
		for _, laps := range startLaps {
			if laps > math.MaxInt64/2/(int64(c.TTL)/epochs+1) {
				continue // no clock reaches this time
			}
			t.Run(fmt.Sprintf("keys=%d/ttl=%v/laps=%d", c.Keys, c.TTL, laps), func(t *testing.T) {
				seed := rand.Uint64()
				c.EventTime = i%2 == 0
				t.Logf("seed %d", seed)
				againstModel(t, c, seed, laps, operations/len(configs))
			})
		}
	}
}

// startLaps lists numbers of laps after which tests begin: none, and shortly before the counts of passes and laps wrap.
var startLaps = []int64{0, 1<<29 - 3, 1<<32 - 3}

// begun returns an empty filter whose time began the given number of laps before now.
func begun[K filter.Key](t *testing.T, c Config, laps, now int64) *Filter[K] {
	t.Helper()
	event := c
	event.Clock, event.EventTime = nil, true
	f := mustNew[K](t, event)
	f.ring.event = c.EventTime
	f.Advance(time.Unix(0, now))
	since := new(big.Int).Mul(big.NewInt(laps), big.NewInt(int64(c.TTL)))
	b := damaged(t, f, func(file *container.File) {
		file.Sections[3][1] = uint64(now - since.Div(since, big.NewInt(epochs)).Int64())
	})
	f = must(Read[K](bytes.NewReader(b), c))
	return f
}

func againstModel(t *testing.T, c Config, seed uint64, laps int64, operations int) {
	rng := rand.New(rand.NewPCG(seed, 1))
	// The time begins anywhere, also before 1970.
	now := -rng.Int64N(1 << 60)
	if !c.EventTime {
		c.Clock = func() time.Time { return time.Unix(0, now) }
	}
	f := begun[filter.Hash](t, c, laps, now)
	m := newModel(f.ring)
	m.started, m.origin, m.now = true, f.ring.origin, now
	advance := func(to int64) {
		now = to
		f.Advance(time.Unix(0, now))
		m.advance(now)
	}
	advance(now)
	key := func() filter.Hash {
		// Some keys are repeated soon, some late, some never.
		n := rng.Uint64N(1 << rng.UintN(20))
		r := rand.New(rand.NewPCG(seed, n))
		return filter.Hash{Hi: r.Uint64(), Lo: r.Uint64()}
	}
	// At this pace fewer than Keys arrive within TTL, unless there are very few.
	pace := 2 * int64(c.TTL) / int64(c.Keys)
	var counts counts
	idle := 0
	for i := range operations {
		fail := func(format string, args ...any) {
			t.Helper()
			t.Fatalf("seed %d, operation %d, %+v: %s", seed, i, c, fmt.Sprintf(format, args...))
		}
		h := key()
		switch op := rng.IntN(1000); {
		case op < 300:
			m.advance(now)
			err := f.Add(h)
			if errors.Is(err, filter.ErrFull) && !m.has(h) {
				counts.refused++
				break
			}
			if err != nil {
				fail("Add: %v", err)
			}
			counts.count(m.put(h, true))
		case op < 700:
			m.advance(now)
			present, err := f.TestAndAdd(h)
			if errors.Is(err, filter.ErrFull) && !present && !m.has(h) {
				counts.refused++
				break
			}
			want := m.put(h, c.Refresh)
			if err != nil || present != want {
				fail("TestAndAdd: %t, %v, want %t", present, err, want)
			}
			counts.count(want)
		case op < 990:
			m.advance(now)
			want := m.has(h)
			if got := f.Contains(h); got != want {
				fail("Contains: %t, want %t", got, want)
			}
			if err := m.check(h, want); err != nil {
				fail("the specification is wrong: %v", err)
			}
			counts.count(want)
		case op < 996:
			m.advance(now)
			keys := make([]filter.Hash, rng.Uint64N(min(100, 2+c.Keys/50)))
			dst := make([]bool, len(keys))
			for i := range keys {
				keys[i] = key()
			}
			what, n, err := rng.IntN(3), len(keys), error(nil)
			switch what {
			case 0:
				f.ContainsMany(dst, keys)
			case 1:
				n, err = f.AddMany(keys)
			case 2:
				n, err = f.TestAndAddMany(dst, keys)
			}
			for i, h := range keys[:n] {
				want := m.has(h)
				if want != dst[i] && what != 1 {
					fail("batch %d, key %d: %t, want %t", what, i, dst[i], want)
				}
				if what > 0 {
					m.put(h, what == 1 || c.Refresh)
				}
			}
			if err != nil {
				counts.refused++
			}
			if n < len(keys) && (!errors.Is(err, filter.ErrFull) || m.has(keys[n])) || n == len(keys) && err != nil {
				fail("batch %d: %d of %d keys, %v", what, n, len(keys), err)
			}
		case op == 996 && rng.IntN(20) == 0:
			m.advance(now)
			info := f.Info()
			if want := m.len(); f.Len() != want || info.Keys != want || info.Refused != counts.refused || info.Shortened != 0 {
				fail("Len %d, Info %+v, want %d", f.Len(), info, want)
			}
		case op == 996: // a restart
			m.advance(now)
			f = restarted(t, f, c)
			counts.restarts++
		case op == 997: // a jump of any size, up to centuries
			counts.jumps++
			to := now + rng.Int64N(int64(c.TTL))*rng.Int64N(4)
			if rng.IntN(3) == 0 {
				to = now + rng.Int64()>>rng.UintN(63)
			}
			if to > now && to < 1<<61 {
				advance(to)
			}
			idle = rng.IntN(100) // the following operations are far apart
		case op == 998: // back
			back := now - rng.Int64()>>(1+rng.UintN(62))
			if back > now {
				break
			}
			if c.EventTime {
				f.Advance(time.Unix(0, back))
				m.advance(back)
				break
			}
			was := now
			for now = back; now < was; now += max(1, (was-back)/3) {
				m.advance(now)
				if want := m.has(h); f.Contains(h) != want {
					fail("after the clock went back: Contains is not %t", want)
				}
			}
			now = was
		default: // forward to exactly the next pass of a bucket, or to just before it
			if due := f.ring.due.Load(); due > now && due < 1<<62 {
				advance(due - rng.Int64N(2))
			}
		}
		if c.EventTime {
			if rng.IntN(3) == 0 {
				advance(now + rng.Int64N(3*pace))
			}
		} else {
			now += rng.Int64N(pace)
		}
		if idle > 0 && now < 1<<61 {
			idle--
			advance(now + rng.Int64N(int64(c.TTL)*9/7))
		}
	}
	few := (counts.jumps == 0 || counts.restarts == 0) && operations >= 10_000 || counts.present == 0 || counts.absent == 0
	if few || c.Keys >= 30 && counts.refused > counts.absent/50 {
		t.Errorf("%+v", counts)
	}
	if laps > 0 && operations >= 10_000 && f.ring.laps < uint64(laps+3) {
		t.Errorf("%d laps: the count did not wrap", f.ring.laps)
	}
	t.Logf("%+v, %d laps, %d of them skipped", counts, f.ring.laps+f.ring.skipped, f.ring.skipped)
}

// counts holds the numbers of jumps of the clock, of restarts, and of answers.
type counts struct{ jumps, restarts, present, absent, refused uint64 }

func (c *counts) count(present bool) {
	if present {
		c.present++
	} else {
		c.absent++
	}
}
