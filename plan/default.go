package plan

import (
	"context"
	"slices"

	"github.com/bloomery/bloomery/internal/family"
)

// Default returns the filter that a build takes if nobody names a family. The family does not depend on the number of
// keys, so that a list that grows keeps it and with it what its filters can do: it is the first form, in the order of
// family.Form.Default, that meets the needs.
//
//	nothing else            ribbon
//	Add, Later or Merge     standard
//	Remove                  rankindexed
//	Count                   rankindexed(counting=1)
//	ValueBits               rankindexed(value_bits=)
//	OneLine                 blocked
//	Remove and Merge        counting
//
// Rates below 2^-32 and sizes above 33 bits a key, which no static family has, are those of the smallest of the other
// forms, mostly rankindexed.
//
// A later need does not change the family of an earlier one: Add and Remove is Remove. If none of these forms meets the
// needs, or if Needs.For is set, it is the first choice of For. Errors are those of For.
func Default(ctx context.Context, n Needs) (Choice, error) { return Measured().Default(ctx, n) }

// Default is the function Default with another table of costs.
func (c Costs) Default(ctx context.Context, n Needs) (Choice, error) {
	free := n.For == ""
	if err := n.check(); err != nil {
		return Choice{}, err
	}
	if free && n.possible() == nil {
		if choice, ok := c.first(&n); ok {
			return choice, nil
		}
	}
	p, err := c.For(ctx, n)
	if err != nil {
		return Choice{}, err
	}
	return p.Choices[0], nil
}

// first returns the first of the preferred forms that meets the needs. If static forms were refused for the rate, the
// size or the time, it is the next static one, or the smallest of the others.
func (c Costs) first(n *Needs) (best Choice, ok bool) {
	refused := false
	for _, k := range preferred {
		if k.misses(n) || k.lacks(n) != "" {
			continue
		}
		static := !k.Can.Has(family.CanAdd)
		choice, why := c.try(k, n)
		if why == "" && n.FPR == 0 && float64(choice.Bits) < n.least(k) {
			why = "is smaller than the size"
		}
		switch {
		case why != "":
			refused = refused || static
		case static || !refused:
			return choice, true
		case k.Can.Has(family.CanCount) && !n.Count: // larger, for what was not asked for
		case !ok || n.better(choice, best):
			best, ok = choice, true
		}
	}
	return best, ok
}

// least returns the fewest bits of a filter that has the size that was asked for: nine tenths, or a bit per key less,
// and in families of cache lines one less.
func (n *Needs) least(k kind) float64 {
	least := min(0.9*n.budget(), n.budget()-float64(n.all()))
	if k.Can.Has(family.CanOneLine) {
		return least - 512
	}
	return least
}

// better reports whether a comes before b in the order of a plan.
func (n *Needs) better(a, b Choice) bool {
	both := []Choice{b, a}
	n.order(both)
	return both[0].Spec == a.Spec
}

// preferred are the forms that Default tries, in order.
var preferred = preferredKinds()

func preferredKinds() []kind {
	all := slices.DeleteFunc(slices.Clone(kinds), func(k kind) bool { return k.Default == 0 })
	slices.SortFunc(all, func(a, b kind) int { return a.Default - b.Default })
	return all
}
