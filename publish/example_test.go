package publish_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/exact"
	"github.com/bloomery/bloomery/publish"
	"github.com/bloomery/bloomery/publish/transport"
)

// must returns v. It panics if err is not nil.
func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

// temporary returns the path of a new folder.
func temporary() string { return must(os.MkdirTemp("", "")) }

// save writes a filter of keys to a file.
func save(file string, keys ...string) {
	set := must(bloomery.Build(context.Background(), slices.Values(keys), bloomery.Config{Spec: "standard(fpr=0.001)"}))
	must(0, set.Save(context.Background(), file))
}

// Publish a filter and its next version, and follow them. If a web server serves the folder, pass its URL instead of
// the folder.
func Example() {
	ctx, dir := context.Background(), temporary()
	defer os.RemoveAll(dir)
	file, site, copied := filepath.Join(dir, "new"), filepath.Join(dir, "list"), filepath.Join(dir, "list.bloom")
	key := must(publish.NewKey()) // CreateKey makes one in a file
	follower := must(publish.NewFollower(site, copied, publish.WithKeys(key.Public())))
	for _, domain := range []string{"a.example", "b.example"} {
		save(file, "all.example", domain)
		must(publish.Publish(ctx, site, file, publish.Options{Sign: []publish.PrivateKey{key}}))
		event := must(follower.Poll(ctx))
		fmt.Println(event.Kind, event.Release.Number, event.Release.Name, event.Release.Keys)
	}
	set := must(bloomery.Open(ctx, copied))
	defer set.Close()
	fmt.Println(set.ContainsString("a.example"), set.ContainsString("b.example"))
	// Output:
	// updated 1 list 2
	// updated 2 list 2
	// false true
}

// The Report of Publish contains the number of bytes that readers load.
func ExamplePublish() {
	ctx, dir := context.Background(), temporary()
	defer os.RemoveAll(dir)
	file, site := filepath.Join(dir, "new"), filepath.Join(dir, "list")
	save(file, "a.example")
	first := must(publish.Publish(ctx, site, file, publish.Options{Unsigned: true}))
	again := must(publish.Publish(ctx, site, file, publish.Options{Unsigned: true}))
	save(file, "b.example")
	second := must(publish.Publish(ctx, site, file, publish.Options{Unsigned: true, Name: "list"}))
	fmt.Println(first.Release.Number, again.Same, second.Release.Number, len(second.Older))
	// Output: 1 true 2 1
}

// Keep keys in files: the publisher has the private key, and readers pin the public key.
func ExampleCreateKey() {
	path := filepath.Join(temporary(), "list.key")
	defer os.RemoveAll(filepath.Dir(path))
	created := must(publish.CreateKey(context.Background(), path))
	ctx := context.Background()
	private := must(publish.ReadPrivateKey(ctx, path))
	public := must(publish.ReadPublicKey(ctx, path+publish.PublicSuffix))
	pinned := must(publish.ParsePublicKey(public.String())) // a text, "ed25519:..."
	fmt.Println(private.Public() == created, public == created, pinned.ID() == created.ID())
	// Output: true true true
}

// Follow keeps a filter current in the background.
func ExampleFollow() {
	ctx, dir := context.Background(), temporary()
	defer os.RemoveAll(dir)
	file, site := filepath.Join(dir, "new"), filepath.Join(dir, "list")
	save(file, "a.example")
	key := must(publish.NewKey())
	must(publish.Publish(ctx, site, file, publish.Options{Sign: []publish.PrivateKey{key}}))

	live := must(publish.Follow(ctx, site, filepath.Join(dir, "list.bloom"), publish.WithKeys(key.Public()),
		publish.OnEvent(func(e publish.Event) {
			if e.Kind == publish.Failed {
				log.Print(e)
			}
		})))
	defer live.Close()
	fmt.Println(live.ContainsString("a.example"), live.Err())
	// Output: true <nil>
}

// An exact set: each update of it is a delta.
func ExampleFollowExact() {
	ctx, dir := context.Background(), temporary()
	defer os.RemoveAll(dir)
	file, site := filepath.Join(dir, "new"), filepath.Join(dir, "revoked")
	members, universe := slices.Values([]string{"07"}), slices.Values([]string{"05", "06", "07"})
	set := must(exact.Build(ctx, members, universe, exact.Config{}))
	must(0, set.Save(ctx, file))
	must(publish.Publish(ctx, site, file, publish.Options{}))

	live := must(publish.FollowExact(ctx, site, filepath.Join(dir, "revoked.exact"), publish.WithInsecure()))
	defer live.Close()
	fmt.Println(live.Set().Contains([]byte("06")), live.Set().Contains([]byte("07")), live.Err())
	// Output: false true <nil>
}

// counted is a custom Source that counts the requests to another Source.
type counted struct {
	transport.Source
	requests int
}

func (c *counted) Get(ctx context.Context, name string, r transport.Request) (*transport.Object, error) {
	c.requests++
	return c.Source.Get(ctx, name, r)
}

// A custom Source, such as a bucket, replaces the address.
func ExampleWithSource() {
	ctx, dir := context.Background(), temporary()
	defer os.RemoveAll(dir)
	file, site := filepath.Join(dir, "new"), filepath.Join(dir, "list")
	save(file, "a.example")
	must(publish.Publish(ctx, site, file, publish.Options{}))
	source := &counted{Source: transport.Folder(site)}
	follower := must(publish.NewFollower("", filepath.Join(dir, "list.bloom"), publish.WithSource(source),
		publish.WithInsecure()))
	for range 2 {
		fmt.Println(must(follower.Poll(ctx)).Kind, source.requests)
	}
	// Output:
	// updated 2
	// unchanged 3
}

// Check a folder before readers see it: signature, objects and deltas.
func ExampleCheck() {
	ctx, dir := context.Background(), temporary()
	defer os.RemoveAll(dir)
	file, site := filepath.Join(dir, "new"), filepath.Join(dir, "list")
	save(file, "a.example")
	key := must(publish.NewKey())
	must(publish.Publish(ctx, site, file, publish.Options{Sign: []publish.PrivateKey{key}}))
	checked := must(publish.Check(ctx, site, []publish.PublicKey{key.Public()}, nil))
	other := must(publish.NewKey())
	_, err := publish.Check(ctx, site, []publish.PublicKey{other.Public()}, nil)
	fmt.Println(checked.Release.Name, checked.Objects, err != nil)
	// Output: list 1 true
}

// Read a release.json without a Follower.
func ExampleVerify() {
	ctx, dir := context.Background(), temporary()
	defer os.RemoveAll(dir)
	file, site := filepath.Join(dir, "new"), filepath.Join(dir, "list")
	save(file, "a.example")
	key := must(publish.NewKey())
	must(publish.Publish(ctx, site, file, publish.Options{Sign: []publish.PrivateKey{key}}))
	text := must(os.ReadFile(filepath.Join(site, publish.ReleaseName)))
	by := must(publish.Verify(text, key.Public()))
	release := must(publish.ParseRelease(text))
	fmt.Println(by == key.Public(), release.Name, release.Number, release.Kind)
	// Output: true list 1 file
}
