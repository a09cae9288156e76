package window

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/filtertest"
	"github.com/bloomery/bloomery/internal/stat"
)

// TestSizes compares the total bits per key that arrives within TTL with docs/guides/dedup.md.
func TestSizes(t *testing.T) {
	for _, x := range []struct {
		keys       uint64
		fpr, burst float64
		most       float64
	}{
		{100_000, 0.01, 0, 14.1}, {100_000, 0.001, 0, 18.2}, {1_000_000, 0.01, 0, 13.75}, {1_000_000, 0.001, 0, 17.65},
		{100_000, 0.01, 0.5, 14.9}, {100_000, 0.001, 0.5, 19.3}, {10_000_000, 0.01, 0, 13.75}, {10_000, 0.01, 0, 15.3},
	} {
		c := Config{Keys: x.keys, TTL: time.Hour, FPR: x.fpr, Burst: x.burst}
		f := must(New[uint64](c))
		info := f.Info()
		bits := 8 * float64(info.Bytes) / float64(x.keys)
		t.Logf("%d keys at %g, bursts of %g: %.2f bits per key, %d locks, %+v", x.keys, x.fpr, x.burst, bits,
			len(f.ring.locks), f.ring.table.Geometry())
		if bits > x.most {
			t.Errorf("%+v: %.3f bits per key, want at most %g", c, bits, x.most)
		}
	}
	for fpr, want := range map[float64]string{0.01: "17.4", 0.001: "25.0"} { // for comparison
		const keys = 100_000
		all := uint64(0)
		for _, b := range newRotating(t, keys, fpr) {
			all += b.Info().Bits / 8
		}
		bits := 8 * float64(all) / keys
		t.Logf("eight rotating filters for %d keys at %g: %.2f bits per key", keys, fpr, bits)
		if got := fmt.Sprintf("%.1f", bits); got != want {
			t.Errorf("eight rotating filters at %g: %s bits per key, the page has %s", fpr, got, want)
		}
	}
}

// arrivals calls arrive for each of the keys of an epoch, with its time in the epoch: a share burst of them from at to
// at+0.1, and the others in the rest of the epoch.
func arrivals(n int, burst, at float64, arrive func(x float64)) {
	in := int(burst * float64(n))
	out := n - in
	for i, j := 0, 0; i < out || j < in; {
		x, y := 2.0, 2.0
		if i < out {
			if x = 0.9 * (float64(i) + 0.5) / float64(out); x > at {
				x += 0.1
			}
		}
		if j < in {
			y = at + 0.1*(float64(j)+0.5)/float64(in)
		}
		if arrive(min(x, y)); x < y {
			i++
		} else {
			j++
		}
	}
}

// TestFewKeys runs filters of various sizes for many windows, with exactly the planned number of keys within TTL:
// evenly spread, at random, and, where promised, all at once. Refused and shortened operations and false positives must
// be as rare as planned. A run tests a third of the sizes and arrivals.
func TestFewKeys(t *testing.T) {
	runs := filtertest.Third(t, *long)
	filters, least := 20, 3000
	if testing.Short() {
		filters, least = 6, 500
	}
	for _, keys := range []int{1, 2, 3, 5, 8, 13, 20, 40, 80, 130, 200, 250, 300, 500, 1000, 2000, 5000} {
		for _, pattern := range []string{"even", "random", "together"} {
			if pattern == "together" && keys > few || !runs() {
				continue
			}
			t.Run(fmt.Sprintf("keys=%d/arrivals=%s", keys, pattern), func(t *testing.T) {
				var added, lost, asked, wrong uint64
				seed := rand.Uint64()
				rng := rand.New(rand.NewPCG(seed, 1))
				for n := range filters {
					c := Config{Keys: uint64(keys), TTL: 7 * time.Hour, FPR: 0.01, EventTime: true, Overflow: Overflow(n % 2)}
					if n%4 > 1 {
						c.FPR = 1e-4
					}
					f := mustNew[filter.Hash](t, c)
					times := make([]int64, keys) // times of the last keys, by number modulo keys
					now := rng.Int64N(int64(c.TTL))
					for i := range max(least, 12*keys) {
						switch pattern {
						case "even":
							now += (int64(c.TTL) + int64(keys)) / int64(keys)
						case "random":
							now += int64(rng.ExpFloat64() * float64(c.TTL) / float64(keys))
						case "together":
							if i%keys == 0 {
								now += rng.Int64N(int64(c.TTL) / 4)
							}
						}
						if last := times[i%keys]; i >= keys {
							now = max(now, last+int64(c.TTL)+1)
						}
						times[i%keys] = now
						f.Advance(time.Unix(0, now))
						present, err := f.TestAndAdd(filter.Hash{Hi: rng.Uint64(), Lo: rng.Uint64()})
						if added++; err != nil {
							lost++
						}
						if c.FPR == 0.01 {
							asked++
						}
						if present && c.FPR == 0.01 {
							wrong++
						}
					}
					lost += f.Info().Shortened
				}
				if most := stat.UpperQuantile(added, overflow, 1e-9); lost > most {
					t.Errorf("seed %d: no room for %d keys of %d, planned are %g, at most %d by chance", seed, lost, added,
						overflow, most)
				}
				if low, _ := stat.Interval(wrong, asked, 0.999999); low > 0.01 {
					t.Errorf("seed %d: rate of %g or more", seed, low)
				}
			})
		}
	}
}

// TestWindows runs filters that are as full as planned for many windows, with even arrivals, and with bursts at the
// worst and at random places, a third of them per run. No key may be refused, and the rate must be as promised in each
// epoch.
func TestWindows(t *testing.T) {
	windows, absent := 12, 20_000
	if testing.Short() {
		windows, absent = 3, 5_000
	}
	all := []Config{
		{Keys: 7, FPR: 0.01}, {Keys: 700, FPR: 0.01}, {Keys: 20_000, FPR: 0.01}, {Keys: 100_000, FPR: 0.01},
		{Keys: 100_000, FPR: 0.001},
	}
	if *long {
		all = append(all, Config{Keys: 1_000_000, FPR: 0.01}, Config{Keys: 1_000_000, FPR: 0.001},
			Config{Keys: 10_000_000, FPR: 0.01})
	}
	runs := filtertest.Third(t, *long)
	for _, c := range all {
		for _, burst := range []string{"even", "worst", "random"} {
			if !runs() {
				continue
			}
			c.TTL, c.EventTime, c.Burst = 7*time.Hour, true, 0.1
			if burst != "even" {
				c.Burst = 0.5
			}
			t.Run(fmt.Sprintf("keys=%d/fpr=%g/arrivals=%s", c.Keys, c.FPR, burst), func(t *testing.T) {
				f := must(New[filter.Hash](c))
				seed := rand.Uint64()
				rng := rand.New(rand.NewPCG(seed, 1))
				random := func() filter.Hash { return filter.Hash{Hi: rng.Uint64(), Lo: rng.Uint64()} }
				var asked, wrong uint64
				most, extensions := 0.0, uint64(0)
				last := windows
				if c.Keys > 1_000_000 {
					last = min(last, 3) // to limit the time of the test
				}
				for e := range last * epochs {
					at := 0.9 * float64(1-e/stamps%2) // at the end of an epoch, and eight epochs later at the start
					if burst == "random" {
						at = 0.9 * rng.Float64()
					}
					checkAt := 0.1 + 0.9*rng.Float64()
					arrivals(int(c.Keys/epochs), c.Burst, at, func(x float64) {
						f.Advance(time.Unix(0, 0).Add(time.Duration((float64(e) + x) * float64(time.Hour))))
						if err := f.Add(random()); err != nil {
							t.Fatalf("seed %d, epoch %d, %g: %v, %+v", seed, e, x, err, f.Info())
						}
						extensions = max(extensions, f.ring.table.Extensions())
						if e < epochs || x < checkAt {
							return
						}
						checkAt = 2
						found := uint64(0)
						for range absent {
							if f.Contains(random()) {
								found++
							}
						}
						// 99.9999%, since the test checks many epochs.
						low, _ := stat.Interval(found, uint64(absent), 0.999999)
						if low > c.FPR {
							t.Errorf("seed %d, epoch %d: rate of %g or more", seed, e, low)
						}
						asked, wrong = asked+uint64(absent), wrong+found
						most = max(most, float64(found)/float64(absent))
					})
				}
				rate := float64(wrong) / float64(asked)
				info := f.Info()
				t.Logf("rate %.4g%%, highest of an epoch %.4g%%, %d keys of %d, at most %d extensions of %v", 100*rate, 100*most,
					info.Keys, info.Capacity, extensions, f.ring.table.Geometry().Pools)
				// With few keys there is always room for more, so the rate is lower.
				tight := c.Burst == 0.1 && c.Keys > 20*few && asked > 1e6
				if low, _ := stat.Interval(wrong, asked, 0.9999); low > c.FPR || tight && rate < 0.9*c.FPR {
					t.Errorf("seed %d: rate %g, want %g", seed, rate, c.FPR)
				}
			})
		}
	}
}
