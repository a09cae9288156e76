package rankindexed

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
	"github.com/bloomery/bloomery/internal/stat"
)

// TestSearch compares the search for a geometry with a plain search. The geometries and errors must be the same.
func TestSearch(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 1))
	pick := func(of ...float64) float64 { return of[rng.IntN(len(of))] }
	trials := 10
	switch {
	case filtertest.Full():
		trials = 20
	case testing.Short():
		trials = 5
	}
	for range trials {
		form := Geometry{Capacity: uint64(math.Exp(rng.Float64() * 30)), Counting: rng.IntN(4) == 0}
		if !form.Counting {
			form.ValueBits = int(pick(0, 0, 1, 8, 32))
		}
		form.Growth = int(pick(0, 0, 0, 1, 5))
		o := order{form: form, overflow: pick(1e-15, 1e-10, 1e-10, 0.1), words: lines, index: lineBits}
		o.lambda = longChain
		switch rng.IntN(4) {
		case 0:
			o.words, o.lambda, o.extended = fastLines, fastChain, fastExtended
		case 1:
			o.words, o.index = []int{8}, 64*512
		}
		name := fmt.Sprintf("seed %d: %+v", seed, o)
		rated := o
		rated.fpr = math.Exp(-rng.Float64() * 20)
		got, ok := rated.search(math.Inf(1))
		if want, wantOK := rated.plainSearch(); got != want || ok != wantOK {
			t.Errorf("%s, rate %g: %+v, %t; want %+v, %t", name, rated.fpr, got, ok, want, wantOK)
		}
		size := family.Sizing{BitsPerKey: math.Exp2(rng.Float64() * 7)}
		got, err := o.lowestRateWithin(size, form.Capacity)
		want, wantErr := o.plainWithin(size, form.Capacity)
		if got != want || fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Errorf("%s, %v: %+v, %v; want %+v, %v", name, size, got, err, want, wantErr)
		}
	}
}

// plainSearch is search without limits and without bounds on the extensions.
func (o order) plainSearch() (Geometry, bool) {
	s := plain{searched{order: o, bits: math.Inf(1)}}
	most := o.lambda
	if most == 0 {
		most = 3
	}
	for r := 1; r+o.form.Growth <= MaxRemainder; r++ {
		lambda := -math.Log1p(-o.fpr) * math.Ldexp(1, r)
		if lambda > most {
			break
		}
		if lambda > most/16 || r+o.form.Growth == MaxRemainder {
			for _, w := range o.words {
				s.buckets(r, w, lambda)
			}
		}
	}
	return s.best, !math.IsInf(s.bits, 1)
}

// plain is a search that tries all numbers of cells that could be optimal, and adds up all tails one by one.
type plain struct{ searched }

// buckets tries all numbers of cells of a bucket of one size.
func (s *plain) buckets(r, words int, lambda float64) {
	n := float64(s.form.Capacity)
	for cells := 1; ; cells++ {
		g := s.form
		g.Remainder, g.Cells[0] = r, cells
		left := 64*words - cells*(1+g.cellBits()) // bits for chains and the pointer
		if g.cellBits() > 63 || left < 1 {
			return
		}
		if left+cells > s.index {
			continue
		}
		for { // a larger pool needs a longer pointer, which leaves fewer chains, which needs more buckets
			if g.Chains = left - g.pointerBits(1); g.Chains < 1 {
				return
			}
			mean := lambda * float64(g.Chains)
			g.Buckets = uint64(math.Ceil(n / mean))
			load := n / float64(g.Buckets)
			if float64(cells) > load+6*math.Sqrt(load)+6 {
				return
			}
			if float64(cells) < load-1.2*math.Sqrt(load)-1 || float64(g.Buckets)*float64(64*words) >= s.bits {
				break
			}
			if s.extended > 0 && g.Buckets > 1 && stat.PoissonTail(load, cells) > s.extended {
				break
			}
			had := g.pointerBits(1)
			if g.Pools[1] = s.poolSize(g, cells); g.pointerBits(1) <= had {
				g.Chains = left - g.pointerBits(1)
				s.tryExtensions(g, s.deepest(g))
				break
			}
		}
	}
}

// deepest returns the number of cells that no bucket exceeds, except with the probability 0.1·P_o.
func (s *plain) deepest(g Geometry) int {
	b := float64(g.Buckets) * math.Ldexp(1, g.Growth)
	n := g.Capacity << g.Growth
	cells := g.Cells[0]
	for uint64(cells) < n && b*stat.UpperTail(uint64(cells)+1, n, 1/b) > s.overflow*0.1 {
		cells++
	}
	return cells
}

// plainWithin returns the geometry with the lowest rate among the geometries of at most the given size. keys is 0 if
// the number is unknown.
func (o order) plainWithin(size family.Sizing, keys uint64) (Geometry, error) {
	bits, err := size.Bits(o.form.Capacity)
	if err != nil {
		return Geometry{}, err
	}
	bits = max(bits, leastBits)
	room := func(bits uint64) bool {
		g, ok := o.plainSearch()
		return ok && g.Bits() <= bits
	}
	var best Geometry
	// -log2 of the rate is below the bits per key, by about four at most; in filters of few keys, the difference is
	// larger.
	perKey := float64(bits) / float64(o.form.Capacity)
	low, high := -min(perKey, MaxRemainder), min(0, 6+float64(o.form.payloadBits()+o.form.Growth)-perKey)
	if o.fpr = math.Exp2(high); !room(bits) {
		high = 0
	}
	lowest := true // whether no filter of any size has a lower rate
	for range 16 {
		middle := (low + high) / 2
		o.fpr = math.Exp2(middle)
		g, ok := o.plainSearch()
		if ok && g.Bits() <= bits {
			best, high = g, middle
		} else {
			low, lowest = middle, !ok
		}
	}
	if best.Buckets == 0 {
		reason := fmt.Sprintf("too few for %d keys in this form", o.form.Capacity)
		for _, o.fpr = range []float64{mostFPR, 0.5, 0.25} { // not every form has a filter at the highest rate
			if g, ok := o.plainSearch(); ok {
				reason = fmt.Sprintf("%s: a rate of %g needs %d", reason, o.fpr, g.Bits()/8)
				break
			}
		}
		return Geometry{}, &filter.ConfigError{Field: "bytes", Value: bits / 8, Reason: reason}
	}
	if lowest || 10*(best.Bits()/9+leastBits) < bits {
		return best, size.AtMost(best.Bits(), keys, Family)
	}
	return best, nil
}

// TestLargestBucket checks that filters with the largest buckets exist for any number of keys, and for many keys are
// smaller than the others.
func TestLargestBucket(t *testing.T) {
	for _, fpr := range []float64{0.1, 0.01, 1e-6} {
		for n := uint64(1); n < 200_000; n += n/4 + 1 {
			c := Config{Keys: n, Size: family.Sizing{FPR: fpr}}
			smallest, err := c.Plan()
			if err != nil {
				t.Fatal(err)
			}
			c.Bucket = maxBucket
			if g, err := c.Plan(); err != nil || n > 50_000 && g.Bits() > smallest.Bits()*97/100 {
				t.Errorf("%d keys at %g: %d bits, by default %d, %v", n, fpr, g.Bits(), smallest.Bits(), err)
			}
		}
	}
}
