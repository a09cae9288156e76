package main

import (
	"fmt"
	"strconv"
)

// testCase is one filter: its keys, its size and its form.
type testCase struct {
	kind kind
	keys int     // number of present keys
	rate float64 // false-positive rate that the filter is made for
	form string  // such as a strategy of Guava; "" if the format has one form
	seed uint64
}

func (c testCase) String() string {
	text := fmt.Sprintf("%d keys (%s) at %v, seed %d", c.keys, c.kind, c.rate, c.seed)
	if c.form != "" {
		text += ", form " + c.form
	}
	return text
}

// absent is the number of absent keys that are asked: as many as there are keys, and at least 1000.
func (c testCase) absent() int { return max(c.keys, 1000) }

// work is the share of the case in the whole, in any unit.
func (c testCase) work() int64 { return int64(c.keys + c.absent()) }

// rateText returns the rate as a decimal number.
func (c testCase) rateText() string { return strconv.FormatFloat(c.rate, 'g', -1, 64) }

// sizes are the numbers of keys of the grid.
var sizes = []int{0, 1, 10, 1000, 100_000, 1_000_000}

// rates are the false-positive rates of the grid.
var rates = []float64{0.05, 0.01, 0.001, 1e-5}

// grid returns the cases for kinds of keys and forms of a filter: of each size at most t.maxKeys with each rate. The
// largest size has one rate. fewest is the smallest number of keys that the system takes.
func (t *trial) grid(fewest int, kinds []kind, forms ...string) (all []testCase) {
	if len(forms) == 0 {
		forms = []string{""}
	}
	for _, n := range sizes {
		if n < fewest || n > t.maxKeys {
			continue
		}
		of := rates
		if n >= 1_000_000 {
			of = []float64{0.01}
		}
		for _, k := range kinds {
			for _, form := range forms {
				for _, rate := range of {
					all = append(all, testCase{k, n, rate, form, t.seed + uint64(len(all))})
				}
			}
		}
	}
	return all
}
