//go:build unix

package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bloomery/bloomery/internal/shardset"
	"github.com/bloomery/bloomery/shard"
)

// TestTrialLateWorkers pauses the workers of a plan at random moments, as when a machine sleeps. Another plan, or build
// --shards, then builds its set in the folder, while its workers and its finish are killed. When the first workers
// continue, some of them until they are killed, the bytes of the finished set must not change. In the end no other
// files may remain.
func TestTrialLateWorkers(t *testing.T) {
	wantKills, lines := 6, 30_000
	if *long {
		wantKills, lines = 250, 200_000
	}
	const shards, seed = 4, 11
	dir := t.TempDir()
	steps := filepath.Join(dir, "steps")
	want := map[string]map[string]string{}
	flags := func(name string) []string {
		return []string{"--shards", fmt.Sprint(shards), "--spec", "blocked", "--bytes", "200000", filepath.Join(dir, name)}
	}
	run := func(args ...string) {
		t.Helper()
		mustProgram(t, "", args...)
	}
	for _, name := range []string{"first", "second"} {
		mustWrite(t, filepath.Join(dir, name), trialKeys(name, lines))
		whole := filepath.Join(dir, name+".set")
		run(append([]string{"build", "-o", whole}, flags(name)...)...)
		want[name] = setFiles(t, whole)
	}
	plan := func(name string) string {
		t.Helper()
		args := append([]string{"shard", "plan", "-o", steps, "--range-bytes", "64KiB"}, flags(name)...)
		out, err := program("", args...).Output()
		must(t, err)
		_, id, _ := strings.Cut(string(out), "plan: ")
		return strings.TrimSpace(id)
	}
	r := rand.New(rand.NewPCG(seed, 1))
	kills, stops := 0, 0
	took := 150 * time.Millisecond
	// killed runs a step until it is killed at a random moment or done.
	killed := func(args ...string) {
		t.Helper()
		cmd := program("", args...)
		must(t, cmd.Start())
		kill := time.AfterFunc(time.Duration(r.Int64N(int64(took))), func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		kill.Stop()
		if !cmd.ProcessState.Exited() {
			kills++
		}
	}
	// equal checks the set in the folder. The names of its shards may have a suffix.
	equal := func(what, name string) {
		t.Helper()
		got := setFiles(t, steps)
		m, err := shard.ReadManifest(strings.NewReader(got[shard.ManifestName]))
		if err != nil {
			t.Fatalf("seed %d, %s: %v", seed, what, err)
		}
		for s, e := range m.Shards {
			if got[e.File] != want[name][shardset.Name(s, shards, "")] {
				t.Fatalf("seed %d, %s: %s is not of the set %s", seed, what, e.File, name)
			}
		}
	}
	for round := 0; kills < wantKills || stops == 0; round++ {
		if round > 20*wantKills {
			t.Fatalf("%d kills and %d stops in %d rounds", kills, stops, round)
		}
		fresh := r.IntN(2) == 0 // else the set of the round before is replaced
		if fresh {
			must(t, os.RemoveAll(steps))
		}
		id := plan("first")
		run("shard", "range", steps, "--plan", id, "--all")
		// Pause the workers of the first plan.
		var asleep []*exec.Cmd
		for w := range 2 {
			cmd := program("", "shard", "build", steps, "--plan", id, "--every", fmt.Sprintf("%d/2", w))
			must(t, cmd.Start())
			asleep = append(asleep, cmd)
		}
		time.Sleep(time.Duration(r.Int64N(int64(took))))
		for _, cmd := range asleep {
			_ = cmd.Process.Signal(syscall.SIGSTOP)
		}
		// Another plan, or a build, finishes its set.
		if r.IntN(4) == 0 {
			args := append([]string{"build", "-o", steps}, flags("second")...)
			killed(args...)
			run(args...)
		} else {
			id := plan("second")
			for _, step := range [][]string{
				{"range", steps, "--plan", id, "--all"}, {"build", steps, "--plan", id, "--all"}, {"finish", steps, "--plan", id},
			} {
				step = append([]string{"shard"}, step...)
				killed(step...)
				if step[1] == "finish" {
					if _, err := os.Stat(filepath.Join(steps, "work-"+id, "plan.json")); err != nil {
						break // only the end of the step was killed
					}
				}
				start := time.Now()
				run(step...)
				took = (took + 2*time.Since(start)) / 2
			}
		}
		equal("before the late workers", "second")
		before := setFiles(t, steps)
		var wg sync.WaitGroup
		for i, cmd := range asleep {
			if cmd.Process.Signal(syscall.SIGCONT) == nil {
				stops++
			}
			wait, kill := time.Duration(r.Int64N(int64(took))), i == 0
			wg.Go(func() {
				if kill {
					time.Sleep(wait)
					_ = cmd.Process.Kill()
				}
				_ = cmd.Wait() // its plan may be removed, or it was done before
			})
		}
		wg.Wait()
		if asleep[0].ProcessState != nil && !asleep[0].ProcessState.Exited() {
			kills++
		}
		for name, text := range before {
			if strings.HasPrefix(name, ".") {
				continue // a temporary file of a killed writer
			}
			if b, err := os.ReadFile(filepath.Join(steps, name)); err != nil || string(b) != text {
				t.Fatalf("seed %d, round %d: a late worker has changed %s: %v", seed, round, name, err)
			}
		}
		equal("after the late workers", "second")
		run("verify", steps, "--members", filepath.Join(dir, "second"), "--random", "10k")
	}
	id := plan("first")
	run("shard", "range", steps, "--plan", id, "--all")
	run("shard", "build", steps, "--plan", id, "--all")
	// After build --shards the old plan still exists and refuses to replace the set. This is the advice of the error.
	_ = os.Remove(filepath.Join(steps, "work-"+id, "replaces.sha256"))
	run("shard", "finish", steps, "--plan", id)
	equal("in the end", "first")
	if all := entriesOf(t, steps); len(all) != shards+1 {
		t.Errorf("seed %d: left behind: %q", seed, all)
	}
	must(t, os.RemoveAll(steps))
	plan("first")
	run("shard", "range", steps, "--all")
	run("shard", "build", steps, "--all")
	run("shard", "finish", steps)
	if got := setFiles(t, steps); !maps.Equal(got, want["first"]) {
		t.Errorf("seed %d: not the files of build --shards", seed)
	}
	t.Logf("%d kills, %d workers went on late", kills, stops)
}
