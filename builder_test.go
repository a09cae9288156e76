package bloomery_test

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/intake"
	"github.com/bloomery/bloomery/internal/live"
	"github.com/bloomery/bloomery/internal/settest"
	"github.com/bloomery/bloomery/plan"
	"github.com/bloomery/bloomery/shard"
)

// adder is what Builders of one filter and of a sharded set have in common.
type adder interface {
	Add([]byte) error
	AddString(string) error
	AddHashes([]filter.Hash) error
	AddMany([][]byte) error
	AddManyValues([][]byte, []uint64) error
	Close() error
}

// waysToAdd maps the name of each method that adds keys to a call of the method.
func waysToAdd(b adder) map[string]func() error {
	key, h := []byte("late"), filter.NewHasher(0).SumString("late")
	ways := map[string]func() error{
		"Add":           func() error { return b.Add(key) },
		"AddString":     func() error { return b.AddString("late") },
		"AddHashes":     func() error { return b.AddHashes([]filter.Hash{h}) },
		"AddMany":       func() error { return b.AddMany([][]byte{key}) },
		"AddManyValues": func() error { return b.AddManyValues([][]byte{key}, []uint64{1}) },
		"no keys":       func() error { return b.AddMany(nil) },
	}
	if one, ok := b.(*bloomery.Builder); ok {
		ways["AddValue"] = func() error { return one.AddValue(key, 1) }
		ways["AddHashValues"] = func() error { return one.AddHashValues([]filter.Hash{h}, []uint64{1}) }
	}
	return ways
}

// spent checks that every method that adds keys returns an error, since no Build will contain the keys.
func spent(t *testing.T, what string, b adder) {
	t.Helper()
	for way, add := range waysToAdd(b) {
		if err := add(); !errors.Is(err, intake.ErrSpent) && !errors.Is(err, filter.ErrUnsupported) {
			t.Errorf("%s: %s: %v", what, way, err)
		}
	}
}

// buildersOf lists a Config for each way in which a Builder gathers keys.
var buildersOf = map[string]bloomery.Config{
	"counted first": {}, "known": {Keys: 3}, "gathered": {Spec: "ribbon(r=8)"}, "searched": {Spec: "partitioned"},
	"values": {Spec: "ribbon(value_bits=8)", Keys: 3}, "raw keys": {Spec: "bitsandblooms"},
	"raw keys, known": {Spec: "bitsandblooms", Keys: 3}, "planned": {Needs: plan.Needs{FPR: 0.01}},
	"allowed":        {Spec: "standard", Allow: func(func([]byte) bool) {}},
	"allowed, known": {Spec: "standard", Keys: 3, Allow: func(func([]byte) bool) {}},
}

// TestAddAfterBuild adds keys to builders that were built, whose Build failed, or that were closed.
func TestAddAfterBuild(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range buildersOf {
		ends := map[string]func(b *bloomery.Builder) error{
			"Build": func(b *bloomery.Builder) error {
				for _, k := range []uint64{1, 2, 3} {
					if err := errors.Join(settest.AddUint64(b, k), settest.AddUint64(b, k)); c.Keys == 0 && err != nil {
						return err
					}
				}
				if _, err := b.Build(t.Context()); c.Keys == 0 {
					return err
				}
				return nil // Build fails because the number of keys is wrong
			},
			"Close": func(b *bloomery.Builder) error { return b.Close() },
			"Build with an ended context": func(b *bloomery.Builder) error {
				_, _ = b.Build(ended)
				return nil
			},
		}
		for how, end := range ends {
			b, err := bloomery.NewBuilder(t.Context(), c)
			if err != nil {
				t.Fatal(name, err)
			}
			if err := end(b); err != nil {
				t.Fatal(name, how, err)
			}
			spent(t, name+", after "+how, b)
			if _, err := b.Build(t.Context()); !errors.Is(err, intake.ErrSpent) {
				t.Errorf("%s: Build after %s: %v", name, how, err)
			}
			if err := errors.Join(b.Close(), b.Close()); err != nil {
				t.Errorf("%s: Close after %s: %v", name, how, err)
			}
			spent(t, name+", after "+how+" and Close", b)
		}
	}
}

// TestOptimizerAfterBuild is TestAddAfterBuild for an Optimizer, of one file and of a sharded set.
func TestOptimizerAfterBuild(t *testing.T) {
	keys := []string{"a", "b", "c"}
	dir := filepath.Join(t.TempDir(), "set")
	must(settest.BuildShards(t.Context(), slices.Values(keys), dir,
		bloomery.Config{Spec: "partitioned", Sharding: bloomery.Sharding{Shards: 2}}))
	sharded := must(bloomery.Open(t.Context(), dir))
	defer sharded.Close()
	for name, set := range map[string]*bloomery.Set{
		"file": settest.Build(t, keys, bloomery.Config{Spec: "partitioned"}), "sharded": sharded,
	} {
		b := must(set.Optimizer(bloomery.JobConfig{}))
		for _, k := range keys {
			settest.Check(t, b.AddMany([][]byte{[]byte(k)}))
		}
		must(b.Commit(t.Context()))
		if err := b.AddMany([][]byte{[]byte("d")}); !errors.Is(err, intake.ErrSpent) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestShardedBuilderAfterBuild is TestAddAfterBuild for a Builder of a sharded set.
func TestShardedBuilderAfterBuild(t *testing.T) {
	for name, c := range map[string]bloomery.Config{
		"counted first": {}, "known": {Sharding: bloomery.Sharding{Shards: 2}}, "values": {Spec: "ribbon(value_bits=8)",
			Sharding: bloomery.Sharding{Shards: 2}},
		"planned": {Needs: plan.Needs{FPR: 0.01}, Sharding: bloomery.Sharding{Shards: 2}},
		"allowed": {Sharding: bloomery.Sharding{Shards: 2}, Allow: func(func([]byte) bool) {}},
	} {
		for how, end := range map[string]func(b *settest.ShardBuilder) error{
			"Build": func(b *settest.ShardBuilder) error {
				if err := errors.Join(b.AddString("a"), b.AddString("b")); err != nil {
					return err
				}
				_, err := b.Build(t.Context())
				if c.Spec != "" {
					err = nil // the keys have no values
				}
				return err
			},
			"Close": func(b *settest.ShardBuilder) error { return b.Close() },
		} {
			b := must(settest.NewShardBuilder(filepath.Join(t.TempDir(), "set"), c))
			if err := end(b); err != nil {
				t.Fatal(name, how, err)
			}
			spent(t, name+", after "+how, b)
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestGatherersAfterEnd checks that jobs do not silently drop keys that are added after their last call.
func TestGatherersAfterEnd(t *testing.T) {
	keys := [][]byte{[]byte("a"), []byte("b")}
	dir := filepath.Join(t.TempDir(), "set")
	must(settest.BuildShards(t.Context(), slices.Values([]string{"a", "b"}), dir,
		bloomery.Config{Spec: "rankindexed(capacity=1000)", Sharding: bloomery.Sharding{Shards: 2}}))
	sharded := must(bloomery.Open(t.Context(), dir))
	defer sharded.Close()
	one := settest.Build(t, []string{"a", "b"}, bloomery.Config{Spec: "rankindexed(capacity=1000)"})
	for form, set := range map[string]*bloomery.Set{"file": one, "sharded": sharded} {
		r := must(set.Removal(bloomery.JobConfig{}))
		a := must(set.Addition(bloomery.JobConfig{}))
		r.Force()
		v := must(set.Verifier(bloomery.JobConfig{}))
		for what, g := range map[string]struct{ add, end, close func() error }{
			"Addition": {func() error { return a.AddMany(keys) }, func() error { return a.Commit(t.Context()) }, a.Close},
			"Removal": {func() error { return r.AddMany(keys) }, func() error {
				_, err := r.Commit(t.Context())
				return err
			}, r.Close},
			"Verifier": {func() error { return v.AddAbsent(keys) }, func() error {
				_, err := v.Commit(t.Context())
				return err
			}, v.Close},
		} {
			if err := errors.Join(g.add(), g.end()); err != nil {
				t.Fatal(form, what, err)
			}
			if g.add() == nil {
				t.Errorf("%s: %s takes keys after its end", form, what)
			}
			if err := g.close(); err != nil {
				t.Error(err)
			}
			if g.add() == nil {
				t.Errorf("%s: %s takes keys after Close", form, what)
			}
		}
	}
}

// The tests below use WithOpening to simulate files that cannot be opened for some time.

// outage makes every opening of a file fail with an error of the system while it is on, and counts the attempts.
type outage struct {
	errno syscall.Errno
	on    atomic.Bool
	opens atomic.Int64
}

func (o *outage) option() bloomery.Option {
	return bloomery.WithOpening(func(path string) error {
		if !o.on.Load() {
			return nil
		}
		o.opens.Add(1)
		return &os.PathError{Op: "open", Path: path, Err: o.errno}
	})
}

// attempts returns the largest number of attempts, with doubling pauses between them, that can begin within d.
func attempts(d time.Duration) int64 { return 2 + int64(bits.Len64(uint64(d/live.FirstPause))) }

// TestLivePassing checks that a Live that could not open a new file, because too many files were open, swaps it in
// later.
func TestLivePassing(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.EMFILE, syscall.ENOMEM, syscall.EIO} {
		path := filepath.Join(t.TempDir(), "f.bloom")
		settest.Large(t, path, 0)
		o := outage{errno: errno}
		l := must(bloomery.OpenLive(t.Context(), path, bloomery.WithInterval(time.Millisecond), o.option()))
		defer l.Close()
		o.on.Store(true)
		began := time.Now()
		settest.Large(t, path, 500)
		settest.Eventually(t, "the error", func() bool { return errors.Is(l.Err(), errno) })
		if !settest.HasUint64(l, 1) || settest.HasUint64(l, 1400) {
			t.Errorf("%v: the old file does not answer", errno)
		}
		time.Sleep(2 * live.FirstPause)
		if n, most := o.opens.Load(), attempts(time.Since(began)); n > most {
			t.Errorf("%v: %d attempts, at most %d expected", errno, n, most)
		}
		if err := l.Reload(t.Context()); !errors.Is(err, errno) {
			t.Errorf("Reload: %v", err)
		}
		o.on.Store(false)
		settest.Eventually(t, "the new file", func() bool { return settest.HasUint64(l, 1400) })
		if err := l.Err(); err != nil {
			t.Error(err)
		}
		o.on.Store(true)
		settest.Large(t, path, 2000)
		if err := l.Reload(t.Context()); !errors.Is(err, errno) {
			t.Errorf("Reload: %v", err)
		}
		o.on.Store(false)
		if err := l.Reload(t.Context()); err != nil || !settest.HasUint64(l, 2500) {
			t.Errorf("Reload after the outage: %v", err)
		}
	}
}

// TestLiveDamage checks that a damaged file is opened only once.
func TestLiveDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.bloom")
	settest.Large(t, path, 0)
	var opens atomic.Int64
	l := must(bloomery.OpenLive(t.Context(), path, bloomery.WithInterval(time.Millisecond),
		bloomery.WithOpening(func(string) error { opens.Add(1); return nil })))
	defer l.Close()
	settest.Check(t, os.WriteFile(path+".new", []byte("damaged"), 0o600))
	settest.Check(t, os.Rename(path+".new", path))
	settest.Eventually(t, "the error", func() bool { return errors.Is(l.Err(), filter.ErrMagic) })
	time.Sleep(2 * live.FirstPause)
	if err := l.Reload(t.Context()); !errors.Is(err, filter.ErrMagic) || opens.Load() != 2 {
		t.Errorf("%d files opened, want 2; %v", opens.Load(), err)
	}
}

// TestShardsPassing checks that all answers for the keys of a shard that cannot be loaded are true and that Err names
// the shard; after the outage, the answers must be right again. One run maps the shards and the other reads them.
func TestShardsPassing(t *testing.T) {
	keys, absent := settest.Names("member", 2000), settest.Names("absent", 2000)
	for _, spec := range []string{"counting(bytes=131072)", "counting(bytes=8388608)"} {
		t.Run(spec, func(t *testing.T) {
			dir := t.TempDir()
			c := bloomery.Config{Spec: spec, Sharding: bloomery.Sharding{Shards: 4}}
			if _, err := settest.BuildShards(t.Context(), slices.Values(keys), dir, c); err != nil {
				t.Fatal(err)
			}
			o := outage{errno: syscall.ENOMEM}
			set := must(bloomery.Open(t.Context(), dir, o.option()))
			defer set.Close()
			settest.Check(t, set.Err())
			o.on.Store(true)
			began := time.Now()
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					got := make([]bool, len(absent))
					bloomery.Keyed[string](set).ContainsMany(got, absent)
					for i, k := range absent {
						if !got[i] || !set.ContainsString(k) {
							t.Errorf("%s is absent, and its shard is not loaded", k)
							return
						}
					}
				})
			}
			wg.Wait()
			if n, most := o.opens.Load(), 4*attempts(time.Since(began)); n > most {
				t.Errorf("%d attempts, at most %d expected", n, most)
			}
			var named *shard.Error
			if err := set.Err(); !errors.As(err, &named) || !errors.Is(err, syscall.ENOMEM) ||
				!strings.Contains(named.File, dir) {
				t.Errorf("Err: %v", err)
			}
			present, err := set.ContainsContext(t.Context(), []byte(absent[0]))
			if !present || !errors.Is(err, syscall.ENOMEM) {
				t.Errorf("ContainsContext: %v, %v", present, err)
			}
			if _, _, err := bloomery.Keyed[string](set).Count(keys[0]); !errors.Is(err, syscall.ENOMEM) {
				t.Errorf("Count: %v", err)
			}
			if err := set.Check(t.Context(), nil); !errors.Is(err, syscall.ENOMEM) {
				t.Errorf("Check: %v", err)
			}
			o.on.Store(false)
			missing := func() (n int) {
				for _, k := range absent {
					if set.ContainsString(k) {
						n++
					}
				}
				return n
			}
			settest.Eventually(t, "recovery", func() bool { return missing() < len(absent)/4 })
			if err := set.Err(); err != nil {
				t.Errorf("after the outage: %v", err)
			}
			for _, k := range keys {
				if !set.ContainsString(k) {
					t.Fatalf("%s is missing", k)
				}
			}
		})
	}
}

// TestShardDamage checks that a damaged shard is read only once, and that later queries of it allocate nothing.
func TestShardDamage(t *testing.T) {
	dir := t.TempDir()
	c := bloomery.Config{Spec: "standard(m=65536)", Sharding: bloomery.Sharding{Shards: 1}}
	m, err := settest.BuildShards(t.Context(), slices.Values(settest.Names("member", 100)), dir, c)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, m.Shards[0].File)
	b := settest.ReadAll(t, path)
	b[len(b)-1] ^= 1
	settest.Check(t, os.WriteFile(path, b, 0o600))
	var opens atomic.Int64
	set := must(bloomery.Open(t.Context(), dir, bloomery.WithOpening(func(string) error { opens.Add(1); return nil })))
	defer set.Close()
	opens.Store(0)
	for i := range 10 {
		if !set.ContainsString(fmt.Sprint(i)) || !errors.Is(set.Err(), filter.ErrChecksum) {
			t.Errorf("Err: %v", set.Err())
		}
		time.Sleep(live.FirstPause / 5)
	}
	if opens.Load() != 1 {
		t.Errorf("the file was read %d times", opens.Load())
	}
	if n := testing.AllocsPerRun(100, func() { set.ContainsString("x") }); n > 0 {
		t.Errorf("%v allocations per query", n)
	}
}
