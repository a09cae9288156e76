package delta

import (
	"context"
	"fmt"

	"github.com/bloomery/bloomery/filter"
)

// Set is a sharded set: its manifest, and a function that returns the file of a shard. Shard is called by one goroutine
// at a time.
type Set struct {
	Manifest []byte
	Shard    func(i int) ([]byte, error)
}

// DiffSet returns one delta for all shards and the manifest of a sharded set.
func DiffSet(ctx context.Context, old, new Set) ([]byte, error) {
	return nil, fmt.Errorf("deltas of sharded sets: %w", filter.ErrUnsupported)
}

// PatchSet calls write with the name, in the new manifest, and the content of each shard whose file is not in the old
// set, and returns the new manifest.
func PatchSet(
	ctx context.Context, old Set, d []byte, o Options, write func(name string, content []byte) error,
) (manifest []byte, err error) {
	return nil, fmt.Errorf("deltas of sharded sets: %w", filter.ErrUnsupported)
}
