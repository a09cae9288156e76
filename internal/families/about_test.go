package families

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// TestAbilities compares the declared abilities of each family with its filters, builders and specs.
func TestAbilities(t *testing.T) {
	for _, f := range All() {
		_, spec := parse(t, f.Name)
		var made family.Filter
		var gathers, takesValues bool
		if f.Can.Has(family.CanRawKeys) {
			made = start(t, f, spec, 10)
		} else {
			b := newBuilder(t, f, spec, 10)
			_, gathers = b.(family.Gatherer)
			_, takesValues = b.(family.ValueBuilder)
			made = finish(t, b, filtertest.Hashes(10, 1))
		}
		_, adds := made.(family.Adder)
		_, raw := made.(family.RawKeyFilter)
		_, removes := made.(family.Remover)
		_, counts := made.(family.Counter)
		_, values := made.(family.Valuer)
		_, merges := made.(family.Merger)
		_, intersects := made.(family.Intersecter)
		_, shares := made.(family.Sharer)
		_, searches := made.(family.Reoptimizer)
		_, trims := made.(family.Trimmer)
		_, estimates := made.(family.CellFilter)
		for can, is := range map[family.Ability]bool{
			family.CanAdd: adds || raw, family.CanRawKeys: raw, family.CanRemove: removes, family.CanCount: counts,
			family.CanValues: values,
			family.CanMerge:  merges, family.CanIntersect: intersects, family.CanConcurrent: shares, family.CanSearch: searches,
			family.CanTrim: trims, family.CanEstimate: estimates, family.CanSpill: gathers, family.CanStartEmpty: f.New != nil,
			family.CanCapacity: f.Takes("capacity"),
			family.CanLater:    f.Takes("later"), family.CanGrow: f.Takes("growth"), family.CanBuildValues: takesValues,
		} {
			if f.Can.Has(can) != is {
				t.Errorf("family %s says that it can %s: %t; it does: %t", f.Name, can, f.Can.Has(can), is)
			}
		}
		for _, form := range f.Forms {
			if !f.Can.Has(form.Can) {
				t.Errorf("%s can %s, which the family cannot", form.Spec, form.Can&^f.Can)
			}
			if form.Spec.Family() != f.Name || form.Reason == "" {
				t.Errorf("%s: a form of %s, reason %q", form.Spec, f.Name, form.Reason)
			}
			_, gathers := newBuilder(t, f, form.Spec, 10).(family.Gatherer)
			if !gathers && form.Can&(family.CanSpill|family.CanSearch) != 0 {
				t.Errorf("%s does not spill, or searches and reports no progress, against the list", form.Spec)
			}
		}
		if f.Summary == "" || f.Default == "" || f.Foreign() != (len(f.Forms) == 0) {
			t.Errorf("family %s: summary %q, default %q, %d forms", f.Name, f.Summary, f.Default, len(f.Forms))
		}
		for _, p := range f.Parameters {
			if err := f.Check(spec.With(p.Name, "1")); err != nil && strings.Contains(err.Error(), "no such parameter") {
				t.Errorf("family %s does not take %s=, which it lists", f.Name, p.Name)
			}
			if p.Value == "" || p.Help == "" {
				t.Errorf("family %s, parameter %s: value %q, help %q", f.Name, p.Name, p.Value, p.Help)
			}
		}
		if built := family.SpecOf(made); !family.GivenAny(built, f.Sizes) {
			t.Errorf("family %s lists %v, and %s has none of them", f.Name, f.Sizes, built)
		}
		if err := f.Check(spec.With("nonsense", 1)); err == nil {
			t.Errorf("family %s takes nonsense=", f.Name)
		}
	}
}

// TestForm checks the form of a planner's choice with a size, room for later keys and another width of values.
func TestForm(t *testing.T) {
	for _, f := range All() {
		for _, form := range f.Forms {
			s := family.Sizing{FPR: 0.01}.AddTo(form.Spec).With("capacity", 100).With("later", 3)
			if family.Given(s, "value_bits") {
				s = s.With("value_bits", 7)
			}
			if got, ok := f.Form(s); !ok || got.Spec != form.Spec || got.Can != form.Can {
				t.Errorf("%s has the form %s, want %s", s, got.Spec, form.Spec)
			}
		}
		if got, ok := f.Form(family.NewSpec(f.Name, "layout", "none")); ok {
			t.Errorf("%s has a form %s", f.Name, got.Spec)
		}
	}
}

// TestList checks that both tables list the same families in the same order, and each id once.
func TestList(t *testing.T) {
	all := All()
	if len(all) != len(formats) || len(all) != len(Names()) {
		t.Fatalf("%d families, %d formats", len(all), len(formats))
	}
	for i, f := range all {
		of, err := FormatOf(f.Name)
		if err != nil || f.ID != formats[i].ID || of.ID != f.ID || f.Decode == nil || f.SectionWords == nil ||
			i > 0 && f.ID <= all[i-1].ID {
			t.Errorf("%d: family %s has id %d, the format %d, %v", i, f.Name, f.ID, formats[i].ID, err)
		}
	}
}

// TestDocumentedIDs checks the descriptions of the format against the list of families.
func TestDocumentedIDs(t *testing.T) {
	for _, path := range []string{"../container/format.go", "../../docs/format.md"} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range All() {
			if id := fmt.Sprintf("%d %s", f.ID, f.Name); !bytes.Contains(text, []byte(id)) {
				t.Errorf("%s does not list %q", path, id)
			}
		}
	}
	for _, f := range All() {
		page, err := os.ReadFile("../../docs/format/" + f.Name + ".md")
		if err != nil {
			t.Error(err)
		}
		want := fmt.Sprintf("Family %d of the [file format](../format.md)", f.ID)
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("docs/format/%s.md lacks %q", f.Name, want)
		}
	}
}

var update = flag.Bool("update", false, "write the families and their parameters into the pages that list them")

// table returns the families as lines, each after prefix, and with parameters also their parameters.
func table(prefix string, parameters bool) string {
	columns := 16 // of the longest name of a family
	if parameters {
		columns = 32
	}

	var b strings.Builder
	line := func(name, help string) {
		for help != "" {
			end := len(help)
			if end > 76 {
				end = strings.LastIndexByte(help[:76], ' ')
			}
			fmt.Fprintf(&b, "%s%-*s  %s\n", prefix, columns, name, help[:end])
			name, help = "", strings.TrimSpace(help[end:])
		}
	}
	for _, f := range allFamilies() {
		line(f.Name, f.Summary)
		if !parameters {
			continue
		}
		for _, p := range f.Parameters {
			line("    "+p.Name+"="+p.Value, p.Help)
		}
	}
	return b.String()
}

// TestTable checks that the package comment of filter lists the parameters of every family. With -update it writes the
// comment.
func TestTable(t *testing.T) {
	for _, page := range []struct{ path, before, lines, after string }{
		{"../../filter/doc.go", "[compares] the families:\n//\n", table("//\t", false), "//\n// # Rates\n"},
		{"../../docs/reference/specs.md", "All parameters:\n\n```\n", table("", true), "```\n\n## The spec of a file\n"},
	} {
		text, err := os.ReadFile(page.path)
		if err != nil {
			t.Fatal(err)
		}
		head, rest, ok := strings.Cut(string(text), page.before)
		_, tail, ends := strings.Cut(rest, page.after)
		if !ok || !ends {
			t.Fatalf("%s has no %q or no %q", page.path, page.before, page.after)
		}

		want := head + page.before + page.lines + page.after + tail
		if want == string(text) {
			continue
		}
		if !*update {
			t.Errorf("the list in %s differs: go test ./internal/families -run TestTable -update", page.path)
			continue
		}
		if err := os.WriteFile(page.path, []byte(want), 0o666); err != nil {
			t.Error(err)
		}
	}
}

// TestMeant checks the suggestions for names that are not families, and that they name families.
func TestMeant(t *testing.T) {
	for text, want := range map[string]string{
		"Ribbon": "ribbon", "binary-fuse": "fuse", "xor8": "fuse", "cuckoo": "rankindexed",
		"quotient filter": "rankindexed", "cbf": "counting", "Counting_Bloom": "counting", "bloom": "standard",
		"blocked-bloom": "blocked", "Bloomfilter(k=3)": "standard", "maplet": "rankindexed(value_bits=8)",
		"Bloomier filter": "ribbon(value_bits=8)", "key-value filter": "ribbon(value_bits=8)",
		"static_function": "ribbon(r=0,value_bits=8)",
	} {
		_, _, err := Parse(text)
		if err == nil || !strings.Contains(err.Error(), "; did you mean "+want+"?") &&
			!strings.HasSuffix(err.Error(), "; the family for that is "+want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	for _, o := range outside {
		if _, _, err := Parse(o[1]); err != nil {
			t.Error(err)
		}
	}
	for _, text := range []string{"fuse(", "bogus", "a b"} {
		if _, _, err := Parse(text); err == nil || strings.Contains(err.Error(), "did you mean") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
