package hashes

import (
	"fmt"
	"testing"

	"github.com/bloomery/bloomery/filter"
)

func BenchmarkZZ(b *testing.B) {
	hs := randomHashes(1<<20, 1)
	for _, shards := range []int{1, 64, 20000} {
		for _, mem := range []int64{1 << 30, 4 << 20} {
			b.Run(fmt.Sprintf("shards=%d/mem=%d", shards, mem), func(b *testing.B) {
				b.SetBytes(int64(len(hs)) * hashSize)
				for b.Loop() {
					s := NewByShard(shards, mem, b.TempDir())
					for i := 0; i < len(hs); i += 1024 {
						s.Add(hs[i : i+1024])
					}
					sum := uint64(0)
					for i := range shards {
						s.Each(b.Context(), i, func(hs []filter.Hash) error {
							for _, h := range hs {
								sum += h.Lo
							}
							return nil
						})
					}
					s.Close()
				}
			})
		}
	}
}
