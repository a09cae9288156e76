package shard_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/shard"
)

// BenchmarkReadManifest reads manifests of different sizes.
func BenchmarkReadManifest(b *testing.B) {
	for _, shards := range []int{1000, 100_000} {
		b.Run(fmt.Sprintf("shards=%d", shards), func(b *testing.B) {
			m := &shard.Manifest{Spec: family.NewSpec("fuse"), Hash: filter.XXH3, Shards: make([]shard.Entry, shards)}
			for i := range m.Shards {
				m.Shards[i] = shard.Entry{
					File: fileName(i, shards), Keys: 1000, Bytes: 1472, FPRPrior: 0.01, FPRPosterior: 0.01,
				}
			}
			var text bytes.Buffer
			if _, err := m.WriteTo(&text); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := shard.ReadManifest(bytes.NewReader(text.Bytes())); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
