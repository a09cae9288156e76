package filter

import (
	"fmt"
	"strings"
	"testing"
)

// sink keeps the compiler from removing the measured code.
var sink Hash

// BenchmarkSum times the three forms of Sum for our own hash functions and keys of 16 and 100 bytes.
func BenchmarkSum(b *testing.B) {
	for _, h := range []Hasher{NewHasher(7), NewKeyedHasher(Secret{1, 2, 3})} {
		for _, size := range []int{16, 100} {
			text := strings.Repeat("k", size)
			key := []byte(text)
			b.Run(fmt.Sprintf("op=bytes/hash=%s/size=%d", h.ID(), size), func(b *testing.B) {
				for b.Loop() {
					sink = h.Sum(key)
				}
			})
			b.Run(fmt.Sprintf("op=string/hash=%s/size=%d", h.ID(), size), func(b *testing.B) {
				for b.Loop() {
					sink = h.SumString(text)
				}
			})
		}
		b.Run(fmt.Sprintf("op=uint64/hash=%s", h.ID()), func(b *testing.B) {
			for i := uint64(0); b.Loop(); i++ {
				sink = h.SumUint64(i)
			}
		})
	}
}
