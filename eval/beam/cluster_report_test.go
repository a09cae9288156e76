package beam

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/beam/job"
	"github.com/bloomery/bloomery/eval/beam/clusters"
	"github.com/bloomery/bloomery/internal/steps"
)

// TestClusterReports runs a job with workers in a separate pool and no configured parallelism. The progress must reach
// the total, the engine's page must show the name of the job, and the job must use all slots. Then it runs jobs that
// fail. Their errors must be one sentence, followed by a stack trace only with --verbose.
func TestClusterReports(t *testing.T) {
	onClusters(t, func(t *testing.T, engine string) {
		s := newSite(t)
		s.start(t, clusters.Config{Engine: engine, Workers: 2, Settings: map[string]string{
			"slot.request.timeout": "5000", "parallelism.default": "1",
		}})
		port := freePort(t)
		s.pool(t, "localhost", port)
		keys := s.texts(t, "keys", 8, 125_000)
		const spec, shards = "partitioned(bits_per_key=10)", 16
		var seen []job.Progress
		_, err := job.Run(t.Context(), job.Config{
			Input: []string{keys}, Output: s.path("set"), Runner: engine, Endpoint: s.cluster.JobServer,
			Environment: job.External, EnvironmentConfig: fmt.Sprintf("localhost:%d", port),
			Set: steps.Config{
				Build: bloomery.Config{Spec: spec, Sharding: bloomery.Sharding{Shards: shards}}, RangeBytes: 300_000,
			},
			Progress: func(p job.Progress) { seen = append(seen, p) },
			Warn:     func(text string) { t.Error(text) },
		})
		if err != nil {
			t.Fatal(err)
		}
		sameSets(t, s.path("set"), s.build(t, "want", keys, spec, shards))
		checkProgress(t, seen, 8*125_000)
		name, tasks := s.lastJob(t)
		if want := "bloomery partitioned(bits_per_key=10) 16 shards to set"; name != want {
			t.Errorf("the job has the name %q; want %q", name, want)
		}
		if engine == clusters.Flink && tasks != 4 {
			t.Errorf("%d tasks at once; want 4", tasks)
		}

		for _, tt := range []struct {
			says   string
			engine string // "" for all
			args   []string
		}{
			{"reaches no worker pool at 127.0.0.1:1", "", []string{"--environment", "external", "--environment-config",
				"localhost:1"}},
			{"cannot start /no/bloomery-beam (No such file or directory)", "", []string{"--environment", "process",
				"--environment-config", "/no/bloomery-beam"}},
			{"too few free slots", clusters.Flink, []string{"--parallelism", "9"}},
		} {
			if tt.engine != "" && tt.engine != engine {
				continue
			}
			for _, verbose := range []bool{false, true} {
				args := append([]string{fmt.Sprint("--verbose=", verbose)}, tt.args...)
				text, err := s.job("failed", keys, "blocked(fpr=0.01)", 2, args...).CombinedOutput()
				var exit *exec.ExitError
				first, rest, _ := strings.Cut(string(text), "\n")
				if !asExit(err, &exit) || exit.ExitCode() != 2 || !strings.Contains(first, tt.says) {
					t.Errorf("%q: %v: %s; want %s", args, err, last(string(text), 3000), tt.says)
				}
				if trace := strings.Contains(rest, "\tat "); trace != verbose {
					t.Errorf("%q: with a trace: %v: %s", args, trace, last(rest, 3000))
				}
			}
		}
	})
}

func asExit(err error, exit **exec.ExitError) (ok bool) {
	*exit, ok = err.(*exec.ExitError)
	return ok
}

// checkProgress requires that the counts of a job grow from zero to the total, with at least one report in between.
func checkProgress(t *testing.T, seen []job.Progress, keys int64) {
	t.Helper()
	between := 0
	for i, p := range seen {
		if i == 0 || p.Ranges == 0 {
			continue
		}
		before := seen[i-1]
		if p.RangesDone < before.RangesDone || p.ShardsDone < before.ShardsDone || p.Keys < before.Keys ||
			p.RangesDone > p.Ranges || p.ShardsDone > p.Shards || p.Keys > keys || p.RangesDone == p.Ranges && i < len(seen)-1 &&
			p.Keys != keys {
			t.Errorf("%+v after %+v", p, before)
		}
		if p.RangesDone > 0 && p.ShardsDone < p.Shards {
			between++
		}
	}
	end := seen[len(seen)-1]
	if between == 0 || end.RangesDone != end.Ranges || end.ShardsDone != end.Shards || end.Shards == 0 {
		t.Errorf("%d looks while the job ran, last %+v of %d: %+v", between, end, len(seen), seen)
	}
	t.Logf("%d looks, %d of them while ranges or shards were done", len(seen), between)
}

// lastJob returns the name of the last job on the page of the engine, and on Flink the number of tasks that it ran at
// once.
func (s *site) lastJob(t *testing.T) (name string, tasks int) {
	t.Helper()
	if s.cluster.Engine == clusters.Spark {
		var master struct{ ActiveApps, CompletedApps []struct{ Name string } }
		s.ask(t, "/json/", &master)
		all := append(master.CompletedApps, master.ActiveApps...)
		if len(all) == 0 {
			t.Fatal("Spark knows no job")
		}
		return all[len(all)-1].Name, 0
	}
	var jobs struct {
		Jobs []struct{ Jid, Name string }
	}
	s.ask(t, "/jobs/overview", &jobs) // one of one: the question for Flink's address submits none
	if len(jobs.Jobs) != 1 {
		t.Fatalf("Flink knows %d jobs; want 1", len(jobs.Jobs))
	}
	var one struct{ Vertices []struct{ Parallelism int } }
	s.ask(t, "/jobs/"+jobs.Jobs[0].Jid, &one)
	for _, v := range one.Vertices {
		tasks = max(tasks, v.Parallelism)
	}
	return jobs.Jobs[0].Name, tasks
}

func (s *site) ask(t *testing.T, path string, v any) {
	t.Helper()
	if err := s.cluster.Ask(t.Context(), path, v); err != nil {
		t.Fatal(err)
	}
}
