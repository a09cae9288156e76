package delta_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/delta"
)

// A small delta turns yesterday's file into today's.
func Example() {
	ctx := context.Background()
	dir, undo := versions([]string{"one", "two", "three"}, []string{"two", "three", "four"})
	defer undo()
	old, next := filepath.Join(dir, "old.bloom"), filepath.Join(dir, "new.bloom")

	d, err := delta.DiffFiles(ctx, old, next)
	if err != nil {
		log.Fatal(err)
	}
	err = delta.PatchFile(ctx, old, d, old, delta.Options{MaxBytes: 1 << 20})
	if err != nil {
		log.Fatal(err)
	}
	set, err := bloomery.Open(ctx, old)
	fmt.Println(len(d) < 60, err == nil && set.ContainsString("four"))
	// Output: true true
}

// Read the method of a delta and the file that it is for.
func ExampleRead() {
	dir, undo := versions([]string{"one", "two", "three"}, []string{"two", "three", "four"})
	defer undo()
	d, err := delta.DiffFiles(context.Background(), filepath.Join(dir, "old.bloom"), filepath.Join(dir, "new.bloom"))
	if err != nil {
		log.Fatal(err)
	}
	info, err := delta.Read(d)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(info.Method)
	// Output: replay
}

// versions writes the files of two versions of a list, old.bloom and new.bloom, into a new folder.
func versions(lists ...[]string) (dir string, undo func()) {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "delta")
	if err != nil {
		log.Fatal(err)
	}
	for i, keys := range lists {
		c := bloomery.Config{Spec: "rankindexed(capacity=1000,fpr=0.01)"}
		set, err := bloomery.Build(ctx, slices.Values(keys), c)
		if err != nil {
			log.Fatal(err)
		}
		if err := set.Save(ctx, filepath.Join(dir, []string{"old", "new"}[i]+".bloom")); err != nil {
			log.Fatal(err)
		}
	}
	return dir, func() { os.RemoveAll(dir) }
}
