package main

import (
	"testing"

	"github.com/bloomery/bloomery/interop"
)

// TestTwoColumns checks that two columns with the same name, such as b in a group a and a column "a.b", are an error
// that gives advice.
func TestTwoColumns(t *testing.T) {
	all := []interop.Column{
		{Name: "a.b", Type: "INT64", Offset: 100, Length: 50}, {Name: "a.b", Type: "BYTE_ARRAY", Offset: 150, Length: 60},
		{Name: "a.b", RowGroup: 1, Type: "INT64", Offset: 300, Length: 50}, {Name: "c", Offset: 400, Length: 50},
	}
	for _, f := range []columnFlags{{name: "a.b"}, {name: "a.b", grouped: true}} {
		_, err := f.choose(all)
		if err == nil || err.Error() != "row group 0 has several columns a.b" {
			t.Errorf("%+v: %v", f, err)
		}
	}
	for _, f := range []columnFlags{{name: "c"}, {name: "a.b", group: 1, grouped: true}} {
		if c, err := f.choose(all); err != nil || c.Name != f.name || c.RowGroup != f.group {
			t.Errorf("%+v: %+v, %v", f, c, err)
		}
	}
}
