package bitvec

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// bitsOf returns one byte for each bit.
func bitsOf(words []uint64) []byte {
	var b []byte
	for i := range 64 * len(words) {
		b = append(b, byte(words[i/64]>>(i%64)&1))
	}
	return b
}

func number(b []byte) (v uint64) {
	for i, x := range b {
		v |= uint64(x) << i
	}
	return v
}

func digits(v uint64, width uint) []byte { return bitsOf([]uint64{v})[:width] }

// TestInsert compares Field, SetField, Insert and Delete with operations on slices of bits.
func TestInsert(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	rounds := 200_000
	if testing.Short() {
		rounds = 10_000
	}
	for range rounds {
		words := make([]uint64, 1+r.IntN(5))
		for i := range words {
			words[i] = r.Uint64()
		}
		size := uint64(64 * len(words))
		width := 1 + r.UintN(63)
		at := r.Uint64N(size - uint64(width) + 1)
		end := at + uint64(width) + r.Uint64N(size-at-uint64(width)+1)
		v := r.Uint64()
		was := bitsOf(words)
		if got, want := Field(words, at, width), number(was[at:][:width]); got != want {
			t.Fatalf("Field(%d, %d) = %x, want %x", at, width, got, want)
		}
		check := func(what string, want []byte, words []uint64) {
			if !slices.Equal(bitsOf(words), want) {
				t.Fatalf("%s at %d, end %d, width %d: %v, want %v", what, at, end, width, bitsOf(words), want)
			}
		}
		v &= 1<<width - 1
		set := slices.Clone(words)
		SetField(set, at, width, v)
		check("SetField", slices.Concat(was[:at], digits(v, width), was[at+uint64(width):]), set)

		inserted := slices.Clone(words)
		Insert(inserted, at, end, width, v)
		check("Insert", slices.Concat(was[:at], digits(v, width), was[at:end-uint64(width)], was[end:]), inserted)

		deleted := slices.Clone(words)
		Delete(deleted, at, end, width)
		check("Delete", slices.Concat(was[:at], was[at+uint64(width):end], digits(0, width), was[end:]), deleted)
	}
}

// TestCopy compares Copy with a copy of single bits.
func TestCopy(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	words, source := make([]uint64, 8), make([]uint64, 8)
	for range 20_000 {
		for i := range words {
			words[i], source[i] = r.Uint64(), r.Uint64()
		}
		n := r.Uint64N(300)
		to, from := r.Uint64N(513-n), r.Uint64N(513-n)
		was := bitsOf(words)
		want := slices.Concat(was[:to], bitsOf(source)[from:from+n], was[to+n:])
		if Copy(words, to, source, from, n); !slices.Equal(bitsOf(words), want) {
			t.Fatalf("Copy of %d bits from %d to %d: %v, want %v", n, from, to, bitsOf(words), want)
		}
	}
}

// TestOnes compares Ones with a sum of bits.
func TestOnes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	words := make([]uint64, 30)
	for range 5_000 {
		for i := range words {
			words[i] = r.Uint64() & r.Uint64()
		}
		from, n := r.Uint64N(1000), r.Uint64N(900)
		var want uint64
		for _, x := range bitsOf(words)[from : from+n] {
			want += uint64(x)
		}
		if got := Ones(words, from, n); got != want {
			t.Fatalf("Ones(%d, %d) = %d, want %d", from, n, got, want)
		}
	}
}
