package patch

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/bloomery/bloomery/internal/container"
)

// TestCrafted applies deltas with numbers that are out of range only for the content of the base.
func TestCrafted(t *testing.T) {
	for _, c := range []struct {
		name, base string
		what       byte
		body       func(w *bitWriter)
	}{
		{"more bits than a block has", "blocks", byte(Bits), func(w *bitWriter) {
			w.field(blocks, modeBits)
			w.field(0, blockBits+1) // blocks of 64 bits
			w.field(0, 6+3)
			w.number(1)
			l := newList(320, 1)
			l.putNumber(w, 319)
			putRice(w, foldCount(65, 0), 0)
			w.field(0, 64)
		}},
		{"more bits that are 0 than a block has", "blocks", byte(Bits), func(w *bitWriter) {
			w.field(blocks, modeBits)
			w.field(1<<blockBits, blockBits+1)
			w.field(0, 6+3)
			w.number(1)
			l := newList(320, 1)
			l.putNumber(w, 0)
			putRice(w, foldCount(64, 0), 0)
			w.field(0, 64)
		}},
		{"more cells than a bucket can have", "levels-trimmed", byte(Replay), func(w *bitWriter) {
			w.number(0)
			w.signed(300)
			l := newList(6*300<<6+299, 300)
			for i := range uint64(300) {
				l.putNumber(w, i)
			}
			w.field(0, 64)
		}},
		{"more extensions than there are", "rank-trimmed", byte(Replay), func(w *bitWriter) {
			w.number(0)
			w.signed(1 << 20)
			w.field(0, 64)
		}},
		{"a section that the base does not have", "gaps", byte(Bits) | flagForm, func(w *bitWriter) {
			w.field(2, 8) // sections
			w.field(0, 8) // flags
			w.field(same, modeBits)
			w.field(same, modeBits)
		}},
		{"a mode that does not exist", "gaps", byte(Bits), func(w *bitWriter) { w.field(modes, modeBits) }},
		{"no sections", "gaps", byte(Bits) | flagForm, func(w *bitWriter) { w.field(0, 16) }},
		{"no spec", "gaps", byte(Bits) | flagSpec, func(w *bitWriter) {
			w.number(0)
			w.field(same, modeBits)
		}},
		{"a spec that is too long", "gaps", byte(Bits) | flagSpec, func(w *bitWriter) { w.number(513) }},
	} {
		b, err := os.ReadFile("testdata/" + c.base + ".base")
		if err != nil {
			t.Fatal(err)
		}
		m, err := container.ParseImage(b)
		if err != nil {
			t.Fatal(err)
		}
		w := &bitWriter{}
		c.body(w)
		got, err := applyFile(context.Background(), m, c.what, w.finish(), 1<<20)
		if got != nil || !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %d bytes, %v", c.name, len(got), err)
		}
	}
}
