package main

import "slices"

// spread is the median of some measurements and the range of the middle half of them: the quartiles, between neighbours by
// proportion. Of one measurement they are all the same; of none, N is 0.
type spread struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`  // a quarter lie below
	High   float64 `json:"high"` // a quarter lie above
	N      int     `json:"n"`
}

func spreadOf(v []float64) spread {
	if len(v) == 0 {
		return spread{}
	}
	return spread{Median: quantile(v, 0.5), Low: quantile(v, 0.25), High: quantile(v, 0.75), N: len(v)}
}

// quantile returns the value below which a share q, in [0, 1], of the values lie.
func quantile(v []float64, q float64) float64 {
	s := slices.Sorted(slices.Values(v))
	at := q * float64(len(s)-1)
	i := min(int(at), len(s)-1)
	if i+1 == len(s) {
		return s[i]
	}
	return s[i] + (at-float64(i))*(s[i+1]-s[i])
}

// ratios returns a[i]/b[i] for the turns that both have.
func ratios(a, b []float64) (r []float64) {
	for i := range min(len(a), len(b)) {
		r = append(r, a[i]/b[i])
	}
	return r
}

// verdict says what a ratio of times or sizes, ours over theirs, tells.
type verdict string

const (
	win  verdict = "win"
	loss verdict = "loss"
	even verdict = "even"
	none verdict = ""
)

// closeTo is how near to 1 a ratio counts as even: two builds of one program differ as much by where its loops come to lie.
const closeTo = 0.03

// verdict calls it a win if the median is below 1 by more than closeTo and the middle half lies below 1, a loss the other way
// round.
func (s spread) verdict() verdict {
	switch {
	case s.N == 0:
		return none
	case s.Median < 1-closeTo && s.High < 1:
		return win
	case s.Median > 1+closeTo && s.Low > 1:
		return loss
	}
	return even
}
