package hashes

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/bloomery/bloomery/filter"
)

// TestMain fails if goroutines are still running. On js the Go runtime has its own goroutine.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("runtime.handleEvent"))
}

// A piece holds the arguments of one call of f by Each.
type piece struct {
	part uint64
	keys []filter.Hash
}

// pieces returns the pieces of Each.
func pieces(t *testing.T, k *Sorted, part func(filter.Hash) uint64) []piece {
	t.Helper()
	var got []piece
	err := k.Each(t.Context(), part, func(p uint64, keys []filter.Hash) error {
		got = append(got, piece{p, keys})
		return nil
	})
	check(t, err)
	return got
}

// wantPieces checks that got is want, cut by part.
func wantPieces(t *testing.T, got []piece, want []filter.Hash, part func(filter.Hash) uint64) {
	t.Helper()
	for i, g := range got {
		if i > 0 && g.part <= got[i-1].part {
			t.Fatalf("part %d after part %d", g.part, got[i-1].part)
		}
		if len(g.keys) == 0 || len(g.keys) > len(want) {
			t.Fatalf("part %d has %d keys, %d are left", g.part, len(g.keys), len(want))
		}
		for j, h := range g.keys {
			if h != want[j] || part(h) != g.part {
				t.Fatalf("key %d of part %d is %v, want %v of part %d", j, g.part, h, want[j], part(want[j]))
			}
		}
		want = want[len(g.keys):]
	}
	if len(want) > 0 {
		t.Fatalf("%d keys are missing", len(want))
	}
}

// parts are ways to cut.
var parts = map[string]func(filter.Hash) uint64{
	"one":   func(filter.Hash) uint64 { return 3 },
	"many":  func(h filter.Hash) uint64 { return h.Hi >> 54 },
	"every": func(h filter.Hash) uint64 { return h.Hi },
}

// wantFiles checks that dir has n files on Windows, and none on Unix, where open files have no name.
func wantFiles(t *testing.T, dir string, n int) {
	t.Helper()
	if runtime.GOOS != "windows" {
		n = 0
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != n {
		t.Errorf("%d files, want %d: %v", len(names), n, err)
	}
}

func TestSorted(t *testing.T) {
	for _, in := range inputs {
		for _, n := range []int{0, 1, 2, 1000, 20_000, 200_000} {
			if n > 20_000 && in.name != "random" && in.name != "each thrice" {
				continue // to save time
			}
			if n > 20_000 && testing.Short() {
				continue
			}
			hs := input(3, in.make, n)
			want := ordered(hs)
			for _, memory := range []int64{0, 1, 16 * 1000, 1<<20 + 16, 16 * 199_999} {
				if n < 1000 && memory > 1 {
					continue
				}
				t.Run(fmt.Sprintf("%s/n=%d/memory=%d", in.name, n, memory), func(t *testing.T) {
					testSorted(t, hs, want, memory)
				})
			}
		}
	}
}

func testSorted(t *testing.T, hs, want []filter.Hash, memory int64) {
	n, dir := len(hs), t.TempDir()
	k := NewSorted(Config{Memory: memory, Dir: dir, Expect: uint64(n / 2), Workers: 2})
	for at, step := 0, 1; at < n; at, step = at+step, step*2%9973 {
		step = min(step, n-at)
		batch := slices.Clone(hs[at : at+step])
		check(t, k.AddMany(batch))
		clear(batch) // the Sorted must not keep a reference
	}
	if got, err := k.Finish(t.Context()); got != uint64(len(want)) || err != nil {
		t.Fatalf("Finish: %d, %v; want %d", got, err, len(want))
	}
	room := max(int(memory/hashSize), minRun)
	if memory == 0 || n <= room {
		wantSpilled(t, k, false)
	} else if len(want) > room {
		wantSpilled(t, k, true)
	}
	for name, part := range parts {
		got := pieces(t, k, part)
		wantPieces(t, got, want, part)
		if name == "one" && len(got) > 1 {
			t.Errorf("%d parts", len(got))
		}
		wantPieces(t, pieces(t, k, part), want, part) // again
		wantPieces(t, got, want, part)                // the returned pieces must not change
	}
	var all []filter.Hash
	err := k.Blocks(t.Context(), func(hs []filter.Hash) error {
		if all = append(all, hs...); len(hs) > blockLen || len(hs) == 0 {
			t.Errorf("a block of %d hashes", len(hs))
		}
		return nil
	})
	if err != nil || !slices.Equal(all, want) {
		t.Errorf("Blocks: %d hashes, %v; want %d", len(all), err, len(want))
	}
	if k.Spilled() {
		wantFiles(t, dir, 1)
	}
	if err := errors.Join(k.Close(), k.Close()); err != nil {
		t.Error(err)
	}
	wantSpilled(t, k, false)
	wantFiles(t, dir, 0)
}

func wantSpilled(t *testing.T, k *Sorted, want bool) {
	t.Helper()
	if k.Spilled() != want {
		t.Errorf("Spilled: %v", !want)
	}
}

// TestRepeated checks that repeated keys remain in memory if the distinct keys fill at most half of the room.
func TestRepeated(t *testing.T) {
	const room = 1000
	k := NewSorted(Config{Memory: room * hashSize, Dir: t.TempDir()})
	defer k.Close()
	hs := input(4, inputs[0].make, room/2)
	for range 50 {
		check(t, k.AddMany(hs))
	}
	wantSpilled(t, k, false)
	if n, err := k.Finish(t.Context()); n != room/2 || err != nil {
		t.Errorf("%d keys, %v", n, err)
	}
}

func TestConcurrent(t *testing.T) {
	for _, memory := range []int64{0, 100 << 10} {
		k := NewSorted(Config{Memory: memory, Dir: t.TempDir(), Workers: 3})
		defer k.Close()
		hs := input(5, inputs[0].make, 50_000)
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				rnd := rand.New(rand.NewPCG(6, uint64(i)))
				for at := i * 5000; at < min(i*5000+15_000, len(hs)); { // up to three goroutines add a key
					step := min(1+rnd.IntN(2000), len(hs)-at)
					if err := k.AddMany(hs[at : at+step]); err != nil {
						t.Error(err)
					}
					at += step
				}
			})
		}
		wg.Wait()
		want := ordered(hs)
		if n, err := k.Finish(t.Context()); n != uint64(len(want)) || err != nil {
			t.Fatalf("%d keys, %v; want %d", n, err, len(want))
		}
		for range 3 {
			wg.Go(func() { wantPieces(t, pieces(t, k, parts["many"]), want, parts["many"]) })
		}
		wg.Wait()
	}
}

// lateContext ends after left calls of Err.
type lateContext struct {
	context.Context
	left atomic.Int64
}

func (c *lateContext) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// TestCanceled ends the context at each call of Err by Finish in turn, until Finish succeeds.
func TestCanceled(t *testing.T) {
	hs := input(7, inputs[0].make, chunkLen+1)
	for _, memory := range []int64{0, 500 << 10} {
		looks := int64(0)
		for ; ; looks += 1 + looks/10 {
			k := NewSorted(Config{Memory: memory, Dir: t.TempDir(), Workers: 2})
			check(t, k.AddMany(hs))
			ctx := &lateContext{Context: t.Context()}
			ctx.left.Store(looks)
			n, err := k.Finish(ctx)
			if err == nil {
				want := ordered(hs)
				if n != uint64(len(want)) {
					t.Fatalf("%d keys, want %d", n, len(want))
				}
				wantPieces(t, pieces(t, k, parts["many"]), want, parts["many"])
				k.Close()
				break
			}
			if err != context.Canceled || n != 0 {
				t.Fatalf("Finish after %d looks: %d, %v", looks, n, err)
			}
			if err := k.Each(t.Context(), parts["one"], nil); err != context.Canceled {
				t.Fatalf("Each after that: %v", err)
			}
			check(t, k.Close())
		}
		if looks < 10 {
			t.Errorf("memory %d: Finish looks %d times", memory, looks)
		}
	}
}

func TestEachStops(t *testing.T) {
	for _, memory := range []int64{0, 10 << 10} {
		k := NewSorted(Config{Memory: memory, Dir: t.TempDir()})
		defer k.Close()
		check(t, k.AddMany(input(8, inputs[0].make, 3000)))
		if _, err := k.Finish(t.Context()); err != nil {
			t.Fatal(err)
		}
		stop := errors.New("stop")
		calls := 0
		err := k.Each(t.Context(), parts["many"], func(uint64, []filter.Hash) error { calls++; return stop })
		if err != stop || calls != 1 {
			t.Errorf("%v after %d calls", err, calls)
		}
		ctx, cancel := context.WithCancel(t.Context())
		err = k.Each(ctx, parts["many"], func(uint64, []filter.Hash) error { calls++; cancel(); return nil })
		if err != context.Canceled || calls != 2 {
			t.Errorf("%v after %d calls", err, calls-1)
		}
	}
}

// TestMisuse calls methods in the wrong order.
func TestMisuse(t *testing.T) {
	k := NewSorted(Config{})
	wantError(t, k.Each(t.Context(), parts["one"], nil), "before Finish")
	if n, err := k.Finish(t.Context()); n != 0 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	wantError(t, k.AddMany(make([]filter.Hash, 1)), "is complete")
	_, err := k.Finish(t.Context())
	wantError(t, err, "is complete")
	if err := k.Each(t.Context(), parts["one"], nil); err != nil {
		t.Errorf("Each of nothing: %v", err)
	}
	k.Close()
	wantError(t, k.AddMany(nil), "closed")
	wantError(t, k.Each(t.Context(), parts["one"], nil), "closed")
	_, err = k.Finish(t.Context())
	wantError(t, err, "closed")
}

func wantError(t *testing.T, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("%v, want %q in it", err, text)
	}
}

// TestForms gathers hashes in another form, with and without their duplicates, in memory and in a file.
func TestForms(t *testing.T) {
	hs := input(11, inputs[0].make, 30_000)
	hs = append(hs, hs[:10_000]...)
	hs = append(hs, slices.Repeat(hs[:1], 5000)...) // more copies than fit into a run
	for name, form := range map[string]func(filter.Hash) filter.Hash{
		"none": nil,
		"turn": func(h filter.Hash) filter.Hash { return filter.Hash{Hi: bits.RotateLeft64(h.Hi, 32), Lo: h.Lo} },
		"less": func(h filter.Hash) filter.Hash { return filter.Hash{Hi: h.Lo >> 52} },
	} {
		formed := slices.Clone(hs)
		for i, h := range hs {
			if form != nil {
				formed[i] = form(h)
			}
		}
		slices.SortFunc(formed, compare)
		for _, copies := range []bool{false, true} {
			want := formed
			if !copies {
				want = ordered(formed)
			}
			for _, memory := range []int64{0, 16 * 1000, 16 * 44_999} {
				t.Run(fmt.Sprintf("%s/copies=%v/memory=%d", name, copies, memory), func(t *testing.T) {
					testForm(t, Config{Memory: memory, Dir: t.TempDir(), Copies: copies, Form: form}, hs, want)
				})
			}
		}
	}
}

func testForm(t *testing.T, c Config, hs, want []filter.Hash) {
	k := NewSorted(c)
	defer k.Close()
	for batch := range slices.Chunk(hs, 777) {
		given := slices.Clone(batch)
		check(t, k.AddMany(batch))
		if !slices.Equal(batch, given) {
			t.Fatal("AddMany changes the hashes of its caller")
		}
	}
	if n, err := k.Finish(t.Context()); n != uint64(len(want)) || err != nil {
		t.Errorf("Finish: %d, %v; want %d", n, err, len(want))
	}
	if n := k.Added(); n != uint64(len(hs)) {
		t.Errorf("%d hashes were added, want %d", n, len(hs))
	}
	for _, part := range parts {
		wantPieces(t, pieces(t, k, part), want, part)
	}
}
