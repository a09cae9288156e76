package plan

import (
	"slices"

	"github.com/bloomery/bloomery/internal/family"
)

// first returns the first of the preferred forms that meets the needs. If static forms were refused for the rate, the
// size or the time, it is the next static one, or the smallest of the others.
func first(n *Needs) (best Choice, ok bool) {
	refused := false
	for _, k := range preferred() {
		if k.misses(n) || k.lacks(n) != "" {
			continue
		}
		static := !k.Can.Has(family.CanAdd)
		choice, why := try(k, n)
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

// preferred returns the forms that Lasting tries, in order.
func preferred() []kind {
	all := slices.DeleteFunc(kinds(), func(k kind) bool { return k.Default == 0 })
	slices.SortFunc(all, func(a, b kind) int { return a.Default - b.Default })
	return all
}
