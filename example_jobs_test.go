package bloomery_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
)

// Many goroutines add to a file that is locked: no other process can change it meanwhile.
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

// A sharded set is a folder of filters. Each shard is loaded when one of its keys is asked for.
func ExampleConfig_dir() {
	ctx, dir := context.Background(), must(os.MkdirTemp("", ""))
	defer os.RemoveAll(dir)
	c := bloomery.Config{Spec: "blocked(fpr=0.001)", Dir: dir, Shards: 8}
	check(must(bloomery.Build(ctx, numbered("user ", 10_000), c)).Close())

	users := must(bloomery.Open(ctx, dir))
	defer users.Close()
	present, err := users.ContainsContext(ctx, []byte("user 4711"))
	fmt.Println(present, err, users.Len(), len(users.Manifest().Shards))
	// Output:
	// true <nil> 10000 8
}

// How many distinct keys a filter holds, although some were added twice.
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
func ExampleSet_Addition() {
	ctx, dir := context.Background(), must(os.MkdirTemp("", ""))
	defer os.RemoveAll(dir)
	c := bloomery.Config{Spec: "standard(capacity=1000)", Dir: dir, Shards: 4}
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

// A Removal looks at the whole list first. It refuses a list of keys that were never added: it would remove others.
func ExampleSet_Removal() {
	ctx, c := context.Background(), bloomery.Config{Spec: "rankindexed(fpr=0.01)"}
	set := must(bloomery.Build(ctx, numbered("session ", 1000), c))
	r := must(set.Removal(bloomery.JobConfig{}))
	defer r.Close()
	for key := range numbered("stranger ", 1000) {
		check(r.AddMany([][]byte{[]byte(key)}))
	}
	_, err := r.Commit(ctx)
	fmt.Println(errors.Is(err, filter.ErrStrangers), set.Len()) // Force would remove what is found
	// Output:
	// true 1000
}

// An Optimizer searches longer than the build did, for a lower rate in the same size.
func ExampleSet_Optimizer() {
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

// The files of several days become one, with one filter in memory, however many files there are.
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
