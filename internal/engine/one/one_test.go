package one_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/engine/one"
	"github.com/bloomery/bloomery/internal/families"
)

// engineOf returns an Engine of an empty filter.
func engineOf(t *testing.T, spec string) *one.Set {
	t.Helper()
	s, err := filter.ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	family, _ := families.ByName(s.Family())
	f, err := family.New(s, 1000)
	if err != nil {
		t.Fatal(err)
	}
	h, err := family.Hasher(s, families.Hashing{})
	if err != nil {
		t.Fatal(err)
	}
	return one.New(f, h)
}

// TestEngines checks each form through the methods that a Set uses: the kind of its keys, its answers, and the error of
// a change.
func TestEngines(t *testing.T) {
	broken := errors.New("broken")
	path := filepath.Join(t.TempDir(), "f.bloom")
	if err := engineOf(t, "standard(bytes=2000000)").Save(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	open := func() *one.Set {
		s, err := one.Open(t.Context(), path, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	mapped, closed := open(), open()
	defer mapped.Close()
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	errClosed := engine.ErrClosed
	if !container.CanMap(2_000_000) { // a closed Set in memory answers as before
		errClosed = nil
	}
	for _, c := range []struct {
		name            string
		e               engine.Engine
		hashes, present bool
		err, add        error // of Err and of Add
	}{
		{"memory", engineOf(t, "standard(fpr=0.01)"), true, false, nil, nil},
		{"mapped", mapped, true, false, nil, nil},
		{"raw keys", engineOf(t, "bitsandblooms(fpr=0.01)"), false, false, nil, nil},
		{"empty", one.Nothing(filter.NewHasher(1), nil), false, false, nil, engine.ErrEmpty},
		{"broken", one.Nothing(filter.Hasher{}, broken), false, true, broken, broken},
		{"closed", closed, errClosed == nil, errClosed != nil, errClosed, errClosed},
	} {
		f := c.e.Facts()
		if f.Hashes != c.hashes || f.Query != nil != c.hashes || f.Stored.Shards != 0 || c.e.Parts() != nil {
			t.Errorf("%s: %+v", c.name, f)
		}
		h, raw := filter.Hash{Hi: 1}, []byte(nil)
		keys := engine.Keys{Hashes: []filter.Hash{h}}
		if !c.hashes {
			raw, keys = []byte("key"), engine.Keys{Strings: []string{"key"}}
		}
		dst := []bool{!c.present}
		c.e.ContainsMany(dst, keys)
		if got := c.e.Contains(h, raw); got != c.present || dst[0] != c.present || !errors.Is(c.e.Err(), c.err) {
			t.Errorf("%s: contains %v, %v; %v", c.name, got, dst[0], c.e.Err())
		}
		at, err := c.e.At(h, true)
		if err == nil {
			err = at.Add(h, raw)
		}
		if !errors.Is(err, c.add) || err == nil && !c.e.Contains(h, raw) {
			t.Errorf("%s: Add: %v", c.name, err)
		}
	}
}
