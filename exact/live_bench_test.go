package exact

import (
	"fmt"
	"path/filepath"
	"testing"
)

// BenchmarkLive compares queries of a Live with the same queries of its Set.
func BenchmarkLive(b *testing.B) {
	l := newList(11, 1000, 100)
	s := l.build(b, false)
	path := filepath.Join(b.TempDir(), "f.exact")
	check(b, s.Save(b.Context(), path))
	live := must(OpenLive(b.Context(), path))
	defer live.Close()
	keys := make([][]byte, 256)
	for i := range keys {
		keys[i] = []byte(fmt.Sprint("absent-", i))
	}
	b.Run("op=has/by=live", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			live.Set().Contains(keys[i%256])
		}
	})
	b.Run("op=has/by=set", func(b *testing.B) {
		b.ReportAllocs()
		s := live.Set()
		for i := 0; b.Loop(); i++ {
			s.Contains(keys[i%256])
		}
	})
}
