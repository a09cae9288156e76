package bloomery_test

import (
	"errors"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/live"
	"github.com/bloomery/bloomery/shard"
)

// outage is an error of the system while it is on. It counts how often files are opened meanwhile.
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

// eventually waits until f is true, and fails after a minute.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !f(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within a minute", what)
		}
	}
}

// attempts returns the largest number of attempts with growing pauses within d.
func attempts(d time.Duration) int64 { return 2 + int64(bits.Len64(uint64(d/live.FirstPause))) }

// TestLivePassing: a Live that could not open a new file, since the system had too many open files for a while, swaps
// it in later.
func TestLivePassing(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.EMFILE, syscall.ENOMEM, syscall.EIO} {
		path := filepath.Join(t.TempDir(), "f.bloom")
		large(t, path, 0)
		o := outage{errno: errno}
		l, err := bloomery.OpenLive(t.Context(), path, bloomery.WithInterval(time.Millisecond), o.option())
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		o.on.Store(true)
		began := time.Now()
		large(t, path, 500)
		eventually(t, "the error", func() bool { return errors.Is(l.Err(), errno) })
		if !l.HasUint64(1) || l.HasUint64(1400) {
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
		eventually(t, "the new file", func() bool { return l.HasUint64(1400) })
		if err := l.Err(); err != nil {
			t.Error(err)
		}
		o.on.Store(true)
		large(t, path, 2000)
		if err := l.Reload(t.Context()); !errors.Is(err, errno) {
			t.Errorf("Reload: %v", err)
		}
		o.on.Store(false)
		if err := l.Reload(t.Context()); err != nil || !l.HasUint64(2500) {
			t.Errorf("Reload after the outage: %v", err)
		}
	}
}

// TestLiveDamage: a damaged file is opened once.
func TestLiveDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.bloom")
	large(t, path, 0)
	var opens atomic.Int64
	l, err := bloomery.OpenLive(t.Context(), path, bloomery.WithInterval(time.Millisecond),
		bloomery.WithOpening(func(string) error { opens.Add(1); return nil }))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := os.WriteFile(path+".new", []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the error", func() bool { return errors.Is(l.Err(), filter.ErrMagic) })
	time.Sleep(2 * live.FirstPause)
	if err := l.Reload(t.Context()); !errors.Is(err, filter.ErrMagic) || opens.Load() != 2 {
		t.Errorf("%d files opened, want 2; %v", opens.Load(), err)
	}
}

// TestShardsPassing: while a shard cannot be loaded, all answers for its keys are true and Err names it; after the
// outage it answers. Shards are mapped in one run and read in the other.
func TestShardsPassing(t *testing.T) {
	keys, absent := names("member", 2000), names("absent", 2000)
	for _, spec := range []string{"counting(m=65536)", "counting(m=4194304)"} {
		t.Run(spec, func(t *testing.T) {
			dir := t.TempDir()
			writeShards(t, dir, bloomery.Config{Spec: spec}, 4, keys)
			o := outage{errno: syscall.ENOMEM}
			set, err := bloomery.Open(t.Context(), dir, o.option())
			if err != nil {
				t.Fatal(err)
			}
			defer set.Close()
			if err := set.Err(); err != nil {
				t.Fatal(err)
			}
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
			eventually(t, "recovery", func() bool { return missing() < len(absent)/4 })
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

// TestShardDamage: a damaged shard is read once, and later queries of it allocate nothing.
func TestShardDamage(t *testing.T) {
	dir := t.TempDir()
	m := writeShards(t, dir, bloomery.Config{Spec: "standard(m=65536)"}, 1, names("member", 100))
	path := filepath.Join(dir, m.Shards[0].File)
	b := readAll(t, path)
	b[len(b)-1] ^= 1
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	var opens atomic.Int64
	set, err := bloomery.Open(t.Context(), dir, bloomery.WithOpening(func(string) error { opens.Add(1); return nil }))
	if err != nil {
		t.Fatal(err)
	}
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
		t.Errorf("%v allocations a query", n)
	}
}
