package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/buckets"
	"github.com/bloomery/bloomery/distribute"
	"github.com/bloomery/bloomery/shard"
)

// contents returns all objects of a Store.
func contents(t testing.TB, s distribute.Store) map[string]string {
	t.Helper()
	all := map[string]string{}
	for o, err := range s.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Open(t.Context(), o.Name, 0, -1)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err = errors.Join(err, r.Close()); err != nil {
			t.Fatal(err)
		}
		all[o.Name] = string(b)
	}
	return all
}

// Late tests that a worker and a Finish that come too late cannot change a finished set in an empty Store, and that the
// set is the one of bloomery.Build although a plan was given up there.
func Late(t *testing.T, s buckets.Store) {
	config := bloomery.Config{Spec: "blocked(bytes=30000)", Sharding: bloomery.Sharding{Shards: 3}}
	keys := func(name string) (all []string) {
		for i := range 700 {
			all = append(all, fmt.Sprint(name, i))
		}
		return all
	}

	built := func(name string, shards ...int) *distribute.Plan {
		t.Helper()
		in := buckets.Folder(t.TempDir())
		Put(t, in, "keys", strings.Join(keys(name), "\n"))
		p, err := distribute.NewPlan(t.Context(), in, []string{"keys"}, distribute.Config{Build: config})
		if err == nil {
			err = p.Save(t.Context(), s)
		}
		for i := 0; err == nil && i < p.Ranges; i++ {
			_, err = p.Range(t.Context(), in, s, i, distribute.Options{})
		}
		for i := 0; err == nil && i < len(shards); i++ {
			_, err = p.Build(t.Context(), s, shards[i], distribute.Options{})
		}
		if err != nil {
			t.Fatal(err)
		}
		return p
	}

	local := config
	local.Sharding.Dir = t.TempDir()
	set, err := bloomery.Build(t.Context(), slices.Values(keys("b")), local)
	if err != nil {
		t.Fatal(err)
	}
	if err := set.Close(); err != nil {
		t.Fatal(err)
	}

	want := contents(t, buckets.Folder(local.Sharding.Dir))
	given := built("a", 0)
	// Shard 1 is built up to its write, and shard 2 begins, after the other set is finished.
	paused := &pausing{Store: s, before: func() {
		if _, err := built("b", 0, 1, 2).Finish(t.Context(), s, distribute.Options{}); err != nil {
			t.Fatal(err)
		}
	}}
	var out distribute.Store = paused
	if c, ok := s.(conditional); ok {
		out = pausingIf{paused, c}
	}

	for i := range 3 {
		_, _ = given.Build(t.Context(), out, i, distribute.Options{})
	}
	if paused.before != nil {
		t.Fatal("shard 1 was not written")
	}

	got := contents(t, s)
	for name := range got {
		if strings.Contains(name, "/") { // working files are in a folder
			t.Errorf("%s is left behind", name)
		}
	}

	for name, text := range want {
		if got[name] != text {
			t.Errorf("%s is not as Build writes it", name)
		}
	}
	if c, ok := s.(conditional); ok {
		lateFinish(t, c, built)
	}
}

// lateFinish stops a Finish before it writes the manifest, and another plan finishes its set. In a folder a lock
// prevents that.
func lateFinish(t *testing.T, s conditional, built func(string, ...int) *distribute.Plan) {
	var want map[string]string
	a := built("c", 0, 1, 2)
	paused := &pausing{Store: s, what: shard.ManifestName, before: func() {
		if _, err := built("d", 0, 1, 2).Finish(t.Context(), s, distribute.Options{}); err != nil {
			t.Fatal(err)
		}
		want = contents(t, s)
	}}
	_, err := a.Finish(t.Context(), pausingIf{paused, s}, distribute.Options{})
	if !errors.Is(err, distribute.ErrSetChanged) || want == nil {
		t.Errorf("a late Finish: %v", err)
	}
	if !maps.Equal(want, contents(t, s)) {
		t.Error("a late Finish has changed the set")
	}
	if m, err := shard.ReadManifest(bytes.NewReader([]byte(want[shard.ManifestName]))); err != nil || m.Keys() != 700 {
		t.Error(err)
	}
}

// conditional is what a bucket without a lock can do; see distribute.Store.
type conditional interface {
	distribute.Store
	WriteIf(ctx context.Context, name, version string, write func(io.Writer) error) error
}

// pausing is a Store that calls before once, before the first write of an object whose name ends with what, or of a
// shard.
type pausing struct {
	distribute.Store
	what   string
	before func()
}

func (p *pausing) wait(name string) {
	what := p.what
	if what == "" {
		what = ".bloom"
	}
	if f := p.before; f != nil && strings.HasSuffix(name, what) {
		p.before = nil
		f()
	}
}

func (p *pausing) Write(ctx context.Context, name string, write func(io.Writer) error) error {
	p.wait(name)
	return p.Store.Write(ctx, name, write)
}

// pausingIf is a pausing conditional Store.
type pausingIf struct {
	*pausing
	c conditional
}

func (p pausingIf) WriteIf(ctx context.Context, name, version string, write func(io.Writer) error) error {
	p.wait(name)
	return p.c.WriteIf(ctx, name, version, write)
}
