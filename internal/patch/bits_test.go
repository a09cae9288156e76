package patch

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestBits writes fields, numbers and codes of all kinds and reads them back.
func TestBits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		w := &bitWriter{}
		var checks []func(r *bitReader) bool
		for range 100 {
			width := uint(r.IntN(65))
			v := r.Uint64() >> (64 - max(width, 1))
			if width == 0 {
				v = 0
			}
			short := v >> r.IntN(64)
			small, most := short%200, short%200+uint64(r.IntN(3))
			k, n := uint(r.IntN(8)), v%maxBound+1
			switch r.IntN(6) {
			case 0:
				w.field(v, width)
				checks = append(checks, func(r *bitReader) bool { return r.field(width) == v })
			case 1:
				w.number(v % maxNumber)
				checks = append(checks, func(r *bitReader) bool { return r.number() == v%maxNumber })
			case 2:
				s := int64(v%maxNumber)/2 - int64(short%maxNumber)/2
				w.signed(s)
				checks = append(checks, func(r *bitReader) bool { return r.signed() == s })
			case 3:
				w.unary(small, most)
				checks = append(checks, func(r *bitReader) bool { return r.unary(most) == small })
			case 4:
				w.below(short%n, n)
				checks = append(checks, func(r *bitReader) bool { return r.below(n) == short%n })
			case 5:
				putRice(w, small, k)
				checks = append(checks, func(r *bitReader) bool { return unrice(r, k) == small })
			}
		}
		in := &bitReader{b: w.finish()}
		for i, ok := range checks {
			if !ok(in) {
				t.Fatalf("value %d differs", i)
			}
		}
		if err := in.checkEnd(); err != nil {
			t.Fatal(err)
		}
		cut := &bitReader{b: w.b[:len(w.b)-1]}
		for _, ok := range checks {
			ok(cut)
		}
		if cut.checkEnd() == nil {
			t.Fatal("a byte less is no error")
		}
		if more := (&bitReader{b: append(w.b, 0)}); !errors.Is(skip(more, in.at).checkEnd(), ErrCorrupt) {
			t.Fatal("a byte more is no error")
		}
	}
}

func skip(r *bitReader, to uint64) *bitReader {
	r.at = to
	return r
}

// TestNumbers checks that numbers that are too large are refused.
func TestNumbers(t *testing.T) {
	for _, b := range [][]byte{
		{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x10},
		{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0},
		{0x80}, {},
	} {
		if r := (&bitReader{b: b}); r.number() != 0 || !errors.Is(r.err, ErrCorrupt) {
			t.Errorf("% x: %v", b, r.err)
		}
	}
	r := &bitReader{b: []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f}}
	if r.number() != maxNumber-1 || r.err != nil {
		t.Errorf("the largest: %v", r.err)
	}
}

// TestList encodes random dense and sparse lists, and compares the length of sparse lists with the logarithm of the
// number of choices.
func TestList(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, bound := range []uint64{1, 2, 3, 10, 64, 1000, 1 << 20, 1 << 40, maxBound} {
		for _, count := range []uint64{0, 1, 2, 3, 10, 64, 900, 1000} {
			if count > bound {
				continue
			}
			bits, rounds := uint64(0), 20
			for range rounds {
				have := map[uint64]bool{}
				for uint64(len(have)) < count {
					have[r.Uint64N(bound)] = true
				}
				var want, got []uint64
				for v := range have {
					want = append(want, v)
				}
				slices.Sort(want)
				w := &bitWriter{}
				l := newList(bound, count)
				for _, v := range want {
					l.putNumber(w, v)
				}
				bits += w.bitLen()
				in := &bitReader{b: w.finish()}
				for l := newList(bound, count); l.left > 0; {
					got = append(got, l.getNumber(in))
				}
				if err := in.checkEnd(); err != nil || !slices.Equal(got, want) {
					t.Fatalf("%d below %d: %v", count, bound, err)
				}
			}
			mean, least := float64(bits)/float64(rounds), choices2(bound, count)
			if 3*count < bound && mean > 1.02*least+0.25*float64(count)+1 {
				t.Errorf("%d below %d: %.1f bits, %.1f would do", count, bound, mean, least)
			}
		}
	}
}

// choices2 returns the logarithm to base 2 of the number of sets of count numbers below bound.
func choices2(bound, count uint64) (bits float64) {
	for i := range count {
		bits += math.Log2(float64(bound-i)) - math.Log2(float64(i+1))
	}
	return bits
}

// TestListAnyBits decodes lists from random bits. Their numbers must ascend and be below the bound.
func TestListAnyBits(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		b := make([]byte, r.IntN(40))
		for i := range b {
			b[i] = byte(r.Uint32() | r.Uint32())
		}
		bound := r.Uint64N(1<<r.IntN(49)) + 1
		count := r.Uint64N(min(bound, 200) + 1)
		in := &bitReader{b: b}
		last := int64(-1)
		for l := newList(bound, count); l.left > 0; {
			v := l.getNumber(in)
			if int64(v) <= last || v >= bound {
				t.Fatalf("%d after %d, bound %d", v, last, bound)
			}
			last = int64(v)
		}
	}
}

// TestFold checks that fold and unfold are inverse and that no number is omitted.
func TestFold(t *testing.T) {
	for center := range uint64(64) {
		seen := map[uint64]bool{}
		for n := uint64(1); n <= 300; n++ {
			z := foldCount(n, center)
			if unfold(z, center) != n || z >= 300 {
				t.Fatalf("center %d: %d is %d is %d", center, n, z, unfold(z, center))
			}
			seen[z] = true
		}
		if len(seen) != 300 {
			t.Errorf("center %d: %d of 300", center, len(seen))
		}
	}
}

// TestRates checks that the conversions between rates and steps are inverse, and that invalid steps give -1.
func TestRates(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 1000 {
		v := math.Pow(10, -20*r.Float64())
		step := stepOf(v)
		if got := rateOf(step); math.Abs(got/v-1) > 0.0006 || stepOf(got) != step {
			t.Fatalf("%v is step %d, %v", v, step, got)
		}
	}
	for step, want := range map[int64]float64{0: 0, stepOf(1): 1, -5: -1, 1 << 40: -1, stepOf(1) - 1: 0.9999} {
		if got := rateOf(step); got != want {
			t.Errorf("step %d: %v, want %v", step, got, want)
		}
	}
}

// TestFreeNumbers compares free numbers with a sorted list.
func TestFreeNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(18, 1))
	for _, n := range []int{0, 1, 2, 3, 64, 100, 1000} {
		kept := make([]bool, n)
		var want []uint64
		for i := range kept {
			if kept[i] = r.IntN(4) == 0; !kept[i] {
				want = append(want, uint64(i))
			}
		}
		for f := freeOf(kept); ; {
			if f.left != uint64(len(want)) {
				t.Fatalf("%d numbers left of %d, want %d", f.left, n, len(want))
			}
			if len(want) == 0 {
				break
			}
			rank := r.IntN(len(want))
			if got := f.numberAt(uint64(rank)); got != want[rank] || f.rankOf(got) != uint64(rank) {
				t.Fatalf("of %d: rank %d is %d of rank %d, want %d", n, rank, got, f.rankOf(got), want[rank])
			}
			f.remove(want[rank])
			want = slices.Delete(want, rank, rank+1)
		}
	}
}
