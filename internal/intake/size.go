package intake

import (
	"cmp"
	"fmt"
	"math"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/hashes"
	"github.com/bloomery/bloomery/plan"
	"github.com/bloomery/bloomery/shard"
)

// ShardSpec returns the Spec of each shard of a set with spec s.
func ShardSpec(f families.Family, s filter.Spec, shards int) (filter.Spec, error) {
	if err := f.Check(s); err != nil {
		return s, err
	}

	r := family.Reader(s)
	for _, p := range []string{"capacity", family.LaterParameter.Name} {
		if n := r.Uint(p); n > 0 {
			s = s.With(p, PerShard(n, shards))
		}
	}
	if n := r.Uint("bytes"); n > 0 {
		s = s.With("bytes", Divided(n, shards))
		return s, nil
	}
	if shards > 1 && !family.Given(s, "capacity") && fixesSize(f, s) {
		return s, family.Invalid("spec", s, "it fixes the size of one filter; use bytes= for the size of the whole set")
	}
	return s, nil
}

// CheckShard returns an error if s cannot be the Spec of a shard.
func CheckShard(f families.Family, s filter.Spec) error {
	switch {
	case f.Can.Has(family.CanRawKeys):
		return fmt.Errorf("%s takes raw keys, and shards are built from hashes; choose another family: %w",
			f.Name, filter.ErrUnsupported)
	case family.Given(s, "budget"):
		return family.Invalid("budget", s, "the same keys would not give the same bytes again; use effort= or passes=")
	}
	return nil
}

// fixesSize reports whether s has a parameter that fixes the geometry for any number of keys.
func fixesSize(f families.Family, s filter.Spec) bool {
	if !family.GivenAny(s, f.Sizes) {
		return false
	}
	few, _, err := f.Forecast(s, 1000)
	many, _, err2 := f.Forecast(s, 1_000_000)
	return err == nil && err2 == nil && few == many
}

// Room returns the number of keys for which an empty filter of Spec s is made. If keys is not 0, that is keys.
// Otherwise it is the number of keys that fill the size of the Spec at the given false-positive rate (0: the default of
// the family), or the initial capacity of a filter that grows. Room is 0 if the Spec has a capacity. The error is
// NoKeys if there would be room for one key only: the filter would soon be full, or every key would look present.
func Room(f families.Family, s filter.Spec, keys uint64, rate float64) (uint64, error) {
	switch {
	case keys > 0:
		return keys, nil
	case family.GivenAny(s, []string{"capacity", family.LaterParameter.Name}):
		return 0, nil
	case family.Given(s, "bytes") || fixesSize(f, s):
		return filling(f, s, rate)
	}
	if f.Grows != nil {
		keys = f.Grows(s)
	}
	if keys == 0 {
		return 0, NoKeys()
	}
	return keys, nil
}

// filling returns the number of keys that fill a filter whose Spec has a size at a rate, or at the default rate of its
// family if rate is 0. The number of probes follows from this number, unless the Spec has one.
func filling(f families.Family, s filter.Spec, rate float64) (uint64, error) {
	size, keys := 8*float64(family.Reader(s).Uint("bytes")), uint64(1_000_000)
	if size == 0 {
		bits, _, err := f.Forecast(s, keys)
		if err != nil {
			return 0, err
		}
		size = float64(bits)
	}

	free := family.Without(s, "bytes")
	for _, name := range f.Sizes {
		free = family.Without(free, name)
	}
	if rate != 0 {
		free = free.With("fpr", rate)
	}

	for range 3 { // few keys take more bits each, so the first number is a little too large
		bits, _, err := f.Forecast(free, keys)
		if err != nil {
			return 0, nil // a Spec with all parameters of its geometry has no free size, so nothing needs to be filled
		}
		keys = uint64(max(1, float64(keys)*size/float64(bits)))
	}

	// The sizes of a table have steps: the largest one that fits may be too small for these keys.
	for range 32 {
		if !f.Bounded || rate == 0 || keys == 1 {
			break
		}
		_, fpr, err := f.Forecast(s, keys)
		full := filter.Info{Keys: keys, FPRPrior: fpr, FPRPosterior: fpr, FPRPlanned: rate}
		if err != nil || !full.Exceeded() {
			return keys, nil
		}
		keys -= (keys + 31) / 32
	}
	return keys, nil
}

// NoKeys returns the error for an empty filter without a size.
func NoKeys() error {
	return family.Invalid("keys", 0, "an empty Set has no room for keys: set Keys or Capacity, or give the spec "+
		"capacity= or bytes=, or take one that grows, such as rankindexed(capacity=1000,growth=10)")
}

// PerShard returns the capacity of each shard of a set of keys keys: the mean plus six standard deviations. One shard
// in 10^9 gets more keys.
func PerShard(keys uint64, shards int) uint64 {
	if keys == 0 || shards == 1 {
		return keys
	}
	mean := float64(keys) / float64(shards)
	return min(keys, uint64(math.Ceil(mean+6*math.Sqrt(mean))))
}

// Divided returns the size of a shard in bytes, at least 1 unless the size of the set is 0.
func Divided(bytes uint64, shards int) uint64 { return min(bytes, max(1, bytes/uint64(shards))) }

// smallBuild is the default limit of the memory for key hashes of a build that the planner chooses.
const smallBuild = 1 << 30

// BuildMemory returns the largest number of bytes, besides the filter, of a build whose filter the planner chooses:
// memory, else the memory of the needs, else 1 GiB. Without a limit, a family that needs more takes more: see
// plan.Choice.BytesBuild. Garbage that is not yet collected does not count; see debug.SetMemoryLimit.
func BuildMemory(memory int64, needs uint64) int64 {
	return cmp.Or(max(memory, 0), int64(min(needs, 1<<60)), smallBuild)
}

// CheckShards returns an error unless a set of these keys, 0 if their number is unknown, can have this number of
// shards. A set in the form for many writers cannot have shards.
func CheckShards(shards int, keys uint64, concurrent bool) error {
	switch {
	case shards < 1 || shards > shard.Max:
		return family.Invalid("shards", shards, "want 1 to %d", shard.Max)
	case concurrent:
		return family.Invalid("concurrent", true, "shards are written to files; leave it out")
	case keys > 0:
		return hashes.CheckShards(shards, keys)
	}
	return nil
}

// CheckLike returns an error if a set cannot follow the old one, whose filter is one if it has no shards, in a folder
// of shards or in one filter, or if a filter of the old size has more than most bytes; 0: no limit.
func CheckLike(old interface {
	Spec() filter.Spec
	Info() filter.Info
}, one family.Filter, shards int, sharded bool, most uint64) error {
	switch {
	case shards > 0 && !sharded:
		return family.Invalid("like", "a sharded Set", "set Sharding.Dir to follow it")
	case shards == 0 && sharded:
		return family.Invalid("like", "a Set of one filter", "a sharded set follows a sharded one")
	case shards == 0:
		return CheckBuilt(one, most)
	case most > 0: // Info reads all shards
		return CheckBytes(old.Spec(), old.Info().Bits/8, most)
	}
	return nil
}

// CheckNeeds returns an error if the planner cannot choose a filter with values before the number of keys is known.
// Such a filter takes the values with the keys.
func CheckNeeds(n plan.Needs, keys uint64) error {
	if keys == 0 && n.ValueBits > 0 && (n.Add || n.Later > 0 || n.Bytes > 0 || n.BitsPerKey > 0) {
		return family.Invalid("keys", 0, "values with room for later keys, or in a given size, need the number of keys")
	}
	return nil
}

// CheckSize returns an error if a filter of Spec s and keys keys has more than most bytes. 0: no limit.
func CheckSize(f families.Family, s filter.Spec, keys, most uint64) error {
	if most == 0 {
		return nil
	}
	bits, _, err := f.Forecast(s, max(keys, 1))
	if err != nil {
		return err
	}
	return CheckBytes(s, bits/8, most)
}

// CheckBuilt returns an error if the sections of a filter have more than most bytes; 0: no limit.
func CheckBuilt(f family.Filter, most uint64) error {
	if most == 0 {
		return nil
	}

	s := family.SpecOf(f)
	kind, err := families.FormatOf(s.Family())
	if err != nil {
		return err
	}

	sections, err := kind.SectionWords(s)
	bytes := uint64(0)
	for _, words := range sections {
		bytes += 8 * words
	}
	if err != nil {
		return err
	}
	return CheckBytes(s, bytes, most)
}

// CheckBytes returns an error if the size of a filter of Spec s, in bytes, exceeds most.
func CheckBytes(s filter.Spec, bytes, most uint64) error {
	if bytes > most {
		return fmt.Errorf("%s takes %d bytes, more than the limit of %d: %w", s, bytes, most, filter.ErrTooLarge)
	}
	return nil
}

// CheckSetSize returns an error if the shards of a set of keys keys have more than most bytes together.
func CheckSetSize(f families.Family, s filter.Spec, shards int, keys, most uint64) error {
	n := uint64(shards)
	bits, _, err := f.Forecast(s, max(keys/n, 1))
	if err != nil {
		return err
	}
	switch bytes := bits / 8; {
	case n == 1:
		return CheckBytes(s, bytes, most)
	case bytes > most/n:
		return fmt.Errorf("%d shards of %s take %d bytes each, together more than the limit of %d: %w",
			n, s, bytes, most, filter.ErrTooLarge)
	}
	return nil
}
