// Package families is the list of all families. An entry describes the abilities of a family's filters and the
// parameters of its specs, and has the functions that make, read and forecast its filters. The library, the planner,
// the command with its flags and help, and the tests all read this list.
//
// To add a family, add a package in internal/family/, an entry in list, the specs for the conformance suite
// (conformance_test.go), golden files, and its costs (go generate ./internal/costs).
package families

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/family/bitsandblooms"
	"github.com/bloomery/bloomery/internal/family/blocked"
	"github.com/bloomery/bloomery/internal/family/blockpartitioned"
	"github.com/bloomery/bloomery/internal/family/counting"
	"github.com/bloomery/bloomery/internal/family/dleft"
	"github.com/bloomery/bloomery/internal/family/fuse"
	"github.com/bloomery/bloomery/internal/family/guava"
	"github.com/bloomery/bloomery/internal/family/partitioned"
	"github.com/bloomery/bloomery/internal/family/rankindexed"
	"github.com/bloomery/bloomery/internal/family/redisbloom"
	"github.com/bloomery/bloomery/internal/family/ribbon"
	"github.com/bloomery/bloomery/internal/family/standard"
	"github.com/bloomery/bloomery/internal/family/twochoice"
)

// list has all families, in the order of tables. An id is part of the file format and must never be reused for another
// family. Families of other systems have ids from 20 on and their own hash functions. Parquet's filters belong to
// family blocked; see Family.TakesHash.
var list = []Family{
	entry(1, standard.About, standard.ConfigFromSpec, standard.New, standard.NewBuilder, standard.SectionWords,
		standard.Decode),
	entry(2, blocked.About, blocked.ConfigFromSpec, blocked.New, blocked.NewBuilder, blocked.SectionWords, blocked.Decode),
	entry(3, fuse.About, fuse.ConfigFromSpec, nil, fuse.NewBuilder, fuse.SectionWords, fuse.Decode),
	entry(4, partitioned.About, partitioned.ConfigFromSpec, nil, partitioned.NewBuilder, partitioned.SectionWords,
		partitioned.Decode),
	entry(5, blockpartitioned.About, blockpartitioned.ConfigFromSpec, nil, blockpartitioned.NewBuilder,
		blockpartitioned.SectionWords, blockpartitioned.Decode),
	entry(6, twochoice.About, twochoice.ConfigFromSpec, twochoice.New, twochoice.NewBuilder, twochoice.SectionWords,
		twochoice.Decode),
	entry(7, rankindexed.About, rankindexed.ConfigFromSpec, rankindexed.New, rankindexed.NewBuilder,
		rankindexed.SectionWords, rankindexed.Decode).inflating(rankindexed.Inflated),
	entry(8, counting.About, counting.ConfigFromSpec, counting.New, counting.NewBuilder, counting.SectionWords,
		counting.Decode),
	entry(9, dleft.About, dleft.ConfigFromSpec, dleft.New, dleft.NewBuilder, dleft.SectionWords, dleft.Decode),
	entry(10, ribbon.About, ribbon.ConfigFromSpec, nil, ribbon.NewBuilder, ribbon.SectionWords, ribbon.Decode),

	entry(20, guava.About, guava.ConfigFromSpec, guava.New, guava.NewBuilder, guava.SectionWords, guava.Decode),
	entry[bitsandblooms.Config, *bitsandblooms.Filter, family.Builder](21, bitsandblooms.About,
		bitsandblooms.ConfigFromSpec,
		bitsandblooms.New, nil, bitsandblooms.SectionWords, bitsandblooms.Decode),
	entry(22, redisbloom.About, redisbloom.ConfigFromSpec, redisbloom.New, redisbloom.NewBuilder, redisbloom.SectionWords,
		redisbloom.Decode),
}

// All returns all families, in the order of tables.
func All() []Family { return slices.Clone(list) }

// Forms returns the specs, without sizes, of the forms of all families: those that a planner compares.
func Forms() (specs []filter.Spec) {
	for _, f := range list {
		for _, form := range f.Forms {
			specs = append(specs, form.Spec)
		}
	}
	return specs
}

// ByName returns a family, or an error wrapping filter.ErrFamily that lists all names.
func ByName(name string) (Family, error) {
	for _, f := range list {
		if f.Name == name {
			return f, nil
		}
	}
	return Family{}, fmt.Errorf("%w %q; want one of %s", filter.ErrFamily, name, strings.Join(names(list), ", "))
}

// ByID returns a family by its id in files, or an error wrapping filter.ErrFamily.
func ByID(id uint16) (Family, error) {
	for _, f := range list {
		if f.ID == id {
			return f, nil
		}
	}
	return Family{}, fmt.Errorf("%w %d", filter.ErrFamily, id)
}

// Names returns the names of all families, in the order of All.
func Names() []string { return names(list) }

// With returns the names of our families, without those of other systems, that have all abilities of can.
func With(can family.Ability) []string {
	return names(slices.DeleteFunc(All(), func(f Family) bool { return f.Foreign() || !f.Can.Has(can) }))
}

// Taking returns the names of our families whose specs take a parameter.
func Taking(parameter string) []string {
	return names(slices.DeleteFunc(All(), func(f Family) bool { return f.Foreign() || !f.Takes(parameter) }))
}

func names(fs []Family) []string {
	s := make([]string, len(fs))
	for i, f := range fs {
		s[i] = f.Name
	}
	return s
}

// Having returns the names of all families, those of other systems included, that have all abilities of can.
func Having(can family.Ability) []string {
	return names(slices.DeleteFunc(All(), func(f Family) bool { return !f.Can.Has(can) }))
}

// Lacks returns the error for a filter of a family that lacks an ability: it wraps filter.ErrUnsupported and names the
// families that have it. A family that takes raw keys may have it for these only, not for their hashes.
func Lacks(s filter.Spec, can family.Ability) error {
	if f, err := ByName(s.Family()); err == nil && f.Can.Has(can) && f.Can.Has(family.CanRawKeys) {
		return fmt.Errorf("the family takes raw keys, not their hashes: %w", filter.ErrUnsupported)
	}
	others := strings.Join(Having(can), ", ")
	return fmt.Errorf("%s does not %s; families that do: %s: %w", s, can, others, filter.ErrUnsupported)
}
