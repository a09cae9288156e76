// Package bloomery builds, queries and stores compact approximate-membership filters. A filter answers "is this key in
// the set?" from a few bits per key. It has no false negatives. You choose its false-positive rate, the share of absent
// keys for which it says yes, and the filter reports it.
//
// Most programs need three calls: Build a Set of keys, Save it, and Open it elsewhere and call Contains.
//
// A Spec names a filter: a family and its parameters.
//
//	standard(fpr=0.01)                the plain Bloom filter: any size, keys at any time, union and intersection
//	blocked(bits_per_key=12)          one cache miss per query, for a few bits more; layout=split is Parquet's
//	ribbon(r=8)                       static and smallest: 8.03 bits per key at a rate of 0.39%; value_bits=8 for values
//	fuse(width=8)                     static and fast to query: 9 bits per key at a rate of 0.39%
//	partitioned(bits_per_key=8)       a search fits it to its keys: 0.70% at 8 bits per key
//	blockpartitioned(bits_per_key=8)  the same with one cache line per query: 0.91%
//	twochoice(bits_per_key=16)        keys choose among groups of positions: with Build 1/3 of the rate of standard
//	rankindexed(capacity=1000000)     add and remove keys; counting=1 counts them, value_bits=8 stores a value per key
//	counting(fpr=0.01)                the counting Bloom filter: keys can be removed; 4 times the size of standard
//	dleft(fpr=0.01)                   keys can be removed; 16 bits per key; counting=1 counts them in less space
//	guava, bitsandblooms, redisbloom  filters of other systems; package interop reads and writes their files
//
// Instead of a Spec, Config.Needs says what the filter must do, and the planner chooses.
//
// Packages: filter (shared types), family/... (one package per family), families (the list of families), plan
// (forecasts of size, rate and time), container (the file format).
package bloomery

import (
	"context"
	"crypto/rand"
	"errors"
	"iter"

	"github.com/bloomery/bloomery/families"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/intake"
	"github.com/bloomery/bloomery/plan"
)

// DefaultSpec is the filter of a Config without Spec and Needs.
const DefaultSpec = "standard(fpr=0.01)"

// Key is the constraint of key types. Named types hash as their underlying type, integers as 8 bytes, little endian.
type Key interface{ ~string | ~[]byte | ~uint64 }

// Config selects the filter and how to build it. The zero value selects a standard Bloom filter with a rate of 1%.
type Config struct {
	// Spec names a family and its parameters, see the package comment. Default: DefaultSpec, unless Needs is set.
	Spec string
	// Needs makes the planner choose the filter, as the command does without --family; see Config.Choose. It cannot be
	// combined with Spec. Needs.Keys is ignored: set Keys. New needs a filter that takes keys, as if Needs.Add were set.
	Needs plan.Needs
	// Like, if not nil, is a Set of a similar key list, such as yesterday's. The new Set has its geometry, hash
	// function with seed or secret, chosen rate and form (see Set.Trimmed), so that few bits differ: few bytes update a
	// copy of Like, see package delta. Families that search keep what the search of Like has chosen and do not search
	// again; their rate rises as keys change, see Set.CheckFPR. ribbon and fuse keep only the size of their
	// fingerprints: all their bits change with their keys. If Like has values, every key needs one. Build returns an error
	// wrapping filter.ErrFull if Like has no room for the keys.
	//
	// Spec, Needs, Capacity, FPRChosen, Seed, Secret and Hash must not be set, and Shards must be 0 or that of Like.
	// Like must not change before Build has returned. A ShardBuilder takes a sharded Set, Build and a Builder one that
	// is not, New none.
	Like *Set
	// Shrink is the largest fraction, in [0, 1], of the keys of Like that the new Set may have lost. Default: 0.5, and
	// never all of them; 1 allows every loss. It holds for the keys, for the list of Allow, and for counts: how often keys
	// come again in a Set that counts. If more is lost, Build returns a *filter.ShrinkError, and a ShardBuilder leaves the
	// folder as it is: a list that was cut must not replace a good one. An Optimizer takes it, too. It must be 0 without
	// Like.
	Shrink float64
	// Capacity is the number of keys for which the planner must choose a filter, including keys that are added later:
	// it raises Needs.Later. With a Spec, use its parameter capacity instead. Build returns an error wrapping
	// filter.ErrFull if the Set would have more distinct keys than Capacity, as far as its bits tell.
	Capacity uint64
	// Chosen, if not nil, is called when the planner has chosen a filter, before keys are added to it.
	Chosen func(plan.Choice)
	// FPRChosen is the false-positive rate that the filter is meant to keep. It is stored in the file, and Info.Exceeded
	// compares the filter with it. Default: the rate of Spec (fpr=, or the rate of a family that has one by default) or
	// of Needs; for a size in bits per key the rate forecast for the keys, or for the capacity, to three digits, if it is
	// at most filter.UselessFPR; else none.
	FPRChosen float64
	// MaxFPR, if not 0, is the highest false-positive rate of the built filter: if the filter Exceeds it, Build returns
	// a *filter.RateError. After other changes use Set.CheckFPR.
	MaxFPR float64
	// Keys is the number of keys. New sizes the filter for it. For Build and a Builder it must be exact, or 0 if it is
	// unknown: they then keep the hashes of all keys, 16 bytes each, until they are counted. With another number than
	// Keys, Build returns a *filter.KeysError. Duplicates count as keys and increase the size, except in families that
	// drop them (ribbon, fuse, partitioned, blockpartitioned, twochoice, and rankindexed without counters).
	Keys uint64
	// MaxBytes, if not 0, is the largest size in bytes of the filter that is made, of all shards together: set it to use
	// a Config from someone else. If the Config, or the number of keys, asks for more, the error wraps
	// filter.ErrTooLarge, before memory is allocated for the filter. A build takes memory for the keys besides; see
	// Memory. Families that gather their keys count duplicates here.
	MaxBytes uint64
	// Shards is the number of shards of a ShardBuilder and BuildShards, at most shard.Max. 0 is AutoShards of the number
	// of keys. More shards than keys are an error if there are more than 4,096. It must be 0 for Build, a Builder and
	// New, which make one filter.
	Shards int
	// Seed of the hash function. The same keys, Spec and Seed give the same file, byte for byte.
	Seed uint64
	// Secret selects a keyed hash (SipHash-128): false positives cannot be found without the secret. Files do not
	// contain it; Open and Read need it again. It cannot be combined with Seed. See NewSecret.
	Secret *[filter.SecretSize]byte
	// Hash selects the hash function of another system: with XXH64, blocked(layout=split) is a filter of Parquet. It
	// cannot be combined with Seed and Secret. Zero: the family's own hash; in ours, SipHash with a Secret, else XXH3.
	Hash filter.HashID
	// Workers is the number of goroutines that a Build uses for searching and sorting. Default: GOMAXPROCS.
	Workers int
	// Memory is the maximum size in bytes of the key hashes that a Build holds in memory. Further hashes go to a
	// temporary file in TempDir. Default: no limit in families that gather keys, and 64 MiB while keys are only
	// counted. The memory of the filter and of a search is not included.
	Memory int64
	// TempDir is the folder of temporary files. Default: os.TempDir().
	TempDir string
	// Progress, if not nil, is called by Build about ten times per second, from one goroutine, in families with a long
	// build after the last key.
	Progress func(filter.Progress)
	// Concurrent selects the form of the Set that any number of goroutines may change and query at the same time.
	// Families: standard, blocked, rankindexed, counting, dleft.
	Concurrent bool
	// Allow, if not nil, yields keys that are not members and for which the Set must answer false. Build stores with
	// the Set which of them would be false positives: see Allower. It ranges over Allow once, after the filter is made.
	// If one of them is a member, the error is a *filter.AllowedError. The Builder keeps the hashes of all keys until
	// then, as without Keys. With Like, exceptions have about the geometry of those of that Set. A ShardBuilder ranges
	// over Allow before it makes the shards, and again only to name the keys that are members. New does not take it,
	// nor do families and hash functions of other systems. The keys of the Set cannot change: Needs must not ask for
	// Add, Remove, Count, Merge or Writers.
	Allow iter.Seq[[]byte]
}

// NewSecret returns a random secret for Config.Secret.
func NewSecret() *[filter.SecretSize]byte {
	var s [filter.SecretSize]byte
	_, _ = rand.Read(s[:]) // documented never to fail
	return &s
}

// New returns an empty Set with room for Config.Keys keys. For static families, such as ribbon, the error wraps
// errors.ErrUnsupported: use Build. Some families can be full: their Add then returns an error wrapping filter.ErrFull,
// in rankindexed a little beyond Config.Keys unless its spec has growth=.
func New(c Config) (*Set, error) {
	if c.Like != nil {
		const reason = "New makes none like it; take Clone and Reset"
		return nil, &filter.ConfigError{Field: "like", Value: "a Set", Reason: reason}
	}
	if c.Allow != nil {
		return nil, &filter.ConfigError{Field: "allow", Value: "list", Reason: "exceptions need all members; use Build"}
	}
	if err := c.checkOne(); err != nil {
		return nil, err
	}
	c.Needs.Add = c.Needs.Add || c.open()
	c, err := c.Resolve(context.Background())
	if err != nil {
		return nil, err
	}
	family, spec, err := c.family()
	if err != nil {
		return nil, err
	}
	if family.New == nil {
		return nil, families.Lacks(spec, filter.CanStartEmpty)
	}
	h, err := family.Hasher(spec, c.Hash, c.Seed, c.Secret)
	if err != nil {
		return nil, err
	}
	if err := c.checkSize(family, spec, c.Keys); err != nil {
		return nil, err
	}
	f, err := family.New(spec, c.Keys)
	if err != nil {
		return nil, err
	}
	set, err := newSet(f, h, c.Concurrent)
	if err == nil {
		set.choose(c.chosenFPR(family, spec, c.Keys, set))
	}
	return set, err
}

// Build returns a Set of keys. It ranges over keys once and keeps no slice that keys yields. When ctx ends, it returns
// ctx.Err(). Without Config.Keys it keeps the hashes of all keys, 16 bytes each, until they are counted. Families that
// gather their keys need no additional memory for this.
//
// Duplicates are allowed, but may increase the size; see Config.Keys. Families that count, such as
// rankindexed(counting=1), count them.
func Build[K Key](ctx context.Context, keys iter.Seq[K], c Config) (*Set, error) {
	b, err := NewBuilder(c)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	if err := intake.Feed(ctx, b.in, keys); err != nil {
		return nil, err
	}
	return b.Build(ctx)
}

// Plan returns the filters that meet the needs, best first, with size and times of each. Use the Spec of a choice in a
// Config. Errors are those of plan.For. If no filter meets the needs, the error gives the reason and the nearest
// filters.
func Plan(ctx context.Context, n plan.Needs) (plan.Plan, error) { return plan.For(ctx, n) }

// family returns the family and the Spec of a Config without open Needs.
func (c Config) family() (families.Family, filter.Spec, error) {
	text := c.Spec
	if text == "" {
		text = DefaultSpec
	}
	s, err := filter.ParseSpec(text)
	if err != nil {
		return families.Family{}, s, err
	}
	if err := errors.Join(c.checkFields(), c.checkShrink()); err != nil {
		return families.Family{}, s, err
	}
	f, err := families.ByName(s.Family())
	if err == nil && c.Concurrent && !f.Can.Has(filter.CanConcurrent) {
		err = families.Lacks(s, filter.CanConcurrent)
	}
	return f, s, err
}

// open reports whether the planner must choose the Spec.
func (c Config) open() bool {
	return c.Like == nil && c.Spec == "" && (c.Needs != plan.Needs{} || c.Capacity > 0)
}
