package bloomery

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"strings"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/drift"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/plan"
)

// DefaultSpec is the filter of a Config without Spec and Needs.
const DefaultSpec = "standard(fpr=0.01)"

// Config selects the filter and how to build it. The zero value selects a standard Bloom filter with a rate of 1%.
type Config struct {
	// Spec names a family and its parameters; see package filter. Default: DefaultSpec, unless Needs is
	// set.
	Spec string
	// Needs makes the planner choose the filter; see Choose. It cannot be combined with Spec. Needs.Keys is
	// ignored: set Keys. New chooses as if Needs.Add were set.
	Needs plan.Needs
	// Like, if not nil, is a Set of a similar key list, such as yesterday's. The new Set has its geometry, hash
	// function with seed or secret, chosen rate and form (see Set.Trimmed), so that few bits differ and a delta is
	// small: see package delta. Families that search keep the result of the search of Like, so their rate rises as keys
	// change; see filter.Info.Exceeded. In ribbon and fuse all bits change with the keys. If Like has values, every key
	// needs one. Build returns an error wrapping filter.ErrFull if Like has no room for the keys.
	//
	// Spec, Needs, Capacity, FPRChosen, Seed, Secret and Hash must not be set, and Shards must be 0 or the number of
	// shards of Like. Like must not change before Build has returned. With Dir, Like must be a sharded Set, and may be
	// the set in Dir; without Dir, it must not be sharded. New does not take it.
	Like *Set
	// Shrink is the largest fraction, in [0, 1], of the keys of Like that the new Set may have lost: a list that was
	// cut must not replace a good one. The limit applies to the keys, to the list of Allow, and, if the Set counts
	// duplicates, to the duplicates. If more is lost, Build returns an error wrapping filter.ErrShrunk and leaves Dir as it
	// is. Default: 0.5, which never allows the loss of all keys; 1 allows every loss. It must be 0 without Like.
	Shrink float64
	// Capacity is the number of keys for which the planner chooses a filter, including keys that are added
	// later: it raises Needs.Later. With a Spec, New sizes the filter for it if Keys is less; for Build use
	// the parameter capacity instead. Build returns an error wrapping filter.ErrFull if the Set would have
	// more distinct keys than Capacity, as far as its bits tell.
	Capacity uint64
	// Chosen, if not nil, is called when the planner has chosen a filter, before keys are added to it.
	Chosen func(plan.Choice)
	// FPRChosen is the false-positive rate that the filter is meant to keep. It is stored in the file, and
	// filter.Info.Exceeded compares the filter with it. Default: the rate of Spec or Needs; for a size in bits per key,
	// the forecast rate for the keys, or for the capacity, rounded to three digits, if it is at most filter.UselessFPR;
	// else none.
	FPRChosen float64
	// MaxFPR, if not 0, is the highest false-positive rate of the built filter: if the filter exceeds it by the rules
	// of filter.Info.Exceeded, Build returns an error wrapping filter.ErrRate. New returns it if the filter would
	// exceed the rate at its full number of keys.
	MaxFPR float64
	// Keys is the number of keys. New sizes the filter for it. For Build and a Builder it must be exact, or else the
	// error wraps filter.ErrKeys. If it is unknown, set 0: they then keep the hashes of all keys, 16 bytes each, until
	// they are counted. Duplicates count as keys and increase the size, except in families that drop them (ribbon,
	// fuse, partitioned, blockpartitioned, twochoice, and rankindexed without counters).
	Keys uint64
	// MaxBytes, if not 0, is the largest size in bytes of the filter, or of all shards together. Set it if the Config
	// comes from somebody else. If the Config or the number of keys asks for more, the error wraps filter.ErrTooLarge,
	// before memory is allocated for the filter. Families that gather their keys count duplicates here. For the memory
	// of the keys see Memory.
	MaxBytes uint64
	// Dir, if not empty, makes Build and a Builder build a sharded set in this folder: a manifest and the
	// filters of the shards; see package shard. The folder is absent, empty, or a sharded set, which is
	// replaced when Build returns. Sizes and Keys are for the whole set: each shard gets its part, with
	// room for the fullest one. Specs that fix all sizes, such as m=, and budget= cannot be sharded, nor
	// can families that take raw keys.
	Dir string
	// Shards is the number of shards of a set in Dir, at most shard.Max. 0 is the smallest number with at
	// most 2^22 keys a shard on average: 8 MiB at 16 bits a key. More shards than keys are an error if
	// there are more than 4,096. It must be 0 without Dir.
	Shards int
	// Seed of the hash function. The same keys, Spec and Seed give the same file, byte for byte.
	Seed uint64
	// Secret selects a keyed hash (SipHash-128): nobody can search for false positives without the secret. Files do not
	// contain it; pass it to Open and Read. It cannot be combined with Seed. See filter.NewSecret.
	Secret *filter.Secret
	// Hash selects the hash function of another system: with XXH64, blocked(layout=split) is a filter of
	// Parquet. It cannot be combined with Seed and Secret. Zero: the family's own hash; in ours, SipHash
	// with a Secret, else XXH3.
	Hash filter.HashID
	// Workers is the number of goroutines that a Build uses for searching and sorting. Default: GOMAXPROCS.
	Workers int
	// Memory is the maximum size in bytes of the key hashes that a Build holds in memory. Further hashes go
	// to a temporary file in TempDir. Default: no limit in families that gather keys, and 64 MiB while keys
	// are only counted. The memory of the filter and of a search is not included.
	Memory int64
	// TempDir is the folder of temporary files. Default: os.TempDir().
	TempDir string
	// Progress, if not nil, is called by Build about ten times per second, from one goroutine, in families
	// with a long build after the last key.
	Progress func(filter.Progress)
	// Concurrent selects the form of the Set that any number of goroutines may change and query at the same
	// time. Families: standard, blocked, rankindexed, counting.
	Concurrent bool
	// Allow, if not nil, yields keys that are not members and for which the Set must answer false; see Allower. If one
	// of them is a member, the error is a *filter.AllowedError. The Builder keeps the hashes of all keys until then, as
	// if Keys were 0. Build ranges over Allow once, after it has made the filter, or with Dir before it makes the
	// shards; if keys are members, it ranges again to name them. With Like, exceptions have about the geometry of the
	// exceptions of that Set. New does not take it, nor do families and hash functions of other systems. The keys of
	// the Set cannot change: Needs must not ask for Add, Remove, Count, Merge or Writers.
	Allow iter.Seq[[]byte]
}

// String returns the fields of the Config that are set, such as bloomery.Config{Spec:standard Keys:1000}. For the
// secret, Like and functions it shows only that they are set.
func (c Config) String() string {
	var shown []string
	v := reflect.ValueOf(c)
	for i := range v.NumField() {
		field, name := v.Field(i), v.Type().Field(i).Name
		switch {
		case field.IsZero():
		case field.Kind() == reflect.Pointer || field.Kind() == reflect.Func:
			shown = append(shown, name+":...")
		default:
			shown = append(shown, fmt.Sprintf("%s:%+v", name, field.Interface()))
		}
	}
	return "bloomery.Config{" + strings.Join(shown, " ") + "}"
}

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
	if err == nil && c.Concurrent && !f.Can.Has(family.CanConcurrent) {
		err = families.Lacks(s, family.CanConcurrent)
	}
	return f, s, err
}

// open reports whether the planner must choose the Spec.
func (c Config) open() bool {
	return c.Like == nil && c.Spec == "" && (c.Needs != plan.Needs{} || c.Capacity > 0)
}

// resolved returns the family and the Spec of a Config that names a Spec, checked, and the hasher of the keys.
func (c Config) resolved() (f families.Family, s filter.Spec, h filter.Hasher, err error) {
	if f, s, err = c.family(); err != nil {
		return f, s, h, err
	}
	if err = f.Check(s); err != nil {
		return f, s, h, err
	}
	if h, err = f.Hasher(s, c.Hash, c.Seed, c.Secret); err == nil {
		err = c.checkAllow(h)
	}
	return f, s, h, err
}

// checkFields returns an error if a field of the Config is out of range by itself, or if Spec and Needs are set.
func (c Config) checkFields() error {
	if err := cmp.Or(engine.CheckChosen("fpr_chosen", c.FPRChosen), engine.CheckChosen("max_fpr", c.MaxFPR)); err != nil {
		return err
	}

	for _, n := range []struct {
		name  string
		value int64
	}{{"shards", int64(c.Shards)}, {"workers", int64(c.Workers)}, {"memory", c.Memory}} {
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
	case c.Dir != "":
		return family.Invalid("dir", c.Dir, "an empty Set has no folder; leave it out, or take Build")
	case c.Shards != 0:
		return family.Invalid("shards", c.Shards, "one filter has no shards; leave it out, or set Dir and take Build")
	}
	return c.checkFields()
}

// checkNew returns an error if a field is set that New cannot honor. Workers, Memory, TempDir and Progress are allowed:
// New has no work that they limit.
func (c Config) checkNew() error {
	return cmp.Or(
		family.Refused("like", c.Like != nil, "New makes none like it; take Clone and Reset"),
		family.Refused("allow", c.Allow != nil, "exceptions need all members; use Build"),
		family.Refused("needs.keys", c.Needs.Keys > 0 && max(c.Keys, c.Capacity) == 0, "New ignores it; set Config.Keys"),
		c.checkShrink(),
	)
}

// checkAllow returns an error if sets with that hash function cannot have exceptions.
func (c Config) checkAllow(h filter.Hasher) error {
	switch {
	case c.Allow == nil && c.Like != nil && c.Like.Info().ExceptionBits > 0:
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
	old := c.Like
	if old.isEmpty() {
		return family.Invalid("like", "an empty Set", "want one that was built or read")
	}

	const no = "with like, size, hash function, chosen rate and shards are taken from that set; leave it out"
	if err := cmp.Or(
		family.Refused("spec", c.Spec != "", no), family.Refused("needs", c.Needs != (plan.Needs{}), no),
		family.Refused("capacity", c.Capacity != 0, no), family.Refused("fpr_chosen", c.FPRChosen != 0, no),
		family.Refused("seed", c.Seed != 0, no), family.Refused("secret", c.Secret != nil, no),
		family.Refused("hash", c.Hash != 0, no),
		family.Refused("shards", c.Shards != 0 && c.Shards != old.inner().Facts().Stored.Shards, no),
	); err != nil {
		return err
	}
	_, err := drift.AllowedShrink(c.Shrink, drift.ShrinkOfList)
	return errors.Join(c.checkFields(), err)
}

// checkShrink returns an error if Shrink is set without Like.
func (c Config) checkShrink() error {
	if c.Shrink != 0 && c.Like == nil {
		return family.Invalid("shrink", c.Shrink, "it is for like; leave it out")
	}
	return nil
}
