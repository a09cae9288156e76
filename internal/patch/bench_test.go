package patch_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/bloomery/bloomery/internal/patch"
)

// BenchmarkDelta measures Diff and Patch of a day: 0.2% of a million keys go, as many come.
func BenchmarkDelta(b *testing.B) {
	const n = 1_000_000
	ctx := context.Background()
	hs := hashes(7, 0, n+n/500)
	for _, c := range []struct{ name, spec string }{
		{"standard", "standard(k=7,m=9585059)"},
		{"blocked", "blocked(blocks=19400,k=6,layout=line)"},
		{"counting", "counting(k=7,m=9585059)"},
		{"rankindexed", "rankindexed(fpr=0.01)"},
		{"rankindexed-trimmed", "rankindexed(fpr=0.01)"},
	} {
		f := built(b, c.spec, hs[:n])
		g := like(b, f, hs[n/500:])
		old, new := encode(b, f), encode(b, g)
		if c.name == "rankindexed-trimmed" {
			old, new = encode(b, trimmed(f)), encode(b, trimmed(g))
		}
		from, to := patch.Version{File: old}, patch.Version{File: new}
		var d []byte
		b.Run("op=diff/family="+c.name+"/n=1e6", func(b *testing.B) {
			b.SetBytes(int64(len(new)))
			b.ReportAllocs()
			for b.Loop() {
				var err error
				if d, err = patch.Diff(ctx, from, to); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(d)), "delta-bytes")
		})
		b.Run("op=patch/family="+c.name+"/n=1e6", func(b *testing.B) {
			b.SetBytes(int64(len(new)))
			b.ReportAllocs()
			for b.Loop() {
				got, err := patch.Patch(ctx, from, d, 0, nil)
				if err != nil || !bytes.Equal(got, new) {
					b.Fatal(err)
				}
			}
		})
	}
}
