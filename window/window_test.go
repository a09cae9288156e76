package window

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/bloomery/bloomery/filter"
)

// at returns a fixed time plus ns.
func at(ns time.Duration) time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC).Add(ns) }

func mustNew[K filter.Key](t testing.TB, c Config) *Filter[K] {
	t.Helper()
	f := must(New[K](c))
	return f
}

// TestKeys checks all kinds of keys, with and without a secret, one by one and in batches.
func TestKeys(t *testing.T) {
	type name string
	const n = 500
	words, texts, numbers := make([][]byte, n), make([]name, n), make([]uint64, n)
	hashes, keyed := make([]filter.Hash, n), make([]filter.Hash, n)
	secret := filter.Secret([]byte("sixteen bytes...")[:])
	for i := range words {
		words[i] = []byte("key " + strconv.Itoa(i))
		texts[i] = name(words[i])
		numbers[i] = uint64(i) << 20
		hashes[i] = filter.NewHasher(0).Sum(words[i])
		keyed[i] = filter.NewKeyedHasher(secret).Sum(words[i])
	}
	c := Config{Keys: n, TTL: time.Hour, FPR: 1e-9}
	testKeys(t, c, words)
	testKeys(t, c, texts)
	testKeys(t, c, numbers)
	testKeys(t, c, hashes)
	c.Secret = &secret
	testKeys(t, c, words)
	testKeys(t, c, numbers)

	// All kinds agree on which keys are equal.
	f := mustNew[[]byte](t, c)
	same := &Filter[filter.Hash]{f.ring}
	text := &Filter[name]{f.ring}
	number := &Filter[uint64]{f.ring}
	if err := f.Add(words[7]); err != nil {
		t.Error(err)
	}
	if !same.Contains(keyed[7]) || !text.Contains(texts[7]) || same.Contains(hashes[7]) {
		t.Error("a key is another one with another type")
	}
	if err := f.Add(binary.LittleEndian.AppendUint64(nil, numbers[8])); err != nil || !number.Contains(numbers[8]) {
		t.Errorf("%v, or an integer is not its eight bytes", err)
	}
}

func testKeys[K filter.Key](t *testing.T, c Config, keys []K) {
	t.Helper()
	f := mustNew[K](t, c)
	half := len(keys) / 2
	for i, key := range keys[:half] {
		if i%2 == 0 {
			check(t, f.Add(key))
		} else if present, err := f.TestAndAdd(key); err != nil || present {
			t.Fatalf("%T %d: %t, %v", key, i, present, err)
		}
	}
	for i, key := range keys {
		if f.Contains(key) != (i < half) {
			t.Fatalf("%T %d: not %t", key, i, i < half)
		}
	}
	dst := make([]bool, len(keys))
	check := func(want int, dst []bool) {
		t.Helper()
		for i, ok := range dst {
			if ok != (i < want) {
				t.Fatalf("%T %d: not %t", keys[i], i, i < want)
			}
		}
	}
	f.ContainsMany(dst, keys)
	check(half, dst)
	if n, err := f.AddMany(keys[half : half+100]); n != 100 || err != nil {
		t.Fatal(n, err)
	}
	if n, err := f.TestAndAddMany(dst, keys); n != len(keys) || err != nil {
		t.Fatal(n, err)
	}
	check(half+100, dst)
	if f.ContainsMany(dst, keys); slices.Contains(dst, false) || f.Len() != uint64(len(keys)) {
		t.Fatalf("%T: keys are missing, Len %d", keys[0], f.Len())
	}
	f.ContainsMany(nil, nil)
	if n, err := f.AddMany(nil); n != 0 || err != nil {
		t.Fatal(n, err)
	}
	for _, do := range []func(){
		func() { f.ContainsMany(dst[1:], keys) }, func() { _, _ = f.TestAndAddMany(dst[1:], keys) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Fatal("no panic with too few answers")
				}
			}()
			do()
		}()
	}
}

// TestAllocs checks that no operation allocates, including operations with a clock, with overflow and with a late hand.
func TestAllocs(t *testing.T) {
	now := at(0)
	for _, c := range []Config{
		{Keys: 1000, TTL: time.Second, Clock: func() time.Time { return now }},
		{Keys: 1000, TTL: time.Second},
		{Keys: 300, TTL: time.Second, EventTime: true, Overflow: Shorten, Secret: filter.NewSecret()},
		{Keys: 300, TTL: time.Hour, EventTime: true},
	} {
		f := mustNew[string](t, c)
		keys := make([]string, 4000)
		for i := range keys {
			keys[i] = "key " + strconv.Itoa(i)
		}
		dst := make([]bool, 10)
		i := 0
		n := testing.AllocsPerRun(300, func() {
			i++
			key := keys[10*i:][:10]
			_ = f.Add(key[0])
			_, _ = f.TestAndAdd(key[1])
			f.Contains(key[2])
			f.ContainsMany(dst, key)
			_, _ = f.AddMany(key[:5])
			_, _ = f.TestAndAddMany(dst, key)
			now = now.Add(time.Duration(i) * time.Millisecond)
			f.Advance(now)
			if i%100 == 0 {
				now = now.Add(time.Minute)
			}
			f.Len()
			f.Info()
		})
		if n != 0 {
			t.Errorf("%+v: %g allocations", c, n)
		}
	}
}

// TestConfigErrors checks the errors of wrong configurations.
func TestConfigErrors(t *testing.T) {
	good := Config{Keys: 10, TTL: time.Second}
	mustNew[string](t, good)
	for what, change := range map[string]func(*Config){
		"no keys": func(c *Config) { c.Keys = 0 }, "no ttl": func(c *Config) { c.TTL = 0 },
		"negative ttl": func(c *Config) { c.TTL = -time.Hour }, "short ttl": func(c *Config) { c.TTL = minTTL - 1 },
		"rate above": func(c *Config) { c.FPR = 0.51 }, "rate below": func(c *Config) { c.FPR = 1e-13 },
		"negative rate": func(c *Config) { c.FPR = -0.1 }, "rate NaN": func(c *Config) { c.FPR = math.NaN() },
		"burst above": func(c *Config) { c.Burst = 1.01 }, "negative burst": func(c *Config) { c.Burst = -0.01 },
		"burst NaN": func(c *Config) { c.Burst = math.NaN() }, "overflow": func(c *Config) { c.Overflow = 2 },
		"two clocks": func(c *Config) { c.EventTime, c.Clock = true, time.Now },
	} {
		c := good
		change(&c)
		var e *filter.ConfigError
		if _, err := New[string](c); !errors.As(err, &e) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, keys := range []uint64{math.MaxUint64, mostKeys + 1, mostKeys} { // the last one has too many buckets
		if _, err := New[string](Config{Keys: keys, TTL: time.Second}); !errors.Is(err, filter.ErrTooLarge) {
			t.Errorf("%d keys: %v", keys, err)
		}
	}
	for _, c := range []Config{
		{Keys: 1, TTL: minTTL, FPR: maxFPR, Burst: 1}, {Keys: 1, TTL: math.MaxInt64, FPR: minFPR},
		{Keys: 2, TTL: time.Hour, FPR: 0.4}, {Keys: 3000, TTL: time.Hour, FPR: minFPR, Burst: 1},
	} {
		f := mustNew[uint64](t, c)
		for i := range c.Keys {
			if err := f.Add(i); err != nil {
				t.Errorf("%+v: key %d: %v", c, i, err)
			}
		}
	}
}

// TestLife adds a key to each of many buckets and checks that the keys are forgotten evenly between ttl and 8/7 of ttl.
func TestLife(t *testing.T) {
	const ttl, n = 700 * time.Second, 5000
	f := mustNew[uint64](t, Config{Keys: 10 * n, TTL: ttl, FPR: 1e-9, EventTime: true})
	f.Advance(at(0))
	for i := range uint64(n) {
		f.Advance(at(time.Duration(i) * ttl / n))
		check(t, f.Add(i))
	}
	var lives []float64
	alive := make([]bool, n)
	for i := range alive {
		alive[i] = true
	}
	const step = ttl / 700
	for now := ttl; len(lives) < n; now += step {
		f.Advance(at(now))
		for i := range uint64(n) {
			if alive[i] && !f.Contains(i) {
				alive[i] = false
				lives = append(lives, float64(now-time.Duration(i)*ttl/n)/float64(ttl))
			}
		}
		if now > 3*ttl {
			t.Fatal("keys are not forgotten")
		}
	}
	slices.Sort(lives)
	t.Logf("remembered for %.4f (least), %.4f (a quarter), %.4f (median), %.4f (three quarters), %.4f (most) of ttl, "+
		"observed in steps of %.4f", lives[0], lives[n/4], lives[n/2], lives[3*n/4], lives[n-1], 1./700)
	if lives[0] <= 1 || lives[n-1] > 8./7+2./700 || math.Abs(lives[n/2]-15./14) > 0.01 {
		t.Error("want 1 to 8/7, evenly")
	}
}

// TestJumps checks the promises for a clock that jumps.
func TestJumps(t *testing.T) {
	const ttl = 7 * time.Hour
	now := at(0)
	f := mustNew[string](t, Config{Keys: 1000, TTL: ttl, FPR: 1e-9, Clock: func() time.Time { return now }})
	add := func(key string) {
		t.Helper()
		check(t, f.Add(key))
	}
	expect := func(key string, present bool) {
		t.Helper()
		if f.Contains(key) != present {
			t.Errorf("at %v: %s: not %t", now, key, present)
		}
	}
	add("a")
	now = at(-10 * ttl) // backward, without effect until the clock reaches the old time
	expect("a", true)
	add("b")
	now = at(ttl)
	expect("a", true)
	expect("b", true)
	now = at(ttl * 8 / 7)
	expect("a", false)
	add("c")
	now = at(ttl * 8 / 7 * 2).Add(-ttl / 7)
	expect("c", true) // exactly ttl later
	now = at(1000 * ttl)
	expect("c", false)
	if n := f.Len(); n != 0 {
		t.Errorf("%d keys after a long time", n)
	}
	for _, far := range []time.Time{
		at(200 * 365 * 24 * time.Hour), time.Date(5000, 1, 1, 0, 0, 0, 0, time.UTC), {}, time.Unix(math.MaxInt64, 0), at(0),
		time.Unix(math.MinInt64, 0),
	} {
		now = far
		add("d")
		expect("d", true)
		if i := f.Info(); i.Keys != 1 {
			t.Errorf("%v: %+v", far, i)
		}
	}

	// Times before the first Advance are the time of the first one.
	e := mustNew[string](t, Config{Keys: 1000, TTL: ttl, FPR: 1e-9, EventTime: true})
	if err := e.Add("a"); err != nil || !e.Contains("a") || !e.Info().Time.IsZero() {
		t.Errorf("%v, %+v", err, e.Info())
	}
	e.Advance(time.Unix(math.MinInt64, 0))
	if !e.Contains("a") || e.Info().Time.IsZero() {
		t.Errorf("%+v", e.Info())
	}
	e.Advance(at(0))
	if e.Contains("a") {
		t.Error("a key is there after two hundred years")
	}
}

// TestIdle checks that an idle filter answers for the time of the query, and sweeps on request.
func TestIdle(t *testing.T) {
	const ttl, n = time.Hour, 20_000
	for _, idle := range []time.Duration{ttl / 2, ttl + 1, ttl * 15 / 14, ttl * 8 / 7, 2 * ttl, 1e6 * ttl} {
		now := at(0)
		f := mustNew[uint64](t, Config{Keys: n, TTL: ttl, Clock: func() time.Time { return now }})
		for i := range uint64(n) {
			check(t, f.Add(i))
		}
		all := f.Len()
		now = at(idle)
		found := uint64(0)
		for i := range uint64(n) {
			if f.Contains(i) {
				found++
			}
		}
		left := f.Len()
		i := f.Info()
		// The hand has passed a share of 7·(idle-ttl)/ttl of the buckets.
		want := float64(all) * max(0, min(1, 1-7*(idle.Seconds()-ttl.Seconds())/ttl.Seconds()))
		if math.Abs(float64(left)-want) > 0.04*n || i.Keys != left || math.Abs(float64(found)-float64(left)) > 0.03*n {
			t.Errorf("idle for %v: %d found, %d left, %+v, want %.0f", idle, found, left, i, want)
		}
		if f.ring.hand.Load() != f.ring.target.Load() {
			t.Error("the hand is late after Len")
		}
	}
}

// TestCatchUp checks that a late hand reaches all groups, one with each change of any key.
func TestCatchUp(t *testing.T) {
	const ttl = 7 * time.Hour
	for _, idle := range []time.Duration{ttl / 10, ttl / 7, ttl / 2, 3*ttl/7 + 1, 6 * ttl, 1e5 * ttl} {
		f := mustNew[uint64](t, Config{Keys: 100_000, TTL: ttl, EventTime: true})
		r := f.ring
		f.Advance(at(0))
		f.Advance(at(ttl / 11))
		late := func() (n int) {
			for g := range r.groups {
				if r.groups[g].Load() != point(r.target.Load()).groupEntry(uint64(g)) {
					n++
				}
			}
			return n
		}
		f.Advance(at(ttl/11 + idle))
		before := late()
		for i := range 2 * len(r.groups) {
			check(t, f.Add(7))
			if now := late(); now < before-2 {
				t.Fatalf("idle for %v: change %d brought %d groups up to date", idle, i, before-now)
			} else {
				before = now
			}
		}
		if n := late(); n != 0 || r.hand.Load() != r.target.Load() {
			t.Errorf("idle for %v: %d groups of %d are late", idle, n, len(r.groups))
		}
	}
}

// TestMachineClock uses the default clock.
func TestMachineClock(t *testing.T) {
	f := mustNew[string](t, Config{Keys: 1000, TTL: 20 * time.Millisecond, FPR: 1e-9})
	began := time.Now()
	check(t, f.Add("a"))
	added := time.Now()
	for {
		before := time.Now()
		present, after := f.Contains("a"), time.Now()
		if !present && after.Sub(began) <= 20*time.Millisecond {
			t.Fatalf("forgotten after %v", after.Sub(began))
		}
		if present && before.Sub(added) > 20*time.Millisecond*8/7 {
			t.Fatalf("remembered after %v", before.Sub(added))
		}
		if !present {
			break
		}
	}
	if i := f.Info(); i.Time.Before(began.Add(-time.Second)) || i.Time.After(time.Now().Add(time.Second)) {
		t.Errorf("%+v", i)
	}
}

// TestInfo checks ages, sizes and rates.
func TestInfo(t *testing.T) {
	const ttl = 7 * time.Hour
	f := mustNew[uint64](t, Config{Keys: 70_000, TTL: ttl, EventTime: true, FPR: 0.001})
	for i := range uint64(6 * 7000) {
		f.Advance(at(time.Duration(i) * ttl / 49_000 * 7 / 7))
		check(t, f.Add(i))
	}
	i := f.Info()
	sum := uint64(0)
	for age, n := range i.Ages {
		sum += n
		want := 7000. // an epoch has 7000 keys
		switch age {
		case 0, 6: // on average, the hand passed a bucket half an epoch ago
			want /= 2
		case 7:
			want = 0
		}
		if math.Abs(float64(n)-want) > 300 {
			t.Errorf("age %d: %d keys, want %g", age, n, want)
		}
	}
	if sum != i.Keys || i.Keys != f.Len() || i.Capacity < 74_990 || i.Capacity > 75_010 || i.Room != i.Capacity-i.Keys {
		t.Errorf("keys: %+v", i)
	}
	if i.FPRPlanned != 0.001 || math.Abs(i.FPR/0.001-float64(i.Keys)/75_000) > 0.001 ||
		i.MaxFPR < 0.001 || i.MaxFPR > 0.0014 {
		t.Errorf("rates: %+v", i)
	}
	if i.TTL != ttl || i.Refused != 0 || i.Shortened != 0 || i.Bytes < 150_000 || i.Bytes > 165_000 {
		t.Errorf("%+v", i)
	}
}

// TestRefuse overfills a filter. The keys in it must remain, and there must be room again after some time.
func TestRefuse(t *testing.T) {
	const n, ttl = 1000, time.Hour
	f := mustNew[uint64](t, Config{Keys: n, TTL: ttl, EventTime: true, FPR: 1e-6})
	f.Advance(at(0))
	var in []uint64
	refused := uint64(0)
	for i := range uint64(5 * n) {
		present, err := f.TestAndAdd(i)
		switch {
		case err == nil && !present:
			in = append(in, i)
		case present || !errors.Is(err, filter.ErrFull):
			t.Fatal(present, err)
		default:
			refused++
		}
	}
	more := []uint64{in[0], in[1], 1e9, 1e9 + 1, 1e9 + 2, 1e9 + 3, 1e9 + 4, 1e9 + 5}
	if k, err := f.AddMany(more); err == nil || k < 2 || k > 4 {
		t.Errorf("%d keys added to a full filter, %v", k, err)
	}
	refused++
	for _, key := range in {
		if !f.Contains(key) {
			t.Fatalf("key %d is lost", key)
		}
	}
	i := f.Info()
	if len(in) < n*15/14 || len(in) > 2*n || i.Refused != refused || i.Room != 0 || i.FPR > i.MaxFPR || i.Shortened != 0 {
		t.Errorf("%d keys, %+v, %d refused", len(in), i, refused)
	}
	// By 2·ttl all keys have expired. Their buckets have not been swept, but Add must find room at once.
	f.Advance(at(2 * ttl))
	for i := range uint64(n) {
		check(t, f.Add(1e6+i))
	}
}

// TestShorten overfills a filter, which must then forget the oldest keys and never the latest ones.
func TestShorten(t *testing.T) {
	const n, ttl = 20_000, 7 * time.Hour
	f := mustNew[uint64](t, Config{Keys: n, TTL: ttl, EventTime: true, Overflow: Shorten})
	const rate = 2 // multiple of the planned number of keys
	lost := 0
	fresh := make([]bool, 4*rate*n) // a key that collides with another one was not added
	for i := range uint64(len(fresh)) {
		f.Advance(at(time.Duration(i) * ttl / (rate * n)))
		present, err := f.TestAndAdd(i)
		if fresh[i] = !present; err != nil {
			t.Fatal(err)
		}
		if i > n/2 && fresh[i-n/2] && !f.Contains(i-n/2) {
			lost++
		}
	}
	i := f.Info()
	if lost > 0 || i.Refused != 0 || i.Shortened < 3*n || i.FPR > i.MaxFPR || i.Keys < n {
		t.Errorf("%d keys of the latest quarter of ttl lost, %+v", lost, i)
	}
	// All keys arrive at once.
	g := mustNew[uint64](t, Config{Keys: 100, TTL: ttl, EventTime: true, Overflow: Shorten})
	for i := range uint64(10_000) {
		if _, err := g.TestAndAdd(i); err != nil || !g.Contains(i) {
			t.Fatal(i, err)
		}
	}
}

// must returns v. It panics if err is not nil.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// check ends the test if err is not nil.
func check(t testing.TB, err error) {
	if err != nil {
		t.Helper() // slow: some tests check millions of calls
		t.Fatal(err)
	}
}
