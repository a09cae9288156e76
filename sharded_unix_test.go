//go:build linux || darwin

package bloomery_test

import (
	"syscall"
	"testing"

	"github.com/bloomery/bloomery"
)

// TestShardedFewFiles opens a set of more shards than the process may have open files, with many limits: several
// goroutines meet the limit at once.
func TestShardedFewFiles(t *testing.T) {
	keys := names("key", 2000)
	dir := t.TempDir()
	writeShards(t, dir, bloomery.Config{Spec: "standard(fpr=0.01)"}, 200, keys)
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
