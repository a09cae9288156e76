package shard_test

import (
	"flag"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
	"github.com/bloomery/bloomery/internal/stat"
	"github.com/bloomery/bloomery/shard"
)

var long = flag.Bool("long", false,
	"1,000 shards with every hash function, and 10 million keys in 16 shards")

// A routing assigns a key to a shard.
type routing func(h filter.Hash, shards int) int

// form is a Spec with a hash function of its keys.
type form struct {
	family families.Family
	spec   filter.Spec
	hasher filter.Hasher
}

func (f form) String() string { return f.spec.String() + "/" + f.hasher.ID().String() }

// specs lists the filters of each family that the tests of rates build. They state a number of bits or a geometry
// instead of a rate, because some families need milliseconds to find the size for a rate.
var specs = map[string][]string{
	"standard":         {"standard(bits_per_key=9.6)"},
	"blocked":          {"blocked(bits_per_key=10,k=7)", "blocked(bits_per_key=10,layout=split)"},
	"fuse":             {"fuse(width=7)"},
	"ribbon":           {"ribbon(r=7)", "ribbon(r=4,w=128,wide=300)"},
	"partitioned":      {"partitioned(bits_per_key=8,effort=fast)"},
	"blockpartitioned": {"blockpartitioned(bits_per_key=8,effort=fast)"},
	"twochoice":        {"twochoice(bits_per_key=9,passes=2)"},
	"rankindexed": {"rankindexed(buckets=7,capacity=1300,cells=176,cells2=63,cells3=40,chains=301,pool2=7,pool3=2," +
		"remainder=6)"},
	"counting":   {"counting(bits_per_key=38)"},
	"guava":      {"guava(bits_per_key=9.6)", "guava(bits_per_key=9.6,strategy=32)"},
	"redisbloom": {"redisbloom(bits_per_key=12)"},
	"dcso":       {"dcso(bits_per_key=9.6)"},
	"spark":      {"spark(bits_per_key=9.6)", "spark(bits_per_key=9.6,version=2)"},
}

// forms returns all families of filters of hashes, each with all hash functions that it supports.
func forms(t *testing.T) (all []form) {
	secret := filter.Secret{1, 2, 3}
	for _, f := range families.All() {
		if f.Can.Has(family.CanRawKeys) {
			continue // raw-key families cannot be sharded
		}
		if len(specs[f.Name]) == 0 {
			t.Errorf("family %s has no specs to try", f.Name)
		}
		for _, text := range specs[f.Name] {
			s, err := filter.ParseSpec(text)
			check(t, err)
			for id := filter.XXH3; id <= filter.FNV1; id++ {
				if !f.TakesHash(s, id) {
					continue
				}
				seed, key := uint64(0), &secret
				if id == filter.XXH3 {
					seed = 7
				}
				if id != filter.SipHash {
					key = nil
				}
				h, err := f.Hasher(s, families.Hashing{ID: id, Seed: seed, Secret: key})
				check(t, err)
				all = append(all, form{f, s, h})
			}
		}
	}
	return all
}

func (f form) build(t *testing.T, hs []filter.Hash) family.Filter {
	b, err := f.family.NewBuilder(f.spec, uint64(len(hs)))
	check(t, err)
	check(t, b.AddMany(hs))
	built, err := b.Build(t.Context())
	check(t, err)
	return built
}

// trials are the queries of one filter for absent keys.
type trials struct {
	n, found  uint64
	posterior float64 // Info.FPRPosterior of the filter, or 0 if it was not computed
	plain     *trials // trials of a filter of the same number of random keys, or nil
}

func (r trials) rate() float64 { return float64(r.found) / float64(r.n) }

// query builds a filter of the keys present and queries it for the keys absent.
func (f form) query(t *testing.T, present, absent []filter.Hash, posterior bool) trials {
	built := f.build(t, present)
	for _, h := range present {
		if !built.Has(h) {
			t.Fatalf("%s: a key of the filter is missing", f)
		}
	}
	r := trials{n: uint64(len(absent)), found: filtertest.Count(built, absent)}
	if posterior {
		r.posterior = built.Info().FPRPosterior
	}
	return r
}

// In a set with many shards, only the first shards get a posterior rate, which takes 12 ms for a guava filter, and a
// filter of random keys for comparison.
const (
	posteriors = 64
	beside     = 250
)

// measure routes keys to shards, builds a filter of each shard and queries it with absent keys of the same shard. For
// comparison, it also builds and queries a filter of the same number of random keys that were not routed.
//
// The routed keys are the integers from 10^9·seed on if the seed is even, else texts that differ in their last digits.
func (f form) measure(t *testing.T, route routing, shards, keys, absent int, seed uint64) (routed []trials) {
	hash := func(i int) filter.Hash { return f.hasher.SumUint64(seed*1e9 + uint64(i)) }
	if seed%2 == 1 {
		prefix := fmt.Sprintf("https://example.com/%d/", seed)
		var room [64]byte
		hash = func(i int) filter.Hash {
			return f.hasher.Sum(strconv.AppendInt(append(room[:0], prefix...), int64(i), 10))
		}
	}
	in, out := make([][]filter.Hash, shards), make([][]filter.Hash, shards)
	for i := range keys + absent {
		h := hash(i)
		s := route(h, shards)
		if i < keys {
			in[s] = append(in[s], h)
		} else {
			out[s] = append(out[s], h)
		}
	}
	r := rand.New(rand.NewPCG(seed, uint64(shards)))
	random := func(n int) []filter.Hash {
		hs := make([]filter.Hash, n)
		for i := range hs {
			hs[i] = f.hasher.SumUint64(r.Uint64())
		}
		return hs
	}
	for s := range shards {
		if len(in[s]) < 1000 || len(out[s]) == 0 {
			t.Fatalf("%s: shard %d of %d has %d keys and %d absent ones", f, s, shards, len(in[s]), len(out[s]))
		}
		one := f.query(t, in[s], out[s], s < posteriors)
		if s < beside {
			plain := f.query(t, random(len(in[s])), random(len(out[s])), false)
			one.plain = &plain
		}
		routed = append(routed, one)
	}
	return routed
}

// falseAlarm is the probability that one of the bounds below fails although the routing is independent.
const falseAlarm = 1e-6

// beyondPosterior returns how the false positives of all shards contradict the posterior rates of their filters, or "".
// They are a sum of independent trials with these rates. Its tails are at most those of a binomial distribution with
// the mean rate (Hoeffding, 1956), as long as the tail begins more than one false positive from the mean.
func beyondPosterior(routed []trials) string {
	var all trials
	for _, r := range routed {
		if r.posterior == 0 {
			continue
		}
		all.n += r.n
		all.found += r.found
		all.posterior += r.posterior * float64(r.n)
	}
	all.posterior /= float64(all.n)
	above, below := stat.UpperTail(all.found, all.n, all.posterior), 1-stat.UpperTail(all.found+1, all.n, all.posterior)
	if min(above, below) < falseAlarm/2 {
		return fmt.Sprintf("observed rate %.4g, %d of %d; posterior rate %.4g", all.rate(), all.found, all.n, all.posterior)
	}
	return ""
}

// unlikePlain returns how the observed rates of shards contradict the rates of filters of the same numbers of random
// keys, or "". Both have the same distribution, so that their differences have the mean 0 by Student's t distribution.
func unlikePlain(routed []trials) string {
	var differences []float64
	for _, r := range routed {
		if r.plain != nil {
			differences = append(differences, r.rate()-r.plain.rate())
		}
	}
	var mean, squares float64
	n := float64(len(differences))
	for _, d := range differences {
		mean += d / n
	}
	for _, d := range differences {
		squares += (d - mean) * (d - mean)
	}
	if most := stat.StudentErrors(len(differences), 1-falseAlarm) * math.Sqrt(squares/(n-1)/n); math.Abs(mean) > most {
		return fmt.Sprintf("observed rate less that of unrouted filters: %.4g; want at most %.4g", mean, most)
	}
	return ""
}

// sizes lists numbers of shards, each with a number of sets, so that the bounds are tight even with few shards.
var sizes = []size{{2, 12, 60_000}, {16, 4, 60_000}, {1000, 1, 1_150_000}}

type size struct{ shards, sets, absent int }

// many queries sets of several seeds. A shard has 1,150 keys on average, so that each has at least 1,000.
func (f form) many(t *testing.T, route routing, size size) (routed []trials) {
	for seed := range uint64(size.sets) {
		r := f.measure(t, route, size.shards, 1150*size.shards, size.absent, seed)
		routed = append(routed, r...)
	}
	return routed
}

// TestIndependence requires that filters of shards have the same rates as filters of unrouted keys, for every family
// with every hash function. Without -long, it tests 1,000 shards with only one hash function of each family, and a
// third of the cases per run.
func TestIndependence(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	all := forms(t)
	runs := filtertest.Third(t, *long)
	for i, f := range all {
		for _, size := range sizes {
			first := i == 0 || all[i-1].spec.String() != f.spec.String()
			if size.shards == 1000 && !first && !*long || !runs() {
				continue
			}
			t.Run(fmt.Sprintf("%s/%d", f, size.shards), func(t *testing.T) {
				t.Parallel()
				routed := f.many(t, shard.Route, size)
				if e := beyondPosterior(routed) + unlikePlain(routed); e != "" {
					t.Error(e)
				}
			})
		}
	}
}

// scaled returns ⌊x·n / 2^64⌋.
func scaled(x uint64, n int) int {
	hi, _ := bits.Mul64(x, uint64(n))
	return int(hi)
}

// TestDependence checks that the bounds of TestIndependence fail for routings that conflict with the families.
func TestDependence(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	topHi := func(h filter.Hash, shards int) int { return scaled(h.Hi, shards) }
	topLo := func(h filter.Hash, shards int) int { return scaled(h.Lo, shards) }
	all := forms(t)
	for _, bad := range []struct {
		name   string
		route  routing
		family string
		rate   bool // the rates also differ from the rates of unrouted filters
	}{
		{"top bits of Hi", topHi, "blocked", true},
		{"top bits of Lo", topLo, "standard", false}, // the rate of one probe fewer
		{"top bits of Lo", topLo, "blocked", false},
	} {
		f := all[slices.IndexFunc(all, func(f form) bool { return f.family.Name == bad.family })]
		for _, size := range sizes {
			t.Run(fmt.Sprintf("%s/%s/%d", bad.name, f, size.shards), func(t *testing.T) {
				t.Parallel()
				routed := f.many(t, bad.route, size)
				first, second := beyondPosterior(routed), unlikePlain(routed)
				t.Log(first)
				t.Log(second)
				if first == "" || second == "" && bad.rate {
					t.Error("not noticed")
				}
			})
		}
	}
}
