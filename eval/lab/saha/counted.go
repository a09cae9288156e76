package saha

import (
	"context"
	"fmt"
	"math"

	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/figure"
)

// counting counts the functions of the universal families for small primes p, where the slides count them by hand.
var counting = experiment.Experiment{
	Name: "saha-counted", Source: experiment.SahaSlides + ", number of strongly 2-universal functions",
	Varies: "degree, p, places", Run: runCounting, Seconds: 1,
}

// polynomials is a family of functions (a·x^degree + ... ) mod p mod places with a from leastA, all other coefficients
// from 0, to p-1. It is meant to be strongly universal for degree+1 keys.
type polynomials struct{ p, places, degree, leastA int }

// functions returns the number of functions.
func (f polynomials) functions() int { return (f.p - f.leastA) * power(f.p, f.degree) }

// solutions returns how many functions map the keys to each combination of places, in the order of the combinations.
func (f polynomials) solutions(keys []int) []int {
	hits := make([]int, power(f.places, len(keys)))
	for i := f.leastA * power(f.p, f.degree); i < power(f.p, f.degree+1); i++ { // the digits of i are the coefficients
		combination := 0
		for _, x := range keys {
			y := 0
			for d, rest := f.degree, i; d >= 0; d-- {
				high := power(f.p, d)
				y = (y*x + rest/high) % f.p
				rest %= high
			}
			combination = combination*f.places + y%f.places
		}
		hits[combination]++
	}
	return hits
}

// extremes returns the fewest and the most solutions over all tuples of distinct keys that begin with first, and all
// combinations of places, and the number of both together.
func (f polynomials) extremes(first ...int) (fewest, most, all int) {
	fewest = math.MaxInt
	var visit func(keys []int)
	visit = func(keys []int) {
		if len(keys) <= f.degree {
			for x := range f.p {
				distinct := true
				for _, other := range keys {
					distinct = distinct && x != other
				}
				if distinct {
					visit(append(keys[:len(keys):len(keys)], x))
				}
			}
			return
		}
		for _, n := range f.solutions(keys) {
			fewest, most, all = min(fewest, n), max(most, n), all+1
		}
	}
	visit(first)
	return fewest, most, all
}

func power(x, n int) int {
	y := 1
	for range n {
		y *= x
	}
	return y
}

func runCounting(_ context.Context, c experiment.Config) (figure.Result, error) {
	result := c.Begin(1)
	w := c.Work(10) // families
	const p = 7
	for degree := 1; degree <= 2; degree++ {
		f := polynomials{p: p, places: p, degree: degree}
		fewest, most, all := f.extremes()
		w.Step(1)
		name := fmt.Sprintf("%d-wise, p = %d", degree+1, p)
		result.Add(
			figure.Exact(name+", functions", float64(f.functions())).Against(float64(power(p, degree+1)), 0).
				Noted("p^%d: one for each choice of the coefficients", degree+1),
			figure.Exact(name+", fewest functions that map distinct keys to given places", float64(fewest)).Against(1, 0).
				Noted("of %d choices of keys and places", all),
			figure.Exact(name+", most functions that map distinct keys to given places", float64(most)).Against(1, 0).
				Noted("so the probability is exactly p^-%d", degree+1),
		)
	}

	// With mod n and a > 0 the slides say "almost". The map x -> ux+v turns all pairs of keys into 0 and 1, and all
	// triples into triples that begin with 0 and 1.
	const places = 4
	plot := figure.Plot{
		Name: "saha-counted", Title: fmt.Sprintf("Polynomials mod p, then mod %d: almost universal", places),
		X: "p", Y: "probability / ideal probability", LogX: true,
	}
	primes := []int{7, 13, 31, 61, 127}
	for degree := 1; degree <= 2; degree++ {
		low := figure.Curve{Name: fmt.Sprintf("%d-wise, rarest places", degree+1)}
		high := figure.Curve{Name: fmt.Sprintf("%d-wise, most likely places", degree+1)}
		for _, p := range primes[:len(primes)-2*(degree-1)] { // parabolas are too many at the largest
			f := polynomials{p: p, places: places, degree: degree, leastA: 1}
			fewest, most, _ := f.extremes(0, 1)
			w.Step(1)
			ideal := float64(f.functions()) / float64(power(places, degree+1))
			low.AddPoint(float64(p), float64(fewest)/ideal)
			high.AddPoint(float64(p), float64(most)/ideal)
			result.Add(figure.Exact(fmt.Sprintf("%d-wise, p = %d, mod %d: most likely places", degree+1, p, places),
				float64(most)/ideal).Noted("rarest %.4f, in units of %d^-%d", float64(fewest)/ideal, places, degree+1))
		}
		plot.Curves = append(plot.Curves, high, low)
	}
	plot.Curves = append(plot.Curves, figure.Level("strongly universal", 7, 1))
	result.Plots = []figure.Plot{plot}
	result.Notes = []string{
		"The last slide: of the p² functions (ax+b) mod p, one has h(x) = r and h(y) = s, since ax+b = r and ay+b = s " +
			"have the one solution a = (r-s)/(x-y) if p is prime. Here all functions are counted, for every pair of keys " +
			"and of places. Three keys determine a parabola in the same way.",
		"A filter needs mod n afterwards, and the slides exclude a = 0: then it holds almost, since p is no multiple of " +
			"n. The deviation falls with n/p; at p = 2^61-1, as in saha-universal, it cannot be measured.",
	}
	return result, nil
}
