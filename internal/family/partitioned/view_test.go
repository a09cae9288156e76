package partitioned

import (
	"testing"

	"github.com/bloomery/bloomery/internal/family"
)

// TestViewValid wants ViewOf and Valid to refuse the same geometries.
func TestViewValid(t *testing.T) {
	for _, v := range []*View{
		{}, {Shards: 1, Groups: 1, K: 1, Width: 5, Bits: 31}, {Shards: 1, Groups: 2, K: 1, Bits: 31},
		{Groups: 1, K: 1, Bits: 64},
		{Shards: 1, Groups: 1, K: 65, Bits: 64}, {Shards: 2, Groups: 1, K: 1, Bits: 64}, {Shards: 1, K: 1, Bits: 64},
		{Shards: 1, Groups: 1, K: 1, Bits: 1 << 32}, {Shards: 1 << 30, Groups: 1, K: 1, Width: 5, Bits: 1 << 30},
		{Shards: 1, Groups: 1, K: 1, Width: 6, Bits: 64}, {Shards: 1, Groups: 1, K: 1, Width: -1, Bits: 64},
	} {
		if v.Valid() {
			t.Errorf("%+v is valid", v)
		}
	}
	if _, err := ViewOf(family.NewSpec("partitioned")); err == nil {
		t.Error("a view of a filter that is not built")
	}
}
