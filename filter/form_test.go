package filter_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/filter"
)

var keyForms = []struct {
	text string
	form filter.KeyForm
}{
	{"bytes", filter.KeyForm{}},
	{"trim", filter.KeyForm{Trim: true}},
	{"lower", filter.KeyForm{Lower: true}},
	{"trim,lower", filter.KeyForm{Trim: true, Lower: true}},
	{"trim,lower,text", filter.KeyForm{Trim: true, Lower: true, Type: filter.KeyText}},
	{"int32", filter.KeyForm{Type: filter.KeyInt32}},
	{"uint64", filter.KeyForm{Type: filter.KeyUint64}},
	{"date", filter.KeyForm{Type: filter.KeyDate}},
	{"decimal32,scale=2", filter.KeyForm{Type: filter.KeyDecimal32, Scale: 2}},
	{"decimal64", filter.KeyForm{Type: filter.KeyDecimal64}},
	{"decimal,scale=255,width=16", filter.KeyForm{Type: filter.KeyDecimal, Scale: 255, Width: 16}},
	{"decimal", filter.KeyForm{Type: filter.KeyDecimal}},
	{"fixed,width=255", filter.KeyForm{Type: filter.KeyFixed, Width: 255}},
}

func TestKeyForm(t *testing.T) {
	hashers := []filter.Hasher{filter.NewHasher(7), filter.NewKeyedHasher(filter.Secret{1, 2, 3})}
	for id := filter.XXH64; id <= filter.Uint64; id++ {
		h, err := filter.ForeignHasher(id)
		if err != nil {
			t.Fatal(err)
		}
		hashers = append(hashers, h)
	}

	for _, c := range keyForms {
		if got, err := filter.ParseKeyForm(c.text); err != nil || got != c.form || c.form.String() != c.text {
			t.Errorf("%q is read as %+v, %v; String gives %q", c.text, got, err, c.form)
		}
		for _, h := range hashers {
			of, err := h.WithForm(c.form)
			if err != nil || of.Form() != c.form || of.ID() != h.ID() || of.Seed() != h.Seed() || of.KeyCheck() != h.KeyCheck() {
				t.Errorf("%s of %s: %s, %v", h, c.text, of, err)
			}
			if of.SumString("key") != h.SumString("key") || of.SumString("a key of more") != h.SumString("a key of more") {
				t.Errorf("%s: another hash of bytes", of)
			}
			zero := c.form == (filter.KeyForm{})
			if (of == h) != zero || strings.HasSuffix(of.String(), " of "+c.text) == zero {
				t.Errorf("%s is %s: %t", of, h, of == h)
			}
			if back, err := of.WithForm(filter.KeyForm{}); err != nil || back != h {
				t.Errorf("%s without its form: %s, %v", of, back, err)
			}
		}
	}
}

func TestKeyFormErrors(t *testing.T) {
	for _, text := range []string{"int33", "TRIM", "trim,", ",", " trim", "int32,int64", "text,scale=1", "scale=1", "width=4",
		"fixed", "fixed,width=0", "int32,width=4", "decimal64,width=8", "decimal,scale=256", "decimal,scale=-1",
		"decimal,scale=", "fixed,width=2.5", "type(11)"} {
		if f, err := filter.ParseKeyForm(text); !errors.Is(err, filter.ErrConfig) {
			t.Errorf("%q is read as %s, %v", text, f, err)
		}
	}
	for _, f := range []filter.KeyForm{{Type: 11}, {Type: 255}, {Scale: 1}, {Type: filter.KeyFixed}, {Width: 1}} {
		if h, err := filter.NewHasher(0).WithForm(f); !errors.Is(err, filter.ErrConfig) {
			t.Errorf("%s: %v", h, err)
		}
		if !strings.Contains((filter.KeyForm{Type: 11}).String(), "type(11)") {
			t.Errorf("%+v prints %s", f, f)
		}
	}
}
