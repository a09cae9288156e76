package job_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/beam/job"
)

// Build a sharded set on Beam's runner Prism, in this process. For a cluster, set Runner, Endpoint and Environment, and
// use a bucket or a folder that all machines see.
func ExampleRun() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "keys.txt"), []byte("ann\nbob\ncleo\n"), 0o666); err != nil {
		log.Fatal(err)
	}

	c := job.Config{Input: []string{filepath.Join(dir, "*.txt")}, Output: filepath.Join(dir, "set")}
	c.Set.Build = bloomery.Config{Spec: "blocked(fpr=0.001)", Sharding: bloomery.Sharding{Shards: 2}}
	manifest, err := job.Run(ctx, c)
	if err != nil {
		log.Fatal(err)
	}

	set, err := bloomery.Open(ctx, c.Output)
	if err != nil {
		log.Fatal(err)
	}
	defer set.Close()
	fmt.Println(manifest.Keys(), set.ContainsString("bob"), set.ContainsString("dora"))
	// Output: 3 true false
}
