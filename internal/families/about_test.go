package families

import (
	"strings"
	"testing"

	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// TestAbilities holds what each family says of itself against its filters, builders and specs.
func TestAbilities(t *testing.T) {
	for _, f := range All() {
		spec := family.NewSpec(f.Name)
		var made family.Filter
		var gathers, takesValues bool
		if f.Can.Has(family.CanRawKeys) {
			var err error
			if made, err = f.New(spec, 10); err != nil {
				t.Fatal(err)
			}
		} else {
			b, err := f.NewBuilder(spec, 10)
			if err != nil {
				t.Fatal(err)
			}
			_, gathers = b.(family.Gatherer)
			_, takesValues = b.(family.ValueBuilder)
			made = filtertest.Build(t, conformance(f), f.Name, filtertest.Hashes(10, 1))
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

// TestDefaultFPR: without a size a family has its default rate, or none.
func TestDefaultFPR(t *testing.T) {
	for _, f := range All() {
		if strings.Contains(f.Default, "%") != (f.DefaultFPR != 0) {
			t.Errorf("family %s: default %q, rate %v", f.Name, f.Default, f.DefaultFPR)
		}
		if f.DefaultFPR == 0 {
			continue
		}
		spec := family.NewSpec(f.Name)
		bits, fpr, err := f.Forecast(spec, 1000)
		wantBits, want, wantErr := f.Forecast(spec.With("fpr", f.DefaultFPR), 1000)
		if err != nil || wantErr != nil || bits != wantBits || fpr != want {
			t.Errorf("%s: %d bits, rate %v, %v; want %d, %v, %v", spec, bits, fpr, err, wantBits, want, wantErr)
		}
	}
}

// TestForecastAtKeys has all families forecast the rate at the keys that they are asked for, not at their capacity.
func TestForecastAtKeys(t *testing.T) {
	for _, name := range Taking("capacity") {
		f, err := ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		s := family.NewSpec(name, "capacity", 1_000_000, "fpr", 0.01)
		_, few, err := f.Forecast(s, 1000)
		if err != nil {
			t.Fatal(err)
		}
		_, all, err := f.Forecast(s, 1_000_000)
		if err != nil || few >= all/100 || all > 0.0101 || all < 0.004 {
			t.Errorf("%s: rate %g at 1000 keys, %g at capacity, %v", s, few, all, err)
		}
	}
}

// TestForm finds the form of what a planner chooses: with a size, room for later keys and another width of values.
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

// TestList: both tables list the same families in the same order, each id once.
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
