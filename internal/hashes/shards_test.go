package hashes_test

import (
	"errors"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/hashes"
)

func TestCheckShards(t *testing.T) {
	for _, c := range []struct {
		shards int
		keys   uint64
		ok     bool
	}{
		{1, 0, true}, {4096, 0, true}, {4097, 1000, false}, {1 << 20, 1000, false}, {5000, 5000, true}, {5001, 5000, false},
		{1 << 20, 1 << 40, true},
	} {
		if err := hashes.CheckShards(c.shards, c.keys); (err == nil) != c.ok || err != nil && !errors.Is(err, filter.ErrConfig) {
			t.Errorf("%d shards, %d keys: %v", c.shards, c.keys, err)
		}
	}
}
