// Package bloomery builds, queries and stores compact approximate-membership filters. A filter answers "is this key in the
// set?" from a few bits a key. It never says no for a key that was added; it says yes for an absent key with a
// false-positive rate that you choose and that the filter can tell.
//
// Most programs need three calls: Build a Set of keys, Save it, and Open it elsewhere and call Contains.
//
// A Spec names a filter: a family and its parameters.
//
//	standard(fpr=0.01)                the plain Bloom filter: any size, keys at any time, union and intersection
//	blocked(bits_per_key=12)          one cache miss per query, for a few bits more; layout=split is Parquet's
//	fuse(width=8)                     static and fast to query: 9 bits a key at a rate of 0.39%
//	partitioned(bits_per_key=8)       a search fits it to its keys: 0.70% at 8 bits a key
//	blockpartitioned(bits_per_key=8)  the same in one cache line: 0.91%
//	twochoice(bits_per_key=16)        keys choose among groups of positions: by Build a third of the rate of standard
//	rankindexed(capacity=1000000)     keys come and go; counting=1 counts them, value_bits=8 keeps a value with each
//	counting(fpr=0.01)                the counting Bloom filter: keys may be removed; four times standard
//	dleft(fpr=0.01)                   keys may be removed, in 16 bits a key; counting=1 counts them in less room
//	guava, bitsandblooms, redisbloom  filters of other systems; package interop reads and writes their files
//
// Instead of a Spec, Config.Needs says what the filter must do, and the planner chooses.
//
// Packages below: filter (the vocabulary), family/... (one package a family), families (the list of them), plan (what a
// filter costs), container (the file format).
package bloomery

import (
	"context"
	"crypto/rand"
	"iter"

	"github.com/bloomery/bloomery/families"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/plan"
)

// DefaultSpec is the filter of a Config without Spec and Needs.
const DefaultSpec = "standard(fpr=0.01)"

// Key is what can be a key. Named types hash as their underlying type; an integer is its eight bytes, little endian.
type Key interface{ ~string | ~[]byte | ~uint64 }

// Config says what filter to make and how. The zero value makes a standard Bloom filter with a false-positive rate of 1%.
type Config struct {
	// Spec names a family and its parameters, see the package comment. Default: DefaultSpec, unless Needs is set.
	Spec string
	// Needs has the planner choose the filter, as the command does without --family: see Config.Choose. It is not used with
	// a Spec. Needs.Keys is not used: Keys is.
	Needs plan.Needs
	// Capacity is how many keys the filter that the planner chooses must have room for, those that are added later included:
	// it raises Needs.Later. A Spec says capacity= itself.
	Capacity uint64
	// Chosen, if not nil, is called when the planner has chosen a filter, before keys go into it.
	Chosen func(plan.Choice)
	// Keys is how many keys will come. New sizes the filter for them. For Build and a Builder it is an exact number that
	// saves counting, or 0 if it is not known: they then keep the hashes of all keys, 16 bytes each, until they are
	// counted. Duplicates count, in the number and in the size, except in families that drop them (fuse, partitioned,
	// blockpartitioned, twochoice, and without counters rankindexed).
	Keys uint64
	// Seed of the hash function. The same keys, Spec and Seed give the same file, byte for byte.
	Seed uint64
	// Secret makes the hash a keyed one (SipHash-128): without the secret nobody can find keys that are falsely present.
	// It is not stored; Open and Read need it again. It excludes Seed. See NewSecret.
	Secret *[filter.SecretSize]byte
	// Hash selects the hash function of another system: XXH64 makes a blocked(layout=split) a filter of Parquet. It excludes
	// Seed and Secret. Zero: the family's own hash; in ours, SipHash with a Secret, else XXH3.
	Hash filter.HashID
	// Workers is how many goroutines a Build uses for searching and sorting. Default: GOMAXPROCS.
	Workers int
	// Memory bounds the bytes of key hashes that a Build holds in memory; the others go to a temporary file in TempDir.
	// Default: no bound in families that gather keys, and 64 MiB while keys are only counted. The filter itself, and what a
	// search needs, come on top.
	Memory int64
	// TempDir is the folder of temporary files. Default: os.TempDir().
	TempDir string
	// Progress, if not nil, is called by Build about ten times a second, from one goroutine, in families that take a while
	// after the last key.
	Progress func(filter.Progress)
	// Concurrent makes a Set whose Add, TestAndAdd and, where the family has it, Remove are safe for any number of
	// goroutines, together with all queries. Families: standard, blocked, rankindexed, counting, dleft.
	Concurrent bool
}

// NewSecret returns a random secret for Config.Secret.
func NewSecret() *[filter.SecretSize]byte {
	var s [filter.SecretSize]byte
	_, _ = rand.Read(s[:]) // never fails, as its documentation says
	return &s
}

// New returns an empty Set with room for Config.Keys keys; add them with Add. Families that are built at once, such as fuse,
// give an error wrapping errors.ErrUnsupported: use Build. Some families can be full: their Add then returns an error
// wrapping filter.ErrFull, in rankindexed a little beyond Config.Keys unless its spec has growth=.
func New(c Config) (*Set, error) {
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
	f, err := family.New(spec, c.Keys)
	if err != nil {
		return nil, err
	}
	return newSet(f, h, c.Concurrent)
}

// Build makes a Set of keys. It ranges over keys once and keeps no slice that they yield. It stops with ctx.Err() when ctx
// ends. Without Config.Keys it keeps the hashes of all keys until they are counted, 16 bytes each; families that gather
// their keys anyway take no more than that.
//
// Duplicates do no harm, except that they count as keys when the size is chosen; see Config.Keys. A family that counts, such
// as rankindexed(counting=1), counts them.
func Build[K Key](ctx context.Context, keys iter.Seq[K], c Config) (*Set, error) {
	b, err := NewBuilder(c)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	if err := feed(ctx, b, keys); err != nil {
		return nil, err
	}
	return b.Build(ctx)
}

// Plan ranks the filters that meet the needs, best first, with the bits and the time that each costs. The Spec of a choice
// goes into Config. Errors are those of plan.For: for needs that nothing meets it says why and what comes nearest.
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
	f, err := families.ByName(s.Family())
	if err == nil && c.Concurrent && !f.Can.Has(filter.CanConcurrent) {
		err = families.Lacks(s, filter.CanConcurrent)
	}
	return f, s, err
}

// open reports whether the planner has to choose the Spec.
func (c Config) open() bool { return c.Spec == "" && (c.Needs != plan.Needs{} || c.Capacity > 0) }
