//go:build unix

package main

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/shardset"
	"github.com/bloomery/bloomery/shard"
)

// setFiles returns the files in the folder of a sharded set, without working files.
func setFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, name := range entriesOf(t, dir) {
		if strings.HasPrefix(name, "work-") {
			continue
		}
		b := mustRead(t, filepath.Join(dir, name))
		files[name] = string(b)
	}
	return files
}

// TestTrialShardKills builds a sharded set in steps, with several processes at once that are killed at random. A
// manifest that lists missing shards must never exist. The set must have the same bytes as with build --shards, and
// each shard the same bytes as with build.
func TestTrialShardKills(t *testing.T) {
	wantKills, lines := 24, 60_000
	if *long {
		wantKills, lines = 400, 400_000
	}
	const shards, workers = 6, 3
	dir := t.TempDir()
	var keys []string
	var inputs []string
	for part := range 3 {
		text := trialKeys(fmt.Sprint("key-", part), lines/3)
		keys = append(keys, strings.Fields(text)...)
		inputs = append(inputs, filepath.Join(dir, fmt.Sprint("part-", part)))
		mustWrite(t, inputs[part], text)
	}
	spec := []string{"--spec", "partitioned", "--effort", "fast", "--seed", "3"}
	run := func(args ...string) {
		t.Helper()
		mustProgram(t, "", args...)
	}
	whole, steps := filepath.Join(dir, "whole"), filepath.Join(dir, "steps")
	run(append(append([]string{"build", "--shards", fmt.Sprint(shards), "-o", whole}, spec...), inputs...)...)
	want := setFiles(t, whole)
	for s := range shards {
		var own strings.Builder
		for _, k := range keys {
			if shard.Route(filter.NewHasher(3).SumString(k), shards) == s {
				own.WriteString(k + "\n")
			}
		}
		one := filepath.Join(dir, "one.bloom")
		mustProgram(t, own.String(), append([]string{"build", "-o", one}, spec...)...)
		if b, err := os.ReadFile(one); err != nil || string(b) != want[shardset.Name(s, shards, "")] {
			t.Errorf("shard %d is not what build makes of its keys: %v", s, err)
		}
	}

	plan := []string{"shard", "plan", "--shards", fmt.Sprint(shards), "-o", steps, "--range-bytes", "64KiB"}
	plan = append(append(plan, spec...), inputs...)
	const seed = 5
	r := rand.New(rand.NewPCG(seed, 1))
	kills, rounds := 0, 0
	took := 200 * time.Millisecond
	// attempt runs processes at once and kills them within their usual time.
	attempt := func(args ...[]string) {
		t.Helper()
		var wg sync.WaitGroup
		var mu sync.Mutex
		for _, a := range args {
			cmd, wait := program("", a...), time.Duration(r.Int64N(int64(took)))
			wg.Go(func() {
				start := time.Now()
				var said strings.Builder
				cmd.Stderr = &said
				if err := cmd.Start(); err != nil {
					t.Error(err)
					return
				}
				kill := time.AfterFunc(wait, func() { _ = cmd.Process.Kill() })
				err := cmd.Wait()
				kill.Stop()
				mu.Lock()
				defer mu.Unlock()
				var exit *exec.ExitError
				switch early := said.String(); {
				case err == nil:
					took = (took + 2*time.Since(start)) / 2
				case errors.As(err, &exit) && !exit.Exited():
					kills++
				case !strings.Contains(early, "not finished") && !strings.Contains(early, "no plan"):
					t.Errorf("%v: %v, %s", a, err, early)
				}
			})
		}
		wg.Wait()
		if _, err := os.Stat(filepath.Join(steps, shard.ManifestName)); err == nil {
			for name, text := range setFiles(t, steps) {
				if !strings.HasPrefix(name, ".") && text != want[name] {
					t.Fatalf("there is a manifest, and %s is not as it must be", name)
				}
			}
		}
	}
	// every returns one process for each worker, one that does the work of all workers, and one that finishes too
	// early.
	every := func(what string) (all [][]string) {
		for w := range workers {
			all = append(all, []string{"shard", what, steps, "--every", fmt.Sprintf("%d/%d", w, workers)})
		}
		return append(all, []string{"shard", what, steps, "--all"}, []string{"shard", "finish", steps})
	}
	for kills < wantKills {
		rounds++
		must(t, os.RemoveAll(steps))
		must(t, os.Mkdir(steps, 0o700))
		for _, phase := range [][][]string{{plan}, every("range"), every("build"), {{"shard", "finish", steps}}} {
			attempt(phase...)
			attempt(phase...)
		}
		run(plan...)
		for _, step := range []string{"range", "build"} {
			run("shard", step, steps, "--all")
		}
		run("shard", "finish", steps)
		if got := setFiles(t, steps); !maps.Equal(got, want) {
			t.Fatalf("round %d: other files", rounds)
		}
		if all := entriesOf(t, steps); len(all) != shards+1 {
			t.Errorf("left behind: %q", all)
		}
	}
	t.Logf("%d kills in %d rounds", kills, rounds)
}
