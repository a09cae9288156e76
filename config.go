package bloomery

import (
	"cmp"
	"iter"
	"reflect"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/drift"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/intake"
	"github.com/bloomery/bloomery/plan"
)

// Config selects the filter of a Set and says how to build it. Every function that takes a Config uses each field or
// returns an error for it.
type Config struct {
	// Spec names a family and its parameters; see package filter. Without Spec, Needs and Capacity, a build takes
	// ribbon, which is static (standard with Concurrent), and New takes standard, both with a rate of 1% unless FPR is
	// set.
	Spec string
	// FPR is the false-positive rate to keep, such as 0.001. It sets fpr= of the Spec. For a Spec with another size,
	// such as bits_per_key=, it is stored as the planned rate, and if the forecast or the built filter exceeds it, the
	// error wraps filter.ErrRate. Beside fpr= or Needs.FPR it must be the same rate.
	FPR float64
	// Keys is the number of keys. New sizes the filter for it. For a build it must be exact, or the error wraps
	// filter.ErrKeys; 0 means unknown: unless it folds, the build keeps all hashes, 16 bytes each. Duplicates count,
	// except in folded filters, ribbon, fuse, partitioned, blockpartitioned, twochoice and, without counters, rankindexed.
	Keys uint64
	// Capacity is the number of keys for which the planner chooses a filter, with keys that are added later: it raises
	// Needs.Later. With a Spec, New sizes the filter for it if Keys is less. Build returns an error wrapping
	// filter.ErrFull if the Set has more distinct keys; where duplicates count, it estimates this number from the bits.
	// A build of blocked or standard with a Capacity and unknown Keys folds: in the memory of a filter for Capacity keys
	// it makes one for the keys that come. It does not fold with Allow, a size that is not a rate, or if that memory
	// exceeds Limits.Bytes; see docs/guides/large.md.
	Capacity uint64
	// Needs makes the planner choose the filter, without Spec; see Choose. Needs.Keys is ignored: set Keys. New chooses
	// as if Needs.Add were set.
	Needs plan.Needs

	Like     Like     // an earlier Set, for a build of a similar one
	Hashing  Hashing  // the hash function of the keys; default: XXH3 in our own families
	Sharding Sharding // a folder of shards instead of one filter, for a build
	Limits   Limits   // what the filter must not exceed
	Building Building // resources and reports of a build; New has no work that they limit

	// Concurrent selects the form of the Set that any number of goroutines may change and query at the same time.
	// Families: standard, blocked, rankindexed, counting.
	Concurrent bool
	// Allow, if not nil, yields keys for which the Set must answer false; see Allower. If one of them is a member, the
	// error is a *filter.AllowedError. A build ranges over Allow once, and again to name such members, and keeps the
	// hashes of all keys. The Set cannot change then: Needs must not ask for Add, Remove, Count, Merge or Writers.
	Allow iter.Seq[[]byte]
}

// Like makes a build follow an earlier Set.
type Like struct {
	// Set, if not nil, was built of a similar key list, such as yesterday's. The new Set has its geometry, hash
	// function, planned rate and form (see Set.Trimmed), so that few bits differ and a delta is small; see package
	// delta. Fields of the Config for these must be zero. Families that search keep the result of the search: see
	// filter.Info.Exceeded. If it has no room for the keys, the error wraps filter.ErrFull. It must not change before
	// Build has returned. With Sharding.Dir it must be a sharded Set, and may be the set in Dir.
	Set *Set
	// Shrink is the largest fraction, in [0, 1], of the keys of Set, of their duplicates and of the list of Allow that
	// the new Set may lose. If it loses more, the error wraps filter.ErrShrunk. Default: 0.5; 1 allows every loss.
	Shrink float64
}

// Hashing selects the hash function of the keys.
type Hashing struct {
	ID     filter.HashID  // hash function of another system, such as XXH64 for Parquet's filters, without Seed and Secret
	Seed   uint64         // the same keys, Spec and Seed give the same file, byte for byte
	Secret *filter.Secret // makes the hash SipHash-128; not in the file; see filter.NewSecret
	Form   filter.KeyForm // how the keys become bytes; stored and shown, and must be equal to combine Sets
}

// Sharding makes a build write a sharded set: a folder with a manifest and a filter per shard; see package shard. Sizes
// and keys in the Config are for the whole set.
type Sharding struct {
	Dir    string // folder: absent, empty, or a sharded set, which is replaced when Build returns
	Shards int    // default: the smallest number with at most 2^22 keys per shard on average; at most shard.Max
}

// Limits are what a built filter must not exceed. 0 is no limit.
type Limits struct {
	// Bytes is the largest size of the filter, or of all shards together, in bytes. Above it the error wraps
	// filter.ErrTooLarge, before memory is allocated. Set it if the Config comes from somebody else.
	Bytes uint64
	// FPR is the highest false-positive rate of the built filter, or of an empty one at its full number of keys, by the
	// rules of filter.Info.Exceeded. Above it the error wraps filter.ErrRate.
	FPR float64
}

// Building limits the resources of a build or a job and receives its reports.
type Building struct {
	Workers  int                   // goroutines that search and sort; default: GOMAXPROCS
	Memory   int64                 // largest size of key hashes in memory, in bytes; further ones go to a file in TempDir
	TempDir  string                // folder of temporary files; default: os.TempDir()
	Progress func(filter.Progress) // called from one goroutine, about ten times per second, in long builds; may be nil
	Chosen   func(plan.Choice)     // called when the planner has chosen a filter, before keys are added to it; may be nil
}

// String returns the fields of the Config that are set, such as bloomery.Config{Spec:standard Keys:1000}. For the
// secret, Like.Set and functions it shows only that they are set.
func (c Config) String() string {
	return "bloomery.Config" + engine.FieldsOf(reflect.ValueOf(c))
}

// family returns the family and the Spec of a Config without open Needs. The Spec has fpr= if FPR is its size.
func (c Config) family() (families.Family, filter.Spec, error) {
	c = c.withDefault()
	s, f, err := families.Parse(c.Spec)
	if err != nil {
		return f, s, err
	}
	if err := cmp.Or(c.checkFields(), c.checkShrink()); err != nil {
		return f, s, err
	}
	if c.Concurrent && !f.Can.Has(family.CanConcurrent) {
		return f, s, families.Lacks(s, family.CanConcurrent)
	}

	s, err = engine.WithRate(f, s, c.FPR)
	return f, s, err
}

// The families of a Config without Spec and Needs.
const (
	defaultOfBuild = "ribbon"   // the smallest
	defaultOfNew   = "standard" // takes keys at any time
)

// withDefault returns the Config of a build with the default of Spec, unless the planner or Like.Set decides.
func (c Config) withDefault() Config {
	if c.Spec != "" || c.Like.Set != nil || c.open() {
		return c
	}

	c.Spec, c.FPR = defaultOfBuild, cmp.Or(c.FPR, plan.DefaultFPR)
	if c.Concurrent { // ribbon is static, so it has no form for many writers
		c.Spec = defaultOfNew
	}
	return c
}

// keptRate returns FPR if Spec has a size of another kind, so that the built filter must be compared with FPR, else 0.
func (c Config) keptRate() float64 {
	if c.Spec == "" {
		return 0
	}
	if _, s, err := c.family(); err != nil || family.Given(s, "fpr") {
		return 0
	}
	return c.FPR
}

// mostFPR returns the highest rate that the built filter may have, from Limits.FPR and keptRate, or 0 for no limit.
func (c Config) mostFPR() float64 { return engine.LowerRate(c.Limits.FPR, c.keptRate()) }

// checkForecast returns an error wrapping filter.ErrRate if the forecast of a filter of the Spec for the given number
// of keys, or for the capacity of the Spec, exceeds keptRate. If neither number is known, the error is nil.
func (c Config) checkForecast(keys uint64) error {
	rate := c.keptRate()
	if rate == 0 {
		return nil
	}

	f, s, err := c.family()
	if err != nil {
		return err
	}
	return engine.CheckForecast(f, s, keys, rate)
}

// open reports whether the planner must choose the Spec.
func (c Config) open() bool {
	return c.Like.Set == nil && c.Spec == "" && (c.Needs != plan.Needs{} || c.Capacity > 0)
}

// resolved returns the family and the Spec of a Config that names a Spec, checked, and the hasher of the keys.
func (c Config) resolved() (f families.Family, s filter.Spec, h filter.Hasher, err error) {
	if f, s, err = c.family(); err != nil {
		return f, s, h, err
	}
	if err = f.Check(s); err != nil {
		return f, s, h, err
	}
	if h, err = f.Hasher(s, families.Hashing(c.Hashing)); err == nil {
		err = c.checkAllow(h)
	}
	return f, s, h, err
}

// checkFields returns an error if a field of the Config is out of range by itself, or if Spec and Needs are set.
func (c Config) checkFields() error {
	if err := cmp.Or(engine.CheckRateField("fpr", c.FPR), engine.CheckRateField("limits.fpr", c.Limits.FPR),
		engine.CheckRateField("needs.fpr", c.Needs.FPR)); err != nil {
		return err
	}
	if wanted := c.Needs.FPR; c.FPR != 0 && wanted != 0 && c.FPR != wanted {
		return family.Invalid("fpr", c.FPR, "the needs have another rate, %v; leave one out", wanted)
	}

	for _, n := range []struct {
		name  string
		value int64
	}{{"shards", int64(c.Sharding.Shards)}, {"workers", int64(c.Building.Workers)}, {"memory", c.Building.Memory},
		{"needs.value_bits", int64(c.Needs.ValueBits)}, {"needs.build", int64(c.Needs.Build)}} {
		if n.value < 0 {
			return family.Invalid(n.name, n.value, "want 0, for the default, or more")
		}
	}
	if c.Spec != "" && c.Needs != (plan.Needs{}) {
		return family.Invalid("spec", c.Spec, "the planner has nothing to choose; leave out the spec or the needs")
	}
	return nil
}

// checkOne returns an error if the Config is not for one filter.
func (c Config) checkOne() error {
	switch {
	case c.Sharding.Dir != "":
		return family.Invalid("dir", c.Sharding.Dir, "an empty Set has no folder; leave it out, or take Build")
	case c.Sharding.Shards != 0:
		return family.Invalid("shards", c.Sharding.Shards,
			"one filter has no shards; leave it out, or set Dir and take Build")
	}
	return c.checkFields()
}

// checkNew returns an error if a field is set that New cannot honor. Workers, Memory, TempDir and Progress are allowed:
// New does nothing that they limit.
func (c Config) checkNew() error {
	return cmp.Or(
		family.Refused("like", c.Like.Set != nil, "New makes none like it; take Clone and Reset"),
		family.Refused("allow", c.Allow != nil, "exceptions need all members; use Build"),
		family.Refused("needs.keys", c.Needs.Keys > 0 && max(c.Keys, c.Capacity) == 0, "New ignores it; set Config.Keys"),
		c.checkShrink(),
	)
}

// checkAllow returns an error if sets with that hash function cannot have exceptions.
func (c Config) checkAllow(h filter.Hasher) error {
	switch {
	case c.Allow == nil && c.Like.Set != nil && c.Like.Set.Info().ExceptionBits > 0:
		return family.Invalid("allow", "none", "the set that the new one is like is exact for a list: give the list again")
	case c.Allow == nil:
		return nil
	case c.Needs.Add || c.Needs.Remove || c.Needs.Count || c.Needs.Merge || c.Needs.Writers:
		return family.Invalid("allow", "list", "the exceptions hold only for the keys of the build, so that no key can be "+
			"added, removed or merged, and no count can change; leave out the list or these needs")
	case c.Concurrent:
		return family.Invalid("allow", "list",
			"a set for many writers takes further keys, which may be in the list; leave one out")
	case family.Foreign(h.ID()):
		return family.Invalid("allow", "list",
			"filters of other systems have no exceptions, and %s is the hash function of one; take another family", h.ID())
	}
	return nil
}

// checkLike returns an error if no Set can be built like Like, or another field contradicts it.
func (c Config) checkLike() error {
	old := c.Like.Set
	if old.isEmpty() {
		return family.Invalid("like", "an empty Set", "want one that was built or read")
	}

	facts := old.inner().Facts()
	const no = "with like, size, hash function, planned rate and shards are taken from that set; leave it out"
	if err := cmp.Or(c.checkFields(),
		family.Refused("spec", c.Spec != "", no), family.Refused("needs", c.Needs != (plan.Needs{}), no),
		family.Refused("capacity", c.Capacity != 0, no), family.Refused("fpr", c.FPR != 0, no),
		family.Refused("seed", c.Hashing.Seed != 0, no), family.Refused("secret", c.Hashing.Secret != nil, no),
		family.Refused("hash", c.Hashing.ID != 0, no), family.Refused("form", c.Hashing.Form != filter.KeyForm{}, no),
		family.Refused("shards", c.Sharding.Shards != 0 && c.Sharding.Shards != facts.Stored.Shards, no),
	); err != nil {
		return err
	}
	_, err := drift.AllowedShrink(c.Like.Shrink, drift.ShrinkOfList)
	return cmp.Or(err,
		intake.CheckLike(old.inner(), facts.Filter, facts.Stored.Shards, c.Sharding.Dir != "", c.Limits.Bytes))
}

// checkShrink returns an error if Shrink is set without Like.
func (c Config) checkShrink() error {
	if c.Like.Shrink != 0 && c.Like.Set == nil {
		return family.Invalid("shrink", c.Like.Shrink, "it is for like; leave it out")
	}
	return nil
}
