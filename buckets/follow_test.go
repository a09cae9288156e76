package buckets_test

import (
	"context"
	"net/url"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/buckets"
	releases "github.com/bloomery/bloomery/publish"
)

// closing counts calls of Close.
type closing struct {
	buckets.Store
	closed chan struct{}
}

func (c closing) Close() error {
	close(c.closed)
	return nil
}

// TestFollow follows a bucket through two releases, the second by its delta.
func TestFollow(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "list")
	closed := make(chan struct{})
	buckets.Register("followed", func(_ context.Context, u *url.URL) (buckets.Store, error) {
		return closing{buckets.Folder(dir), closed}, nil
	})
	release := func(key string) {
		t.Helper()
		set, err := bloomery.Build(t.Context(), slices.Values([]string{key, "both"}),
			bloomery.Config{Spec: "standard(k=7,m=1000000)"})
		path := filepath.Join(t.TempDir(), "f.bloom")
		if err == nil {
			err = set.Save(t.Context(), path)
		}
		if err == nil {
			_, err = releases.Publish(t.Context(), dir, path, releases.Options{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	release("one")
	events := make(chan releases.Event, 100)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	const address = "followed://bucket/list?region=x"
	file := filepath.Join(t.TempDir(), "f.bloom")
	if _, err := buckets.Follow(ctx, address, file); err == nil {
		t.Error("unsigned releases of a bucket are taken")
	}
	closed = make(chan struct{})
	live, err := buckets.Follow(ctx, address, file, releases.WithInsecure(),
		releases.WithInterval(5*time.Millisecond), releases.OnEvent(func(e releases.Event) { events <- e }))
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	if !live.ContainsString("one") || live.ContainsString("two") {
		t.Error("the first release")
	}
	release("two")
	for e := range events {
		if e, ok := e.(releases.Updated); ok && e.To.Number == 2 {
			if !e.Delta || !live.ContainsString("two") {
				t.Errorf("%v", e)
			}
			break
		}
	}
	cancel()
	<-closed
}
