package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/publish"
)

// TestPublisher replaces the key of a list, loses its folder, and keeps a list from shrinking.
func TestPublisher(t *testing.T) {
	dir := t.TempDir()
	site, path := filepath.Join(dir, "list"), filepath.Join(dir, "file")
	var keys []publish.PrivateKey
	for _, name := range []string{"one.key", "two.key"} {
		public, err := publish.CreateKey(t.Context(), filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		k, err := publish.ReadPrivateKey(t.Context(), filepath.Join(dir, name))
		if err != nil || k.Public() != public {
			t.Fatal(err)
		}
		keys = append(keys, k)
	}
	release := func(o publish.Options, list ...string) (publish.Report, error) {
		t.Helper()
		set, err := bloomery.Build(t.Context(), slices.Values(list), bloomery.Config{Spec: "standard(bytes=1000)"})
		if err == nil {
			err = set.Save(t.Context(), path)
		}
		if err != nil {
			t.Fatal(err)
		}
		return publish.Publish(t.Context(), site, path, o)
	}
	one := publish.Options{Sign: keys[:1], State: []string{filepath.Join(dir, "one.key"+publish.StateSuffix)}}
	if r, err := release(one, "a", "b", "c"); err != nil || !slices.Equal(r.State, one.State) || r.Behind != 0 {
		t.Fatal(err)
	}
	_, err := release(one, "a")
	if !errors.Is(err, filter.ErrShrunk) || !strings.Contains(err.Error(), "keys: 1, and 3 before: 2 are lost") {
		t.Errorf("%v", err)
	}
	one.Shrink = 0.9
	if _, err := release(one, "a"); err != nil {
		t.Error(err)
	}
	two := publish.Options{Sign: keys[1:]}
	if _, err := release(two, "b"); !errors.Is(err, publish.ErrUntrusted) || !errors.Is(err, publish.ErrOtherKey) {
		t.Errorf("%v", err)
	}
	two.Rotate = []publish.PublicKey{keys[0].Public()}
	if r, err := release(two, "b"); err != nil || *r.Rotated != keys[0].Public() || r.Release.Number != 3 {
		t.Errorf("%v", err)
	}
	if err := os.Remove(filepath.Join(site, publish.ReleaseName)); err != nil {
		t.Fatal(err)
	}
	if _, err := release(two, "c"); !errors.Is(err, publish.ErrLost) {
		t.Errorf("%v", err)
	}
	if r, err := release(one, "c"); err != nil || r.Behind != 2 || len(r.Warnings) != 1 || r.Release.Number != 3 {
		t.Errorf("%v", err)
	}
	one.State = []string{filepath.Join(dir, "none", "state")}
	if _, err := release(one, "d"); !errors.Is(err, publish.ErrKeyState) {
		t.Errorf("%v", err)
	}
}
