//go:build unix

package shardset

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/shard"
)

// killEnv is the environment variable that holds the scenario, the step at which the process kills itself, and the
// folder.
const killEnv = "BLOOMERY_TEST_FOLDER"

// mortal is a context that counts every call of Err, for example by WriteAtomic, as a step.
type mortal struct{ context.Context }

func (m mortal) Err() error {
	step()
	return m.Context.Err()
}

// scenario is a transaction that is killed.
type scenario struct {
	before, after int // number of shards; 0: there is no set
	change, named bool
}

var scenarios = map[string]scenario{
	"new":         {0, 3, false, false},
	"same count":  {3, 3, false, false},
	"more shards": {3, 4, false, false},
	"change":      {3, 3, true, false},
	"named":       {3, 3, false, true}, // with the shard names of a delta or a follower
}

// contentOf returns the file of a shard in a version of a set. Shard 0 is the same in all versions.
func contentOf(version, s int) []byte {
	if s == 0 {
		version = 0
	}
	return bytes.Repeat(fmt.Appendf(nil, "%d/%d ", version, s), 100)
}

// transact changes the folder to a version of the set.
func transact(ctx context.Context, dir string, s scenario, shards, version int) (*shard.Manifest, error) {
	f, err := LockFolder(ctx, dir, Locking{Change: s.change, Wait: NoWait})
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := f.Read(); err != nil {
		return nil, err
	}
	f.Sweep()
	was, _ := os.Stat(f.Path(shard.ManifestName))
	if !s.change {
		was = nil
	}
	spec, err := filter.ParseSpec("standard(bytes=64)")
	if err != nil {
		return nil, err
	}
	m := &shard.Manifest{Spec: spec, Hash: filter.XXH3, Shards: make([]shard.Entry, shards)}
	for i := range m.Shards {
		content := contentOf(version, i)
		if e := &m.Shards[i]; s.named {
			*e = shard.Entry{Keys: 1, Bytes: uint64(len(content)), SHA256: sha256.Sum256(content)}
			e.File = HashName(i, shards, e.SHA256)
			err = f.PutBytes(ctx, e.File, content)
		} else {
			if version > 1 { // a shard that is written and changed again
				_, err = f.Put(ctx, i, shards, filter.Info{Keys: 1}, onlyBytes("first"))
			}
			if err == nil {
				*e, err = f.Put(ctx, i, shards, filter.Info{Keys: 1}, onlyBytes(content))
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return m, f.Commit(ctx, m, nil, was)
}

// onlyBytes writes the same bytes at every call.
type onlyBytes []byte

func (b onlyBytes) WriteTo(w io.Writer) (int64, error) {
	n, err := w.Write(b)
	return int64(n), err
}

// wholeSet returns the files of the set in a folder, and its manifest. It fails the test if a shard is missing or
// differs from its entry.
func wholeSet(t *testing.T, dir string) (*shard.Manifest, map[string]string) {
	t.Helper()
	m, _, err := ReadFolder(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	check(t, err)
	files := map[string]string{}
	for _, e := range m.Shards {
		b, err := os.ReadFile(filepath.Join(dir, e.File))
		if err != nil || sha256.Sum256(b) != e.SHA256 {
			t.Fatalf("%s: %v, or other content", e.File, err)
		}
		files[e.File] = string(b)
	}
	return m, files
}

// setFolder creates the folder as it is before the transaction of a scenario, with files that no sweep may remove.
func setFolder(t *testing.T, s scenario) (dir string, foreign []string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "set")
	work := strings.TrimSuffix(WorkName(strings.Repeat("ab", 16), ""), "/")
	plan := filepath.Join(dir, work, Name(1, 3, "cd")) // of a running distributed build
	check(t, errors.Join(os.MkdirAll(filepath.Dir(plan), 0o777), os.WriteFile(plan, nil, 0o666)))
	if s.before == 0 {
		return dir, []string{work}
	}
	if _, err := transact(t.Context(), dir, scenario{named: s.named}, s.before, 1); err != nil {
		t.Fatal(err)
	}
	check(t, os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o666))
	return dir, []string{"notes.txt", work}
}

// TestKilledFolder kills a process at every step of a transaction, twice in the same folder. The folder must then
// contain the complete old or new set, a sweep must not change this, and the next transaction must leave only the new
// set.
func TestKilledFolder(t *testing.T) {
	if env := strings.SplitN(os.Getenv(killEnv), "|", 3); len(env) == 3 {
		left, err := strconv.ParseInt(env[1], 10, 64)
		check(t, err)
		var done atomic.Int64
		step = func() {
			if done.Add(1) > left {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
		}
		s := scenarios[env[0]]
		if _, err := transact(mortal{t.Context()}, env[2], s, s.after, 2); err != nil {
			t.Fatal(err)
		}
		return
	}
	every := 1
	if testing.Short() {
		every = 4
	}
	for what, s := range scenarios {
		kills := 0
		for at, killed := 0, true; killed; at += 2 * every {
			dir, foreign := setFolder(t, s)
			before, _ := wholeSet(t, dir)
			killed = false
			for attempt := range 2 { // the second attempt is killed one step later
				cmd := exec.Command(os.Args[0], "-test.run=^TestKilledFolder$")
				cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s|%d|%s", killEnv, what, at+attempt*every, dir))
				out, err := cmd.CombinedOutput()
				var exit *exec.ExitError
				switch {
				case errors.Is(err, syscall.ENOEXEC):
					t.Skip("the system starts no programs for this processor, only an emulator does:", err)
				case errors.As(err, &exit) && exit.ProcessState.Sys().(syscall.WaitStatus).Signaled():
					killed = true
					kills++
				case err != nil:
					t.Fatalf("%s, step %d: %v, %s", what, at, err, out)
				}
				now, files := wholeSet(t, dir)
				if now == nil && before != nil {
					t.Fatalf("%s, step %d: no set", what, at)
				}
				version, shards := 2, s.after
				if now != nil && before != nil && slices.Equal(now.Shards, before.Shards) {
					version, shards = 1, s.before
				}
				for name, text := range files {
					if i, n, _ := shard.ParseName(name); text != string(contentOf(version, i)) || n != shards {
						t.Fatalf("%s, step %d: %s is not of version %d", what, at, name, version)
					}
				}
				f, err := LockFolder(t.Context(), dir, Locking{Change: true, Wait: NoWait})
				if err == nil {
					err = f.Read()
					f.Sweep()
					err = errors.Join(err, f.Close())
				}
				check(t, err)
				wholeSet(t, dir)
			}
			m, err := transact(t.Context(), dir, s, s.after, 2)
			if err != nil {
				t.Fatalf("%s, after step %d: %v", what, at, err)
			}
			_, files := wholeSet(t, dir)
			want := append(slices.Sorted(maps.Keys(files)), append([]string{shard.ManifestName}, foreign...)...)
			slices.Sort(want)
			if got := entries(t, dir); !slices.Equal(got, want) {
				t.Fatalf("%s, after step %d: %q, want %q", what, at, got, want)
			}
			for i, e := range m.Shards {
				if files[e.File] != string(contentOf(2, i)) {
					t.Fatalf("%s, after step %d: shard %d is an old one", what, at, i)
				}
			}
		}
		if kills < 12/every {
			t.Errorf("%s: only %d kills", what, kills)
		}
	}
}

func entries(t *testing.T, dir string) (names []string) {
	t.Helper()
	all, err := os.ReadDir(dir)
	check(t, err)
	for _, e := range all {
		names = append(names, e.Name())
	}
	return names
}
