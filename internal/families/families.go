// Package families lists all families. An entry describes the abilities of a family's filters and the parameters of its
// specs, and contains the functions that make, read and forecast its filters. The library, the planner, the command
// with its flags and help, and the tests all read this list.
//
// The list consists of two tables: formats for readers of files, and makeList for everything else. One table would not
// do, because the linker drops functions, not rows: a table that names a builder links it into every program that reads
// the table, even into a program that only opens and queries filters.
//
// To add a family, add a package in internal/family/, a line in both tables, the specs for the conformance suite
// (conformance_test.go), golden files, and its costs (go generate ./internal/families).
package families

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/family/bitsandblooms"
	"github.com/bloomery/bloomery/internal/family/blocked"
	"github.com/bloomery/bloomery/internal/family/blockpartitioned"
	"github.com/bloomery/bloomery/internal/family/counting"
	"github.com/bloomery/bloomery/internal/family/dcso"
	"github.com/bloomery/bloomery/internal/family/fuse"
	"github.com/bloomery/bloomery/internal/family/java"
	"github.com/bloomery/bloomery/internal/family/partitioned"
	"github.com/bloomery/bloomery/internal/family/rankindexed"
	"github.com/bloomery/bloomery/internal/family/redisbloom"
	"github.com/bloomery/bloomery/internal/family/ribbon"
	"github.com/bloomery/bloomery/internal/family/standard"
	"github.com/bloomery/bloomery/internal/family/twochoice"
)

// formats lists what readers of files need to know about each family, in the order of tables. An id is part of the file
// format and must never be reused for another family. Id 9 is not used. Families of other systems have ids from 20 on
// and their own hash functions. Parquet's filters belong to family blocked; see Format.TakesHash.
var formats = []Format{
	format(1, standard.Traits, standard.SectionWords, standard.Decode),
	format(2, blocked.Traits, blocked.SectionWords, blocked.Decode),
	format(3, fuse.Traits, fuse.SectionWords, fuse.Decode),
	format(4, partitioned.Traits, partitioned.SectionWords, partitioned.Decode),
	format(5, blockpartitioned.Traits, blockpartitioned.SectionWords, blockpartitioned.Decode),
	format(6, twochoice.Traits, twochoice.SectionWords, twochoice.Decode),
	format(7, rankindexed.Traits, rankindexed.SectionWords, rankindexed.Decode).inflating(rankindexed.Inflated),
	format(8, counting.Traits, counting.SectionWords, counting.Decode),
	format(10, ribbon.Traits, ribbon.SectionWords, ribbon.Decode),

	format(20, java.GuavaTraits, java.Guava.SectionWords, java.Guava.Decode),
	format(21, bitsandblooms.Traits, bitsandblooms.SectionWords, bitsandblooms.Decode),
	format(22, redisbloom.Traits, redisbloom.SectionWords, redisbloom.Decode),
	format(23, java.SparkTraits, java.Spark.SectionWords, java.Spark.Decode),
	format(24, dcso.Traits, dcso.SectionWords, dcso.Decode),
}

// makeList returns the families with the data for planners and builders, in the order of formats. It is a function
// because a variable would link the builders, tables and texts of all families into programs that only open filters.
func makeList() []Family {
	return []Family{
		entryOf(1, standard.About, standard.ConfigFromSpec, asEmpty(standard.New), asBuilder(standard.NewBuilder)),
		entryOf(2, blocked.About, blocked.ConfigFromSpec, asEmpty(blocked.New), asBuilder(blocked.NewBuilder)),
		entryOf(3, fuse.About, fuse.ConfigFromSpec, nil, asBuilder(fuse.NewBuilder)),
		entryOf(4, partitioned.About, partitioned.ConfigFromSpec, nil, asBuilder(partitioned.NewBuilder)),
		entryOf(5, blockpartitioned.About, blockpartitioned.ConfigFromSpec, nil, asBuilder(blockpartitioned.NewBuilder)),
		entryOf(6, twochoice.About, twochoice.ConfigFromSpec, asEmpty(twochoice.New), asBuilder(twochoice.NewBuilder)),
		entryOf(7, rankindexed.About, rankindexed.ConfigFromSpec, asEmpty(rankindexed.New),
			asBuilder(rankindexed.NewBuilder)),
		entryOf(8, counting.About, counting.ConfigFromSpec, asEmpty(counting.New), asBuilder(counting.NewBuilder)),
		entryOf(10, ribbon.About, ribbon.ConfigFromSpec, nil, asBuilder(ribbon.NewBuilder)),

		entryOf(20, java.AboutGuava, java.Guava.ConfigFromSpec, asEmpty(java.New), asBuilder(java.NewBuilder)),
		entryOf(21, bitsandblooms.About, bitsandblooms.ConfigFromSpec, asEmpty(bitsandblooms.New), nil),
		entryOf(22, redisbloom.About, redisbloom.ConfigFromSpec, asEmpty(redisbloom.New), asBuilder(redisbloom.NewBuilder)),
		entryOf(23, java.AboutSpark, java.Spark.ConfigFromSpec, asEmpty(java.New), asBuilder(java.NewBuilder)),
		entryOf(24, dcso.About, dcso.ConfigFromSpec, asEmpty(dcso.New), asBuilder(dcso.NewBuilder)),
	}
}

// allFamilies returns all families. Do not change it.
func allFamilies() []Family {
	once.Do(func() { all = makeList() })
	return all
}

var (
	once sync.Once
	all  []Family
)

// All returns all families, in the order of tables.
func All() []Family { return slices.Clone(allFamilies()) }

// Forms returns the specs, without sizes, of all forms that a planner compares.
func Forms() (specs []filter.Spec) {
	for _, f := range allFamilies() {
		for _, form := range f.Forms {
			specs = append(specs, form.Spec)
		}
	}
	return specs
}

// ByName returns a family, or an error wrapping filter.ErrFamily that lists all names. Readers of files call FormatOf.
func ByName(name string) (Family, error) {
	for _, f := range allFamilies() {
		if f.Name == name {
			return f, nil
		}
	}
	return Family{}, unknown(name)
}

// FormatOf returns the Format of a family. Errors: see ByName.
func FormatOf(name string) (Format, error) {
	for _, f := range formats {
		if f.Name == name {
			return f, nil
		}
	}
	return Format{}, unknown(name)
}

// Parse returns the Spec of a text and its family. Errors about the name of the family suggest another one.
func Parse(text string) (filter.Spec, Family, error) {
	s, err := filter.ParseSpec(text)
	if err != nil {
		name, _, _ := strings.Cut(text, "(")
		return s, Family{}, fmt.Errorf("%w%s", err, meant(name))
	}
	f, err := ByName(s.Family())
	return s, f, err
}

// unknown returns the error for an unknown family name.
func unknown(name string) error {
	return fmt.Errorf("%w %q; want one of %s%s", filter.ErrFamily, name, strings.Join(Names(), ", "), meant(name))
}

// outside maps the beginnings of names that other libraries and papers use to our families for the same purpose.
var outside = [][2]string{
	{"binaryfuse", "fuse"}, {"xor", "fuse"}, {"cuckoo", "rankindexed"}, {"quotient", "rankindexed"}, {"cbf", "counting"},
	{"countingbloom", "counting"}, {"blockedbloom", "blocked"}, {"splitblock", "blocked(layout=split)"},
	{"bloomier", "ribbon(value_bits=8)"}, {"keyvalue", "ribbon(value_bits=8)"}, {"maplet", "rankindexed(value_bits=8)"},
	{"staticfunction", "ribbon(r=0,value_bits=8)"},
	{"bloom", "standard"}, // after bloomier
}

// meant returns the end of an error about the name of a family: a family of ours that the user may want, or "".
func meant(text string) string {
	name := strings.Map(func(c rune) rune {
		if c == '-' || c == '_' || c == ' ' {
			return -1
		}
		return unicode.ToLower(c)
	}, text)
	for _, o := range outside {
		if strings.HasPrefix(name, o[0]) {
			return fmt.Sprintf("; the family for that is %s", o[1])
		}
	}
	if near := Nearest(name, Names()); len(near) > 0 && near[0] != strings.Trim(text, " ") {
		return fmt.Sprintf("; did you mean %s?", near[0])
	}
	return ""
}

// Nearest returns the names that differ least from a name, by at most two changed, missing or added letters.
func Nearest(name string, names []string) (near []string) {
	least := 2
	for _, n := range names {
		if len(name) > len(n)+least { // the distance is at least the difference of the lengths
			continue
		}
		if d := changes(name, n); d < least {
			least, near = d, []string{n}
		} else if d == least {
			near = append(near, n)
		}
	}
	return near
}

// changes returns the Levenshtein distance of a and b.
func changes(a, b string) int {
	row := make([]int, len(b)+1) // the distances of a prefix of a and each prefix of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal, row[j+1] = row[j+1], min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// formatByID returns a Format by its id in files, or an error wrapping filter.ErrFamily.
func formatByID(id uint16) (Format, error) {
	for _, f := range formats {
		if f.ID == id {
			return f, nil
		}
	}
	return Format{}, fmt.Errorf("%w %d", filter.ErrFamily, id)
}

// Names returns the names of all families, in the order of All.
func Names() []string { return namesOf(func(Format) bool { return true }) }

// With returns the names of our families that have all abilities of can. Families of other systems are left out.
func With(can family.Ability) []string {
	return namesOf(func(f Format) bool { return !f.Foreign() && f.Can.Has(can) })
}

// Taking returns the names of our families whose specs have this parameter, apart from the parameters of the size.
func Taking(parameter string) (names []string) {
	for _, f := range allFamilies() {
		if !f.Foreign() && f.Takes(parameter) {
			names = append(names, f.Name)
		}
	}
	return names
}

// Having returns the names of all families that have all abilities of can, including families of other systems.
func Having(can family.Ability) []string {
	return namesOf(func(f Format) bool { return f.Can.Has(can) })
}

// namesOf returns the names of those families for which keep returns true.
func namesOf(keep func(Format) bool) (names []string) {
	for _, f := range formats {
		if keep(f) {
			names = append(names, f.Name)
		}
	}
	return names
}

// Lacks returns the error for a filter of a family that lacks an ability. The error wraps filter.ErrUnsupported and
// names the families that have the ability. A family of raw keys may have the ability for keys only, not for their
// hashes.
func Lacks(s filter.Spec, can family.Ability) error {
	f, err := FormatOf(s.Family())
	if err == nil && f.Can.Has(can) && f.Can.Has(family.CanRawKeys) {
		return fmt.Errorf("the family takes raw keys, not their hashes: %w", filter.ErrUnsupported)
	}

	if err == nil && can == family.CanAdd { // almost all families have it: a list of them would not help
		return fmt.Errorf("%s is static: no key can be added; build again with --needs add (Needs.Add): %w",
			s.Family(), filter.ErrUnsupported)
	}

	others := strings.Join(Having(can), ", ")
	if need, ok := needOf[can]; ok {
		others += fmt.Sprintf("; build the list again with one of them, or with Needs.%s (--needs %s)", need,
			strings.ToLower(need))
	}
	return fmt.Errorf("%s does not %s; families that do: %s: %w", s, can, others, filter.ErrUnsupported)
}

// needOf maps an ability to the field of plan.Needs that requires it. The field is also a word of --needs.
var needOf = map[family.Ability]string{
	family.CanRemove: "Remove",
}
