package intake

import (
	"cmp"
	"fmt"
	"math"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
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
	// A geometry that is the same for any number of keys is that of one filter.
	if shards > 1 && family.GivenAny(s, f.Sizes) && !family.Given(s, "capacity") {
		few, _, err := f.Forecast(s, 1000)
		if many, _, err2 := f.Forecast(s, 1_000_000); err == nil && err2 == nil && few == many {
			return s, family.Invalid("spec", s, "it fixes the size of one filter; use bytes= for the size of the whole set")
		}
	}
	return s, nil
}

// PerShard returns the number of keys for which each shard has room if the set has keys: the mean plus six standard
// deviations. One shard in 10^9 has more.
func PerShard(keys uint64, shards int) uint64 {
	if keys == 0 || shards == 1 {
		return keys
	}
	mean := float64(keys) / float64(shards)
	return min(keys, uint64(math.Ceil(mean+6*math.Sqrt(mean))))
}

// Divided returns the size of a shard in bytes, at least 1 unless that of the set is 0.
func Divided(bytes uint64, shards int) uint64 { return min(bytes, max(1, bytes/uint64(shards))) }

// smallBuild limits the memory for key hashes of a build that the planner chooses, unless another limit is set.
const smallBuild = 1 << 30

// BuildMemory returns the most bytes in addition to the filter that a build takes whose filter the planner chooses:
// memory, else that of the needs, else 1 GiB, or what the family needs if that is more and no limit is set: see
// plan.Choice.BytesBuild. What the garbage collector has not yet freed is not counted; see debug.SetMemoryLimit.
func BuildMemory(memory int64, needs uint64) int64 {
	return cmp.Or(max(memory, 0), int64(min(needs, 1<<60)), smallBuild)
}

// CheckShards returns an error unless a set can have so many shards, in the form for many writers if that is set.
func CheckShards(shards int, concurrent bool) error {
	switch {
	case shards < 1 || shards > shard.Max:
		return family.Invalid("shards", shards, "want 1 to %d", shard.Max)
	case concurrent:
		return family.Invalid("concurrent", true, "shards are written to files; leave it out")
	}
	return nil
}

// CheckSetSize returns an error if the shards of a set of that number of keys have more than most bytes together.
func CheckSetSize(f families.Family, s filter.Spec, shards int, keys, most uint64) error {
	n := uint64(shards)
	bits, _, err := f.Forecast(s, max(keys/n, 1))
	if err != nil {
		return err
	}
	if bytes := bits / 8; bytes > most/n {
		return fmt.Errorf("%d shards of %s take %d bytes each, together more than the limit of %d: %w",
			n, s, bytes, most, filter.ErrTooLarge)
	}
	return nil
}

// BytesOf returns the size of the sections of a filter.
func BytesOf(f family.Filter) (bytes uint64, err error) {
	s := family.SpecOf(f)
	kind, err := families.FormatOf(s.Family())
	if err != nil {
		return 0, err
	}
	sections, err := kind.SectionWords(s)
	for _, words := range sections {
		bytes += 8 * words
	}
	return bytes, err
}
