package ptc

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/bloomery/bloomery/internal/family/twochoice"
)

// TestLaw enumerates all positions of three keys in a tiny filter and compares the law of the ones. Two positions of a
// group coincide in a quarter of the cases.
func TestLaw(t *testing.T) {
	x := choice{bits: 4. / 3, c: 2, k: 2}
	const m, keys = 4, 3
	law := map[int]float64{}
	var add func(bits uint, keys int, p float64)
	add = func(bits uint, keys int, p float64) {
		if keys == 0 {
			ones := 0
			for ; bits > 0; bits &= bits - 1 {
				ones++
			}
			law[ones] += p
			return
		}
		for i := range m * m * m * m {
			group := [2]uint{1<<(i%m) | 1<<(i/m%m), 1<<(i/m/m%m) | 1<<(i/m/m/m)}
			fewest, best := m+1, uint(0)
			for _, g := range group {
				n := 0
				for left := g &^ bits; left > 0; left &= left - 1 {
					n++
				}
				if n < fewest {
					fewest, best = n, g
				}
			}
			add(bits|best, keys-1, p/(m*m*m*m))
		}
	}
	add(0, keys, 1)

	l := newLaw(x, keys)
	for range keys {
		l.add()
	}
	sum := 0.0
	for i, p := range l.ones {
		sum += p
		if want := law[l.least+i]; math.Abs(p-want) > 1e-12 {
			t.Errorf("Pr[X = %d] is %.6f, want %.6f", l.least+i, p, want)
		}
	}
	if l.m != m || math.Abs(sum-1) > 1e-12 {
		t.Errorf("%d bits, probabilities sum to %g", l.m, sum)
	}
}

// TestSimulate compares the mean and the spread of simulations with the exact law, and requires that the bounds hold.
func TestSimulate(t *testing.T) {
	const n, trials = 500, 400
	x := choice{16, 3, 13, 1}
	l := newLaw(x, n)
	for range n {
		l.add()
	}
	mean, sigma := l.moments(func(x float64) float64 { return x })
	ones := make([]float64, trials)
	for i := range ones {
		ones[i] = float64(x.simulate(rand.New(rand.NewPCG(3, uint64(i))), n, 1))
	}
	if m, s := stat.MeanStdDev(ones, nil); math.Abs(m-mean) > 4*sigma/math.Sqrt(trials) || math.Abs(s/sigma-1) > 0.15 {
		t.Errorf("%.1f ± %.2f ones, by the law %.1f ± %.2f", m, s, mean, sigma)
	}
	for far := 1.0; far < 20*sigma; far++ {
		p, theorem, refined := l.tail(mean, far), x.theorem32(far, n), x.refined(far, n, l.largestVariance())
		if p > theorem || p > refined {
			t.Errorf("%g and farther: %g, bounds %g and %g", far, p, theorem, refined)
		}
	}
}

// TestClosedForm bounds the errors that the report states: of one choice, where the form is exact, and of a few.
func TestClosedForm(t *testing.T) {
	for c, want := range map[int]float64{1: 0, 2: 1 / math.Sqrt(math.Pi), 3: 1.5 / math.Sqrt(math.Pi), 16: 1.76599} {
		if got := expectedMaximum(c); math.Abs(got-want) > 1e-4 {
			t.Errorf("a_%d is %.5f, want %.5f", c, got, want)
		}
	}
	for _, bits := range []float64{8, 13, 32, 64} {
		for c, most := range map[int]float64{1: 1e-4, 2: 0.006, 3: 0.012, 4: 0.026} {
			x := bestOnline(bits, c)
			if got := x.rate(x.closedForm())/x.rate(twochoice.Fill(bits, x.k, c)) - 1; math.Abs(got) > most {
				t.Errorf("%s: the rate is wrong by %.2g", x, got)
			}
		}
	}
}

// TestTheorem31 compares the exact law of the greedy choice with strategies that choose a group at random for some of
// the keys: after every key the greedy choice must be the least likely to have set w bits or more, for all w.
func TestTheorem31(t *testing.T) {
	const n = 60
	greedy := newLaw(choice{8, 2, 7, 1}, n)
	for name, random := range map[string]func(key int) bool{
		"always": func(int) bool { return true }, "first half": func(key int) bool { return key < n/2 },
		"second half": func(key int) bool { return key >= n/2 }, "every other": func(key int) bool { return key%2 == 0 },
	} {
		greedy.least, greedy.ones = 0, []float64{1}
		// A group at random adds as many bits as the only group of a filter with one choice.
		single, mixed := newLaw(choice{8, 1, 7, 1}, n), newLaw(choice{8, 2, 7, 1}, n)
		for key := range n {
			greedy.add()
			if single.least, single.ones = mixed.least, mixed.ones; random(key) {
				single.add()
				mixed.least, mixed.ones = single.least, single.ones
			} else {
				mixed.add()
			}
			for w := range greedy.m {
				atLeast := func(x float64) float64 {
					if x >= float64(w) {
						return 1
					}
					return 0
				}
				if g, o := greedy.mean(atLeast), mixed.mean(atLeast); g > o+1e-12 {
					t.Fatalf("random %s, key %d: Pr[X >= %d] is %g, greedy %g", name, key, w, o, g)
				}
			}
		}
	}
}

// TestOptimum finds the vertex cover of a path and of a cycle, and compares a search with all choices.
func TestOptimum(t *testing.T) {
	cover := choice{bits: 1, c: 2, k: 1}
	for want, edges := range map[int][]uint32{2: {0, 1, 1, 2, 2, 3, 3, 4}, 3: {0, 1, 1, 2, 2, 3, 3, 4, 4, 0}} {
		x := cover
		x.bits = 5 / float64(len(edges)/2)
		if got := x.optimum(edges, 6); got != want {
			t.Errorf("%v: %d vertices cover it, want %d", edges, got, want)
		}
	}
	r := rand.New(rand.NewPCG(5, 6))
	x := choice{8, 2, 7, 15}
	for range 50 {
		all := x.draw(r, 10)
		best, searched := x.optimum(all, 71), x.search(r, all, x.rounds)
		if best > searched || best != x.optimum(all, searched) {
			t.Errorf("optimum %d, %d within %d", best, x.optimum(all, searched), searched)
		}
	}
}
