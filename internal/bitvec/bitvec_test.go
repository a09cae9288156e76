package bitvec

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/bloomery/bloomery/filter"
)

func TestPacked(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for width := uint(1); width <= 32; width++ {
		const n = 300
		words := make([]uint64, PackedWords(n, width))
		want := make([]uint32, n)
		for i := range want {
			want[i] = r.Uint32() >> (32 - width)
			SetField(words, uint64(i)*uint64(width), width, uint64(want[i]))
		}
		for i, v := range want {
			if got := uint32(Load57(words, uint64(i)*uint64(width))) << (32 - width) >> (32 - width); got != v {
				t.Fatalf("width %d, integer %d: %#x, want %#x", width, i, got, v)
			}
		}
	}
}

func TestAlloc(t *testing.T) {
	for _, n := range []uint64{0, 1, 7, 8, 9, 1000, 1 << 20} {
		w, err := Alloc(n)
		if err != nil || uint64(len(w)) != n || uint64(cap(w)) != n || n > 0 && uintptr(unsafe.Pointer(&w[0]))%64 != 0 {
			t.Errorf("Alloc(%d): %d words at %p, %v", n, len(w), w, err)
		}
	}
	beyond := []uint64{1 << 43, 1 << 61, 1<<64 - 1}
	if all := memory(); all > 0 {
		beyond = append(beyond, all/8+1)
	}
	for _, n := range beyond {
		if _, err := Alloc(n); !errors.Is(err, filter.ErrTooLarge) {
			t.Errorf("Alloc(%d): %v", n, err)
		}
	}
}

// TestPrefetch checks that prefetching any position does not fault.
func TestPrefetch(t *testing.T) {
	w, _ := Alloc(100)
	Prefetch(w, []uint64{0, 99, 100, 1 << 40})
	Prefetch(nil, nil)
	Prefetch(w, nil)
}

func TestOnesBelow(t *testing.T) {
	words := []uint64{^uint64(0), 0, 5}
	for n, want := range map[uint64]uint64{
		0: 0, 1: 1, 63: 63, 64: 64, 65: 64, 128: 64, 129: 65, 130: 65, 131: 66, 192: 66,
	} {
		if got := OnesBelow(words, n); got != want {
			t.Errorf("%d ones below %d, want %d", got, n, want)
		}
	}
}

func TestOnesCount(t *testing.T) {
	for n := range 20 {
		w := make([]uint64, n)
		for i := range w {
			w[i] = 1<<i | 1<<63
		}
		if got := OnesCount(w); got != uint64(2*n) {
			t.Errorf("%d words: %d", n, got)
		}
	}
}

func TestLittleEndian(t *testing.T) {
	words := []uint64{1}
	if first := Bytes(words)[0]; (first == 1) != LittleEndian {
		t.Errorf("LittleEndian is %v, the first byte of 1 is %d", LittleEndian, first)
	}
}

// TestLoad57 tests positions up to the last valid one, 64·len(words)-64, and the code for big-endian machines.
func TestLoad57(t *testing.T) {
	words := []uint64{0x0123456789abcdef, 0xfedcba9876543210, 0x5555aaaa3333cccc}
	for i := range uint64(129) {
		want := words[i/64] >> (i % 64)
		if i%64 != 0 {
			want |= words[i/64+1] << (64 - i%64)
		}
		if got := load64(words, i); got != want {
			t.Errorf("bit %d: %#x in any byte order, want %#x", i, got, want)
		}
		if got := Load57(words, i) & (1<<57 - 1); got != want&(1<<57-1) {
			t.Errorf("bit %d: %#x, want %#x", i, got, want)
		}
		for shift := range uint64(32) {
			if got := Load32(words, i, shift); (got^want>>shift)&(1<<25-1) != 0 {
				t.Errorf("bit %d and %d: %#x, want %#x", i, shift, got, want>>shift)
			}
		}
	}
}

func TestWord32(t *testing.T) {
	words := []uint64{0x0123456789abcdef, 0xfedcba9876543210}
	for i, want := range []uint32{0x89abcdef, 0x01234567, 0x76543210, 0xfedcba98} {
		if got := Word32(words, uint64(i)); got != want {
			t.Errorf("word %d: %#x, want %#x", i, got, want)
		}
	}
}

func TestByteAndWord16(t *testing.T) {
	words := []uint64{0x0123456789abcdef, 0xfedcba9876543210}
	for i, want := range []uint8{0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01, 0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe} {
		if got := Byte(words, uint64(i)); got != want {
			t.Errorf("byte %d: %#x, want %#x", i, got, want)
		}
	}
	for i, want := range []uint16{0xcdef, 0x89ab, 0x4567, 0x0123, 0x3210, 0x7654, 0xba98, 0xfedc} {
		if got := Word16(words, uint64(i)); got != want {
			t.Errorf("half word %d: %#x, want %#x", i, got, want)
		}
	}
}

// TestOnesIn compares the counts of bits in ranges, and the tests for zero bits, with loops over single bits.
func TestOnesIn(t *testing.T) {
	words := []uint64{0x8000_0000_0000_0001, 0, 0x10, 0}
	for from := range uint64(64*len(words) + 1) {
		want := uint64(0)
		for to := from; to <= uint64(64*len(words)); to++ {
			if got := OnesIn(words, from, to); got != want {
				t.Fatalf("[%d, %d): %d bits, want %d", from, to, got, want)
			}
			if to < uint64(64*len(words)) {
				want += words[to/64] >> (to % 64) & 1
			}
		}
		if zero := ZeroFrom(words, from); zero != (want == 0) {
			t.Fatalf("from bit %d on: zero is %t with %d set bits", from, zero, want)
		}
	}
}

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

// TestOnesInLong compares OnesIn with a sum of bits in longer arrays than TestOnesIn.
func TestOnesInLong(t *testing.T) {
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
		if got := OnesIn(words, from, from+n); got != want {
			t.Fatalf("OnesIn(%d, %d) = %d, want %d", from, from+n, got, want)
		}
	}
}
