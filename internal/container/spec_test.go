package container

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
)

// largestEdited is the number of words up to which TestEditedSpecs decodes sections of zeros.
const largestEdited = 1 << 17

// values are the values that TestEditedSpecs gives to parameters.
var values = []string{
	"0", "1", "2", "3", "4", "7", "8", "63", "64", "65", "127", "128", "255", "256", "1024", "1.0", "1e3", "line",
	"split", "double", "independent", "16777215", "4294967296", "9007199254740992", "18446744073709551615",
	"18446744073709551616",
}

// TestEditedSpecs edits one parameter of the Spec of stored filters. Each result must be refused or be the Spec of the
// filter that is read, so that each filter has exactly one Spec and all strict readers agree.
func TestEditedSpecs(t *testing.T) {
	paths := slices.Concat(glob(t, "testdata/*.bloom", 30), glob(t, "testdata/vectors/*.bloom", 60))
	names := map[string]bool{
		"zz": true, "fpr": true, "bytes": true, "bits_per_key": true, "capacity": true, "later": true,
	}
	var files []*File
	for _, path := range paths {
		f, err := ReadFile(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range f.Spec.Params() {
			names[p.Name] = true
		}
		files = append(files, f)
	}
	seen, refused, read := map[string]bool{}, 0, 0
	for i, f := range files {
		for name := range names {
			for _, value := range append(values, "") {
				edited := f.Spec.With(name, value)
				if value == "" {
					edited = family.Without(f.Spec, name)
				}
				if text := edited.String(); seen[text] || edited == f.Spec {
					continue
				} else {
					seen[text] = true
				}
				switch err := readsAs(edited, f); {
				case err == nil:
					read++
				case err == errRefused:
					refused++
				default:
					t.Errorf("%s, edited to %s: %v", filepath.Base(paths[i]), edited, err)
				}
			}
		}
	}
	t.Logf("%d specs were refused, %d read", refused, read)
	if refused < 10_000 || read < 500 {
		t.Errorf("%d specs were refused and %d read: the edits do not try enough", refused, read)
	}
}

var errRefused = fmt.Errorf("refused")

// readsAs reads the sections of f, or zeros if their sizes differ, as a filter of another Spec. It returns errRefused
// if no such filter exists, and another error if the filter that is read has a different Spec.
func readsAs(s filter.Spec, f *File) error {
	kind, err := families.ByName(s.Family())
	if err != nil {
		return err
	}
	words, err := kind.SectionWords(s)
	if err != nil {
		return errRefused
	}
	e := family.Encoded{Spec: s, Keys: f.Keys, Sections: f.Sections}
	if e.CheckSections(words, nil) != nil {
		e.Keys, e.Sections = 0, nil
		var all uint64
		for _, w := range words {
			if all += w; w > largestEdited || all > largestEdited {
				return errRefused // too large to try
			}
			e.Sections = append(e.Sections, make([]uint64, w))
		}
	}
	if inflated := kind.Inflated; inflated != nil {
		if bytes, err := inflated(s); err != nil || bytes > 8*largestEdited {
			return errRefused
		}
	}
	got, err := kind.Decode(e)
	if err != nil {
		return errRefused
	}
	if family.Given(s, "trimmed") {
		got = got.(family.Trimmer).Trimmed()
	}
	if is := family.SpecOf(got); is != s {
		return fmt.Errorf("the filter that is read has the Spec %s", is)
	}
	return nil
}
