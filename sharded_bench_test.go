package bloomery_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/bloomery/bloomery"
)

// BenchmarkSharded compares sharded sets with one file of the same size: opening, single queries and batches.
func BenchmarkSharded(b *testing.B) {
	const keys, shards = 1 << 20, 1000
	for _, family := range []string{"blocked", "standard", "fuse"} {
		spec := map[string]string{"blocked": "blocked(bytes=%d)", "standard": "standard(bytes=%d)", "fuse": "fuse(width=8)"}[family]
		sized := func(bytes int) string {
			if family == "fuse" {
				return spec
			}
			return fmt.Sprintf(spec, bytes)
		}
		r := rand.New(rand.NewPCG(1, 2))
		members := make([]string, keys)
		for i := range members {
			members[i] = string(binary.LittleEndian.AppendUint64(nil, r.Uint64()))
		}
		const size = 64 << 20
		dir := b.TempDir()
		writeShards(b, dir, bloomery.Config{Spec: sized(size / shards)}, shards, members)
		file := filepath.Join(b.TempDir(), "one.bloom")
		one, err := bloomery.NewBuilder(bloomery.Config{Spec: sized(size)})
		if err != nil {
			b.Fatal(err)
		}
		for _, k := range members {
			if err := one.AddString(k); err != nil {
				b.Fatal(err)
			}
		}
		set, err := one.Build(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if err := set.Save(b.Context(), file); err != nil {
			b.Fatal(err)
		}
		queries := make([]uint64, 1<<16)
		for i := range queries {
			queries[i] = r.Uint64()
			if i%2 == 0 {
				queries[i] = binary.LittleEndian.Uint64([]byte(members[r.IntN(keys)]))
			}
		}
		b.Run(fmt.Sprintf("op=open/family=%s/shards=%d", family, shards), func(b *testing.B) {
			for b.Loop() {
				set, err := bloomery.Open(dir)
				if err != nil {
					b.Fatal(err)
				}
				_ = set.Close()
			}
		})
		for _, form := range []struct {
			name, path string
			options    []bloomery.Option
		}{{"file", file, nil}, {"memory", file, []bloomery.Option{bloomery.InMemory()}}, {"shards", dir, nil}} {
			set, err := bloomery.Open(form.path, form.options...)
			if err != nil {
				b.Fatal(err)
			}
			defer set.Close()
			got := make([]bool, len(queries))
			set.ContainsManyUint64(got, queries)
			b.Run(fmt.Sprintf("op=has/family=%s/form=%s", family, form.name), func(b *testing.B) {
				i := 0
				for b.Loop() {
					set.ContainsUint64(queries[i&(1<<16-1)])
					i++
				}
			})
			for _, batch := range []int{64, 256, 4096, 1 << 16} {
				b.Run(fmt.Sprintf("op=batch/family=%s/form=%s/keys=%d", family, form.name, batch), func(b *testing.B) {
					i := 0
					for b.Loop() {
						set.ContainsManyUint64(got[:batch], queries[i&(1<<16-1):][:batch])
						i += batch
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*batch), "ns/key")
				})
			}
		}
	}
}
