package buckets_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/buckets"
	"github.com/bloomery/bloomery/publish"
)

var domains = []string{"mailinator.com", "0-mail.com", "yopmail.com"}

// Ask a sharded set in a bucket. Here the bucket is a folder; with an import of buckets/s3 or buckets/gcs, the address
// may begin with s3:// or gs://. A shard is fetched at the first query of one of its keys.
func Example() {
	ctx, dir := context.Background(), temporary()
	defer os.RemoveAll(dir)
	local, err := bloomery.Build(ctx, slices.Values(domains), bloomery.Config{
		Spec: "blocked", FPR: 0.001, Sharding: bloomery.Sharding{Dir: filepath.Join(dir, "set"), Shards: 2}})
	if err != nil {
		log.Fatal(err)
	}
	defer local.Close()

	set, err := buckets.Open(ctx, "file://"+filepath.ToSlash(filepath.Join(dir, "set")), buckets.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer set.Close()
	for _, domain := range []string{"yopmail.com", "example.org"} {
		present, err := set.ContainsContext(ctx, []byte(domain)) // if the answer cannot be known: true, and an error
		fmt.Println(domain, present, err)
	}
	fmt.Println(set.Len(), "keys")
	// Output:
	// yopmail.com true <nil>
	// example.org false <nil>
	// 3 keys
}

// Follow a published filter in a bucket: the file is kept current in the background.
func ExampleFollow() {
	ctx, dir := context.Background(), temporary()
	defer os.RemoveAll(dir)
	file, site := filepath.Join(dir, "list.bloom"), filepath.Join(dir, "site")
	set, err := bloomery.Build(ctx, slices.Values(domains), bloomery.Config{FPR: 0.001})
	if err != nil {
		log.Fatal(err)
	}
	if err := set.Save(ctx, file); err != nil {
		log.Fatal(err)
	}
	key, err := publish.NewKey()
	if err != nil {
		log.Fatal(err)
	}
	if _, err := publish.Publish(ctx, site, file, publish.Options{Sign: []publish.PrivateKey{key}}); err != nil {
		log.Fatal(err)
	}

	live, err := buckets.Follow(ctx, "file://"+filepath.ToSlash(site), filepath.Join(dir, "copy.bloom"),
		publish.WithKeys(key.Public()))
	if err != nil {
		log.Fatal(err)
	}
	defer live.Close()
	fmt.Println(live.ContainsString("yopmail.com"), live.ContainsString("example.org"), live.Err())
	// Output: true false <nil>
}

// temporary returns the path of a new folder.
func temporary() string {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	return dir
}
