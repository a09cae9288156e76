//go:build linux || darwin

package shards_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/internal/settest"
)

// TestShardedFewFiles opens a set of more shards than the process may have open files, with many limits: several
// goroutines meet the limit at once.
func TestShardedFewFiles(t *testing.T) {
	keys := settest.Names("key", 2000)
	dir := t.TempDir()
	settest.WriteShards(t, dir, bloomery.Config{Spec: "standard(fpr=0.01)"}, 200, keys)
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
			t.Fatal(err)
		}
	}()
	few := was
	for i := range 400 {
		few.Cur = uint64(100 + i%60)
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
			t.Fatal(err)
		}
		set, err := bloomery.Open(t.Context(), dir)
		if err != nil {
			t.Fatalf("%d open files: %v", few.Cur, err)
		}
		if err := set.Close(); err != nil {
			t.Fatal(err)
		}
	}
	holds(t, dir, keys)
}

// TestShardsKeepModes: files of a set that others may not read are not opened to them by a change.
func TestShardsKeepModes(t *testing.T) {
	keys := settest.Names("key", 1000)
	dir, _ := sharded(t, "standard(bytes=2048)", 4, keys)
	each := func(f func(path string)) {
		all, err := os.ReadDir(dir)
		if err != nil || len(all) != 5 {
			t.Fatalf("%v, %v", all, err)
		}
		for _, e := range all {
			f(filepath.Join(dir, e.Name()))
		}
	}
	each(func(path string) {
		if err := os.Chmod(path, 0o600); err != nil {
			t.Fatal(err)
		}
	})
	l, err := bloomery.Lock(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, key := range settest.Names("new", 100) {
		if err := l.AddString(key); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	each(func(path string) {
		if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", path, st.Mode(), err)
		}
	})
}
