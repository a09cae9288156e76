package kernel

import (
	"math/rand/v2"
	"testing"

	"github.com/bloomery/bloomery/filter"
)

// randomRibbon returns a layer of random bits with about the given number of starts, a multiple of 64.
func randomRibbon(rnd *rand.Rand, width, starts, prints, skip uint64, share float64) *Ribbon {
	blocks := (starts + width*((starts+1<<RibbonSegment-1)>>RibbonSegment)) / 64
	r := &Ribbon{
		Bucket: rnd.Uint64N(100), Low: rnd.Uint64(), Turn: rnd.Uint64N(64), Factor: rnd.Uint64() | 1,
		Starts: starts, Shift: 7, Within: 127, Limits: [4]uint64{0, 17, 38, 128},
		Columns: prints + skip, Wide: uint64(share * float64(blocks)), Prints: prints,
		C: rnd.Uint64() | 1, D: rnd.Uint64() | 1, F: rnd.Uint64() | 1, Width: width,
	}
	words := make([]uint64, blocks*r.Columns+r.Wide)
	for i := range words {
		words[i] = rnd.Uint64()
	}
	r.Words, r.Classes = words[skip:], make([]uint64, (r.Bucket+starts/128)/32+1)
	for i := range r.Classes {
		r.Classes[i] = rnd.Uint64() & rnd.Uint64()
	}
	r.Rest = func(hi, lo uint64) bool { return (hi^lo)&1 == 0 }
	r.Ready()
	return r
}

// forms returns the values of how for the code that this machine can run.
func forms(r *Ribbon) []uint64 {
	r.Ready()
	if hasRibbon512 {
		return []uint64{byGo, r.how + byBroad, r.how}
	}
	return []uint64{byGo, r.how} // both are the same without assembly
}

// TestRibbon compares answers of the vector code with the answers of the code in Go, in layers of all forms.
// In some layers fingerprints are long, so that few keys are present. In others they have one bit.
func TestRibbon(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 19))
	for _, width := range []uint64{64, 128} {
		for _, prints := range []uint64{0, 1, 2, 3, 4, 7, 8, 9, 16, 17, 32, 63} {
			for _, share := range []float64{0, 0.4} {
				for _, starts := range []uint64{64, 4096, 1<<RibbonSegment + 640} {
					r := randomRibbon(rnd, width, starts, prints, rnd.Uint64N(3), share)
					hs := make([]filter.Hash, 1+rnd.IntN(2000))
					for i := range hs {
						hs[i] = filter.Hash{Hi: rnd.Uint64(), Lo: rnd.Uint64()}
					}
					absent, present, bumped := 0, 0, 0
					for _, h := range hs {
						switch start, other := r.startOf(h.Hi); {
						case other:
							bumped++
						case r.matches(start, h.Hi, h.Lo):
							present++
						default:
							absent++
						}
					}
					few := prints > 0 && absent == 0 || bumped == 0 || prints < 4 && present == 0
					if starts > 64 && len(hs) > 200 && few {
						t.Errorf("width %d, %d columns: %d absent, %d present, %d bumped",
							width, prints, absent, present, bumped)
					}
					if starts > 64 {
						r.Next = randomRibbon(rnd, 64, 256, prints, 0, share)
						r.Next.Rest = func(hi, lo uint64) bool { return (hi^lo)&1 != 0 }
					}
					testRibbonForms(t, r, hs)
				}
			}
		}
	}
}

// testRibbonForms compares all forms of the code for a layer and the next layer with the code in Go.
func testRibbonForms(t *testing.T, r *Ribbon, hs []filter.Hash) {
	t.Helper()
	for _, r.how = range forms(r) {
		for i, h := range hs {
			if r.Next != nil && i%100 == 0 {
				r.Next.how = forms(r.Next)[i/100%len(forms(r.Next))]
			}
			if got, want := r.Has(h.Hi, h.Lo), hasInGo(r, h); got != want {
				t.Fatalf("form %d, width %d, %d columns, %d starts, %d wide: %t, want %t",
					r.how, r.Width, r.Prints, r.Starts, r.Wide, got, want)
			}
			bits, n := r.Get(h.Hi, h.Lo)
			if want, wantN := r.getGo(h.Hi, h.Lo); n != wantN || bits != want && n != RibbonBumped {
				t.Fatalf("form %d, width %d, %d columns, %d wide: columns %x of %d, want %x of %d",
					r.how, r.Width, r.Prints, r.Wide, bits, n, want, wantN)
			}
		}
		for _, cold := range []bool{false, true} {
			testRibbonMany(t, r, hs, cold)
		}
	}
}

// hasInGo is Has with the code in Go in all layers.
func hasInGo(r *Ribbon, h filter.Hash) bool {
	for ; ; r = r.Next {
		start, bumped := r.startOf(h.Hi)
		switch {
		case !bumped:
			return r.matches(start, h.Hi, h.Lo)
		case r.Next == nil:
			return r.Rest(h.Hi, h.Lo)
		}
	}
}

func testRibbonMany(t *testing.T, r *Ribbon, hs []filter.Hash, cold bool) {
	t.Helper()
	dst, bumped := make([]bool, len(hs)), make([]uint16, len(hs))
	bumped = r.HasMany(dst, hs, bumped, cold)
	for i, h := range hs {
		switch _, other := r.startOf(h.Hi); {
		case other:
			if len(bumped) == 0 || int(bumped[0]) != i {
				t.Fatalf("key %d of %d is bumped, and is not in the list", i, len(hs))
			}
			bumped = bumped[1:]
		case dst[i] != hasInGo(r, h):
			t.Fatalf("key %d of %d: %t", i, len(hs), dst[i])
		}
	}
	if len(bumped) > 0 {
		t.Fatalf("%d keys more are in the list of bumped ones", len(bumped))
	}
}
