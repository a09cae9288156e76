//go:build unix

package beam

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/bloomery/bloomery/eval/beam/clusters"
	"github.com/bloomery/bloomery/internal/shardset"
	"github.com/bloomery/bloomery/shard"
)

// TestClusterOverlap pauses a worker of an engine and its pool during a search, until the job has finished on the other
// workers. When they continue, the bytes of the finished set must not change, even if another set was built in the same
// folder in the meantime, and no work files may remain.
func TestClusterOverlap(t *testing.T) {
	onClusters(t, func(t *testing.T, engine string) {
		s := newSite(t)
		inputs, others := s.texts(t, "keys", 8, 200_000), s.texts(t, "other", 8, 100_000)
		want := s.build(t, "want", inputs, trialSpec, trialShards)
		wantOther := s.build(t, "want-other", others, trialSpec, trialShards)
		var parallelism []string // one worker more than a job needs
		if engine == clusters.Flink {
			parallelism = []string{"--parallelism", "4"}
		}
		settings := map[string]string{
			"cluster.evenly-spread-out-slots": "true",
			"spark.network.timeout":           "20s", "spark.network.timeoutInterval": "5s",
		}
		k := newTrial(t, s, seeded(t, 2), clusters.Config{Engine: engine, Workers: 3, Settings: settings}, true, inputs, want)
		for _, another := range []bool{false, true} {
			name := map[bool]string{false: "the same set", true: "another set meanwhile"}[another]
			t.Run(name, func(t *testing.T) {
				k.t = t
				out := filepath.Base(t.TempDir())
				c, text := k.command(out, parallelism...)
				over := k.startJob(c)
				i := k.busyPool(out)
				daemon := k.cluster.Daemons[i+1]
				k.pause(daemon, k.pools[i])
				t.Logf("%s and its pool stand still, the job is %s", daemon.Name, phase(k.path(out)))
				start := time.Now()
				if hung, err := k.await(c, over); err != nil {
					t.Fatalf("hung %v, %v: %s", hung, err, text)
				}
				t.Logf("the job has ended after further %.1f s", time.Since(start).Seconds())
				sameSets(t, k.path(out), want)
				if k.paused = true; another {
					k.inputs, k.want, k.same = others, wantOther, sameShards
					t.Logf("the other set is there after %d runs", k.complete(out))
					k.inputs, k.want, k.same = inputs, want, sameSets
				}
				k.paused = false
				before := contents(t, k.path(out))
				maps.DeleteFunc(before, func(name, _ string) bool { return !ofSet(name) }) // of the one that stands still
				k.resume(daemon, k.pools[i])
				start = time.Now()
				took := rested(t, k.pools[i]).Sub(start)
				time.Sleep(2 * time.Second) // the engine may give it other work
				rested(t, k.pools[i])
				t.Logf("the pool rests after %.1f s", took.Seconds())
				after := contents(t, k.path(out))
				if !maps.Equal(after, before) {
					t.Errorf("the set had %q, there are %q, or other bytes", names(before), names(after))
				}
				k.verify(out, map[bool]string{false: inputs, true: others}[another])
				k.ready()
				if err := os.RemoveAll(k.path(out)); err != nil {
					t.Error(err)
				}
			})
		}
	})
}

// busyPool waits until shards are being built, and returns the pool that uses the most processor time.
func (k *trial) busyPool(out string) int {
	k.t.Helper()
	for end := time.Now().Add(patience); phase(k.path(out)) != "building"; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) || phase(k.path(out)) == "finished" {
			k.t.Fatal("the search was not seen")
		}
	}
	work := make([]time.Duration, len(k.pools))
	for end := time.Now().Add(patience); slices.Max(work) < 200*time.Millisecond; {
		before := make([]time.Duration, len(k.pools))
		for i, p := range k.pools {
			before[i] = processorTime(k.t, p)
		}
		time.Sleep(500 * time.Millisecond)
		for i, p := range k.pools {
			work[i] += processorTime(k.t, p) - before[i]
		}
		if time.Now().After(end) {
			k.t.Fatal("no pool works")
		}
	}
	k.t.Logf("the pools have worked for %v", work)
	return slices.Index(work, slices.Max(work))
}

// pause pauses a worker of the engine and its pool. They continue at the latest when the test ends.
func (k *trial) pause(d *clusters.Daemon, pool *exec.Cmd) {
	k.t.Helper()
	k.t.Cleanup(func() { k.resume(d, pool) })
	if err := first(pool.Process.Signal(syscall.SIGSTOP), d.Pause()); err != nil {
		k.t.Fatal(err)
	}
}

func (k *trial) resume(d *clusters.Daemon, pool *exec.Cmd) {
	if err := first(pool.Process.Signal(syscall.SIGCONT), d.Continue()); err != nil {
		k.t.Error(err)
	}
}

// verify checks a set against its keys with the command bloomery.
func (k *trial) verify(out, inputs string) {
	k.t.Helper()
	files, err := filepath.Glob(inputs)
	if err != nil {
		k.t.Fatal(err)
	}
	args := []string{"verify", k.path(out)}
	for _, f := range files {
		args = append(args, "--members", f)
	}
	if text, err := exec.Command(k.single, args...).CombinedOutput(); err != nil {
		k.t.Errorf("%v: %s", err, text)
	}
}

// contents returns the files in a folder, including hidden files.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		b, err := os.ReadFile(path)
		all[name] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func ofSet(name string) bool { return shardset.IsName(name) || name == shard.ManifestName }

func names(files map[string]string) []string { return slices.Sorted(maps.Keys(files)) }

// sameShards fails the test unless the shards of two sets have the same bytes. Their names may differ, because the
// files of a set that replaced another one have suffixes.
func sameShards(t *testing.T, got, want string) {
	t.Helper()
	var sums [2][]shard.Sum
	for i, dir := range []string{got, want} {
		b, err := os.ReadFile(filepath.Join(dir, shard.ManifestName))
		if err != nil {
			t.Fatal(err)
		}
		m, err := shard.ReadManifest(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range m.Shards {
			sums[i] = append(sums[i], e.SHA256)
		}
	}
	if checkManifest(t, got); !slices.Equal(sums[0], sums[1]) {
		t.Errorf("the shards in %s differ", got)
	}
}
