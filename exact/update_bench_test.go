package exact

import (
	"fmt"
	"testing"
)

// BenchmarkUpdates queries sets with a number of updates. Updates of 10 keys store positions, updates of 100 keys small
// sets.
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
