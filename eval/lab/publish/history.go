package publish

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/bloomery/bloomery/cmd/bloomery/domains"
)

// history is a list that changes a little every day: some keys are replaced by the same number of other keys.
type history struct {
	first []string
	days  []day
	other []string // keys that are in no version
}

// day is the change on a day: the keys at these places of the list are replaced.
type day struct {
	at    []int
	fresh []string
}

// changed is the share of the keys that is replaced per day.
const changed = 0.002

// newHistory returns the history of keys over a number of days, and absent keys. keys is at most the number of keys in
// package domains.
func newHistory(keys, days, absent int, seed uint64) *history {
	r := rand.New(rand.NewPCG(seed, 0x7075626c697368))
	h := &history{first: domains.Disposable()[:keys]}
	taken := map[string]bool{}
	for _, k := range domains.Disposable() {
		taken[k] = true
	}
	fresh := func() string {
		for {
			if k := domain(r, h.first); !taken[k] {
				taken[k] = true
				return k
			}
		}
	}
	for range days {
		d := day{at: r.Perm(keys)[:int(changed*float64(keys))]}
		for range d.at {
			d.fresh = append(d.fresh, fresh())
		}
		h.days = append(h.days, d)
	}
	for range absent {
		h.other = append(h.other, fresh())
	}
	return h
}

// apply changes list into the list of the next day.
func (d day) apply(list []string) {
	for i, at := range d.at {
		list[at] = d.fresh[i]
	}
}

// domain returns a made-up domain: one to four syllables, sometimes a number, and the ending of a domain of the list.
func domain(r *rand.Rand, list []string) string {
	var b strings.Builder
	for range 2 + r.IntN(3) {
		b.WriteByte("bcdfghjklmnprstvwz"[r.IntN(18)])
		b.WriteByte("aeiou"[r.IntN(5)])
		if r.IntN(3) == 0 {
			b.WriteByte("lmnrst"[r.IntN(6)])
		}
	}
	switch r.IntN(6) {
	case 0:
		fmt.Fprintf(&b, "%d", r.IntN(1000))
	case 1:
		b.WriteString("-mail")
	}
	_, ending, _ := strings.Cut(list[r.IntN(len(list))], ".")
	return b.String() + "." + ending
}
