package publish_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/publish"
)

// must ends an example that fails.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Publish a filter, follow it, and publish its next version. A web server would serve the folder.
func Example() {
	ctx := context.Background()
	dir := must(os.MkdirTemp("", ""))
	defer os.RemoveAll(dir)
	file, site := filepath.Join(dir, "list.bloom"), filepath.Join(dir, "site")
	key := must(publish.NewKey()) // CreateKey makes one in a file
	release := func(c bloomery.Config, keys ...string) publish.Report {
		set := must(bloomery.Build(ctx, slices.Values(keys), c))
		if err := set.Save(ctx, file); err != nil {
			panic(err)
		}
		return must(publish.Publish(ctx, site, file, publish.Options{Sign: []publish.PrivateKey{key}}))
	}
	first := release(bloomery.Config{Spec: "rankindexed(fpr=0.001)"}, "a.example", "b.example")
	fmt.Println(first.Release.Number, first.Release.Name)

	// The reader, usually on another machine: file is then a URL.
	copied := filepath.Join(dir, "copy.bloom")
	follower := must(publish.NewFollower(site, copied, publish.WithKeys(key.Public())))
	must(follower.Poll(ctx))

	like := must(bloomery.Open(ctx, file, bloomery.InMemory()))
	release(bloomery.Config{Like: like}, "a.example", "c.example")
	must(follower.Poll(ctx))
	set := must(bloomery.Open(ctx, copied))
	defer set.Close()
	fmt.Println(set.ContainsString("b.example"), set.ContainsString("c.example"))
	// Output:
	// 1 site
	// false true
}

// Follow keeps a filter current in the background. A URL takes the place of the folder.
func ExampleFollow() {
	ctx := context.Background()
	dir := must(os.MkdirTemp("", ""))
	defer os.RemoveAll(dir)
	file, site := filepath.Join(dir, "list.bloom"), filepath.Join(dir, "site")
	set := must(bloomery.Build(ctx, slices.Values([]string{"a.example"}), bloomery.Config{}))
	if err := set.Save(ctx, file); err != nil {
		panic(err)
	}
	key := must(publish.NewKey())
	must(publish.Publish(ctx, site, file, publish.Options{Sign: []publish.PrivateKey{key}}))

	live := must(publish.Follow(ctx, site, filepath.Join(dir, "copy.bloom"), publish.WithKeys(key.Public())))
	defer live.Close()
	fmt.Println(live.ContainsString("a.example"), live.Err())
	// Output: true <nil>
}
