package buckets_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/buckets"
	"github.com/bloomery/bloomery/buckets/internal/storetest"
	"github.com/bloomery/bloomery/distribute"
	"github.com/bloomery/bloomery/exact"
	releases "github.com/bloomery/bloomery/publish"
	"github.com/bloomery/bloomery/publish/transport"
)

// closing is a Store that reports when it is closed.
type closing struct {
	buckets.Store
	closed chan<- struct{}
}

func (c closing) Close() error {
	c.closed <- struct{}{}
	return nil
}

var schemes atomic.Int32 // schemes that function bucket has registered

// bucket returns an address of a folder that OpenStore treats as a bucket, and a channel that receives an element for
// each Store of it that is closed.
func bucket(dir string) (address string, closed <-chan struct{}) {
	scheme := fmt.Sprintf("followed%d", schemes.Add(1))
	c := make(chan struct{}, 10)
	buckets.Register(scheme, func(context.Context, *url.URL) (buckets.Store, error) {
		return closing{buckets.Folder(dir), c}, nil
	})
	return scheme + "://bucket/list?region=x", c
}

// saver is a filter or an exact set.
type saver interface {
	Save(ctx context.Context, path string) error
}

// release publishes a set into a folder.
func release(t *testing.T, dir string, set saver, err error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f")
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

// awaitDelta waits for the second release, which must have been loaded as a delta.
func awaitDelta(t *testing.T, events <-chan releases.Event) {
	t.Helper()
	for e := range events {
		if e.Kind == releases.Updated && e.Release.Number == 2 {
			if !e.Delta {
				t.Errorf("%v", e)
			}
			return
		}
	}
}

// TestFollow follows a bucket through two releases, the second by its delta.
func TestFollow(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "list")
	address, closed := bucket(dir)
	put := func(key string) {
		t.Helper()
		set, err := bloomery.Build(t.Context(), slices.Values([]string{key, "both"}),
			bloomery.Config{Spec: "standard(k=7,m=1000000)"})
		release(t, dir, set, err)
	}
	put("one")
	events := make(chan releases.Event, 100)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	file := filepath.Join(t.TempDir(), "f.bloom")
	if _, err := buckets.Follow(ctx, address, file); err == nil {
		t.Error("unsigned releases of a bucket are taken")
	}
	<-closed
	live, err := buckets.Follow(ctx, address, file, releases.WithInsecure(),
		releases.WithInterval(5*time.Millisecond), releases.OnEvent(func(e releases.Event) { events <- e }))
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	if !live.ContainsString("one") || live.ContainsString("two") {
		t.Error("the first release")
	}
	put("two")
	awaitDelta(t, events)
	if !live.ContainsString("two") {
		t.Error("the second release")
	}
	cancel()
	<-closed
}

// TestFollowExact is TestFollow for an exact set and its update. Follow for filters must refuse the set.
func TestFollowExact(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "revoked")
	address, closed := bucket(dir)
	universe := func(yield func([]byte) bool) {
		for i := uint64(0); i < 1000 && yield(storetest.Key(i)); i++ {
		}
	}
	one, two := slices.Values([][]byte{storetest.Key(1)}), slices.Values([][]byte{storetest.Key(2)})
	set, err := exact.Build(t.Context(), one, universe, exact.Config{})
	release(t, dir, set, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	file := filepath.Join(t.TempDir(), "f.exact")
	if _, err := buckets.Follow(ctx, address, file, releases.WithInsecure()); !errors.Is(err, releases.ErrKind) {
		t.Errorf("Follow: %v", err)
	}
	<-closed
	events := make(chan releases.Event, 100)
	live, err := buckets.FollowExact(ctx, address, file, releases.WithInsecure(),
		releases.WithInterval(5*time.Millisecond), releases.OnEvent(func(e releases.Event) { events <- e }))
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	if !live.Set().Contains(storetest.Key(1)) || live.Set().Contains(storetest.Key(2)) {
		t.Error("the first release")
	}
	set, err = exact.Build(t.Context(), two, universe, exact.Config{Base: set})
	release(t, dir, set, err)
	awaitDelta(t, events)
	if live.Set().Contains(storetest.Key(1)) || !live.Set().Contains(storetest.Key(2)) || live.Err() != nil {
		t.Errorf("the second release: %v", live.Err())
	}
	cancel()
	<-closed
}

// hanging is a Store that never answers, or stalls after it has answered.
type hanging struct {
	buckets.Store
	stats bool
}

func (h hanging) Stat(ctx context.Context, name string) (distribute.Object, error) {
	if h.stats {
		return h.Store.Stat(ctx, name)
	}
	<-ctx.Done()
	return distribute.Object{}, ctx.Err()
}

func (h hanging) OpenVersion(ctx context.Context, _, _ string, _, _ int64) (io.ReadCloser, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestFollowHanging checks that a poll of a bucket that does not answer ends like a poll of a web server.
func TestFollowHanging(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "list")
	set, err := bloomery.Build(t.Context(), slices.Values([]string{"a"}), bloomery.Config{Spec: "standard(fpr=0.01)"})
	release(t, dir, set, err)
	for _, stats := range []bool{false, true} {
		source := buckets.Published(hanging{buckets.Folder(dir), stats}, "s3://list")
		f, err := releases.NewFollower("", filepath.Join(t.TempDir(), "f"), releases.WithSource(source),
			releases.WithInsecure(), releases.WithTransport(transport.Config{Stall: 50 * time.Millisecond}))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		if _, err := f.Poll(ctx); !errors.Is(err, transport.ErrStalled) || ctx.Err() != nil {
			t.Errorf("stats %v: %v", stats, err)
		}
	}
}
