package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/publish"
	"github.com/bloomery/bloomery/publish/transport"
)

// TestFollow publishes two releases and follows them: by a Live, by polls, and from a source of its own.
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
