//go:build !race

package shards_test

import (
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/internal/settest"
)

// TestShardedBatchesAllocate needs a build without the race detector, under which sync.Pool drops memory at random.
func TestShardedBatchesAllocate(t *testing.T) {
	for _, spec := range []string{
		"blocked(bits_per_key=10)", "standard(bits_per_key=10)", "fuse(width=8)", "ribbon(r=8)",
	} {
		keys := settest.Integers(30_000, 1)
		set := settest.OpenSet(t, settest.WriteIntegers(t, spec, 3, keys))
		got := make([]bool, len(keys))
		bloomery.Keyed[uint64](set).ContainsMany(got, keys) // loads all shards
		view := bloomery.Keyed[uint64](set)
		if n := testing.AllocsPerRun(100, func() { view.ContainsMany(got[:5000], keys[:5000]) }); n >= 1 {
			t.Errorf("%s: a batch allocates %v times", spec, n)
		}
	}
}
