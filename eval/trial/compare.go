package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"strconv"

	"github.com/bloomery/bloomery"
)

// span is a range of keys: those from first up to, but not including, end.
type span struct{ first, end int }

// every returns each step-th key.
func every(step int, keys [][]byte) (all [][]byte) {
	for i := 0; i < len(keys); i += step {
		all = append(all, keys[i])
	}
	return all
}

// compare compares the answers of our sets for each step-th key with the answers in a file. A set must contain all keys
// of its span.
func (t *trial) compare(j *job, d *direction, sets []*bloomery.Set, members []span) error {
	keys := every(j.step, j.keys)
	bits, err := os.ReadFile(j.f.answers)
	if err != nil {
		return err
	}
	if want := (len(sets)*len(keys) + 7) / 8; len(bits) != want {
		return fmt.Errorf("%d bytes of answers, want %d", len(bits), want)
	}
	ours := make([]bool, len(keys))
	for i, set := range sets {
		bloomery.Keyed[[]byte](set).ContainsMany(ours, keys)
		d.Filters++
		for at, key := range keys {
			bit := i*len(keys) + at
			theirs := bits[bit/8]>>(bit%8)&1 == 1
			single := set.Contains(key)
			if j.c.kind == long || j.c.kind == xxh64 {
				single = bloomery.Keyed[uint64](set).Contains(binary.LittleEndian.Uint64(key))
			}
			in := members[i].first <= at*j.step && at*j.step < members[i].end
			d.Answers++
			switch {
			case theirs != ours[at] || theirs != single:
				t.fault(d, "%s: filter %d, key %q: theirs %t, ours %t and %t", j.c, i, key, theirs, ours[at], single)
			case in && !theirs:
				t.fault(d, "%s: filter %d, key %q: a false negative on both sides", j.c, i, key)
			case theirs && !in:
				d.FalsePositives++
			}
		}
	}
	return nil
}

// same records whether two files are equal.
func (t *trial) same(d *direction, c testCase, what string, want, got []byte) {
	if bytes.Equal(want, got) {
		d.EqualFiles++
		return
	}
	t.fault(d, "%s: %s has other bytes: %d, want %d", c, what, len(got), len(want))
}

// testCase is one filter: its keys, its size and its form.
type testCase struct {
	kind kind
	keys int     // number of present keys
	rate float64 // false-positive rate for which the filter is made
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

// absent returns the number of absent keys to query: the number of keys, but at least 1000.
func (c testCase) absent() int { return max(c.keys, 1000) }

// work returns the share of the case in the whole trial, in any unit.
func (c testCase) work() int64 { return int64(c.keys + c.absent()) }

// rateText returns the rate as a decimal number.
func (c testCase) rateText() string { return strconv.FormatFloat(c.rate, 'g', -1, 64) }

// sizes are the numbers of keys of the grid.
var sizes = []int{0, 1, 10, 1000, 100_000, 1_000_000}

// rates are the false-positive rates of the grid.
var rates = []float64{0.05, 0.01, 0.001, 1e-5}

// grid returns the cases for kinds of keys and forms of a filter: each size up to t.maxKeys with each rate. The largest
// size has one rate. fewest is the smallest number of keys that the system supports.
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
