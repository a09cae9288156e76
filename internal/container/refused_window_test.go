package container

import (
	"encoding/binary"
	"testing"

	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
)

// windowRefusals adds files of package window, whose answers depend on the time: no reader of filters knows their
// family.
func windowRefusals(f forger) {
	unknown := func(from int) {
		for i := range (*f.cases)[from:] {
			e := &(*f.cases)[from+i]
			e.Unknown, e.reason = true, "open it with package window"
		}
	}
	at := len(*f.cases)
	for _, name := range []string{"few", "keyed", "new"} {
		f.with("window", "../../../window/testdata/"+name+".window").edit(name, true, func([]byte) {})
	}
	few := f.with("window", "../../../window/testdata/few.window")
	few.spec(true, "rankindexed(buckets=2,capacity=14,cells=8,chains=16,remainder=4,value_bits=3)")
	g := f.with("window", "standard-0.bloom")
	number := func(id uint16) func([]byte) {
		return func(b []byte) { binary.LittleEndian.PutUint16(b[10:], id) }
	}
	g.edit("the number with another spec", true, number(family.WindowID))
	unknown(at)

	// The spec with the number of another family.
	for _, name := range []string{"standard", "rankindexed"} {
		table, err := families.FormatOf(name)
		if err != nil {
			f.t.Fatal(err)
		}
		few.edit("with the number of "+name, true, number(table.ID))
	}
}

// TestFamilyIn reads the family from the first bytes of files.
func TestFamilyIn(t *testing.T) {
	var cases []edited
	f := forger{t: t, cases: &cases}
	for path, want := range map[string]uint16{
		"standard-0.bloom": 1, "../../../window/testdata/few.window": family.WindowID,
	} {
		b := f.with("", path).file
		if got := FamilyIn(b); got != want {
			t.Errorf("%s: family %d, want %d", path, got, want)
		}
		if got := FamilyIn(b[:FamilyHead]); got != want {
			t.Errorf("%s: family %d in %d bytes, want %d", path, got, FamilyHead, want)
		}
		if got := FamilyIn(b[:FamilyHead-1]); got != 0 {
			t.Errorf("%s: family %d in %d bytes", path, got, FamilyHead-1)
		}
		b[0] ^= 1
		if got := FamilyIn(b); got != 0 {
			t.Errorf("%s: family %d with another magic", path, got)
		}
	}
}
