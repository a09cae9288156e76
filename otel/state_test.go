package otel

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/collector/component/componenttest"

	"github.com/bloomery/bloomery/window"
)

// restarted runs do with a processor, and ends it.
func restarted(t *testing.T, c *Config, do func(p *logs, next *recorder)) {
	t.Helper()
	next := &recorder{}
	p := newTestLogs(t, c, next)
	check(t, p.Start(t.Context(), componenttest.NewNopHost()))
	do(p, next)
	check(t, p.Shutdown(t.Context()))
	check(t, p.Shutdown(t.Context())) // a second call does nothing
}

// TestRestart starts a processor again, whose state has one file or several.
func TestRestart(t *testing.T) {
	for _, keys := range []uint64{10_000, 2*shardKeys + 1} {
		c := testConfig(idKey)
		c.Keys, c.State, c.FPR = keys, filepath.Join(t.TempDir(), "new", "dedup"), 1e-6
		restarted(t, c, func(p *logs, next *recorder) {
			p.send(t, "a b c d e f g h")
			next.fail = func([]string) error { return errRefused }
			if p.ConsumeLogs(t.Context(), logsOf("i", "j")) == nil {
				t.Error("no error")
			}
		})
		restarted(t, c, func(p *logs, next *recorder) {
			p.send(t, "a b c d e f g h i j")
			next.took(t, "i j")
			if p.memory.usage().keys != 10 {
				t.Error(p.memory.usage())
			}
		})
		n, each := shardsFor(keys)
		if n > 1 != (keys > shardKeys) || each*uint64(n) < keys {
			t.Errorf("%d keys: %d shards of %d", keys, n, each)
		}
		files, err := filepath.Glob(filepath.Join(c.State, "*"+suffix))
		if check(t, err); len(files) > n || len(files) == 0 {
			t.Errorf("%d files of %d", len(files), n)
		}
	}
}

// TestSaved waits until a state is saved while the processor runs.
func TestSaved(t *testing.T) {
	c := testConfig(idKey)
	c.State, c.SaveInterval = t.TempDir(), 2*time.Millisecond
	next := &recorder{}
	p := started(t, c, next)
	path := filepath.Join(c.State, shardName(0, 1))
	for _, id := range []string{"a", "b"} {
		p.send(t, id)
		saved := func() bool {
			f, err := window.Open[string](t.Context(), path, window.Config{})
			return err == nil && f.Contains(id)
		}
		for tries := 0; !saved(); tries++ {
			if tries == 2000 {
				t.Fatal("the state was not saved for 20 s")
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// TestRefusedState starts processors with states that they must not use. The error must tell what to do, and nothing may
// change.
func TestRefusedState(t *testing.T) {
	made := func(t *testing.T) *Config {
		c := testConfig(idKey)
		c.State = t.TempDir()
		restarted(t, c, func(p *logs, next *recorder) { p.send(t, "a b") })
		return c
	}
	file := func(c *Config) string { return filepath.Join(c.State, shardName(0, 1)) }
	write := func(c *Config, change func(b []byte) []byte) error {
		b, err := os.ReadFile(file(c))
		return errors.Join(err, os.WriteFile(file(c), change(b), 0o600))
	}
	for name, test := range map[string]struct {
		change func(c *Config) error
		says   []string
	}{
		"ttl":  {func(c *Config) error { c.TTL++; return nil }, []string{"another value of ttl", "remove the folder"}},
		"fpr":  {func(c *Config) error { c.FPR = 0.1; return nil }, []string{"another value of fpr", "set it back"}},
		"keys": {func(c *Config) error { c.Keys++; return nil }, []string{"another value of keys"}},
		"more keys": {func(c *Config) error { c.Keys = 10 * shardKeys; return nil },
			[]string{"another value of keys", "remove the folder"}},
		"cut": {func(c *Config) error { return write(c, func(b []byte) []byte { return b[:len(b)-1] }) },
			[]string{"damaged", "restore the folder"}},
		"empty": {func(c *Config) error { return write(c, func(b []byte) []byte { return nil }) },
			[]string{"damaged", "remove it"}},
		"flipped": {func(c *Config) error {
			return write(c, func(b []byte) []byte { b[len(b)-9] ^= 4; return b })
		}, []string{"damaged", "pass once more"}},
		"foreign": {func(c *Config) error { return write(c, func([]byte) []byte { return []byte("some other text") }) },
			[]string{"not a Bloomery file", "something else"}},
		"folder": {func(c *Config) error { return errors.Join(os.Remove(file(c)), os.Mkdir(file(c), 0o700)) },
			[]string{"state"}},
		"no folder": {func(c *Config) error { c.State = file(c); return nil }, []string{"state", "not a directory"}},
		"ahead": {func(c *Config) error {
			f, err := window.New[string](window.Config{Keys: c.Keys, TTL: c.TTL, FPR: c.FPR,
				Clock: func() time.Time { return time.Now().Add(2 * time.Hour) }})
			return errors.Join(err, f.Save(t.Context(), file(c)))
		}, []string{"ahead of the clock", "correct the clock"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := made(t)
			check(t, test.change(c))
			before, _ := os.ReadFile(file(c))
			p := newTestLogs(t, c, &recorder{})
			err := p.Start(t.Context(), componenttest.NewNopHost())
			if err == nil {
				t.Fatal("no error")
			}
			t.Log(err)
			for _, says := range append(test.says, c.State) {
				if !strings.Contains(err.Error(), says) {
					t.Errorf("%v, want %q", err, says)
				}
			}
			check(t, p.Shutdown(t.Context()))
			if after, _ := os.ReadFile(file(c)); string(before) != string(after) {
				t.Error("the state was changed")
			}
			if name == "no folder" {
				return
			}
			unlock, err := window.Lock(soon(t), filepath.Join(c.State, "state"))
			check(t, err) // the lock was released
			unlock()
		})
	}
}

func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	t.Cleanup(cancel)
	return ctx
}

// TestLocked starts a second processor with the same state.
func TestLocked(t *testing.T) {
	c := testConfig(idKey)
	c.State = t.TempDir()
	restarted(t, c, func(p *logs, next *recorder) {
		err := newTestLogs(t, c, next).Start(t.Context(), componenttest.NewNopHost())
		if err == nil || !strings.Contains(err.Error(), "in use by another Collector") {
			t.Error(err)
		}
		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		if err := newTestLogs(t, c, next).Start(canceled, componenttest.NewNopHost()); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	restarted(t, c, func(*logs, *recorder) {})
}

// TestUnsaved removes the folder of the state while the processor runs. It must go on, and save when it can again.
func TestUnsaved(t *testing.T) {
	c := testConfig(idKey)
	c.State = filepath.Join(t.TempDir(), "dedup")
	next := &recorder{}
	p := newTestLogs(t, c, next)
	check(t, p.Start(t.Context(), componenttest.NewNopHost()))
	check(t, os.RemoveAll(c.State))
	p.send(t, "a")
	if err := p.save(t.Context(), p.memory.shards[0]); err == nil || !p.memory.shards[0].unsaved.Load() {
		t.Errorf("saved without a folder: %v", err)
	}
	p.send(t, "a b")
	next.took(t, "a b")
	check(t, os.Mkdir(c.State, 0o700))
	check(t, p.Shutdown(t.Context()))
	restarted(t, c, func(p *logs, next *recorder) {
		p.send(t, "a b c")
		next.took(t, "c")
	})

	p = newTestLogs(t, c, next)
	check(t, p.Start(t.Context(), componenttest.NewNopHost()))
	p.send(t, "d")
	check(t, os.RemoveAll(c.State))
	if err := p.Shutdown(t.Context()); err == nil || !strings.Contains(err.Error(), "not saved") {
		t.Errorf("a last save without a folder: %v", err)
	}
}
