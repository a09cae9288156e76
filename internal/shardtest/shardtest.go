// Package shardtest builds sharded sets for tests that look at their manifest.
package shardtest

import (
	"context"
	"errors"
	"iter"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/shard"
)

// Builder is a bloomery.Builder of a sharded set whose Build returns the manifest.
type Builder struct{ *bloomery.Builder }

// NewBuilder returns a Builder of the sharded set in a folder.
func NewBuilder(dir string, c bloomery.Config) (*Builder, error) {
	c.Dir = dir
	b, err := bloomery.NewBuilder(context.Background(), c)
	return &Builder{b}, err
}

// Build writes the set and returns its manifest.
func (b *Builder) Build(ctx context.Context) (*shard.Manifest, error) {
	return manifest(b.Builder.Build(ctx))
}

// Build builds the sharded set of keys in a folder.
func Build[K filter.Key](
	ctx context.Context, keys iter.Seq[K], dir string, c bloomery.Config,
) (*shard.Manifest, error) {
	c.Dir = dir
	return manifest(bloomery.Build(ctx, keys, c))
}

func manifest(s *bloomery.Set, err error) (*shard.Manifest, error) {
	if err != nil {
		return nil, err
	}
	return s.Manifest(), errors.Join(s.Err(), s.Close())
}
