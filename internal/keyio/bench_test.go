package keyio

import (
	"bytes"
	"fmt"
	"testing"
)

// benchInput has a million lines of 20 bytes, newline included, or CSV rows with such keys.
func benchInput(b *testing.B, o Options) *Input {
	var text bytes.Buffer
	for i := range 1_000_000 {
		if o.Format == CSV {
			fmt.Fprintf(&text, "%d,", i%10)
		}
		fmt.Fprintf(&text, "key-%015d\n", i)
	}
	in := open(b, o, blockSize, text.String())
	b.SetBytes(in.Size())
	return in
}

func BenchmarkCount(b *testing.B) {
	for _, o := range []Options{{Format: Lines}, {Format: CSV, Column: "2"}} {
		b.Run(fmt.Sprintf("op=count/format=%s", o.Format), func(b *testing.B) {
			in := benchInput(b, o)
			for b.Loop() {
				if n, err := in.Count(b.Context()); n != 1_000_000 || err != nil {
					b.Fatal(n, err)
				}
			}
		})
	}
}

func BenchmarkProcess(b *testing.B) {
	for _, o := range []Options{{Format: Lines}, {Format: CSV, Column: "2"}} {
		b.Run(fmt.Sprintf("op=process/format=%s", o.Format), func(b *testing.B) {
			in := benchInput(b, o)
			b.ReportAllocs()
			for b.Loop() {
				if err := in.Process(b.Context(), 0, func(int, *Batch) error { return nil }, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
