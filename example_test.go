package bloomery_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/plan"
	"github.com/bloomery/bloomery/publish"
)

// must returns v, or panics if err is not nil.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

var blocklist = []string{"mailinator.com", "0-mail.com", "yopmail.com"}

// In your program, the line above this variable is //go:embed list.bloom.
var embedded []byte

func init() { // a function that the documentation does not show
	set := must(bloomery.Build(context.Background(), slices.Values(blocklist), bloomery.Config{FPR: 0.001}))
	embedded = must(set.MarshalBinary())
}

// Embed a list in a service. The command makes the file: bloomery build -o list.bloom --fpr 0.1% list.txt
func Example_embed() {
	set, err := bloomery.FromBytes(embedded) // uses the bytes in place, without a copy
	if err != nil {
		log.Fatal(err)
	}

	for _, domain := range []string{"yopmail.com", "example.org"} {
		if set.ContainsString(domain) { // from any goroutine, without allocation
			fmt.Println(domain, "is disposable")
		}
	}
	// Output: yopmail.com is disposable
}

// Keep a list current on many machines: publish each version, and follow it. A web server can serve the folder site;
// pass its https:// address to Follow. Readers load only what changed. For a file on the same machine, see OpenLive.
func Example_follow() {
	ctx, dir := context.Background(), must(os.MkdirTemp("", ""))
	defer os.RemoveAll(dir)
	site, file, list := filepath.Join(dir, "site"), filepath.Join(dir, "list.bloom"), blocklist
	c, key := bloomery.Config{Spec: "rankindexed", FPR: 0.001}, must(publish.NewKey())
	release := func() {
		check(must(bloomery.Build(ctx, slices.Values(list), c)).Save(ctx, file))
		must(publish.Publish(ctx, site, file, publish.Options{Sign: []publish.PrivateKey{key}}))
	}
	release()

	live := must(publish.Follow(ctx, site, filepath.Join(dir, "copy.bloom"),
		publish.WithKeys(key.Public()), publish.WithInterval(10*time.Millisecond)))
	defer live.Close()
	fmt.Println(live.ContainsString("new.example"))

	list = append(list, "new.example")
	release()
	for !live.ContainsString("new.example") { // queries go on while the list is replaced
		time.Sleep(10 * time.Millisecond)
	}
	// Output: false
}

// Keys that come and go: a set of open sessions. Remove only keys that were added: another key may look the same to the
// filter. If keys expire after a time, package window needs no Remove.
func Example_keysComeAndGo() {
	c := bloomery.Config{FPR: 0.001, Capacity: 1000, Needs: plan.Needs{Remove: true}}
	sessions := must(bloomery.New(c))
	check(sessions.AddString("session 17"))
	check(sessions.AddString("session 18"))
	check(sessions.Remove([]byte("session 17")))
	fmt.Println(sessions.ContainsString("session 17"), sessions.ContainsString("session 18"), sessions.Len())

	err := sessions.Remove([]byte("session 99"))
	fmt.Println(errors.Is(err, filter.ErrNotFound), sessions.Spec().Family())
	// Output:
	// false true 1
	// true rankindexed
}

// Ask for many keys in one call: their cache misses overlap. Keys may be integers, which need no conversion to bytes.
func Example_manyKeys() {
	customers := func(yield func(uint64) bool) { // or slices.Values, maps.Keys, the rows of a query
		for i := range uint64(1000) {
			if !yield(i * i) {
				return
			}
		}
	}
	c := bloomery.Config{Spec: "blocked", FPR: 0.001}
	set := must(bloomery.Build(context.Background(), customers, c))

	column := []uint64{48, 49, 50, 81}
	known := make([]bool, len(column))
	bloomery.Keyed[uint64](set).ContainsMany(known, column)
	fmt.Println(known)
	// Output: [false true false true]
}

// A filter for clients who choose what they ask: without the secret, nobody can search for false positives, and the
// file does not contain the secret. Keep its 16 bytes where other secrets are.
func Example_secret() {
	ctx, secret := context.Background(), filter.NewSecret()
	c := bloomery.Config{FPR: 0.001, Hashing: bloomery.Hashing{Secret: secret}}
	passwords := must(bloomery.Build(ctx, slices.Values([]string{"123456", "password"}), c))
	path := filepath.Join(must(os.MkdirTemp("", "")), "passwords.bloom")
	defer os.RemoveAll(filepath.Dir(path))
	check(passwords.Save(ctx, path))

	_, err := bloomery.Open(ctx, path)
	fmt.Println("without the secret:", errors.Is(err, filter.ErrSecret))

	leaked := must(bloomery.Open(ctx, path, bloomery.WithSecret(secret)))
	defer leaked.Close()
	fmt.Println(leaked.ContainsString("123456"), leaked.ContainsString("correct horse"))
	// Output:
	// without the secret: true
	// true false
}

// Build a filter, save it, open it elsewhere and ask.
func ExampleBuild() {
	ctx := context.Background()
	set := must(bloomery.Build(ctx, slices.Values(blocklist), bloomery.Config{FPR: 0.001}))
	fmt.Println(set.ContainsString("yopmail.com"), set.ContainsString("example.org"))

	path := filepath.Join(must(os.MkdirTemp("", "")), "list.bloom")
	defer os.RemoveAll(filepath.Dir(path))
	check(set.Save(ctx, path))

	opened := must(bloomery.Open(ctx, path))
	defer opened.Close()
	fmt.Println(opened.ContainsString("yopmail.com"), opened.Len(), opened.Spec().Family())
	// Output:
	// true false
	// true 3 ribbon
}

// The lines of a file are keys. If the file cannot be read to its end, BuildFrom returns the error.
func ExampleBuildFrom() {
	file := strings.NewReader("mailinator.com\n0-mail.com\nyopmail.com\n") // or a file from os.Open
	set := must(bloomery.BuildFrom(context.Background(), bloomery.Lines(file), bloomery.Config{}))
	fmt.Println(set.Len(), set.ContainsString("0-mail.com"))
	// Output:
	// 3 true
}

// The planner chooses a filter for what it must do.
func ExampleConfig_needs() {
	c := bloomery.Config{Keys: 1000, Needs: plan.Needs{FPR: 0.01, Remove: true, Merge: true}}
	choice := must(c.Choose(context.Background()))
	fmt.Println(choice.Spec, "-", choice.Reason)
	set := must(bloomery.New(c))
	fmt.Println(set.Spec().Family())
	// Output:
	// counting(fpr=0.01) - removal with union, and never full
	// counting
}

// Query many keys at once: their cache misses overlap.
func ExampleKeyedSet_ContainsMany() {
	set := must(bloomery.Build(context.Background(), slices.Values(blocklist), bloomery.Config{}))
	keys := []string{"yopmail.com", "example.org", "0-mail.com"}
	answers := make([]bool, len(keys))
	bloomery.Keyed[string](set).ContainsMany(answers, keys)
	fmt.Println(answers)
	// Output:
	// [true false true]
}

// Filters of the same size and seed can be merged.
func ExampleSet_Merge() {
	ctx, c := context.Background(), bloomery.Config{Spec: "standard(bytes=1000,capacity=500)"}
	monday := must(bloomery.Build(ctx, slices.Values([]string{"ann", "bob"}), c))
	tuesday := must(bloomery.Build(ctx, slices.Values([]string{"cleo"}), c))
	check(monday.Merge(tuesday))
	fmt.Println(monday.ContainsString("bob"), monday.ContainsString("cleo"))
	// Output:
	// true true
}

// Four goroutines add the same keys. For each key, one of them sees it as new.
func ExampleSet_TestAndAdd() {
	set := must(bloomery.New(bloomery.Config{Spec: "blocked(fpr=1e-6)", Keys: 1000, Concurrent: true}))
	numbers := bloomery.Keyed[uint64](set)
	var fresh atomic.Int64
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range uint64(1000) {
				if !must(numbers.TestAndAdd(i)) {
					fresh.Add(1)
				}
			}
		})
	}
	all.Wait()
	fmt.Println(fresh.Load(), set.Len())
	// Output:
	// 1000 1000
}

// Count how often each key was added.
func ExampleSet_Count() {
	set := must(bloomery.New(bloomery.Config{Spec: "rankindexed(counting=1)", Keys: 1000}))
	for range 3 {
		check(set.AddString("GET /"))
	}
	check(set.Remove([]byte("GET /")))
	fmt.Println(set.Count([]byte("GET /")))
	// Output:
	// 2 false <nil>
}

// Store a small value with each key.
func ExampleSet_Upsert() {
	set := must(bloomery.New(bloomery.Config{Spec: "rankindexed(fpr=0.001,value_bits=4)", Keys: 1000}))
	check(set.Upsert([]byte("192.0.2.7"), 3))
	check(set.Upsert([]byte("192.0.2.7"), 5))
	fmt.Println(set.Get([]byte("192.0.2.7")))
	fmt.Println(set.Get([]byte("192.0.2.8")))
	// Output:
	// 5 true <nil>
	// 0 false <nil>
}

// Store a small value with each key of a list that does not change.
func ExampleBuildValues() {
	ctx := context.Background()
	country := map[string]uint64{"192.0.2.1": 49, "198.51.100.7": 33, "203.0.113.9": 81}
	set := must(bloomery.BuildValues(ctx, maps.All(country), bloomery.Config{Spec: "ribbon(value_bits=8)"}))

	value, ok, _ := set.Get([]byte("198.51.100.7"))
	fmt.Println(value, ok)
	_, ok, _ = set.Get([]byte("192.0.2.99"))
	fmt.Println(ok)
	// Output:
	// 33 true
	// false
}

// A Set that follows its file. Queries that run while the file is replaced finish on the old one.
func ExampleOpenLive() {
	ctx := context.Background()
	path := filepath.Join(must(os.MkdirTemp("", "")), "list.bloom")
	defer os.RemoveAll(filepath.Dir(path))
	check(must(bloomery.Build(ctx, slices.Values(blocklist), bloomery.Config{})).Save(ctx, path))

	live := must(bloomery.OpenLive(ctx, path)) // checks the file every second
	defer live.Close()
	fmt.Println(live.ContainsString("new.example"))

	longer := append(slices.Clone(blocklist), "new.example")
	check(must(bloomery.Build(ctx, slices.Values(longer), bloomery.Config{})).Save(ctx, path))
	check(live.Reload(ctx)) // at once
	fmt.Println(live.ContainsString("new.example"))
	// Output:
	// false
	// true
}

// Use a filter inside a larger file, such as one from go:embed, without a copy.
func ExampleFromBytes() {
	set := must(bloomery.Build(context.Background(), slices.Values(blocklist), bloomery.Config{}))
	archive := append(make([]byte, 64), must(set.MarshalBinary())...) // after 64 bytes of other data

	section := archive[64:]
	embedded := must(bloomery.FromBytes(section))
	fmt.Println(embedded.ContainsString("yopmail.com"), embedded.Len())
	// Output:
	// true 3
}

// Add keys from many goroutines.
func ExampleBuilder() {
	ctx := context.Background()
	b := must(bloomery.NewBuilder(ctx, bloomery.Config{Spec: "partitioned(effort=fast)"}))
	defer b.Close()
	var all sync.WaitGroup
	for part := range 4 {
		all.Go(func() {
			for key := range numbered(fmt.Sprintf("part %d, key ", part), 500) {
				check(b.AddString(key))
			}
		})
	}
	all.Wait()
	set := must(b.Build(ctx))
	fmt.Println(set.Len(), set.ContainsString("part 3, key 7"))
	// Output:
	// 2000 true
}

// A Verifier queries the keys and random keys, and counts the wrong answers.
func ExampleVerifier() {
	ctx := context.Background()
	keys := [][]byte{[]byte("mailinator.com"), []byte("0-mail.com"), []byte("yopmail.com")}
	set := must(bloomery.Build(ctx, slices.Values(keys), bloomery.Config{Spec: "standard(fpr=0.01)"}))
	v := must(set.Verifier(bloomery.JobConfig{}))
	defer v.Close()
	check(v.AskRandom(ctx, 100_000, 1, nil))
	check(v.AskMembers(keys))
	seen := must(v.Commit(ctx))
	fmt.Println(seen.FalseNegatives, seen.Rate.Trials, seen.Rate.Holds(set.Info().FPRPosterior))
	// Output:
	// 0 100000 true
}

func numbered(name string, n int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range n {
			if !yield(fmt.Sprint(name, i)) {
				return
			}
		}
	}
}

// A file is changed under a lock: another process that changes it waits.
func ExampleLock() {
	ctx := context.Background()
	path := filepath.Join(must(os.MkdirTemp("", "")), "list.bloom")
	defer os.RemoveAll(filepath.Dir(path))
	list := must(bloomery.Build(ctx, slices.Values(blocklist), bloomery.Config{Spec: "standard(capacity=100)"}))
	check(list.Save(ctx, path))

	locked := must(bloomery.Lock(ctx, path))
	defer locked.Close()
	check(locked.AddString("new.example"))
	check(locked.Commit(ctx))
	fmt.Println(must(bloomery.Open(ctx, path)).Len())
	// Output:
	// 4
}

// A list of keys is removed only if all of them were added, as far as the filter can tell.
func ExampleRemoval() {
	ctx := context.Background()
	set := must(bloomery.Build(ctx, slices.Values(blocklist), bloomery.Config{Spec: "rankindexed(fpr=0.001)"}))
	r := must(set.Removal(bloomery.JobConfig{}))
	defer r.Close()
	check(r.AddMany([][]byte{[]byte("yopmail.com"), []byte("a.example"), []byte("b.example")}))
	_, err := r.Commit(ctx)
	fmt.Println(errors.Is(err, filter.ErrStrangers), set.Len()) // nothing was removed
	r.Force()
	removed := must(r.Commit(ctx))
	fmt.Println(removed.Removed, removed.NotFound, set.Len())
	// Output:
	// true 3
	// 1 2 2
}

// A Set that never says yes for the keys of a list.
func ExampleAllower() {
	ctx := context.Background()
	members := [][]byte{[]byte("mailinator.com"), []byte("0-mail.com"), []byte("yopmail.com")}
	set := must(bloomery.Build(ctx, slices.Values(members), bloomery.Config{Spec: "standard(fpr=0.3)"}))
	customers := slices.Collect(numbered("customer ", 1000))
	a := must(set.Allower(bloomery.JobConfig{}))
	defer a.Close()
	for _, key := range customers {
		check(a.AllowMany([][]byte{[]byte(key)})) // thousands of keys a call are faster
	}
	check(a.AddMembers(members))
	check(a.Commit(ctx))
	fmt.Println(slices.ContainsFunc(customers, set.ContainsString), set.ContainsString("yopmail.com"))
	// Output:
	// false true
}

// Many goroutines add to a locked file; no other process can change it meanwhile.
func ExampleLock_manyWriters() {
	ctx, path := context.Background(), filepath.Join(must(os.MkdirTemp("", "")), "seen.bloom")
	defer os.RemoveAll(filepath.Dir(path))
	check(must(bloomery.New(bloomery.Config{Spec: "blocked(fpr=0.001)", Keys: 10_000})).Save(ctx, path))

	seen := must(bloomery.Lock(ctx, path, bloomery.WithConcurrent()))
	defer seen.Close()
	var all sync.WaitGroup
	for part := range uint64(4) {
		all.Go(func() { check(bloomery.Keyed[uint64](seen.Set).Add(part)) })
	}
	all.Wait()
	check(seen.Commit(ctx))
	fmt.Println(must(bloomery.Open(ctx, path)).Len())
	// Output:
	// 4
}

// A sharded set is a folder of filters. Each shard is loaded at the first query of one of its keys.
func ExampleSharding() {
	ctx, dir := context.Background(), must(os.MkdirTemp("", ""))
	defer os.RemoveAll(dir)
	c := bloomery.Config{Spec: "blocked(fpr=0.001)", Sharding: bloomery.Sharding{Dir: dir, Shards: 8}}
	check(must(bloomery.Build(ctx, numbered("user ", 10_000), c)).Close())

	users := must(bloomery.Open(ctx, dir))
	defer users.Close()
	present, err := users.ContainsContext(ctx, []byte("user 4711"))
	fmt.Println(present, err, users.Len(), len(users.Manifest().Shards))
	// Output:
	// true <nil> 10000 8
}

// Estimate how many distinct keys a filter holds if some were added twice.
func ExampleSet_EstimateInterval() {
	set := must(bloomery.New(bloomery.Config{Spec: "standard(fpr=0.01)", Keys: 2000}))
	for range 2 {
		for key := range numbered("visitor ", 1000) {
			check(set.AddString(key))
		}
	}
	e := must(set.EstimateInterval())
	fmt.Println(set.Len(), e.Low <= 1000 && 1000 <= e.High, e.High-e.Low < 100)
	// Output:
	// 2000 true true
}

// An Addition loads and writes each shard once, however many keys there are.
func ExampleAddition() {
	ctx, dir := context.Background(), must(os.MkdirTemp("", ""))
	defer os.RemoveAll(dir)
	c := bloomery.Config{Spec: "standard(capacity=1000)", Sharding: bloomery.Sharding{Dir: dir, Shards: 4}}
	check(must(bloomery.Build(ctx, slices.Values(blocklist), c)).Close())

	l := must(bloomery.Lock(ctx, dir))
	defer l.Close()
	a := must(l.Addition(bloomery.JobConfig{}))
	defer a.Close()
	check(a.AddMany([][]byte{[]byte("new.example"), []byte("other.example")}))
	check(a.Commit(ctx))
	check(l.Commit(ctx))
	fmt.Println(must(bloomery.Open(ctx, dir)).Len())
	// Output:
	// 5
}

// An Optimizer continues the search of a filter for a lower false-positive rate at the same size.
func ExampleOptimizer() {
	ctx, c := context.Background(), bloomery.Config{Spec: "partitioned(bits_per_key=8,effort=fast)"}
	set := must(bloomery.Build(ctx, numbered("key ", 2000), c))
	o := must(set.Optimizer(bloomery.JobConfig{Effort: filter.Effort{Passes: 20}}))
	defer o.Close()
	for key := range numbered("key ", 2000) {
		check(o.AddMany([][]byte{[]byte(key)}))
	}
	better := must(o.Commit(ctx))
	fmt.Println(better.Info().FPRPosterior < set.Info().FPRPosterior, better.Info().Bits == set.Info().Bits)
	// Output:
	// true true
}

// Merge the files of several days. Only one filter is in memory, however many files there are.
func ExampleMergeFiles() {
	ctx, dir := context.Background(), must(os.MkdirTemp("", ""))
	defer os.RemoveAll(dir)
	days := map[string]string{filepath.Join(dir, "monday"): "ann", filepath.Join(dir, "tuesday"): "bob"}
	for path, key := range days {
		c := bloomery.Config{Spec: "standard(bytes=1000,capacity=500)"}
		check(must(bloomery.Build(ctx, slices.Values([]string{key}), c)).Save(ctx, path))
	}
	week := must(bloomery.MergeFiles(ctx, slices.Sorted(maps.Keys(days))))
	fmt.Println(week.Len(), week.ContainsString("ann"), week.ContainsString("bob"), week.ContainsString("cleo"))
	// Output:
	// 2 true true false
}
