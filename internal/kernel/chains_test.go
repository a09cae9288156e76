package kernel

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"github.com/bloomery/bloomery/internal/bitvec"
)

// TestChains compares the assembly with the functions in Go on tables of random bits, in which the index may not match
// the cells and chains may extend beyond them.
func TestChains(t *testing.T) {
	if n := unsafe.Sizeof(Chains{}); bits.UintSize == 64 && n != 32*8 {
		t.Fatalf("Chains has %d bytes; the assembly knows it as 32 words", n)
	}
	r := rand.New(rand.NewPCG(1, 2))
	ends := map[string]int{}
	for range 3000 {
		l := ChainLayout{
			Buckets: 1 + r.Uint64N(5), Chains: 1 + r.Uint64N(300), Cells: 1 + r.Uint64N(250),
			Hi: r.Uint64N(4), Lo: 1 + r.Uint64N(20), Payload: r.Uint64N(33),
		}
		if r.IntN(2) == 0 {
			l.Hi, l.Lo = 0, 1+r.Uint64N(3)
		}
		l.First = l.Chains + l.Cells + r.Uint64N(20)
		l.Stride = (l.First+l.Cells*(l.Hi+l.Lo+l.Payload))/64 + 1
		words := make([]uint64, l.Buckets*l.Stride)
		sparse := r.IntN(3)
		for i := range words {
			words[i] = r.Uint64()
			for range sparse {
				words[i] &= r.Uint64()
			}
		}
		c := NewChains(words, l)
		for range 100 {
			hi, lo := r.Uint64(), r.Uint64()
			got, want := c.Has(hi, lo), c.hasGo(hi, lo)
			type walk struct{ base, remainder, at, n, cell, end uint64 }
			var f, g walk
			f.base, f.remainder, f.at, f.n, f.cell, f.end = c.Follow(hi, lo)
			g.base, g.remainder, g.at, g.n, g.cell, g.end = c.followGo(hi, lo)
			if g.end != ChainCell {
				f.cell = 0
			}
			ends[fmt.Sprint(c.how, got, f.end)]++
			if got, want := c.Used(f.base), c.usedGo(f.base); got != want {
				t.Fatalf("%+v: Used %d, in Go %d", l, got, want)
			}
			if got != want || f != g {
				t.Fatalf("%+v: Has %d, in Go %d; Follow %+v, in Go %+v", l, got, want, f, g)
			}
		}
	}
	for _, how := range []int{byGo, byFour, byEight, byFourFirst} {
		for _, end := range []string{"0 0", "0 1", "1 1", "2 2"} {
			if n := ends[fmt.Sprint(how, " ", end)]; n < 100 {
				t.Errorf("code %d ended with %s %d times only", how, end, n)
			}
		}
	}
}

// TestChainsHow pins when four or eight words are counted at once: not beyond a bucket, and not if the bit after the
// index is in another word.
func TestChainsHow(t *testing.T) {
	if !countsBits {
		t.Skip("this machine does not count bits so")
	}
	for _, x := range []struct{ chains, cells, stride, how uint64 }{
		{200, 55, 8, byFour}, {200, 56, 8, byFourFirst}, {256, 56, 8, byFourFirst}, {257, 56, 8, byEight},
		{200, 55, 3, byGo}, {200, 55, 4, byFour}, {300, 211, 8, byEight}, {300, 212, 9, byGo}, {300, 100, 7, byGo},
	} {
		l := ChainLayout{Chains: x.chains, Cells: x.cells, Stride: x.stride, Lo: 1, First: x.chains + x.cells}
		if c := NewChains(nil, l); c.how != x.how {
			t.Errorf("%+v: code %d", x, c.how)
		}
	}
}

// TestChainsShift compares Open and Close with Insert and Delete, most of the time in buckets of a line.
func TestChainsShift(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	lines := 0
	for range 20_000 {
		l := ChainLayout{
			Buckets: 3, Stride: 8, Lo: 1 + r.Uint64N(40), Payload: r.Uint64N(23),
			Cells: 1 + r.Uint64N(60), Chains: 1 + r.Uint64N(300),
		}
		if r.IntN(4) == 0 {
			l.Stride = 9 + r.Uint64N(5)
		}
		l.First = l.Chains + l.Cells + r.Uint64N(20)
		end := l.First + l.Cells*(l.Lo+l.Payload)
		if end > 64*l.Stride {
			continue
		}
		words := make([]uint64, l.Buckets*l.Stride)
		for i := range words {
			words[i] = r.Uint64()
		}
		base, n, v, width := l.Stride*r.Uint64N(3), r.Uint64N(l.Cells), r.Uint64(), uint(l.Lo+l.Payload)
		v &= 1<<width - 1
		if l.Stride == 8 {
			lines++
		}
		bit, cell := 64*base+l.Chains+n, 64*base+l.First+n*uint64(width)
		at := r.Uint64N(l.Chains + n)
		words[base+at/64] &^= 1 << (at % 64)
		opened, closed := slices.Clone(words), slices.Clone(words)
		opened[base+at/64] |= 1 << (at % 64)
		bitvec.Insert(opened, bit, 64*base+l.Chains+l.Cells, 1, 0)
		bitvec.Insert(opened, cell, 64*base+end, width, v)
		words[base+at/64] |= 1 << (at % 64)
		bitvec.Delete(closed, bit, 64*base+l.Chains+l.Cells, 1)
		bitvec.Delete(closed, cell, 64*base+end, width)
		words[base+at/64] &^= 1 << (at % 64)
		got := slices.Clone(words)
		c := NewChains(got, l)
		if c.Open(base, at, n, v); !slices.Equal(got, opened) {
			t.Fatalf("Open(%d, %d, %d, %x) in %+v: %x, want %x, was %x", base, at, n, v, l, got, opened, words)
		}
		words[base+at/64] |= 1 << (at % 64)
		copy(got, words)
		if c.Close(base, at, n); !slices.Equal(got, closed) {
			t.Fatalf("Close(%d, %d, %d) in %+v: %x, want %x, was %x", base, at, n, l, got, closed, words)
		}
	}
	if lines < 2000 {
		t.Errorf("only %d buckets of a line", lines)
	}
}

// TestRank compares rank4 and rank8 with a sum of bits.
func TestRank(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	words := make([]uint64, 32)
	for range 20_000 {
		for i := range words {
			words[i] = r.Uint64() & r.Uint64()
		}
		count := func(from, n uint64) (sum uint64) {
			for at := from; at < from+n; at++ {
				sum += words[at/64] >> (at % 64) & 1
			}
			return sum
		}
		i := r.Uint64N(20)
		at4, at8 := r.Uint64N(256), r.Uint64N(512)
		if got, want := rank4(words, i, at4), count(64*i, at4); got != want {
			t.Fatalf("rank4(%d, %d) = %d, want %d", i, at4, got, want)
		}
		if got, want := rank8(words, i, at8), count(64*i, at8); got != want {
			t.Fatalf("rank8(%d, %d) = %d, want %d", i, at8, got, want)
		}
	}
}

// TestTorn queries buckets of random bits, in which chains can lead anywhere, while another goroutine writes other
// buckets. Has must always return.
func TestTorn(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 4))
	all := 0
	for range 200 {
		l := ChainLayout{Buckets: 2, Chains: 1 + r.Uint64N(300), Cells: 1 + r.Uint64N(200), Lo: 1 + r.Uint64N(9), Payload: 3}
		l.First = l.Chains + l.Cells
		l.Stride = (l.First+l.Cells*(l.Lo+l.Payload))/64 + 1
		words := make([]uint64, l.Buckets*l.Stride)
		c := NewChains(words, l)
		if !c.Tears() {
			continue
		}
		all++
		seed := r.Uint64()
		var wg sync.WaitGroup
		wg.Go(func() {
			w := rand.New(rand.NewPCG(1, seed))
			for range 200 {
				for i := range words {
					words[i] = w.Uint64() & w.Uint64() >> w.UintN(2)
				}
			}
		})
		ends := [3]int{}
		for range 2000 {
			ends[c.Has(r.Uint64(), r.Uint64())]++
		}
		wg.Wait()
	}
	if all == 0 {
		t.Skip("no assembly on this machine")
	}
}
