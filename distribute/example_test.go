package distribute_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/distribute"
)

var (
	ctx = context.Background()
	in  = distribute.Dir("testdata")
)

// Run a whole build as a scheduler would. The step after each comment may run on another machine.
func Example() {
	dir, out := folder()
	defer os.RemoveAll(dir)
	// Once: the plan.
	id, ranges, shards := plan(out)
	// For each range:
	for i := range ranges {
		hash(out, id, i)
	}
	// Once, after all ranges, and then for each shard:
	gather(out, id)
	for s := range shards {
		build(out, id, s)
	}
	// Once, after all shards:
	finish(out, id)
	set, err := bloomery.Open(ctx, dir)
	must(err)
	defer set.Close()
	fmt.Println(set.ContainsString("user-7"), set.ContainsString("user-89"), set.ContainsString("nobody"))
	// Output:
	// 2 ranges, 3 shards
	// 90 keys
	// true true false
}

// plan makes the plan and saves it in the output.
func plan(out distribute.Store) (id string, ranges, shards int) {
	c := distribute.Config{Build: bloomery.Config{Spec: "blocked(fpr=0.001)", Sharding: bloomery.Sharding{Shards: 3}},
		RangeBytes: 400}
	p, err := distribute.NewPlan(ctx, in, []string{"*.txt"}, c)
	must(err)
	must(p.Save(ctx, out))
	fmt.Printf("%d ranges, %d shards\n", p.Ranges, p.Shards)
	return p.ID, p.Ranges, p.Shards
}

// hash is the step of a range.
func hash(out distribute.Store, id string, i int) {
	p, err := distribute.ReadPlan(ctx, out, id)
	must(err)
	_, err = p.Range(ctx, in, out, i, distribute.Options{})
	must(err)
}

// gather is the step between the ranges and the shards.
func gather(out distribute.Store, id string) {
	p, err := distribute.ReadPlan(ctx, out, id)
	must(err)
	keys, err := p.Gather(ctx, out, distribute.Options{})
	must(err)
	fmt.Println(keys, "keys")
}

// build is the step of a shard.
func build(out distribute.Store, id string, s int) {
	p, err := distribute.ReadPlan(ctx, out, id)
	must(err)
	_, err = p.Build(ctx, out, s, distribute.Options{})
	must(err)
}

// finish is the last step.
func finish(out distribute.Store, id string) {
	p, err := distribute.ReadPlan(ctx, out, id)
	must(err)
	_, err = p.Finish(ctx, out, distribute.Options{})
	must(err)
}

// A step names the missing ranges. Running finished steps again is cheap: they keep their files.
func ExamplePlan_Gather() {
	dir, out := folder()
	defer os.RemoveAll(dir)
	id, _, _ := plan(out)
	p, err := distribute.ReadPlan(ctx, out, id)
	must(err)
	_, err = p.Range(ctx, in, out, 0, distribute.Options{})
	must(err)
	_, err = p.Gather(ctx, out, distribute.Options{})
	fmt.Println(errors.Is(err, distribute.ErrMissing), err)
	// Output:
	// 2 ranges, 3 shards
	// true 1 of 2 ranges are not finished: 1
}

// Read keys from one column of a CSV file, and values from another.
func ExampleKeyFormat() {
	c := distribute.Config{
		Build: bloomery.Config{Spec: "ribbon(value_bits=3)", Sharding: bloomery.Sharding{Shards: 2}},
		Keys:  distribute.KeyFormat{Name: "csv", Column: "name", ValueColumn: "group"},
	}
	dir, out := folder()
	defer os.RemoveAll(dir)
	p, err := distribute.NewPlan(ctx, in, []string{"c.csv"}, c)
	must(err)
	_, err = p.Range(ctx, in, out, 0, distribute.Options{})
	must(err)
	for s := range p.Shards {
		e, err := p.Build(ctx, out, s, distribute.Options{})
		must(err)
		fmt.Println("shard", s, "has", e.Keys, "keys")
	}
	// Output:
	// shard 0 has 24 keys
	// shard 1 has 36 keys
}

// folder makes an output.
func folder() (dir string, out distribute.Store) {
	dir, err := os.MkdirTemp("", "set")
	must(err)
	return dir, distribute.Dir(dir)
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
