package bloomery_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/internal/shardtest"
)

// BenchmarkLive measures queries through a Live, of a file and of a sharded set, beside the same queries of a Set.
func BenchmarkLive(b *testing.B) {
	keys := words(1000)
	byKey := make([][]byte, 256)
	for i := range byKey {
		byKey[i] = []byte(fmt.Sprint("absent-", i))
	}
	for _, form := range []string{"file", "sharded"} {
		path := filepath.Join(b.TempDir(), form)
		c := bloomery.Config{Spec: "blocked(bytes=4096)"}
		if form == "sharded" {
			c.Shards = 4
			if _, err := shardtest.Build(b.Context(), slices.Values(keys), path, c); err != nil {
				b.Fatal(err)
			}
		} else if err := must(bloomery.Build(b.Context(), slices.Values(keys), c)).Save(b.Context(), path); err != nil {
			b.Fatal(err)
		}
		set, live := must(bloomery.Open(b.Context(), path)), must(bloomery.OpenLive(b.Context(), path))
		defer set.Close()
		defer live.Close()
		for _, by := range []struct {
			name string
			querier
		}{{"set", set}, {"live", live}} {
			b.Run(fmt.Sprintf("op=has/form=%s/by=%s", form, by.name), func(b *testing.B) {
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					by.Contains(byKey[i%len(byKey)])
				}
			})
			b.Run(fmt.Sprintf("op=string/form=%s/by=%s", form, by.name), func(b *testing.B) {
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					by.ContainsString(keys[i%len(keys)])
				}
			})
			b.Run(fmt.Sprintf("op=many/form=%s/by=%s", form, by.name), func(b *testing.B) {
				b.ReportAllocs()
				got := make([]bool, len(byKey))
				for b.Loop() {
					view(by.querier, func(s *bloomery.Set) { bloomery.Keyed[[]byte](s).ContainsMany(got, byKey) })
				}
			})
		}
	}
}
