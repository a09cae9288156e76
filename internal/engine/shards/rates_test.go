package shards_test

import (
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
	"github.com/bloomery/bloomery/internal/settest"
	"github.com/bloomery/bloomery/internal/shardset"
	"github.com/bloomery/bloomery/shard"
)

var manyShards = flag.Bool("many.shards", false, "rates of 1,000 shards of every family, more seeds: some minutes")

// manifestOf builds the shards of a set in memory and returns its manifest, without files. Each shard is sized for
// sized keys, or if sized is 0, for the number of its keys.
func manifestOf(t *testing.T, f families.Family, s filter.Spec, parts [][]filter.Hash, sized uint64) *shard.Manifest {
	m := &shard.Manifest{Spec: s, Hash: filter.XXH3}
	if f.Foreign() {
		m.Hash = f.Hash
	}
	for i, hs := range parts {
		keys := sized
		if keys == 0 {
			keys = uint64(len(hs))
		}
		b, err := f.NewBuilder(s, keys)
		check(t, err)
		check(t, b.AddMany(hs))
		built, err := b.Build(t.Context())
		check(t, err)
		info := built.Info()
		m.Shards = append(m.Shards, shard.Entry{
			File: shardset.Name(i, len(parts), ""), Keys: info.Keys, Bytes: 1,
			FPRPrior: shardset.Rate(info.FPRPrior), FPRPosterior: shardset.Rate(info.FPRPosterior),
		})
	}
	return m
}

// routed returns random hashes by shard.
func routed(seed, n, shards int) [][]filter.Hash {
	parts := make([][]filter.Hash, shards)
	for _, h := range settest.Random(seed, n) {
		s := shard.Route(h, shards)
		parts[s] = append(parts[s], h)
	}
	return parts
}

// TestShardedExceeds builds sharded sets of every family with several rates and seeds, with 1,150 keys per shard on
// average. None may exceed its rate. With -many.shards, it tests 1,000 shards for every family, else only for families
// with fast builds, and a third of the rates and sizes per run.
func TestShardedExceeds(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, f := range families.All() {
		if f.Can.Has(family.CanRawKeys) {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			runs := filtertest.Third(t, *manyShards)
			for _, rate := range []float64{0.1, 0.01, 1e-3, 1e-4, 1e-6} {
				s := family.NewSpec(f.Name, "fpr", rate)
				slow := f.Foreign() || f.Name == "rankindexed" // milliseconds per shard, to find its size or its rate
				if f.Can.Has(family.CanSearch) {
					s, slow = s.With("effort", "fast"), true
				}
				for _, shards := range []int{2, 16, 1000} {
					seeds := max(1, 24/shards)
					if *manyShards {
						seeds *= 4
					} else if slow {
						seeds = min(seeds, 2)
					}
					if shards == 1000 && !*manyShards && (slow || rate != 0.01 && rate != 1e-6) || !runs() {
						continue
					}
					for seed := range seeds {
						m := manifestOf(t, f, s, routed(seed, 1150*shards, shards), 0)
						if err := engine.CheckShards(m, rate); err != nil {
							prior, posterior := m.FPR()
							t.Errorf("%s, %d shards, seed %d: prior %.4g, posterior %.4g: %v", s, shards, seed, prior, posterior, err)
						}
					}
				}
			}
		})
	}
}

// TestShardedOverfull builds one shard with ten times the keys for which it was sized. Its rate is near 1. The set
// exceeds its rate if the mean over all shards exceeds it. This must be so in a set of 16 shards, but not in a set of
// 1,000.
func TestShardedOverfull(t *testing.T) {
	f, err := families.ByName("standard")
	check(t, err)
	const rate = 0.02
	for _, x := range []struct {
		shards int
		want   bool
	}{{16, true}, {1000, false}} {
		parts := routed(1, 1150*x.shards, x.shards)
		parts[3] = settest.Random(2, 11_500)
		m := manifestOf(t, f, family.NewSpec("standard", "fpr", rate), parts, 1250)
		if m.Shards[3].FPRPosterior < 0.9 {
			t.Errorf("the overfull shard has a rate of %g", m.Shards[3].FPRPosterior)
		}
		var over *engine.RateError
		if err := engine.CheckShards(m, rate); errors.As(err, &over) != x.want {
			t.Errorf("one overfull shard of %d: %v", x.shards, err)
		}
	}
}

// TestShardedInfo opens sharded sets from files. The rates must equal the rates in the manifest and agree with the
// answers. Then it adds the same number of keys, and Info must report that the set exceeds its rate.
func TestShardedInfo(t *testing.T) {
	const rate, keys = 0.01, 20_000
	for _, family := range []string{"standard", "blocked", "partitioned"} {
		for _, shards := range []int{2, 16} {
			t.Run(fmt.Sprintf("%s/%d", family, shards), func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "set")
				spec := fmt.Sprintf("%s(fpr=%g)", family, rate)
				if family == "partitioned" {
					spec = fmt.Sprintf("%s(effort=fast,fpr=%g)", family, rate)
				}
				b, err := settest.NewShardBuilder(dir, bloomery.Config{Spec: spec, Sharding: bloomery.Sharding{Shards: shards}})
				check(t, err)
				defer b.Close()
				for _, k := range settest.Integers(keys, 1) {
					check(t, settest.AddUint64(b, k))
				}
				m, err := b.Build(t.Context())
				check(t, err)
				set := settest.OpenSet(t, dir)
				info := set.Info()
				prior, posterior := m.FPR()
				if info.FPRPrior != prior || info.FPRPosterior != posterior || info.FPRPlanned != rate || info.Exceeded() {
					t.Errorf("%+v, manifest %g, %g", info, prior, posterior)
				}
				found := uint64(0)
				const absent = 400_000
				for _, k := range settest.Integers(absent, 2) {
					if bloomery.Keyed[uint64](set).Contains(k) {
						found++
					}
				}
				if observed := settest.RateOf(found, absent); !observed.Holds(posterior) {
					t.Errorf("%+v, posterior %g", observed, posterior)
				}
				for _, k := range settest.Integers(keys, 3) {
					check(t, bloomery.Keyed[uint64](set).Add(k))
				}
				if info := set.Info(); !info.Exceeded() {
					t.Errorf("after as many keys again: %+v", info)
				}
			})
		}
	}
}
