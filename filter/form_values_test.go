package filter_test

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/big"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/bloomery/bloomery/filter"
)

// keyValue is a line of testdata/keyforms.json, which the tests of all languages read: a value in text form and, if
// Integer is set, as an integer, and the bytes of its key, or no Key if the form has none.
type keyValue struct {
	Form    string  `json:"form"`
	Text    string  `json:"text"`
	Integer bool    `json:"integer,omitempty"`
	Key     *string `json:"key"`
}

func readKeyValues(t *testing.T) (all []keyValue) {
	b, err := os.ReadFile("testdata/keyforms.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestKeyFormValues(t *testing.T) {
	all := readKeyValues(t)
	for _, v := range all {
		f, err := filter.ParseKeyForm(v.Form)
		if err != nil {
			t.Fatal(err)
		}
		check := func(how string, got []byte, err error) {
			switch {
			case v.Key == nil && (!errors.Is(err, filter.ErrKeyType) || string(got) != "-"):
				t.Errorf("%s of %s as %s: %x, %v, want none", how, v.Text, f, got, err)
			case v.Key != nil && (err != nil || hex.EncodeToString(got) != "2d"+*v.Key):
				t.Errorf("%s of %s as %s: %x, %v, want %s", how, v.Text, f, got, err, *v.Key)
			}
		}
		if !v.Integer || f.Type != filter.KeyBytes && f.Type != filter.KeyDate && f.Type != filter.KeyFixed {
			got, err := f.AppendText([]byte("-"), v.Text)
			check("text", got, err)
		}
		if !v.Integer {
			continue
		}
		n, err := strconv.ParseUint(v.Text, 10, 64)
		if signed, failed := strconv.ParseInt(v.Text, 10, 64); failed == nil {
			n, err = uint64(signed), nil
			if signed < 0 && (f.Type == filter.KeyText || f.Type == filter.KeyUint32 || f.Type == filter.KeyUint64) {
				continue // Go's integers have no sign there
			}
		}
		if err != nil {
			continue // only languages with larger integers have it
		}
		if int64(n) < 0 && v.Text[0] != '-' && f.Type != filter.KeyText && f.Type != filter.KeyUint32 &&
			f.Type != filter.KeyUint64 && f.Type != filter.KeyBytes {
			continue // it is a negative number in Go
		}
		got, err := f.AppendUint64([]byte("-"), n)
		check("integer", got, err)

		h, err := filter.NewHasher(3).WithForm(f)
		if err != nil {
			t.Fatal(err)
		}
		many := make([]filter.Hash, 1)
		h.SumUint64s(many, []uint64{n})
		if sum := h.SumUint64(n); v.Key != nil && sum != h.Sum(got[1:]) || many[0] != sum || sum != filter.SumOf(h, n) {
			t.Errorf("integer %d as %s: another hash", n, f)
		}
	}
	if len(all) < 100 {
		t.Errorf("%d values", len(all))
	}
}

// FuzzKeyFormText checks that equal numbers have equal keys and that nothing panics.
func FuzzKeyFormText(f *testing.F) {
	for _, v := range []string{"", "-", ".", "1.5", "-0.00", "2026-11-29", "1e5", "00012", "99999999999999999999999.1"} {
		f.Add(v, uint8(2), uint8(16))
	}
	f.Fuzz(func(t *testing.T, text string, scale, width uint8) {
		for _, form := range []filter.KeyForm{{Type: filter.KeyText}, {Type: filter.KeyInt32}, {Type: filter.KeyUint32},
			{Type: filter.KeyInt64}, {Type: filter.KeyUint64}, {Type: filter.KeyDate},
			{Type: filter.KeyDecimal32, Scale: scale}, {Type: filter.KeyDecimal64, Scale: scale},
			{Type: filter.KeyDecimal, Scale: scale, Width: width}, {Type: filter.KeyFixed, Width: max(width, 1)}} {
			b, err := form.AppendText(nil, text)
			if (err == nil) != (b != nil) && text != "" || err != nil && !errors.Is(err, filter.ErrKeyType) {
				t.Errorf("%q as %s: %x, %v", text, form, b, err)
			}
			if err == nil && form.Width > 0 && len(b) != int(form.Width) {
				t.Errorf("%q as %s has %d bytes", text, form, len(b))
			}
		}
	})
}

func TestKeyFormIntegers(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 5))
	for range 10_000 {
		n := r.Uint64() >> r.IntN(64)
		for _, f := range []filter.KeyForm{{Type: filter.KeyInt32}, {Type: filter.KeyInt64}, {Type: filter.KeyDecimal, Scale: 3},
			{Type: filter.KeyDecimal64, Scale: 1}, {Type: filter.KeyDecimal, Width: 9}} {
			a, err := f.AppendUint64(nil, n)
			b, failed := f.AppendText(nil, strconv.FormatInt(int64(n), 10))
			if string(a) != string(b) || (err == nil) != (failed == nil) {
				t.Errorf("%d as %s: %x, %v as integer, %x, %v as text", int64(n), f, a, err, b, failed)
			}
		}
	}
}

// TestKeyFormDecimals compares keys of decimals with two's complement by math/big, near every power of two up to the
// longest key and beyond.
func TestKeyFormDecimals(t *testing.T) {
	one := big.NewInt(1)
	for power := uint(0); power < 2060; power += 1 + power/64 {
		for _, add := range []int64{-1, 0, 1} {
			n := new(big.Int).Add(new(big.Int).Lsh(one, power), big.NewInt(add))
			for _, n := range []*big.Int{n, new(big.Int).Neg(n)} {
				least := n.BitLen()/8 + 1
				if n.Sign() < 0 {
					least = new(big.Int).Not(n).BitLen()/8 + 1
				}
				for _, width := range []int{0, 1, 16, 255} {
					bytes := cmp.Or(width, least)
					var want []byte
					if least <= min(bytes, 255) {
						twos := new(big.Int).And(n, new(big.Int).Sub(new(big.Int).Lsh(one, uint(8*bytes)), one))
						want = twos.FillBytes(make([]byte, bytes))
					}
					got, err := filter.KeyForm{Type: filter.KeyDecimal, Width: uint8(width)}.AppendText(nil, n.String())
					if string(got) != string(want) || (err == nil) != (want != nil) {
						t.Fatalf("%s in %d bytes: %x, %v; want %x", n, width, got, err, want)
					}
				}
			}
		}
	}
}
