package kernel

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/probe"
)

// layouts calls f for every number of probes per key (0: the split layout), with a function that returns the bits of a
// key in its block.
func layouts(f func(k, blockWords int, answerer func(words []uint64) Blocks, bitsOf func(lo uint64) []uint64)) {
	f(0, 4, func(words []uint64) Blocks { return NewSplit(words) }, func(lo uint64) (at []uint64) {
		for i, s := range SplitSalts {
			at = append(at, uint64(i)*32+uint64(uint32(lo)*s>>27))
		}
		return at
	})
	for k := 1; k <= 32; k++ {
		f(k, 8, func(words []uint64) Blocks { return NewLine(words, k) }, func(lo uint64) (at []uint64) {
			for i := range k {
				x := lo
				if i >= LineProbes {
					x = probe.Remix(lo, uint64(i/LineProbes))
				}
				x = bits.RotateLeft64(x, 9*(i%LineProbes))
				at = append(at, x>>61*64+x&63)
			}
			return at
		})
	}
}

// bytesOf returns the words as bytes of a file, at an address that is off bytes above a multiple of 8.
func bytesOf(words []uint64, off int) []byte {
	b := make([]byte, off, off+8*len(words))
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b[off:]
}

// edgeHash returns a hash whose halves are often extreme.
func edgeHash(r *rand.Rand) filter.Hash {
	half := func() uint64 {
		switch r.IntN(8) {
		case 0:
			return 0
		case 1:
			return 1<<64 - 1
		case 2:
			return 1 << r.IntN(64)
		case 3:
			return 1<<r.IntN(64) - 1
		}
		return r.Uint64()
	}
	return filter.Hash{Hi: half(), Lo: half()}
}

// TestBlocksBits compares both forms with the definition: a key is present if only its bits are set, and absent if only
// one of its bits is clear, for any content of the other blocks. The words begin at every position in a cache line.
func TestBlocksBits(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	layouts(func(k, blockWords int, answerer func([]uint64) Blocks, bitsOf func(uint64) []uint64) {
		for i := range 300 {
			n := 1 + i%5
			array, err := bitvec.Alloc(uint64(n*blockWords + 8))
			if err != nil {
				t.Fatal(err)
			}
			words := array[i%8:][:n*blockWords]
			b := answerer(words)
			h := edgeHash(r)
			at, _ := bits.Mul64(h.Hi, uint64(n))
			block := words[int(at)*blockWords:][:blockWords]
			check := func(want bool) {
				t.Helper()
				if vector, plain := b.Has(h.Hi, h.Lo), b.hasGo(h.Hi, h.Lo); vector != want || plain != want {
					t.Fatalf("k=%d, %d blocks, %x: %v, in Go %v, want %v", k, n, h, vector, plain, want)
				}
				from := bytesOf(block, i%9)
				if vector, plain := b.HasIn(from, h.Lo), b.hasInGo(from, h.Lo); vector != want || plain != want {
					t.Fatalf("k=%d, %x: from bytes %v, in Go %v, want %v", k, h, vector, plain, want)
				}
			}
			check(false)
			for _, p := range bitsOf(h.Lo) {
				block[p/64] |= 1 << (p % 64)
			}
			check(true)
			for _, p := range bitsOf(h.Lo) {
				for j := range words {
					words[j] = 1<<64 - 1
				}
				block[p/64] &^= 1 << (p % 64)
				check(false)
			}
		}
	})
}

// TestBlocksHas compares the vector form, the plain form and the code for many keys on random words, which are as full
// as in a filter or fuller.
func TestBlocksHas(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	layouts(func(k, blockWords int, answerer func([]uint64) Blocks, _ func(uint64) []uint64) {
		words := make([]uint64, 50*blockWords)
		for i := range words {
			words[i] = r.Uint64() | r.Uint64() | r.Uint64()
			if k > 0 && i%2 == 0 {
				words[i] |= r.Uint64() | r.Uint64()
			}
		}
		b := answerer(words)
		for _, n := range []int{0, 1, 2, 31, 32, 33, 34, 63, 64, 65, 1000, 1055, 1056, 1057, 3000} {
			hs, got := make([]filter.Hash, n), make([]bool, n+1)
			for i := range hs {
				hs[i] = edgeHash(r)
			}
			got[n] = true
			many := b.HasMany(got[:n], hs)
			if want := Vector && k <= LineProbes; many != want {
				t.Fatalf("k=%d: HasMany returned %v", k, many)
			}
			apart, at := make([]bool, n+1), make([]unsafe.Pointer, n)
			for i, h := range hs {
				block, _ := bits.Mul64(h.Hi, 50)
				at[i] = unsafe.Pointer(&words[int(block)*blockWords])
			}
			apart[n] = true
			if b.HasAt(apart[:n], hs, at) != many {
				t.Fatalf("k=%d: HasAt returned %v", k, !many)
			}
			for i, h := range hs {
				want := b.hasGo(h.Hi, h.Lo)
				if b.Has(h.Hi, h.Lo) != want || many && (got[i] != want || apart[i] != want) {
					t.Fatalf("k=%d, key %d of %d, %x: want %v", k, i, n, h, want)
				}
			}
			if !got[n] || !apart[n] {
				t.Fatalf("k=%d: wrote behind %d answers", k, n)
			}
		}
	})
}

// TestBlocksWithoutVector tests the call from the assembly into Go that a processor without AVX2 makes, on a stack that
// must grow in the call.
func TestBlocksWithoutVector(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	layouts(func(k, blockWords int, answerer func([]uint64) Blocks, _ func(uint64) []uint64) {
		words := make([]uint64, 20*blockWords)
		for i := range words {
			words[i] = r.Uint64() | r.Uint64() | r.Uint64()
		}
		b := answerer(words)
		b.how = byGo
		done := make(chan bool)
		for range 20 {
			h := edgeHash(r)
			go func() { done <- deep(50, func() bool { return b.Has(h.Hi, h.Lo) }) }()
			if got, want := <-done, b.hasGo(h.Hi, h.Lo); got != want {
				t.Fatalf("k=%d, %x: %v, want %v", k, h, got, want)
			}
		}
		if b.HasMany(make([]bool, 1), make([]filter.Hash, 1)) {
			t.Fatal("HasMany has code for nothing")
		}
		if b.HasAt(make([]bool, 1), make([]filter.Hash, 1), make([]unsafe.Pointer, 1)) {
			t.Fatal("HasAt has code for nothing")
		}
	})
}

// deep calls f in each of frames nested frames, so that the stack has to grow in one of the calls.
//
//go:noinline
func deep(frames int, f func() bool) bool {
	got := f()
	if frames > 0 && deep(frames-1, f) != got {
		panic("answers differ")
	}
	return got
}

func BenchmarkBlocks(b *testing.B) {
	layouts(func(k, blockWords int, answerer func([]uint64) Blocks, _ func(uint64) []uint64) {
		if k != 0 && k != 7 && k != 10 {
			return
		}
		blocks := answerer(make([]uint64, 1000*blockWords))
		x := uint64(1)
		b.Run(map[int]string{0: "split", 7: "line7", 10: "line10"}[k], func(b *testing.B) {
			for b.Loop() {
				x += 0x9E3779B97F4A7C15
				if blocks.Has(x, x) {
					x++
				}
			}
		})
		b.Run(map[int]string{0: "split-go", 7: "line7-go", 10: "line10-go"}[k], func(b *testing.B) {
			for b.Loop() {
				x += 0x9E3779B97F4A7C15
				if blocks.hasGo(x, x) {
					x++
				}
			}
		})
	})
}

// TestBlocksAddMany compares the code that adds many keys with the definition of their bits.
func TestBlocksAddMany(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	layouts(func(k, blockWords int, answerer func([]uint64) Blocks, bitsOf func(uint64) []uint64) {
		const blocks = 50
		for _, n := range []int{0, 1, 2, 31, 32, 33, 34, 63, 64, 65, 1000, 1055, 1056, 1057, 3000} {
			words, want := make([]uint64, blocks*blockWords), make([]uint64, blocks*blockWords)
			hs := make([]filter.Hash, n)
			for i := range hs {
				hs[i] = edgeHash(r)
				at, _ := bits.Mul64(hs[i].Hi, blocks)
				for _, p := range bitsOf(hs[i].Lo) {
					want[int(at)*blockWords+int(p/64)] |= 1 << (p % 64)
				}
			}
			b := answerer(words)
			added := b.AddMany(hs)
			if added != (Vector && k <= LineProbes) {
				t.Fatalf("k=%d: AddMany returned %v", k, added)
			}
			if added && !slices.Equal(words, want) {
				t.Fatalf("k=%d, %d keys: other bits are set", k, n)
			}
		}
	})
}
