package plank

import (
	"bytes"
	"testing"
)

// TestMother requires that fill takes a word per four bytes and one more for each byte that is left over.
func TestMother(t *testing.T) {
	words := newMother(1)
	var want []byte
	for range 2 {
		w := words.word()
		want = append(want, byte(w), byte(w>>8), byte(w>>16), byte(w>>24))
	}
	want = append(want, byte(words.word()))

	r := newMother(1)
	got := make([]byte, 9)
	r.fill(got)
	if !bytes.Equal(got, want) || *r != *words {
		t.Errorf("%x, want %x", got, want)
	}
}

// TestMotherBelow requires numbers from 31 bits of an output, of which some have the highest bit set.
func TestMotherBelow(t *testing.T) {
	r := newMother(1)
	for range 100 {
		words := *r
		want := int(words.word()<<1>>1) % 100
		if got := r.below(100); got != want {
			t.Fatalf("%d, want %d", got, want)
		}
	}
}
