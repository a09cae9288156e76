package s3_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/buckets"
	"github.com/bloomery/bloomery/buckets/internal/fakes3"
	"github.com/bloomery/bloomery/buckets/internal/storetest"
	"github.com/bloomery/bloomery/publish"
)

// TestFollow follows a published filter in a bucket: whole, unchanged by one request without a body, and by a delta.
func TestFollow(t *testing.T) {
	f := fakes3.New(t)
	dir := filepath.Join(t.TempDir(), "list")
	release := func(key string) {
		t.Helper()
		path := filepath.Join(t.TempDir(), "f.bloom")
		keys := slices.Values([]string{key})
		set, err := bloomery.Build(t.Context(), keys, bloomery.Config{Spec: "standard(bytes=100000)"})
		if err == nil {
			err = set.Save(t.Context(), path)
		}
		if err == nil {
			_, err = publish.Publish(t.Context(), dir, path, publish.Options{})
		}
		if err != nil {
			t.Fatal(err)
		}
		storetest.Copy(t, buckets.Folder(dir), open(t, f, "list"))
		f.Counts()
	}
	release("one")
	address := f.Address("list")
	file := filepath.Join(t.TempDir(), "f.bloom")
	follower, err := publish.NewFollower("", file, publish.WithInsecure(),
		publish.WithSource(buckets.Published(open(t, f, "list"), address)))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"updated", "unchanged", "delta"} {
		if want == "delta" {
			release("two")
		}
		e, err := follower.Poll(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		n, bytes := f.Counts()
		if (e.Kind == publish.Updated) != (want != "unchanged") || e.Delta != (want == "delta") {
			t.Errorf("%s: %v", want, e)
		}
		if want == "unchanged" && (n["HEAD"] != 1 || n["GET"] != 0 || bytes != 0) {
			t.Errorf("unchanged: %v, %d bytes", n, bytes)
		}
	}
	live, err := buckets.Follow(t.Context(), address, file, publish.WithInsecure())
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	if !live.ContainsString("two") {
		t.Error("the second release")
	}
}
