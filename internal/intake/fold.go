package intake

import (
	"context"
	"slices"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/probe"
)

// folding is the Target of a build that does not know the number of its keys: a filter for the most keys that may come,
// which Build folds to the keys that came.
type folding struct {
	Target
	family families.Family
	spec   filter.Spec // chooses the rate and the number of probes, not the size
}

// Folding returns a Target without the hashes of its keys, whose number is unknown and at most capacity. It returns nil
// if the filter cannot be folded: another family, no capacity, or a Spec with a size that is not a rate. It also
// returns nil if the filter before folding would have more than most bytes (0: no limit), or if hashed is true: the
// hashes are then kept anyway, so that counting the keys costs nothing.
func Folding(
	f families.Family, s filter.Spec, capacity, most uint64, hashed bool, o family.BuildOptions,
) (Target, error) {
	if hashed || f.Foldable == nil || capacity == 0 ||
		family.GivenAny(s, slices.Concat(f.Sizes, []string{"bits_per_key", "bytes", "capacity"})) {
		return nil, nil
	}

	largest, err := f.Foldable(s, capacity)
	if err != nil {
		return nil, err
	}
	if CheckSize(f, largest, capacity, most) != nil {
		return nil, nil
	}
	b, err := f.NewBuilder(largest, 0)
	if err != nil {
		return nil, err
	}
	return &folding{Family(b, f, s, o), f, s.With("k", family.Reader(largest).Uint("k"))}, nil
}

// Build folds the filter for the number of its keys. Where duplicates count, it folds it again for the number of
// distinct keys, estimated from the bits that are left: reading the largest filter twice would take too long.
func (t *folding) Build(ctx context.Context) (family.Filter, error) {
	f, err := t.Target.Build(ctx)
	if err != nil {
		return nil, err
	}

	keys := f.(family.Encoder).Encode().Keys
	if f, err = t.fold(f, keys); err != nil {
		return nil, err
	}
	free, err := f.(family.CellFilter).Free(f)
	if err != nil {
		return nil, err
	}
	if _, _, high := probe.KeysInCells(f.(family.CellFilter).Cells(), free); high < float64(keys) {
		if f, err = t.fold(f, uint64(high)); err != nil {
			return nil, err
		}
	}
	return f, ctx.Err()
}

// fold returns the smallest folded filter that is not smaller than a direct build for that number of distinct keys.
func (t *folding) fold(f family.Filter, keys uint64) (family.Filter, error) {
	need, _, err := t.family.Forecast(t.spec, keys)
	if err != nil {
		return nil, err
	}
	places := family.Reader(family.SpecOf(f)).Uint(t.family.Sizes[0])
	place := f.(family.CellFilter).Cells().Number / places // bits of a place
	if d := family.FoldTo(places, (need+place-1)/place); d > 1 {
		f = f.(family.Folder).Fold(d)
	}
	return f, nil
}
