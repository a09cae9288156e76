package publish

import (
	"bytes"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
)

// forge replaces release.json by one that was changed and signed by these keys, and returns its bytes.
func forge(t *testing.T, dir string, change func(*record), keys ...PrivateKey) []byte {
	t.Helper()
	r, err := parseRecord(released(t, dir))
	must(t, err)
	change(r)
	b, err := r.marshal(keys...)
	must(t, err)
	write(t, filepath.Join(dir, ReleaseName), b, 0o600)
	return b
}

// TestForged changes a field of release.json without a key. Publish must refuse it with new content, with the same
// content and with Renew, and leave the folder unchanged.
func TestForged(t *testing.T) {
	src, key, other := t.TempDir(), testKey(t, "A"), testKey(t, "E")
	file, next := build(t, src, 1, 0, bloomery.Config{}), build(t, src, 2, 0, bloomery.Config{})
	changes := map[string]func(*record){
		"nothing":   func(r *record) {},
		"name":      func(r *record) { r.Name = "other" },
		"number":    func(r *record) { r.Number = 1 << 52 },
		"last":      func(r *record) { r.Number = maxNumber },
		"expires":   func(r *record) { r.Expires = r.Expires.AddDate(70, 0, 0) },
		"published": func(r *record) { r.Published, r.Expires = r.Published.AddDate(70, 0, 0), r.Expires.AddDate(80, 0, 0) },
		"content":   func(r *record) { r.SHA256[0] ^= 1 },
		"kind":      func(r *record) { r.Kind = Exact },
		"keys":      func(r *record) { r.Keys = 1 },
		"previous":  func(r *record) { r.Number, r.Previous = 9, &previous{Number: 8} },
		"history":   func(r *record) { r.History = &object{r.SHA256, 7} },
	}
	for what, change := range changes {
		for signed, by := range map[string][]PrivateKey{"nobody": nil, "another key": {other}} {
			dir := filepath.Join(t.TempDir(), "list")
			o := Options{Sign: []PrivateKey{key}, Now: start}
			mustPublish(t, dir, file, o)
			forged := forge(t, dir, change, by...)
			for try, file := range map[string]string{"new content": next, "same content": file, "renew": file} {
				o.Renew = try == "renew"
				r, err := Publish(t.Context(), dir, file, o)
				if want := map[bool]error{true: ErrUnsigned, false: ErrOtherKey}[by == nil]; !errors.Is(err, want) {
					t.Errorf("%s, signed by %s, %s: %v, %+v; want %v", what, signed, try, err, r.Release, want)
				}
				if !bytes.Equal(released(t, dir), forged) {
					t.Errorf("%s, signed by %s, %s: release.json was replaced", what, signed, try)
				}
			}
		}
	}
}

// TestForgedBytes checks that a signed release.json in which any byte of the signed part was changed is refused.
func TestForgedBytes(t *testing.T) {
	src, dir, key := t.TempDir(), filepath.Join(t.TempDir(), "list"), testKey(t, "A")
	file := build(t, src, 1, 0, bloomery.Config{})
	o := Options{Sign: []PrivateKey{key}, Now: start}
	mustPublish(t, dir, file, o)
	good := released(t, dir)
	path := filepath.Join(dir, ReleaseName)
	for at := range bytes.Index(good, []byte(signaturesMark)) {
		bad := bytes.Clone(good)
		bad[at] ^= 1
		write(t, path, bad, 0o600)
		if _, err := Publish(t.Context(), dir, file, o); !errors.Is(err, ErrSignature) && !errors.Is(err, ErrRelease) {
			t.Fatalf("byte %d: %v", at, err)
		}
	}
}

// TestLongExpiry checks that an expiry that is later than Options.Lifetime allows is not kept, even if it is signed.
func TestLongExpiry(t *testing.T) {
	src, dir, key := t.TempDir(), filepath.Join(t.TempDir(), "list"), testKey(t, "A")
	file := build(t, src, 1, 0, bloomery.Config{})
	o := Options{Sign: []PrivateKey{key}, Now: start, Lifetime: 50 * 365 * day}
	mustPublish(t, dir, file, o)
	o.Lifetime, o.Now = 7*day, start.Add(time.Hour)
	if r := mustPublish(t, dir, file, o); !r.Renewed || !r.Release.Expires.Equal(o.Now.Add(o.Lifetime)) {
		t.Errorf("renewed: %v, expires %v", r.Renewed, r.Release.Expires)
	}
}
