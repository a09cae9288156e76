package exact

import (
	"fmt"
	"testing"
)

// BenchmarkUpdates asks sets with that many updates of 10 keys, or of 100: positions, or small sets.
func BenchmarkUpdates(b *testing.B) {
	for _, toggled := range []int{10, 100} {
		l := newList(12, 20_000, 2000)
		s := l.build(b, false)
		for updates := 0; updates <= 30; updates++ {
			if updates%10 == 0 {
				b.Run(fmt.Sprintf("toggled=%d/updates=%d", toggled, updates), func(b *testing.B) {
					i := 0
					for b.Loop() {
						s.Contains([]byte(l.keys[i%len(l.keys)]))
						i++
					}
				})
			}
			l.change(toggled/2, 0)
			s, _ = l.update(b, s)
		}
	}
}
