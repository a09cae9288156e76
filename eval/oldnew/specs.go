package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
)

// specList is the list of the specs whose bytes are the same on all machines.
const specList = "internal/container/testdata/files.txt"

// specKinds returns a kind for each spec of the list, and for each form of a family that planners compare. Every family
// has one.
func specKinds(root string) (kinds []kind, err error) {
	b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(specList)))
	if err != nil {
		return nil, err
	}
	var texts []string
	for line := range strings.Lines(string(b)) {
		text, _, _ := strings.Cut(line, " ")
		texts = append(texts, text)
	}
	for _, form := range families.Forms() {
		texts = append(texts, form.String())
	}

	known, named := map[string]bool{}, map[string]bool{}
	for _, text := range texts {
		spec, f, err := families.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", text, err)
		}
		if named[f.Name] = true; !known[spec.String()] {
			known[spec.String()] = true
			kinds = append(kinds, specKind(spec, f))
		}
	}
	for _, name := range families.Names() {
		if !named[name] {
			return nil, fmt.Errorf("%s has no spec of the family %s", specList, name)
		}
	}
	return kinds, nil
}

// specKind returns the kind of the filters of a spec, with both hash functions if the family is ours.
func specKind(spec filter.Spec, f families.Family) kind {
	can := f.Can.Has
	values := family.Given(spec, "value_bits")
	members, more1, more2 := "IN/present", "IN/more1", "IN/more2"
	if values {
		members, more1, more2 = "IN/bits", "IN/values1", "IN/values2"
	}
	build := "build --spec " + spec.String()
	if f.Takes("capacity") && can(family.CanAdd) {
		build += " --capacity 200000"
	}
	if f.Takes("later") {
		_, parameters, _ := strings.Cut(strings.TrimSuffix(spec.String(), ")"), "(")
		build = "build --spec " + f.Name + "(" + strings.TrimSuffix("later=20000,"+parameters, ",") + ")"
	}
	if f.Foreign() {
		build += " -o "
	} else {
		build += " --seed 7 -o "
	}

	k := kind{name: "spec " + spec.String()}
	k.make = build + "a.bloom " + members
	k.ask = "run info a.bloom\nall check a.bloom IN/present\ncheck a.bloom IN/asked"
	if !f.Foreign() {
		k.make += "\n" + strings.Replace(build, "--seed 7", "--secret-file IN/secret", 1) + "k.bloom " + members
		k.ask += "\ncheck k.bloom --secret-file IN/secret IN/asked"
	}
	if values {
		k.ask += "\nget a.bloom IN/asked"
	}
	if can(family.CanCount) && (f.Name == "counting" || family.Given(spec, "counting")) {
		k.ask += "\ncount a.bloom IN/asked"
	}

	switch {
	case can(family.CanAdd):
		k.change = "run add a.bloom " + more1
		k.again = "run add a.bloom " + more2
		k.after = "all check a.bloom IN/more1\nall check a.bloom IN/more2"
		if can(family.CanRemove) {
			k.change += "\nrun remove --force a.bloom IN/gone1"
			k.again += "\nrun remove --force a.bloom IN/gone2"
			k.ask = strings.Replace(k.ask, "all check a.bloom IN/present", "all check a.bloom IN/kept", 1)
		}
		if can(family.CanMerge) && !values {
			k.make += "\n" + build + "m.bloom IN/absent"
			k.again += "\nrun merge -o a.bloom a.bloom m.bloom"
			k.after += "\nall check a.bloom IN/absent"
		}
		if can(family.CanTrim) {
			k.make += "\ntrim -o t.bloom a.bloom"
			k.ask += "\ncheck t.bloom IN/asked"
			k.change += "\nrun add t.bloom " + more1
			k.again += "\nrun trim --full t.bloom"
		}
	default:
		k.change = fmt.Sprintf("run build -o b.bloom --like a.bloom %s %s\nrun diff a.bloom b.bloom -o d", members, more1)
		k.again = "run patch a.bloom d -o a.bloom"
		k.after = "all check a.bloom IN/more1"
	}
	return k
}
