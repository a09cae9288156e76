package shardset

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/shard"
)

// TestLeftover tests the rule of sweeps with a table of cases.
func TestLeftover(t *testing.T) {
	set := func(shards int, suffix string) *shard.Manifest {
		m := new(shard.Manifest)
		for i := range shards {
			m.Shards = append(m.Shards, shard.Entry{File: Name(i, shards, suffix)})
		}
		return m
	}
	all := []string{
		Name(0, 3, ""), Name(0, 3, "aa"), Name(0, 4, ""), Name(1, 9, "bb"),
		shard.ManifestName, "notes.txt", "00000-of-00003.bak",
		strings.TrimSuffix(WorkName(strings.Repeat("ab", 16), ""), "/"),
		"." + Name(0, 3, "") + ".tmp-0123456789abcdef",
	}
	for what, c := range map[string]struct {
		rule Leftover
		want []string
	}{
		"change":        {Leftover{Keep: []*shard.Manifest{set(3, "aa"), nil}}, all[:1]},
		"change before": {Leftover{Before: set(4, ""), Keep: []*shard.Manifest{set(3, "aa")}}, []string{all[0], all[2]}},
		"whole":         {Leftover{All: true, Keep: []*shard.Manifest{set(3, "aa")}}, []string{all[0], all[2], all[3]}},
		"two":           {Leftover{All: true, Keep: []*shard.Manifest{set(3, "aa"), set(3, "")}}, all[2:4]},
		"no set":        {Leftover{All: true}, all[:4]},
	} {
		is := c.rule.Func()
		if got := slices.DeleteFunc(slices.Clone(all), func(n string) bool { return !is(n) }); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", what, got, c.want)
		}
	}
}

// TestAbort checks that Close removes the files of Put, except files named by a manifest that another process has
// written without the lock.
func TestAbort(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "set")
	m := &shard.Manifest{Spec: mustSpec(t), Hash: filter.XXH3}
	for i := range 2 {
		content := []byte{byte(i)}
		sum := sha256.Sum256(content)
		m.Shards = append(m.Shards, shard.Entry{File: HashName(i, 2, sum), Keys: 1, Bytes: 1, SHA256: sum})
	}
	put := func(f *Folder, i int) {
		t.Helper()
		err := f.PutBytes(t.Context(), m.Shards[i].File, []byte{byte(i)})
		check(t, err)
	}
	lock := func() *Folder {
		t.Helper()
		f, err := LockFolder(t.Context(), dir, Locking{})
		if err == nil {
			err = f.Read()
		}
		check(t, err)
		return f
	}
	f := lock()
	put(f, 0)
	put(f, 1)
	if _, err := LockFolder(t.Context(), dir, Locking{Wait: NoWait}); hasLocks && !errors.Is(err, filter.ErrLocked) {
		t.Errorf("locked twice: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := LockFolder(ctx, dir, Locking{}); hasLocks && !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
	check(t, f.Close())
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the new folder stays: %v", err)
	}
	f = lock()
	put(f, 0)
	put(f, 1)
	other := *m
	other.Shards = slices.Clone(m.Shards)
	other.Shards[1].File = Name(1, 2, "other")
	var text bytes.Buffer
	if _, err := other.WriteTo(&text); err != nil {
		t.Fatal(err)
	}
	check(t, os.WriteFile(filepath.Join(dir, shard.ManifestName), text.Bytes(), 0o666))
	check(t, f.Close())
	for i, want := range []bool{true, false} {
		if _, err := os.Stat(filepath.Join(dir, m.Shards[i].File)); (err == nil) != want {
			t.Errorf("shard %d: %v", i, err)
		}
	}
	// names in use
	f = lock()
	defer f.Close()
	e := m.Shards[0]
	e.SHA256[0]++
	for _, e := range []shard.Entry{e, {File: "../x.bloom"}, {File: shard.ManifestName}} {
		err := f.PutFile(t.Context(), e.File, e.SHA256, func(io.Writer) error { t.Error("it was written"); return nil })
		if !errors.Is(err, shard.ErrManifest) {
			t.Errorf("%s: %v", e.File, err)
		}
	}
	put(f, 0) // the same content: a damaged file is repaired
}

func mustSpec(t *testing.T) filter.Spec {
	t.Helper()
	s, err := filter.ParseSpec("standard(bytes=64)")
	check(t, err)
	return s
}

// hasLocks reports whether this system has file locks.
var hasLocks = runtime.GOOS != "js" && runtime.GOOS != "wasip1"

// check ends the test if err is not nil.
func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
