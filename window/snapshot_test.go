package window

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/family"
)

// restarted returns a filter that was saved and read again.
func restarted[K filter.Key](t testing.TB, f *Filter[K], c Config) *Filter[K] {
	t.Helper()
	b := must(f.MarshalBinary())
	g := must(Read[K](bytes.NewReader(b), c))
	return g
}

// TestSave saves filters in all ways and opens them again.
func TestSave(t *testing.T) {
	path := filepath.Join(t.TempDir(), "seen.window")
	c := Config{Keys: 1000, TTL: time.Hour, FPR: 1e-9, Burst: 0.3, EventTime: true}
	f := mustNew[uint64](t, c)
	for i := range uint64(1500) {
		f.Advance(at(time.Duration(i) * 5 * time.Second))
		check(t, f.Add(i))
	}
	check(t, f.Save(t.Context(), path))
	file := must(os.ReadFile(path))
	var written bytes.Buffer
	n, err := f.WriteTo(&written)
	marshalled, err2 := f.MarshalBinary()
	if err != nil || err2 != nil || n != int64(len(file)) || !bytes.Equal(written.Bytes(), file) ||
		!bytes.Equal(marshalled, file) {
		t.Fatalf("Save, WriteTo and MarshalBinary differ: %v, %v", err, err2)
	}
	for _, same := range []Config{c, {EventTime: true}, {EventTime: true, Refresh: true, Overflow: Shorten}} {
		g := must(Open[uint64](t.Context(), path, same))
		want, got := f.Info(), g.Info()
		if want.Bytes = got.Bytes; want != got {
			t.Errorf("Info is %+v, was %+v", got, want)
		}
		for i := range uint64(1600) {
			if f.Contains(i) != g.Contains(i) {
				t.Errorf("key %d: %t", i, g.Contains(i))
			}
		}
		again, err := g.MarshalBinary()
		if err != nil || !bytes.Equal(again, file) {
			t.Errorf("a file that was opened and saved is another one: %v", err)
		}
		if g.ring.refresh != same.Refresh || g.ring.shorten != (same.Overflow == Shorten) {
			t.Error("Overflow and Refresh are not as in the Config")
		}
	}
	r := io.MultiReader(bytes.NewReader(file), strings.NewReader("rest"))
	if _, err := Read[uint64](r, c); err != nil {
		t.Error(err)
	}
	if rest, _ := io.ReadAll(r); string(rest) != "rest" {
		t.Errorf("Read left %q", rest)
	}

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.Save(ended, path); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := Open[uint64](ended, path, c); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if left, err := os.ReadFile(path); err != nil || !bytes.Equal(left, file) {
		t.Errorf("a Save that did not take place changed the file: %v", err)
	}
	if _, err := Open[uint64](t.Context(), path+"-", c); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// TestOther opens a file with a Config that differs from the Config of the file.
func TestOther(t *testing.T) {
	path := filepath.Join(t.TempDir(), "seen.window")
	c := Config{Keys: 1000, TTL: time.Hour, FPR: 0.01, Burst: 0.5, EventTime: true}
	check(t, mustNew[string](t, c).Save(t.Context(), path))
	for field, change := range map[string]func(*Config){
		"Keys":      func(c *Config) { c.Keys++ },
		"TTL":       func(c *Config) { c.TTL++ },
		"FPR":       func(c *Config) { c.FPR = 0.02 },
		"Burst":     func(c *Config) { c.Burst = 0.1 },
		"EventTime": func(c *Config) { c.EventTime = false },
		"Overflow":  func(c *Config) { c.Overflow = 7 },
		"Secret":    func(c *Config) { c.Secret = filter.NewSecret() },
	} {
		other := c
		change(&other)
		_, err := Open[string](t.Context(), path, other)
		var bad *filter.ConfigError
		if !errors.As(err, &bad) || bad.Field != field || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", field, err)
		}
	}
	_, err := Open[string](t.Context(), path, Config{Keys: 999, EventTime: true})
	if err == nil || !strings.Contains(err.Error(), "999") || !strings.Contains(err.Error(), "1000") {
		t.Errorf("the error does not name both: %v", err)
	}
}

// TestSaveSecret checks that a keyed filter needs its secret again, and that the file does not contain it.
func TestSaveSecret(t *testing.T) {
	secret := filter.NewSecret()
	c := Config{Keys: 500, TTL: time.Hour, FPR: 1e-9, EventTime: true, Secret: secret}
	f := mustNew[string](t, c)
	check(t, f.Add("key"))
	file := must(f.MarshalBinary())
	for _, part := range [][]byte{secret[:8], secret[8:]} {
		if bytes.Contains(file, part) {
			t.Error("the secret is in the file")
		}
	}
	g := restarted(t, f, c)
	if !g.Contains("key") {
		t.Error("the key is missing")
	}
	c.Secret = nil
	if _, err := Read[string](bytes.NewReader(file), c); !errors.Is(err, filter.ErrNoSecret) {
		t.Errorf("without a secret: %v", err)
	}
	// Keys that are hashes need no secret, and the file remains a file with a secret.
	h, err := Read[filter.Hash](bytes.NewReader(file), c)
	if err != nil || !h.Contains(filter.NewKeyedHasher(*secret).SumString("key")) {
		t.Fatalf("%v, or the hash is missing", err)
	}
	if again, err := h.MarshalBinary(); err != nil || !bytes.Equal(again, file) {
		t.Errorf("the file is another one: %v", err)
	}
	c.Secret = filter.NewSecret()
	_, err = Read[string](bytes.NewReader(file), c)
	if !errors.Is(err, filter.ErrSecret) || errors.Is(err, filter.ErrNoSecret) {
		t.Errorf("with another secret: %v", err)
	}
}

// TestSaveTime checks the time after a restart: it continues, even after a long pause, and never goes back.
func TestSaveTime(t *testing.T) {
	now := at(0)
	c := Config{Keys: 500, TTL: 7 * time.Hour, FPR: 1e-9, Clock: func() time.Time { return now }}
	f := mustNew[string](t, c)
	check(t, f.Add("key"))
	now = at(time.Hour)
	f = restarted(t, f, c)
	for _, s := range []struct {
		at   time.Duration
		want bool
	}{{-time.Hour, true}, {7 * time.Hour, true}, {0, true}} {
		now = at(s.at)
		if f = restarted(t, f, c); f.Contains("key") != s.want {
			t.Errorf("at %v: not %t", s.at, s.want)
		}
	}
	now = at(8*time.Hour + 1)
	f = restarted(t, f, c)
	if now = at(2 * time.Hour); f.Contains("key") || restarted(t, f, c).Contains("key") {
		t.Error("a key is there again")
	}
	for _, years := range []int{1, 50, 200} {
		check(t, f.Add("key"))
		now = at(0).AddDate(years, 0, 0)
		if f = restarted(t, f, c); f.Contains("key") || f.Len() != 0 {
			t.Errorf("after %d years: a key is there", years)
		}
	}

	// With the clock of the machine, and before the time has begun.
	c = Config{Keys: 500, TTL: time.Hour}
	g := mustNew[string](t, c)
	if err := g.Add("key"); err != nil || !restarted(t, g, c).Contains("key") {
		t.Errorf("%v, or the key is missing", err)
	}
	c.EventTime = true
	g = mustNew[string](t, c)
	if err := g.Add("key"); err != nil || !restarted(t, g, c).Contains("key") {
		t.Errorf("%v, or the key is missing", err)
	}
	g = restarted(t, g, c)
	if i := g.Info(); !i.Time.IsZero() {
		t.Errorf("time has begun: %v", i.Time)
	}
	g.Advance(at(0))
	if g.Advance(at(time.Hour)); !g.Contains("key") {
		t.Error("the key is missing")
	}
	if g.Advance(at(time.Hour * 8 / 7)); g.Contains("key") {
		t.Error("the key is there")
	}
}

// TestAhead opens files that were saved by a clock that was ahead. If it was ahead by at most TTL, or a minute, the
// time of the filter must not move until the clock reaches it. Otherwise Open must return an error.
func TestAhead(t *testing.T) {
	for ttl, most := range map[time.Duration]time.Duration{
		time.Second: time.Minute, 30 * 24 * time.Hour: 30 * 24 * time.Hour,
	} {
		now := at(0)
		c := Config{Keys: 100, TTL: ttl, FPR: 1e-9, Clock: func() time.Time { return now }}
		f := mustNew[string](t, c)
		check(t, f.Add("key"))
		path := filepath.Join(t.TempDir(), "seen.window")
		check(t, f.Save(t.Context(), path))
		for _, s := range []struct {
			clock time.Time
			ok    bool
		}{
			{at(0), true}, {at(-time.Second), true}, {at(-most), true}, {time.Time{}, true},
			{at(-most - 1), false}, {at(0).AddDate(-1, 0, 0), false}, {time.Unix(0, 0), false},
		} {
			now = s.clock
			f, err := Open[string](t.Context(), path, c)
			if s.ok && (err != nil || !f.Contains("key") || !f.Info().Time.Equal(at(0))) {
				t.Errorf("ttl %v, clock %v: %v, or the time has moved", ttl, s.clock, err)
			}
			if !s.ok && (!errors.Is(err, ErrAhead) || !strings.Contains(err.Error(), path+": ")) {
				t.Errorf("ttl %v, clock %v: %v", ttl, s.clock, err)
			}
		}
	}
	// With the clock of the machine, and with EventTime, which has no clock.
	year := time.Now().AddDate(1, 0, 0)
	c := Config{Keys: 100, TTL: time.Hour, Clock: func() time.Time { return year }}
	b := must(mustNew[string](t, c).MarshalBinary())
	if _, err := Read[string](bytes.NewReader(b), Config{}); !errors.Is(err, ErrAhead) {
		t.Errorf("a year ahead of the machine: %v", err)
	}
	e := mustNew[string](t, Config{Keys: 100, TTL: time.Hour, EventTime: true})
	e.Advance(year)
	restarted(t, e, Config{EventTime: true})
}

// TestSaveWhileWriting repeatedly saves filters while goroutines add keys and the time advances and jumps. A file must
// contain every key whose Add returned before Save began and that is younger than ttl at the time of the file, and no
// key that was added after Save returned. The filter has few extensions, so that buckets reuse the extensions of other
// buckets.
func TestSaveWhileWriting(t *testing.T) {
	const writers, ttl = 3, int64(time.Hour)
	saves := 80
	if testing.Short() {
		saves = 15
	}
	for _, overflow := range []Overflow{Refuse, Shorten} {
		seed := rand.Uint64()
		const keys = 3000
		c := Config{Keys: keys, TTL: time.Duration(ttl), FPR: 1e-9, EventTime: true, Overflow: overflow}
		f := mustNew[uint64](t, c)
		var now, full atomic.Int64
		now.Store(at(0).UnixNano())
		f.Advance(time.Unix(0, now.Load()))
		// The times before and after Add, of the keys whose Add has returned.
		var added, returned [writers][1 << 18]atomic.Int64
		var next [writers]atomic.Int64
		var done atomic.Bool
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				rng := rand.New(rand.NewPCG(seed, uint64(w)))
				for i := 0; i < len(added[w]) && !done.Load(); i++ {
					step := rng.Int64N(2 * ttl / keys)
					if overflow == Shorten && i%2 == 0 {
						step = 0
					}
					if rng.IntN(5000) == 0 {
						step = rng.Int64N(2 * ttl)
					}
					f.Advance(time.Unix(0, now.Add(step)))
					before := now.Load()
					next[w].Store(int64(i + 1))
					if err := f.Add(uint64(w)<<32 + uint64(i)); err == nil {
						returned[w][i].Store(now.Load())
						added[w][i].Store(before)
					} else if full.Add(1); overflow == Shorten {
						t.Error(err)
					}
				}
			})
		}
		checked := 0
		for n := 0; n < saves || next[0].Load() < 3*keys || checked == 0; n++ {
			var begin, end [writers]int64
			for w := range writers {
				for begin[w] = next[w].Load(); begin[w] > 0 && added[w][begin[w]-1].Load() == 0; {
					begin[w]--
				}
			}
			b, err := f.MarshalBinary()
			for w := range writers {
				end[w] = next[w].Load()
			}
			check(t, err)
			g, err := Read[uint64](bytes.NewReader(b), c)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			saved, lost := g.ring.now, 0
			for w := range writers {
				for i := max(0, begin[w]-3*keys); i < begin[w]; i++ {
					from := added[w][i].Load()
					switch there := g.Contains(uint64(w)<<32 + uint64(i)); {
					case from == 0: // refused
					case !there && saved <= from+ttl:
						lost++
					case there && saved > returned[w][i].Load()+ttl*stamps/epochs:
						t.Errorf("seed %d: key %d of %d is remembered for %d", seed, i, w, saved-from)
					}
					checked++
				}
				for i := end[w]; i < end[w]+100; i++ {
					if g.Contains(uint64(w)<<32 + uint64(i)) {
						t.Errorf("seed %d: key %d of %d is there", seed, i, w)
					}
				}
			}
			if lost > 0 && (overflow == Refuse || g.ring.shortened.Load() == 0) {
				t.Fatalf("seed %d: %d keys are forgotten early", seed, lost)
			}
		}
		done.Store(true)
		wg.Wait()
		t.Logf("%d keys checked, %d full, %+v", checked, full.Load(), f.Info())
		if checked == 0 {
			t.Error("nothing was checked")
		}
	}
}

// damaged returns the file of a filter after a change.
func damaged[K filter.Key](t testing.TB, f *Filter[K], change func(*container.File)) []byte {
	t.Helper()
	file, _, err := f.ring.snapshotFile()
	check(t, err)
	change(file)
	var b bytes.Buffer
	check(t, container.Write(&b, file))
	return b.Bytes()
}

// TestDamage checks that every truncation and every changed byte is an error with its offset.
func TestDamage(t *testing.T) {
	c := Config{Keys: 100, TTL: time.Second, EventTime: true}
	f := mustNew[uint64](t, c)
	f.Advance(at(0))
	for i := range uint64(50) {
		check(t, f.Add(i))
	}
	file := damaged(t, f, func(*container.File) {})
	must(Read[uint64](bytes.NewReader(file), c))
	refused := func(b []byte, what string, i int) {
		t.Helper()
		var format *container.FormatError
		_, err := Read[uint64](bytes.NewReader(b), c)
		if _, err2 := Read[uint64](io.MultiReader(bytes.NewReader(b)), c); !errors.As(err, &format) || err2 == nil {
			t.Errorf("%s %d: %v, %v", what, i, err, err2)
		}
	}
	for i := range file {
		refused(file[:i], "cut at", i)
		b := bytes.Clone(file)
		b[i] ^= 1 << (i % 8)
		refused(b, "byte", i)
	}
	path := filepath.Join(t.TempDir(), "seen.window")
	check(t, os.WriteFile(path, append(file, 0), 0o666))
	if _, err := Open[uint64](t.Context(), path, c); !errors.Is(err, filter.ErrCorrupt) {
		t.Errorf("with a byte behind the filter: %v", err)
	}
}

// TestHostile reads files with correct checksums and invalid contents.
func TestHostile(t *testing.T) {
	c := Config{Keys: 2000, TTL: time.Second, EventTime: true}
	f := mustNew[uint64](t, c)
	f.Advance(at(0))
	f.Advance(at(time.Second))
	for i := range uint64(1500) {
		check(t, f.Add(i))
	}
	last := func(f *container.File) []uint64 { return f.Sections[len(f.Sections)-1] }
	with := func(name string, value any) func(*container.File) {
		return func(f *container.File) { f.Spec = f.Spec.With(name, value) }
	}
	for name, change := range map[string]func(*container.File){
		"kind of the clock": func(f *container.File) { last(f)[0] = 2 },
		"not begun":         func(f *container.File) { last(f)[0] = 0 },
		"now":               func(f *container.File) { last(f)[2] = last(f)[1] - 1 },
		"skipped":           func(f *container.File) { last(f)[3] = 8 },
		"skipped most":      func(f *container.File) { last(f)[3] = math.MaxUint64 },
		"young":             func(f *container.File) { last(f)[2] = last(f)[1] },
		"keys":              func(f *container.File) { f.Keys++ },
		"cell":              func(f *container.File) { f.Sections[0][0] ^= 1 << 5 },
		"words":             func(f *container.File) { f.Sections[0] = f.Sections[0][1:] },
		"words of a pool":   func(f *container.File) { f.Sections[1] = append(f.Sections[1], 0) },
		"no clock":          func(f *container.File) { f.Sections = f.Sections[:3] },
		"clock":             func(f *container.File) { f.Sections[3] = f.Sections[3][:5] },
		"rate":              func(f *container.File) { f.FPRPlanned = 0.6 },
		"no rate":           func(f *container.File) { f.FPRPlanned = 0 },
		"exceptions":        func(f *container.File) { f.Exceptions = []uint64{} },
		"hash":              func(f *container.File) { f.Hash = filter.XXH64 },
		"name":              func(f *container.File) { f.Spec = family.NewSpec("rankindexed", "buckets", 1) },
		"bare":              func(f *container.File) { f.Spec = family.NewSpec("window") },
		"no keys":           with("keys", 0),
		"many keys":         with("keys", uint64(mostKeys+1)),
		"ttl":               with("ttl", 999_999),
		"ttl of 2^63":       with("ttl", uint64(1<<63)),
		"burst":             with("burst", 0.05),
		"burst of 2":        with("burst", 2),
		"burst as text":     with("burst", "1e-1"),
		"burst of none":     with("burst", "NaN"),
		"event":             with("event", 2),
		"no event":          with("event", 0),
		"values":            with("value_bits", 3),
		"growth":            with("growth", 1),
		"counting":          with("counting", 1),
		"trimmed":           with("trimmed", 1500),
		"strange":           with("strange", 1),
		"buckets":           with("buckets", uint64(1<<47)),
		"chains":            with("chains", 5000),
		"cells":             with("cells", 8000),
	} {
		b := damaged(t, f, change)
		var format *container.FormatError
		_, err := Read[uint64](bytes.NewReader(b), c)
		if !errors.As(err, &format) || !errors.Is(err, filter.ErrCorrupt) && !errors.Is(err, filter.ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		} else if format.Offset < 52 || format.Offset >= uint64(len(b)) {
			t.Errorf("%s: offset %d of %d", name, format.Offset, len(b))
		}
	}
	b := damaged(t, f, func(f *container.File) { f.Window = false })
	if _, err := Read[uint64](bytes.NewReader(b), c); !errors.Is(err, filter.ErrMagic) {
		t.Error(err)
	}
	for _, extreme := range [][3]int64{
		{math.MinInt64, math.MaxInt64, 0}, {math.MinInt64, math.MinInt64, 0}, {math.MaxInt64, math.MaxInt64, 0},
	} {
		b := damaged(t, mustNew[uint64](t, c), func(f *container.File) {
			words := last(f)
			words[0], words[1], words[2] = 1, uint64(extreme[0]), uint64(extreme[1])
		})
		g := must(Read[uint64](bytes.NewReader(b), c))
		g.Advance(at(0))
		if err := g.Add(1); err != nil || !g.Contains(1) || g.Len() != 1 {
			t.Errorf("%d: %v", extreme, err)
		}
	}
}

// TestClocks reads 200 files with arbitrary clocks. Each must be refused or answer queries: no operation may hang. The
// time limit is far above the time that the operations take, which is below 1 ms.
func TestClocks(t *testing.T) {
	const ttl, limit = 10 * time.Millisecond, 10 * time.Second
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 1))
	today := at(0).UnixNano()
	laps := []int64{1, 7, 8, 1<<29 - 1, 1 << 29, 1 << 31, 1<<32 - 1, 1 << 32}
	anywhere := func() int64 {
		places := []int64{math.MinInt64, -1, 0, 1, today, math.MaxInt64, int64(rng.Uint64())}
		return places[rng.IntN(len(places))] + rng.Int64N(3) - 1
	}
	refused, slowest := 0, time.Duration(0)
	for i := range 200 {
		c := Config{Keys: uint64(1) << rng.UintN(12), TTL: ttl, EventTime: i%2 == 0, Overflow: Overflow(i / 2 % 2)}
		f := mustNew[uint64](t, c)
		f.Advance(at(0))
		full := i%4 == 3 // full of keys of all ages
		for key := uint64(0); full && key < c.Keys; key++ {
			_ = f.Add(key)
			f.Advance(at(time.Duration(key) * ttl / time.Duration(c.Keys)))
		}
		b := damaged(t, f, func(file *container.File) {
			clock := file.Sections[3]
			clock[1], clock[2], clock[3] = uint64(anywhere()), uint64(anywhere()), uint64(anywhere())>>rng.UintN(64)
			if i%3 > 0 {
				clock[2] = uint64(today + rng.Int64N(3) - 1)
				clock[1], clock[3] = uint64(today-laps[rng.IntN(len(laps))]*int64(ttl)/epochs), 0
			}
		})
		steps := 0
		next := func() time.Time { // advances from today, and sometimes jumps anywhere
			if steps++; steps%40 == 0 {
				return time.Unix(0, anywhere())
			}
			return time.Unix(0, today+int64(steps)*int64(ttl)/100)
		}
		if !c.EventTime {
			c.Clock = next
		}
		done, start := make(chan struct{}), time.Now()
		go func() {
			defer close(done)
			g, err := Read[uint64](bytes.NewReader(b), c)
			if err != nil {
				refused++
				return
			}
			for key := range uint64(50) {
				g.Advance(next())
				_, _ = g.TestAndAdd(key)
				g.Contains(key)
			}
			if _, err := g.MarshalBinary(); err != nil || g.Len() != g.Info().Keys && c.EventTime {
				t.Errorf("seed %d, file %d: %v, %d keys", seed, i, err, g.Len())
			}
		}()
		select {
		case <-done:
			slowest = max(slowest, time.Since(start))
		case <-time.After(limit):
			t.Fatalf("seed %d, file %d: no answer in %v", seed, i, limit)
		}
	}
	t.Logf("the slowest of 200 files took %v", slowest)
	if refused < 20 || refused > 180 {
		t.Errorf("seed %d: %d files of 200 refused", seed, refused)
	}
}

// FuzzRead changes bytes of a file, corrects the checksums, and uses the filter if it can be read.
func FuzzRead(f *testing.F) {
	c := Config{Keys: 60, TTL: time.Second, FPR: 0.1, EventTime: true}
	g := mustNew[uint64](f, c)
	g.Advance(at(0))
	for i := range uint64(60) {
		_ = g.Add(i)
	}
	file, _, err := g.ring.snapshotFile()
	check(f, err)
	f.Add(uint64(0), uint64(0), uint64(1), uint64(3))
	f.Add(uint64(3), uint64(2), uint64(1)<<40, uint64(0))
	f.Add(uint64(1), uint64(2), uint64(7), uint64(0))
	f.Fuzz(func(t *testing.T, section, word, flip, keys uint64) {
		changed := *file
		changed.Sections = nil
		for _, s := range file.Sections {
			changed.Sections = append(changed.Sections, append([]uint64{}, s...))
		}
		changed.Keys += keys
		if s := changed.Sections[section%4]; len(s) > 0 {
			s[word%uint64(len(s))] ^= flip
		}
		var b bytes.Buffer
		check(t, container.Write(&b, &changed))
		g, err := Read[uint64](&b, c)
		if err != nil {
			return
		}
		for i := range uint64(200) {
			_, _ = g.TestAndAdd(i)
			g.Advance(at(time.Duration(i) * 50 * time.Millisecond))
			g.Contains(i)
		}
		if n := g.Len(); n > g.Info().Capacity*3 {
			t.Error(fmt.Sprint(n, " keys"))
		}
	})
}

// TestKeptCopy checks which filters keep the memory of a copy: those of 8 MiB or more, whose next save reuses it.
func TestKeptCopy(t *testing.T) {
	for _, c := range []struct {
		keys uint64
		kept bool
	}{{1_000_000, false}, {6_000_000, true}} {
		f, err := New[string](Config{Keys: c.keys, TTL: time.Hour, FPR: 0.01})
		check(t, err)
		var copies [2]*saved
		for i := range copies {
			_, err = f.WriteTo(io.Discard)
			check(t, err)
			copies[i] = f.ring.spare.Load()
		}
		if copies[0] != copies[1] || (copies[0] != nil) != c.kept {
			t.Errorf("%d keys, %d bytes: copies %p and %p", c.keys, f.ring.memoryBytes(), copies[0], copies[1])
		}
	}
}
