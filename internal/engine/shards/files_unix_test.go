//go:build linux || darwin

package shards_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/internal/filtertest"
	"github.com/bloomery/bloomery/internal/settest"
)

// TestShardedFewFiles opens a set with more shards than the process may have open files, with many limits. Several
// goroutines reach the limit at once. Each limit is tested twice, or with CI_FULL=1 seven times.
func TestShardedFewFiles(t *testing.T) {
	keys := settest.Names("key", 2000)
	dir := t.TempDir()
	writeShards(t, dir, bloomery.Config{Spec: "standard(fpr=0.01)"}, 200, keys)
	var was syscall.Rlimit
	check(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was))
	defer func() {
		check(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was))
	}()
	few, opens := was, 120
	if filtertest.Full() {
		opens = 400
	}
	for i := range opens {
		few.Cur = uint64(100 + i%60)
		check(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few))
		set, err := bloomery.Open(t.Context(), dir)
		if err != nil {
			t.Fatalf("%d open files: %v", few.Cur, err)
		}
		check(t, set.Close())
	}
	holds(t, dir, keys)
}

// TestShardsKeepModes checks that after a change, other users still cannot read the files of a set that they could not
// read before.
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
		check(t, os.Chmod(path, 0o600))
	})
	l, err := bloomery.Lock(t.Context(), dir)
	check(t, err)
	defer l.Close()
	for _, key := range settest.Names("new", 100) {
		check(t, l.AddString(key))
	}
	check(t, l.Commit(t.Context()))
	each(func(path string) {
		if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", path, st.Mode(), err)
		}
	})
}
