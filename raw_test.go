package bloomery_test

import (
	"fmt"
	"os"
	"runtime"
	"testing"

	"github.com/bloomery/bloomery"
)

// TestRawKeysMemory: a builder that takes raw keys and has to count them keeps to Memory, with a file in TempDir, and
// makes the same filter.
func TestRawKeysMemory(t *testing.T) {
	build := func(memory int64) (*bloomery.Set, uint64) {
		dir := t.TempDir()
		b, err := bloomery.NewBuilder(t.Context(), bloomery.Config{Spec: "bitsandblooms", Memory: memory, TempDir: dir})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		key := make([]byte, 0, 100)
		for i := range 300_000 {
			if err := b.Add(fmt.Appendf(key, "a key of forty to fifty bytes, number %d", i)); err != nil {
				t.Fatal(err)
			}
		}
		runtime.GC()
		runtime.GC() // takes the blocks of earlier builds, too
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		set, err := b.Build(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%d files left", len(left))
		}
		return set, m.HeapAlloc
	}
	large, all := build(1 << 30)
	small, few := build(1 << 20)
	if !large.Equal(small) {
		t.Error("the filters differ")
	}
	if all < few+8<<20 {
		t.Errorf("%d bytes in use with a limit of 1 MiB, %d without", few, all)
	}
}
