package rankindexed

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bloomery/bloomery/filter"
)

// TestCopy copies tables bucket by bucket. Between two buckets, random operations fill and empty other buckets, so that
// extensions are freed and allocated again. Each bucket of the copy must have the content of the time when it was
// copied, and the copy must be valid to store, read and use.
func TestCopy(t *testing.T) {
	taken := 0
	for _, g := range cellShapes {
		for seed := range uint64(20) {
			what := fmt.Sprintf("%+v seed %d", g, seed)
			rng := rand.New(rand.NewPCG(seed, 2))
			f := cellsOf(t, g)
			operate := func(n int) {
				for range n {
					h := filter.Hash{Hi: rng.Uint64(), Lo: rng.Uint64()}
					if _, err := f.Put(h, rng.Uint64N(1<<g.ValueBits), rng.IntN(2) == 0); err != nil {
						f.Sweep(rng.Uint64N(g.Buckets), rng.Uint64()&(1<<(1<<g.ValueBits)-1))
					}
				}
			}
			operate(2000)
			was := make([][][]uint64, g.Buckets)
			none := g.Buckets
			asked := none // the bucket that is copied by Bucket
			c, err := f.StartCopy(nil, func(b uint64) {
				if was[b] != nil {
					t.Errorf("%s: bucket %d is copied twice", what, b)
				}
				if was[b] = f.dump(b); b != asked {
					taken++
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			for b := range g.Buckets {
				asked = b
				c.Bucket(b)
				asked = none
				operate(300)
			}
			to := c.Finish()
			operate(300)
			for b := range g.Buckets {
				if !slices.EqualFunc(to.dump(b), was[b], slices.Equal) {
					t.Fatalf("%s: bucket %d of the copy is %x, was %x", what, b, to.dump(b), was[b])
				}
			}
			to.check(t, what)
			// The next copy reuses the memory of this one, with arbitrary content.
			for b := range g.Buckets {
				to.Sweep(b, rng.Uint64()&(1<<(1<<g.ValueBits)-1))
			}
			if c, err = f.StartCopy(c, nil); err != nil {
				t.Fatal(err)
			}
			for b := range g.Buckets {
				c.Bucket(b)
			}
			again := c.Finish()
			if &again.table[0] != &to.table[0] {
				t.Errorf("%s: the second copy has other memory", what)
			}
			for b := range g.Buckets {
				if !slices.EqualFunc(again.dump(b), f.dump(b), slices.Equal) {
					t.Fatalf("%s: bucket %d of the second copy is %x, not %x", what, b, again.dump(b), f.dump(b))
				}
			}
			again.check(t, what)
			read, err := DecodeCells(again.Encode())
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			f = read
			operate(300)
			f.check(t, what)
		}
	}
	if taken == 0 {
		t.Error("no bucket took an extension while a copy was made")
	}
}
