package shards_test

import (
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/settest"
	"github.com/bloomery/bloomery/internal/shardset"
	"github.com/bloomery/bloomery/shard"
)

// writeShards builds a sharded set in dir, one shard after the other, with the library alone.
func writeShards(tb testing.TB, dir string, c bloomery.Config, shards int, keys []string) *shard.Manifest {
	tb.Helper()
	spec, err := filter.ParseSpec(c.Spec)
	check(tb, err)
	m := &shard.Manifest{Spec: spec, FPRPlanned: c.FPR}
	var hasher filter.Hasher
	builders := make([]*bloomery.Builder, shards)
	for i := range builders {
		if builders[i], err = bloomery.NewBuilder(tb.Context(), c); err != nil {
			tb.Fatal(err)
		}
		hasher = builders[i].Hasher()
	}
	for _, k := range keys {
		h := hasher.SumString(k)
		check(tb, builders[shard.Route(h, shards)].AddHashes([]filter.Hash{h}))
	}
	if m.Hash, m.Seed = hasher.ID(), hasher.Seed(); m.Hash == filter.SipHash {
		m.KeyCheck = hasher.KeyCheck()
	}
	for i, b := range builders {
		set, err := b.Build(tb.Context())
		check(tb, err)
		name := shardset.Name(i, shards, "")
		check(tb, intoSet(tb, set, filepath.Join(dir, name)))
		m.Shards = append(m.Shards, entryOf(tb, filepath.Join(dir, name), set))
	}
	writeManifest(tb, dir, m)
	return m
}

// entryOf returns the entry of a shard that was saved to a file.
func entryOf(tb testing.TB, path string, set *bloomery.Set) shard.Entry {
	tb.Helper()
	info, data := set.Info(), settest.ReadAll(tb, path)
	return shard.Entry{
		File: filepath.Base(path), Keys: info.Keys, Bytes: uint64(len(data)), SHA256: sha256.Sum256(data),
		FPRPrior: shardset.Rate(info.FPRPrior), FPRPosterior: shardset.Rate(info.FPRPosterior),
	}
}

// writeManifest writes the manifest of a sharded set.
func writeManifest(tb testing.TB, dir string, m *shard.Manifest) {
	tb.Helper()
	err := container.WriteAtomic(tb.Context(), filepath.Join(dir, shard.ManifestName), func(w io.Writer) error {
		_, err := m.WriteTo(w)
		return err
	})
	check(tb, err)
}

// intoSet replaces a file of a sharded set, which Save refuses.
func intoSet(tb testing.TB, set *bloomery.Set, path string) error {
	outside := filepath.Join(tb.TempDir(), "shard")
	return errors.Join(set.Save(tb.Context(), outside), os.Rename(outside, path))
}
