package publish

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

func testHistory() history {
	var h history
	r := testRelease()
	for n := uint64(16); n >= 10; n-- {
		s := step{Number: n, Published: r.Published.Add(-time.Duration(17-n) * 24 * time.Hour),
			object: object{r.SHA256, 160336}, Keys: 133000 + n, FPRPosterior: 0.01}
		s.SHA256[0] = byte(n)
		if n%3 != 0 {
			s.Delta = &object{r.SHA256, 1000 - n}
		}
		h = append(h, s)
	}
	return h
}

// TestRoundTrip checks that parseRecord and parseHistory read the output of marshal, and that marshal writes the same
// bytes again.
func TestRoundTrip(t *testing.T) {
	first := testRelease()
	first.Number, first.Previous, first.History, first.Name = 1, nil, nil, `a "list" <of> ü & more`
	whole := testRelease()
	whole.Kind, whole.Total, whole.Previous.Delta = Set, 1<<40, nil
	for _, r := range []*record{testRelease(), first, whole} {
		b, err := r.marshal(testKey(t, "A"))
		must(t, err)
		got, err := parseRecord(b)
		if err != nil || !reflect.DeepEqual(got, r) {
			t.Errorf("%v\n%+v\n%+v", err, got, r)
		}
	}
	h := testHistory()
	b, err := h.marshal()
	must(t, err)
	got, err := parseHistory(b)
	if err != nil || !reflect.DeepEqual(got, h) {
		t.Errorf("%v\n%+v\n%+v", err, got, h)
	}
}

// TestMarshalRefuses checks that fields out of range are not written.
func TestMarshalRefuses(t *testing.T) {
	for what, change := range map[string]func(*record){
		"no name":         func(r *record) { r.Name = "" },
		"control":         func(r *record) { r.Name = "a\nb" },
		"long name":       func(r *record) { r.Name = strings.Repeat("a", maxName+1) },
		"number 0":        func(r *record) { r.Number = 0 },
		"number too high": func(r *record) { r.Number = 1 << 53 },
		"expired":         func(r *record) { r.Expires = r.Published },
		"kind":            func(r *record) { r.Kind = "tree" },
		"total":           func(r *record) { r.Total-- },
		"no bytes":        func(r *record) { r.Bytes, r.Total = 0, 0 },
		"rate":            func(r *record) { r.FPRPosterior = 1.5 },
		"universe":        func(r *record) { r.Universe = 1 },
		"previous":        func(r *record) { r.Previous.Number = 17 },
		"large history":   func(r *record) { r.History.Bytes = maxHistory + 1 },
	} {
		r := testRelease()
		change(r)
		if _, err := r.marshal(); !errors.Is(err, ErrRelease) && !errors.Is(err, ErrVersion) {
			t.Errorf("%s: %v", what, err)
		}
	}
	h := testHistory()
	h[1].Number = h[0].Number
	if _, err := h.marshal(); !errors.Is(err, ErrRelease) {
		t.Errorf("history that does not descend: %v", err)
	}
}

// TestDamaged checks that a signed release that is truncated or in which a bit is flipped is refused without a panic.
func TestDamaged(t *testing.T) {
	key := testKey(t, "A")
	good, err := testRelease().marshal(key)
	must(t, err)
	for n := range len(good) - len("]\n}\n") {
		if _, err := Verify(good[:n], key.Public()); err == nil {
			t.Errorf("the first %d bytes are accepted", n)
		}
		_, _ = parseRecord(good[:n])
	}
	signed := bytes.Index(good, []byte(signaturesMark))
	for at := range good {
		for bit := range 8 {
			bad := bytes.Clone(good)
			bad[at] ^= 1 << bit
			_, err := Verify(bad, key.Public())
			if at < signed && err == nil {
				t.Errorf("byte %d, bit %d: accepted", at, bit)
			}
			r, err2 := parseRecord(bad)
			if err == nil && (err2 != nil || !reflect.DeepEqual(r, testRelease())) {
				t.Errorf("byte %d, bit %d: accepted with other content: %+v, %v", at, bit, r, err2)
			}
		}
	}
}

// TestHistoryRefused checks that invalid histories are refused.
func TestHistoryRefused(t *testing.T) {
	b, err := testHistory().marshal()
	must(t, err)
	text := string(b)
	for what, bad := range map[string]string{
		"empty":     "",
		"null":      "null",
		"large":     text + strings.Repeat(" ", maxHistory),
		"format":    strings.Replace(text, "bloomery-history", "bloomery-release", 1),
		"version":   strings.Replace(text, `"version":1`, `"version":2`, 1),
		"order":     strings.Replace(text, `"release":15`, `"release":16`, 1),
		"no bytes":  strings.Replace(text, `"bytes":160336`, `"bytes":0`, 1),
		"entry":     strings.Replace(text, `"releases":[`, `"releases":[7,`, 1),
		"null list": `{"format":"bloomery-history","version":1,"releases":null}`,
		"no hash":   strings.Replace(text, `"sha256"`, `"sha265"`, 1),
		"delta":     strings.Replace(text, `"delta":{`, `"delta":{"sha256":7,"x":{`, 1),
	} {
		if _, err := parseHistory([]byte(bad)); !errors.Is(err, ErrRelease) && !errors.Is(err, ErrVersion) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
