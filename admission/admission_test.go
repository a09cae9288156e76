package admission

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/filtertest"
	"github.com/bloomery/bloomery/internal/stat"
)

func newTest(t testing.TB, c Config) *Doorkeeper {
	t.Helper()
	d, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestSecond checks that every method admits a key at its second request, and almost none at its first.
func TestSecond(t *testing.T) {
	d := newTest(t, Config{Keys: 10_000})
	first := 0
	for i := range 5000 {
		key := fmt.Sprintf("https://example.com/%d/%s", i, strings.Repeat("x", i%300))
		if d.Admit([]byte(key)) {
			first++
		}
		if !d.AdmitString(key) || !d.AdmitHash(d.Hasher().SumString(key)) || !d.Admit([]byte(key)) {
			t.Fatalf("%q is not admitted again", key)
		}
	}
	if first > 50 {
		t.Errorf("%d of 5000 keys admitted at once", first)
	}
	want := Stats{Requests: 20_000, Admitted: 15_000 + uint64(first), Held: 5000 - uint64(first), Shards: 1}
	if s := d.Stats(); s != want {
		t.Errorf("%+v, want %+v", s, want)
	}
}

// TestMemory checks that a key is remembered for one to two generations, and forgotten then.
func TestMemory(t *testing.T) {
	const keys = 1000
	d := newTest(t, Config{Keys: keys, FPR: 1e-6, Shards: 1})
	hs := filtertest.Hashes(5*keys, 1)
	for i, h := range hs { // until the first key is two generations old
		if d.AdmitHash(h) {
			t.Fatalf("key %d admitted at once, which has a chance of 1 in 200", i)
		}
		if i >= keys && !d.AdmitHash(hs[i-keys/2]) {
			t.Fatalf("key %d forgotten after half a generation", i-keys/2)
		}
		if d.Stats().Rotations == 3 {
			break
		}
	}
	if d.AdmitHash(hs[0]) {
		t.Error("a key is never forgotten")
	}
	// Exactly: keys 0 to 999 fill a generation, the next 999 do not fill the second.
	d = newTest(t, Config{Keys: keys, FPR: 1e-6, Shards: 1})
	for _, h := range hs[:2*keys-1] {
		d.AdmitHash(h)
	}
	if s := d.Stats(); s.Rotations != 1 || s.Held != keys-1 {
		t.Fatalf("%+v", s)
	}
	for _, h := range hs[keys : 2*keys-1] { // known, so that they do not count again
		if !d.AdmitHash(h) {
			t.Fatal("forgotten")
		}
	}
	if s := d.Stats(); s.Rotations != 1 || s.Held != keys-1 {
		t.Fatalf("keys that were there count again: %+v", s)
	}
	if !d.AdmitHash(hs[0]) { // is known from the previous generation, and joins the current one as its last key
		t.Fatal("a key of the previous generation is forgotten")
	}
	if s := d.Stats(); s.Rotations != 2 || s.Held != 0 {
		t.Fatalf("%+v", s)
	}
	if !d.AdmitHash(hs[0]) || d.AdmitHash(hs[1]) {
		t.Error("a key that was asked for again has not moved on, or one that was not has")
	}
}

// TestModel compares answers and counts with a model of two sets a shard. Requests repeat after short and long times.
func TestModel(t *testing.T) {
	const keys, shards = 300, 3
	d := newTest(t, Config{Keys: keys, FPR: 1e-9, Shards: shards}) // practically no false positives
	type set = map[filter.Hash]bool
	var current, previous [shards]set
	var want Stats
	for i := range shards {
		current[i], previous[i] = set{}, set{}
	}
	hs := filtertest.Hashes(4*keys, 4)
	r := rand.New(rand.NewPCG(4, 5))
	for i := range 50_000 {
		h := hs[int(float64(len(hs))*math.Pow(r.Float64(), 3))] // some much more often than others
		at, _ := bits.Mul64(h.Hi, shards)
		known := current[at][h] || previous[at][h]
		current[at][h] = true
		if len(current[at]) == keys/shards {
			current[at], previous[at] = set{}, current[at]
			want.Rotations++
		}
		if want.Requests++; known {
			want.Admitted++
		}
		if d.AdmitHash(h) != known {
			t.Fatalf("request %d: known %v", i, known)
		}
	}
	for i := range shards {
		want.Held += uint64(len(current[i]))
	}
	if want.Shards = shards; d.Stats() != want || want.Rotations < 50 {
		t.Errorf("%+v, want %+v", d.Stats(), want)
	}
}

// TestShards checks that all shards get keys at random and rotate.
func TestShards(t *testing.T) {
	const keys, shards = 64 * 256, 64
	d := newTest(t, Config{Keys: keys, Shards: shards})
	least, most := uint64(math.MaxUint64), uint64(0)
	for _, h := range filtertest.Hashes(10*keys, 2) {
		d.AdmitHash(h)
	}
	for i := range d.shards {
		s := &d.shards[i]
		least, most = min(least, s.requests), max(most, s.requests)
		if s.rotations < 8 || s.rotations > 11 {
			t.Errorf("shard %d rotated %d times", i, s.rotations)
		}
	}
	if mean, off := 10.*keys/shards, 5*math.Sqrt(10*keys/shards); float64(least) < mean-off || float64(most) > mean+off {
		t.Errorf("%d to %d requests a shard", least, most)
	}
	if size := unsafe.Sizeof(shard{}); size != shardBytes {
		t.Errorf("a shard has %d bytes", size)
	}
}

// TestRate measures false admissions just before a rotation and compares them with the promise and the prediction, for
// sizes by rate and by memory.
func TestRate(t *testing.T) {
	const keys = 1 << 16
	absent := 300_000
	if testing.Short() {
		absent = 30_000
	}
	for _, c := range []Config{
		{Keys: keys}, {Keys: keys, FPR: 0.001}, {Keys: keys, FPR: 0.05, Shards: 1}, {Keys: keys, Shards: 256},
		{Keys: keys, FPR: maxFPR, Shards: 16}, {Keys: 40, Shards: 1}, {Keys: keys, Bytes: 150_000},
		{Keys: keys, Bytes: 300_000, Shards: 3},
	} {
		d := newTest(t, c)
		promised := c.FPR
		if c.FPR == 0 && c.Bytes == 0 {
			promised = DefaultFPR
		}
		if c.Bytes != 0 && (d.Bytes() > c.Bytes || d.Bytes() < c.Bytes*8/10) {
			t.Errorf("%+v: %d bytes", c, d.Bytes())
		}
		if promised != 0 && (d.FPR() > promised || d.FPR() < 0.95*promised && d.geometry.keys > 1000) {
			t.Errorf("%+v: %g predicted, %g promised", c, d.FPR(), promised)
		}
		// Fill both generations of every shard, less one key, then query without adding.
		var asked, wrong uint64
		var predicted float64
		for trial := range uint64(max(1, 200/c.Keys)) {
			d = newTest(t, c)
			for _, h := range filtertest.Hashes(int(4*c.Keys), trial) {
				at, _ := bits.Mul64(h.Hi, d.geometry.shards)
				if s := &d.shards[at]; s.rotations < 1 || s.held < d.geometry.limit-1 {
					d.AdmitHash(h)
				}
			}
			predicted = d.FPRAt(d.geometry.keys, d.geometry.keys-1)
			for _, h := range filtertest.Hashes(absent, 1000+trial) {
				asked++
				if d.generations[0].Has(h) || d.generations[1].Has(h) {
					wrong++
				}
			}
		}
		low, high := stat.Interval(wrong, asked, 0.9999)
		// The rate of one random bit pattern differs from the mean: by a few percent if there are few keys.
		slack := predicted * (0.005 + 3/math.Sqrt(float64(c.Keys)))
		if predicted < low-slack || predicted > high+slack {
			t.Errorf("%+v: %g predicted, %g to %g observed", c, predicted, low, high)
		}
		t.Logf("%+v: %d bytes, %.4g predicted, %.4g to %.4g observed", c, d.Bytes(), predicted, low, high)
	}
}

// TestStream requests new keys for many generations: the share of false admissions is below the promise.
func TestStream(t *testing.T) {
	d := newTest(t, Config{Keys: 50_000, Hasher: filter.NewHasher(1)})
	const n = 1_000_000
	for i := range uint64(n) {
		d.AdmitHash(d.Hasher().SumUint64(i))
	}
	s := d.Stats()
	rate := float64(s.Admitted) / n
	if rate > DefaultFPR || rate < DefaultFPR/2 || s.Rotations/uint64(s.Shards) < 18 {
		t.Errorf("%.4f admitted, %+v", rate, s)
	}
}

// TestGenerations runs for many generations with several seeds: new keys are admitted at the predicted mean rate of a
// generation, within 4.5 standard deviations, and a generation takes Keys of them on average.
func TestGenerations(t *testing.T) {
	generations := uint64(60)
	if testing.Short() {
		generations = 12
	}
	for _, c := range []Config{
		{Keys: 3000}, {Keys: 3000, FPR: 0.1, Shards: 3}, {Keys: 2000, FPR: maxFPR, Shards: 1},
		{Keys: 4000, FPR: 0.3, Shards: 50}, {Keys: 500, FPR: 0.02}, {Keys: 5000, Bytes: 8000},
	} {
		d := newTest(t, c)
		const steps = 20 // through the current generation, with a full previous one
		var rate, own float64
		for i := range uint64(steps) {
			at := d.geometry.keys * (2*i + 1) / (2 * steps)
			rate += d.FPRAt(d.geometry.keys, at) / steps
			own += d.FPRAt(0, at) / steps
		}
		var asked, wrong, rotations float64
		for seed := range uint64(3) {
			c.Hasher = filter.NewHasher(seed)
			d = newTest(t, c)
			var before Stats
			for i := range (generations + 3) * c.Keys {
				if d.AdmitHash(d.Hasher().SumUint64(i)); i == 3*c.Keys { // both generations were full by then
					before = d.Stats()
				}
			}
			s := d.Stats()
			asked, wrong = asked+float64(s.Requests-before.Requests), wrong+float64(s.Admitted-before.Admitted)
			rotations += float64(s.Rotations - before.Rotations)
		}
		// False admissions within a block are correlated by its fill, which doubles their variance.
		off := 4.5 * math.Sqrt(2*asked*rate)
		if math.Abs(wrong-asked*rate) > off+0.01*asked*rate || wrong > asked*d.FPR()+off {
			t.Errorf("%+v: %.0f of %.0f admitted, %.0f ± %.0f predicted", c, wrong, asked, asked*rate, off)
		}
		// A share own of the keys is not counted, and both ends cut a generation. Generations of few keys, in one or
		// two blocks, last about one key longer, because the number of uncounted keys varies.
		each := float64(d.geometry.keys)
		keys := asked / each
		off = 4.5*math.Sqrt(2*own*asked)/each + 3*math.Sqrt(float64(d.geometry.shards)) + (0.005+1/each)*keys
		if math.Abs(rotations-keys) > off {
			t.Errorf("%+v: %.0f generations, %.0f ± %.0f predicted", c, rotations, keys, off)
		}
		t.Logf("%+v: %.4f of %.0f admitted, %.4f predicted, %.4f promised; %.0f generations of %.1f",
			c, wrong/asked, asked, rate, d.FPR(), rotations, keys)
	}
}

// TestFirstIsOne requests the same new keys from many goroutines at once: for each key exactly one is the first.
func TestFirstIsOne(t *testing.T) {
	const keys, askers = 20_000, 8
	d := newTest(t, Config{Keys: 100 * keys, FPR: 1e-9, Shards: 4}) // no rotation
	hs := filtertest.Hashes(keys, 3)
	var firsts [keys]atomic.Int32
	var wg sync.WaitGroup
	for range askers {
		wg.Go(func() {
			for i, h := range hs {
				if !d.AdmitHash(h) {
					firsts[i].Add(1)
				}
			}
		})
	}
	wg.Wait()
	for i := range firsts {
		if n := firsts[i].Load(); n != 1 {
			t.Fatalf("key %d: %d of %d were the first", i, n, askers)
		}
	}
	// Every request is counted, with frequent rotations and concurrent calls of Stats.
	d = newTest(t, Config{Keys: 512, Shards: 4})
	for g := range askers {
		wg.Go(func() {
			for i, h := range hs {
				if d.AdmitHash(h); i%1000 == g {
					d.Stats()
				}
			}
		})
	}
	wg.Wait()
	if s := d.Stats(); s.Requests != keys*askers || s.Rotations < 4*keys/512/2 || s.Held >= 512 {
		t.Errorf("%+v", s)
	}
}

// TestSecret checks that every Doorkeeper draws its own secret by default: the false positives of one are not more
// often false positives of another.
func TestSecret(t *testing.T) {
	const n = 2000
	c := Config{Keys: 2 * n, FPR: 0.3, Shards: 1}
	a, b := newTest(t, c), newTest(t, c)
	if a.Hasher().ID() != filter.SipHash || a.Hasher().Equal(b.Hasher()) {
		t.Error("no secret, or a common one")
	}
	for i := range n {
		a.AdmitString(fmt.Sprint(i))
		b.AdmitString(fmt.Sprint(i))
	}
	found, fooled := 0, 0
	for i := n; found < 500; i++ {
		key := fmt.Sprint(i)
		if h := a.Hasher().SumString(key); a.generations[0].Has(h) || a.generations[1].Has(h) {
			found++
			if h := b.Hasher().SumString(key); b.generations[0].Has(h) || b.generations[1].Has(h) {
				fooled++
			}
		}
	}
	p := b.FPRAt(0, n)
	if mean := p * float64(found); float64(fooled) > mean+5*math.Sqrt(mean) {
		t.Errorf("%d of %d keys that fool one fool another", fooled, found)
	}
	if c := newTest(t, Config{Keys: 1, Hasher: filter.NewHasher(7)}); !c.Hasher().Equal(filter.NewHasher(7)) {
		t.Error("Config.Hasher is not used")
	}
}

// TestConfig checks errors, limits and sizes.
func TestConfig(t *testing.T) {
	short, err := filter.ForeignHasher(filter.XXH64)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []Config{
		{}, {Keys: 1, FPR: -0.1}, {Keys: 1, FPR: 0.51}, {Keys: 1, FPR: math.NaN()}, {Keys: 1, FPR: 0.1, Bytes: 1000},
		{Keys: 100, FPR: math.SmallestNonzeroFloat64}, {Keys: 100, FPR: 0.9 * minFPR}, {Keys: 1, Hasher: short},
		{Keys: 1, Shards: -1}, {Keys: 1, Shards: 2}, {Keys: 1, Bytes: 191}, {Keys: 300, Bytes: 192},
		{Keys: 1 << 20, Bytes: 64 * 192, Shards: 65},
	} {
		var e *filter.ConfigError
		if _, err := New(c); !errors.As(err, &e) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for _, c := range []Config{
		{Keys: math.MaxUint64}, {Keys: 1 << 62, FPR: 1e-6}, {Keys: 1, Bytes: math.MaxUint64},
		{Keys: math.MaxUint64, Shards: 1}, {Keys: 1 << 60, Shards: math.MaxInt32},
	} {
		if _, err := New(c); !errors.Is(err, filter.ErrTooLarge) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if d := newTest(t, Config{Keys: 1, Bytes: 192}); d.Bytes() != 192 {
		t.Errorf("%d bytes", d.Bytes())
	}
	for _, x := range []struct {
		c            Config
		shards, keys uint64
	}{
		{Config{Keys: 1}, 1, 1}, {Config{Keys: 16384}, 1, 16384}, {Config{Keys: 16385}, 2, 8193},
		{Config{Keys: 1e6}, 62, 16130}, {Config{Keys: 10, Shards: 3}, 3, 4}, {Config{Keys: 9, Shards: 3}, 3, 3},
		{Config{Keys: 100, Shards: 100}, 100, 1}, {Config{Keys: 1000, FPR: minFPR}, 1, 1000},
	} {
		d := newTest(t, x.c)
		if d.geometry.shards != x.shards || d.geometry.keys != x.keys || d.FPR() > cmp.Or(x.c.FPR, DefaultFPR) {
			t.Errorf("%+v: %+v, rate %g", x.c, d.geometry, d.FPR())
		}
	}
	// A generation of one key forgets it at the next.
	d := newTest(t, Config{Keys: 1})
	for i, want := range []bool{false, true, false, true, false} {
		if got := d.AdmitString([]string{"a", "a", "b", "b", "a"}[i]); got != want {
			t.Errorf("request %d: %v", i, got)
		}
	}
}

// TestAllocations checks that Admit, AdmitString and AdmitHash do not allocate, rotations included.
func TestAllocations(t *testing.T) {
	for _, h := range []filter.Hasher{{}, filter.NewHasher(1)} {
		d := newTest(t, Config{Keys: 10, Hasher: h})
		key, text, i := make([]byte, 1000), strings.Repeat("u", longest), uint64(0)
		if n := testing.AllocsPerRun(1000, func() {
			i++
			binary.LittleEndian.PutUint64(key, i)
			d.Admit(key)
			d.AdmitString(text)
			d.AdmitHash(filter.Hash{Hi: i << 40, Lo: i << 20})
		}); n != 0 {
			t.Errorf("%s: %g allocations", d.Hasher().ID(), n)
		}
	}
}

// BenchmarkAdmit requests each key twice in a row, from one goroutine a core.
func BenchmarkAdmit(b *testing.B) {
	for _, keys := range []uint64{1e6, 5e7} {
		for _, h := range []filter.Hasher{filter.NewKeyedHasher(filter.Secret{}), filter.NewHasher(1)} {
			b.Run(fmt.Sprintf("op=admit/keys=%.0e/hash=%s", float64(keys), h.ID()), func(b *testing.B) {
				if keys > 1e6 && testing.Short() {
					b.Skip("takes 150 MB")
				}
				d := newTest(b, Config{Keys: keys, Hasher: h})
				var who atomic.Uint64
				b.ReportAllocs()
				b.ResetTimer()
				b.RunParallel(func(p *testing.PB) {
					key := []byte("https://cdn.example.com/assets/........")
					i := who.Add(1) << 40
					for p.Next() {
						binary.LittleEndian.PutUint64(key[len(key)-8:], i>>1*0x9E3779B97F4A7C15)
						d.Admit(key)
						i++
					}
				})
				b.ReportMetric(float64(d.Bytes())/1e6, "MB")
			})
		}
	}
}

// BenchmarkRotate measures a rotation of one shard, with its memory in the caches (1M keys) and not (50M).
func BenchmarkRotate(b *testing.B) {
	for _, keys := range []uint64{1e6, 5e7} {
		b.Run(fmt.Sprintf("op=rotate/keys=%.0e", float64(keys)), func(b *testing.B) {
			d := newTest(b, Config{Keys: keys})
			b.SetBytes(int64(d.geometry.blocks * blockBytes))
			at := uint64(0)
			for b.Loop() {
				s := &d.shards[at]
				s.mu.Lock()
				d.rotate(s, at)
				s.mu.Unlock()
				if at++; at == d.geometry.shards {
					at = 0
				}
			}
		})
	}
}

// BenchmarkNew measures New, which mostly searches for the size.
func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		newTest(b, Config{Keys: 1_000_000})
	}
}
