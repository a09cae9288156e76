package plan

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
)

// kind is a form of a family. The planner chooses among the kinds.
type kind struct {
	family.Form
	spills  bool   // its builder can keep keys in a file
	bounded bool   // it is full at its capacity
	header  uint64 // bytes of its file besides the filter
}

// allKinds returns all forms of all families. It is a function because a variable would link all families into programs
// that never plan.
func allKinds() (all []kind) {
	for _, f := range families.All() {
		for _, form := range f.Forms {
			all = append(all, kind{Form: form, spills: form.Can.Has(family.CanSpill), bounded: f.Bounded, header: f.FileBytes})
		}
	}
	return all
}

// unwanted reports whether the kind keeps values and the needs have none.
func (k kind) unwanted(n *Needs) bool { return k.Can.Has(family.CanValues) && n.ValueBits == 0 }

// reasonAgainst returns the reason why the kind does not meet a need, or "".
func (k kind) reasonAgainst(n *Needs) string {
	for _, x := range []struct {
		need bool
		can  family.Ability
		what string
	}{
		{n.Add, family.CanAdd, "takes no keys after the build"},
		{n.Remove, family.CanRemove, "does not remove keys"}, {n.Count, family.CanCount, "does not count"},
		{n.Merge, family.CanMerge, "does not merge"}, {n.ValueBits > 0, family.CanValues, "keeps no values"},
		{n.OneLine, family.CanOneLine, "reads more than one cache line"},
		{n.Writers, family.CanConcurrent, "has no form for many writers"},
	} {
		if x.need && !k.Can.Has(x.can) {
			return x.what
		}
	}

	switch {
	case n.Unpatented && k.Patented:
		return "is patented in the US, nominally until 2027-06-15"
	case n.Later > 0 && k.Can&(family.CanCapacity|family.CanLater) == 0:
		return "has no room for later keys"
	}
	return ""
}

// forecastKeys returns the number of keys for a forecast of the kind. A form with later= adds the later keys itself.
func (k kind) forecastKeys(n *Needs) uint64 {
	if k.Can.Has(family.CanLater) {
		return n.Keys
	}
	return n.totalKeys()
}

// If Needs.Add is set without Needs.Later, filters that are full at their capacity get room for an eighth of the keys.
const (
	unasked   = 8
	leastRoom = 16
)

// sizedSpec returns the spec of the kind with a size and with room for later keys.
func (k kind) sizedSpec(n *Needs, size family.Sizing) filter.Spec {
	s := size.AddTo(k.Spec)
	if k.Can.Has(family.CanValues) {
		s = s.With("value_bits", n.ValueBits)
	}

	switch {
	case n.Later == 0 && n.Add && k.bounded: // otherwise adding the first key could fail
		s = s.With("capacity", n.Keys+max(n.Keys/unasked, leastRoom))
	case n.Later == 0:
	case k.Can.Has(family.CanCapacity):
		s = s.With("capacity", n.totalKeys())
	case k.Can.Has(family.CanLater):
		s = s.With("later", n.Later)
	}
	return s
}
