package main

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/delta"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/publish"
	"github.com/bloomery/bloomery/publish/transport"
)

// TestPublisher replaces the key of a list, publishes after the folder was lost, and checks that a shrunk list is
// refused.
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

// TestDeltas makes and applies the difference of two versions of a filter.
func TestDeltas(t *testing.T) {
	dir := t.TempDir()
	old, next, out := filepath.Join(dir, "old.bloom"), filepath.Join(dir, "new.bloom"), filepath.Join(dir, "out.bloom")
	c := bloomery.Config{Spec: "rankindexed(capacity=1000,fpr=0.01)"}
	for path, keys := range map[string][]string{old: {"one", "two", "three"}, next: {"two", "three", "four"}} {
		set := must(bloomery.Build(t.Context(), slices.Values(keys), c))(t)
		if err := set.Save(t.Context(), path); err != nil {
			t.Fatal(err)
		}
	}
	d := must(delta.DiffFiles(t.Context(), old, next))(t)
	if i, err := delta.Read(d); err != nil || i.Method != delta.Replay || len(d) > 50 {
		t.Errorf("%v in %d bytes, %v", i.Method, len(d), err)
	}
	if err := delta.PatchFile(t.Context(), old, d, out, delta.Options{}); err != nil {
		t.Fatal(err)
	}
	if want, got := must(os.ReadFile(next))(t), must(os.ReadFile(out))(t); !bytes.Equal(want, got) {
		t.Error("the result differs")
	}
	if err := delta.PatchFile(t.Context(), out, d, out, delta.Options{}); !errors.Is(err, delta.ErrBase) {
		t.Errorf("another base: %v", err)
	}
}

// TestFollow publishes two releases and follows them by a Live, by polls, and from its own source.
func TestFollow(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	key, err := publish.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	site, dir := filepath.Join(t.TempDir(), "list"), t.TempDir()
	release := func(name string) {
		t.Helper()
		keys := slices.Values([]string{name, "all"})
		set, err := bloomery.Build(ctx, keys, bloomery.Config{Spec: "standard(bytes=100000)"})
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		if err := set.Save(ctx, path); err != nil {
			t.Fatal(err)
		}
		o := publish.Options{Sign: []publish.PrivateKey{key}}
		if _, err := publish.Publish(ctx, site, path, o); err != nil {
			t.Fatal(err)
		}
	}
	release("one")
	web := httptest.NewServer(http.FileServer(http.Dir(site)))
	defer web.Close()

	if _, err := publish.NewFollower(web.URL, filepath.Join(dir, "f")); !errors.Is(err, publish.ErrNoKey) {
		t.Errorf("without a key: %v", err)
	}
	updated := make(chan publish.Event, 10)
	live, err := publish.Follow(ctx, web.URL, filepath.Join(dir, "f"), publish.WithKeys(key.Public()),
		publish.WithInterval(10*time.Millisecond), publish.WithName("list"), publish.WithMaxBytes(1<<20),
		publish.WithTransport(transport.Config{UserAgent: "consumer", Stall: transport.DefaultStall / 2,
			MinRate: transport.DefaultMinRate / 2}), publish.WithOpen(bloomery.InMemory()),
		publish.OnProgress(func(loaded, expected int64) {}), publish.OnEvent(func(e publish.Event) {
			switch e.Kind {
			case publish.Updated:
				updated <- e
			case publish.Expired:
				t.Error(e.Err)
			case publish.Failed:
				t.Error(e.Err, e.Retry)
			}
		}))
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	if e := <-updated; e.Release.Number != 1 || e.Delta || !live.ContainsString("one") {
		t.Errorf("%v", e)
	}
	release("two")
	if e := <-updated; e.From != 1 || !e.Delta || e.Unused != nil || !live.ContainsString("two") || live.Err() != nil {
		t.Errorf("%v, %v", e, live.Err())
	}

	own, err := transport.Open(web.URL, transport.Config{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := publish.NewFollower("", filepath.Join(dir, "g"), publish.WithSource(own), publish.WithInsecure())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []publish.EventKind{publish.Updated, publish.Unchanged} {
		if e, err := f.Poll(ctx); err != nil || e.Kind != want {
			t.Errorf("%v, %v", e, err)
		}
	}
	open := t.TempDir()
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, o := range [][]publish.FollowOption{{}, {publish.WithForeign()}} {
		f, err := publish.NewFollower(site, filepath.Join(open, "f"), o...)
		if err != nil {
			t.Fatal(err)
		}
		refused := runtime.GOOS != "windows" && len(o) == 0
		if _, err := f.Poll(ctx); errors.Is(err, publish.ErrForeign) != refused || !refused && err != nil {
			t.Errorf("a folder that all may write: %v", err)
		}
	}
	cancel()
	if err := f.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
