package beam

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bloomery/bloomery/eval/beam/clusters"
)

// kind is what a round kills.
type kind struct {
	name string
	kill func(submitter *exec.Cmd)
}

func (k *trial) kinds() []kind {
	d := k.cluster.Daemons
	manager, server, workers := d[0], d[len(d)-1], d[1:len(d)-1]
	worker := strings.TrimSuffix(workers[0].Name, "-1")
	all := []kind{
		{worker, func(*exec.Cmd) { workers[k.r.IntN(len(workers))].Kill() }},
		{worker + " and its pool", func(*exec.Cmd) {
			i := k.r.IntN(len(workers))
			workers[i].Kill()
			kill(k.pools[i])
		}},
		{"pool", func(*exec.Cmd) { kill(k.pools[k.r.IntN(len(workers))]) }},
		{server.Name, func(*exec.Cmd) { server.Kill() }},
		{manager.Name, func(*exec.Cmd) { manager.Kill() }},
		{"submitter", func(c *exec.Cmd) { _ = c.Process.Kill() }},
		{"everything", func(c *exec.Cmd) {
			_ = c.Process.Kill()
			for i := range d {
				d[i].Kill()
			}
			for _, p := range k.pools {
				kill(p)
			}
		}},
	}
	if k.cluster.Engine == clusters.Spark {
		all = append(all, kind{"executor", func(*exec.Cmd) {
			w := workers[k.r.IntN(len(workers))]
			for range 200 { // until such a process runs
				if n, err := w.KillChildren(); n > 0 || err != nil {
					k.t.Logf("%d executors of %s killed, %v", n, w.Name, err)
					return
				}
				time.Sleep(100 * time.Millisecond)
			}
			k.t.Logf("%s has no executor", w.Name)
		}})
	}
	return all
}

// outcomes counts rounds: all rounds, rounds in which the first command survived, rounds that needed one repetition or
// more, and rounds in which the first command hung and was interrupted.
type outcomes struct{ rounds, survived, once, more, hung int }

// TestClusterKills kills one process or all processes of a cluster at a random moment of a job. Half of the rounds run
// on a cluster that restarts failed tasks. The job must write the same bytes as the single process, or fail with a
// clear error and without a manifest that lists missing shards. Then the killed processes are restarted, and the
// repeated command must write the same bytes.
func TestClusterKills(t *testing.T) {
	onClusters(t, func(t *testing.T, engine string) {
		s := newSite(t)
		inputs := s.texts(t, "keys", 8, 200_000)
		want := s.build(t, "want", inputs, trialSpec, trialShards)
		n := cmp.Or(*rounds, 30)
		all, phases := map[string]outcomes{}, map[string]int{}
		for i, restarts := range []bool{true, false} {
			rounds := n / 2
			if i == 1 {
				rounds = n - rounds
			}
			t.Run(fmt.Sprintf("restarts=%v", restarts), func(t *testing.T) {
				k := newTrial(t, s, seeded(t, uint64(i)), clusters.Config{Engine: engine, Workers: 2}, restarts, inputs, want)
				k.rounds(rounds, all, phases)
			})
		}
		t.Logf("killed while the job was: %v", phases)
		var sum outcomes
		for _, name := range slices.Sorted(maps.Keys(all)) {
			o := all[name]
			t.Logf("%-30s %+v", name, o)
			sum = outcomes{sum.rounds + o.rounds, sum.survived + o.survived, sum.once + o.once, sum.more + o.more,
				sum.hung + o.hung}
		}
		t.Logf("%-30s %+v", "all", sum)
	})
}

// begins waits until the first step of a job has begun, or until over is closed.
func (k *trial) begins(out string, over <-chan struct{}) {
	for phase(k.path(out)) == "starting" {
		select {
		case <-over:
			return
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// rounds runs rounds and counts their outcomes.
func (k *trial) rounds(n int, all map[string]outcomes, phases map[string]int) {
	var took, works time.Duration // the time of a job, and the time of its steps
	for range 2 {                 // the first job warms the cluster up
		start := time.Now()
		begun := make(chan time.Time, 1)
		over := make(chan struct{})
		go func() {
			k.begins("calm", over)
			begun <- time.Now()
		}()
		if runs := k.complete("calm"); runs > 1 {
			k.t.Errorf("%d runs without a kill", runs)
		}
		close(over)
		took, works = time.Since(start), time.Since(<-begun)
		if err := os.RemoveAll(k.path("calm")); err != nil {
			k.t.Fatal(err)
		}
	}
	k.t.Logf("a job without a kill takes %v, its steps %v", took.Round(time.Millisecond), works.Round(time.Millisecond))
	var next []kind
	for round := range n {
		if len(next) == 0 { // each kind once, in a random order
			next = k.kinds()
			k.r.Shuffle(len(next), func(i, j int) { next[i], next[j] = next[j], next[i] })
		}
		out := fmt.Sprint("set-", round)
		what := next[0]
		next = next[1:]
		k.ready()
		start := time.Now()
		c, text := k.command(out)
		over := k.startJob(c)
		// The steps take a small part of the time of a job. Half of the kills are at any moment of the job, and half
		// during the steps.
		if round%2 == 0 {
			time.Sleep(time.Duration(k.r.Float64() * float64(took)))
		} else {
			late, cancel := context.WithTimeout(k.t.Context(), 2*took)
			k.begins(out, late.Done())
			cancel()
			time.Sleep(time.Duration(k.r.Float64() * float64(works)))
		}
		moment := time.Since(start)
		at := phase(k.path(out))
		phases[at]++
		what.kill(c)
		k.revive()
		hung, err := k.await(c, over)
		first := time.Since(start)
		checkManifest(k.t, k.path(out))
		o := all[what.name]
		o.rounds++
		if hung {
			// A new master of Spark that does not know the job ends its executors. The driver then waits for other
			// executors forever.
			if o.hung++; k.restarts || what.name != "master" {
				k.t.Errorf("round %d: %s killed: the job hangs", round, what.name)
			}
		}
		runs, says := 0, "done"
		switch {
		case err == nil:
			o.survived++
			sameSets(k.t, k.path(out), k.want)
		case c.ProcessState.ExitCode() < 0: // killed
			says = "killed"
		default:
			says = cut(k.sentence(text.String()))
		}
		if err != nil {
			if runs = k.complete(out); runs == 1 {
				o.once++
			} else {
				o.more++
			}
		}
		all[what.name] = o
		k.t.Logf("round %d: %s killed after %.1f s, %s; the job ended after %.1f s, hung %v, then %d runs, %.1f s: %s", round,
			what.name, moment.Seconds(), at, first.Seconds(), hung, runs, time.Since(start).Seconds(), says)
		if err := os.RemoveAll(k.path(out)); err != nil {
			k.t.Logf("a job that was given up writes: %v", err)
		}
	}
}
