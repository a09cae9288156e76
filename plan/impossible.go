package plan

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/stat"
)

// Impossible is the error for needs that no filter meets.
type Impossible struct {
	What string // what is impossible, and why
	// Nearest are filters that meet most of the needs, best first. Choice.Instead names the need that each
	// does not meet.
	Nearest []Choice
}

// Error returns what is impossible, and the nearest filter.
func (e *Impossible) Error() string {
	if len(e.Nearest) == 0 {
		return e.What
	}
	c := e.Nearest[0]
	return fmt.Sprintf("%s\nnearest, %s: %s, %.4g bits per key at a rate of %s",
		e.What, c.Instead, c.Spec, c.BitsPerKey, stat.Percent(c.FPRPrior))
}

// possible returns an *Impossible for needs that no filter of any kind can meet.
func (n *Needs) possible() error {
	if n.FPR > 0 && n.FPR < n.equalHashRate() {
		const text = "a rate of %s is below the rate of the hash: an absent key has the hash of one of the %d, " +
			"%d bits, with a probability of %s"
		return &Impossible{What: fmt.Sprintf(text, stat.Percent(n.FPR), n.totalKeys(), family.HashBits(filter.XXH3),
			stat.Percent(n.equalHashRate()))}
	}

	budget := n.budget()
	if budget == 0 {
		return nil
	}

	perKey := budget / float64(n.totalKeys())
	if n.FPR == 0 {
		if perKey < leastPerKey {
			const text = "%d keys in %.0f bits are %.3g bits per key: nearly every answer would be yes"
			return &Impossible{What: fmt.Sprintf(text, n.totalKeys(), budget, perKey)}
		}
		return nil
	}

	bound, name := math.Log2(1/n.FPR), "no filter keeps a rate of %s in less than log2(1/ε) = %.2f bits per key"
	if (n.Remove || n.Count || n.ValueBits > 0) && n.FPR <= likely { // the bound does not hold for rates near 1
		bound += 1.44 + float64(n.ValueBits)
		name = "no filter from which keys can be removed is known to keep a rate of %s in less than " +
			"log2(1/ε) + 1.44 = %.2f bits per key"
		if n.ValueBits > 0 {
			name = "no filter with values that change is known to keep a rate of %s in less than " +
				"log2(1/ε) + 1.44 and the value, %.2f bits per key"
		}
	}
	if perKey < bound {
		return &Impossible{What: fmt.Sprintf(name+", and %.4g are allowed", stat.Percent(n.FPR), bound, perKey)}
	}
	return nil
}

// leastPerKey is the number of bits per key at which the lowest possible rate, 2^-bits, is 0.7.
const leastPerKey = 0.5

// equalHashRate returns the probability that an absent key has the same hash as one of the keys.
func (n *Needs) equalHashRate() float64 { return family.LowestRate(filter.XXH3, n.totalKeys()) }

// describeRefusals returns the reasons why all kinds were refused.
func (n *Needs) describeRefusals(refused []Refused) string {
	var lines []string
	for _, r := range refused {
		lines = append(lines, fmt.Sprintf("%s %s", r.Spec, r.Why))
	}
	return "no filter does all of this:\n" + strings.Join(lines, "\n")
}

// sacrifices are the needs that can be dropped if no filter meets all of them, the least important first.
var sacrifices = []struct {
	instead string
	relax   func(*Needs)
}{
	{"without the limit of size", func(m *Needs) { m.BitsPerKey, m.Bytes = 0, 0 }},
	{"at the lowest rate of its hashes", func(m *Needs) {
		if m.FPR > 0 {
			m.FPR = max(m.FPR, 2*m.equalHashRate())
		}
	}},
	{"without the rate", func(m *Needs) { m.FPR = 0 }},
	{"without a limit of time or memory for the build", func(m *Needs) { m.Build, m.Memory = 0, 0 }},
	{"in more than one cache line", func(m *Needs) { m.OneLine = false }},
	{"for one writer", func(m *Needs) { m.Writers = false }},
	{"without union", func(m *Needs) { m.Merge = false }},
	{"without values", func(m *Needs) { m.ValueBits = 0 }},
	{"without union and in more than one cache line", func(m *Needs) { m.Merge, m.OneLine = false, false }},
	{"without limits of size, time and memory, for one writer and without union", func(m *Needs) {
		m.Build, m.Memory, m.OneLine, m.Writers, m.Merge, m.BitsPerKey, m.Bytes = 0, 0, false, false, false, 0, 0
	}},
}

// nearest adds the nearest filters to an *Impossible: for each sacrifice that helps, the best filter without that need.
func nearest(ctx context.Context, n Needs, err error) error {
	impossible, ok := err.(*Impossible)
	if !ok {
		return err
	}

	offer := func(m Needs, instead string) (Choice, error) {
		// A sacrifice that changes nothing, or that leads to other impossible needs, offers nothing.
		if m == n || m.check() != nil || m.possible() != nil {
			return Choice{}, nil
		}
		p, err := choose(ctx, m)
		if err != nil || len(p.Choices) == 0 {
			return Choice{}, err
		}
		best := p.Choices[0]
		best.Instead = instead
		same := func(c Choice) bool { return c.Spec == best.Spec && c.Keys == best.Keys }
		if !slices.ContainsFunc(impossible.Nearest, same) {
			impossible.Nearest = append(impossible.Nearest, best)
		}
		return best, nil
	}

	for i, s := range sacrifices {
		// The last sacrifice gives up nearly everything, so it is only for needs that no other one helps.
		if i == len(sacrifices)-1 && len(impossible.Nearest) > 0 {
			break
		}

		m := n
		s.relax(&m)
		best, err := offer(m, s.instead)
		if err != nil {
			return err
		}
		if i > 0 || best.Keys == 0 || n.Bytes == 0 {
			continue
		}
		// Without the size limit, the best filter is known. Offer also the number of keys for which it fits into the
		// limit. The 2% are for sizes that do not grow exactly with the number of keys.
		m = n
		m.Later = 0
		if m.Keys = uint64(0.98 * n.budget() / best.BitsPerKey); m.FPR == 0 {
			m.FPR = best.FPRPrior
		}
		if m.Keys > 0 && m.Keys < n.totalKeys() {
			if _, err := offer(m, fmt.Sprintf("for %d keys", m.Keys)); err != nil {
				return err
			}
		}
	}
	return impossible
}
