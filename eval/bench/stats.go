package main

import "slices"

// spread holds the median and the quartiles of N measurements, with linear interpolation. With one measurement all
// three are equal. Without measurements N is 0.
type spread struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`  // first quartile
	High   float64 `json:"high"` // third quartile
	N      int     `json:"n"`
}

func spreadOf(v []float64) spread {
	if len(v) == 0 {
		return spread{}
	}
	return spread{Median: quantile(v, 0.5), Low: quantile(v, 0.25), High: quantile(v, 0.75), N: len(v)}
}

// quantile returns the q-quantile of v, q in [0, 1], with linear interpolation. It panics if v is empty.
func quantile(v []float64, q float64) float64 {
	s := slices.Sorted(slices.Values(v))
	at := q * float64(len(s)-1)
	i := min(int(at), len(s)-1)
	if i+1 == len(s) {
		return s[i]
	}
	return s[i] + (at-float64(i))*(s[i+1]-s[i])
}

// ratios returns a[i]/b[i] for the turns in both.
func ratios(a, b []float64) (r []float64) {
	for i := range min(len(a), len(b)) {
		r = append(r, a[i]/b[i])
	}
	return r
}

// verdict classifies a ratio of times, ours / theirs.
type verdict string

const (
	win  verdict = "win"
	loss verdict = "loss"
	even verdict = "even"
	none verdict = ""
)

// closeTo is the distance from 1 up to which a ratio counts as even. Two builds of one program may differ by this much,
// because the alignment of loops differs.
const closeTo = 0.03

// verdict returns win if the median is less than 1-closeTo and the third quartile less than 1, loss if the median is
// greater than 1+closeTo and the first quartile greater than 1, none without measurements, and even otherwise.
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
