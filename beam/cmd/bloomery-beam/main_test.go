package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bloomery/bloomery/beam/job"
)

var long = flag.Bool("long", false, "also build the program as the Dockerfile does")

// command runs the program.
func command(t *testing.T, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = run(t.Context(), args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestHelp(t *testing.T) {
	code, help, _ := command(t, "--help")
	for _, flag := range []string{"--input", "--runner", "Examples:", job.SecretFileVariable} {
		if code != 0 || !strings.Contains(help, flag) {
			t.Errorf("exit code %d, no %s", code, flag)
		}
	}
	for _, beam := range []string{"semi_persist_dir", "control_endpoint", "job_name", "dataflow_service_options"} {
		if strings.Contains(help, beam) {
			t.Errorf("the help has Beam's flag %s", beam)
		}
	}
	for line := range strings.Lines(help) {
		if len(line) > 160 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
	if code, out, _ := command(t, "--version"); code != 0 || !strings.HasPrefix(out, "bloomery-beam version") {
		t.Errorf("exit code %d: %s", code, out)
	}
}

func TestUsageErrors(t *testing.T) {
	good := []string{"--input", "none", "--output", t.TempDir(), "--spec", "fuse", "--shards", "4"}
	with := func(args ...string) []string { return slices.Concat(good, args) }
	for _, tt := range []struct {
		args []string
		says string
	}{
		{nil, "--input: name files"},
		{good[:2], "--output: name a folder"},
		{[]string{"--input", "none", "--output", "-"}, "--output -: a sharded set is a folder"},
		{good[:4], "--spec: say which filter"},
		{good[:6], "--shards: want 1 or more"},
		{with("--memory", "much"), "want a size above 0"},
		{with("--runner", "flink"), "HOST:PORT of its Beam job server"},
		{with("--runner", "dataflow"), "project, region and staging_location"},
		{with("--spec", "partitioned(budget=1s)"), "budget"},
		{with("--spec", "bitsandblooms"), "raw keys"},
		{with("--secret-file", "none"), "reading the secret"},
		{with("--beam", "parallelism"), "want name=value"},
		{with("--value-column", "2", "--input-format", "csv"), "have no values at its build"},
		{with("--beam", "no_such=1"), "no_such"},
		{good, "none"},
	} {
		code, _, stderr := command(t, append(slices.Clone(tt.args), "--json")...)
		var failure struct{ Error string }
		if err := json.Unmarshal([]byte(stderr), &failure); err != nil {
			t.Errorf("%q: %v: %s", tt.args, err, stderr)
		}
		if code != 2 || !strings.Contains(failure.Error, tt.says) {
			t.Errorf("%q: exit code %d, %s; want %q", tt.args, code, stderr, tt.says)
		}
	}
}

func TestBuild(t *testing.T) {
	dir := t.TempDir()
	keys, out := filepath.Join(dir, "keys.csv"), filepath.Join(dir, "set")
	if err := os.WriteFile(keys, []byte("id,mail\n1,a\n2,b\n3,c\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	code, report, stderr := command(t, "-i", keys, "-o", out, "--spec", "blocked(fpr=0.01)", "--shards", "2",
		"--format", "csv", "--column", "mail", "--json")
	var r struct {
		Keys, Bytes int
		Shards      int `json:"shard_count"`
	}
	if err := json.Unmarshal([]byte(report), &r); err != nil || code != 0 || r.Keys != 3 || r.Shards != 2 || r.Bytes == 0 {
		t.Errorf("exit code %d, %v: %s%s", code, err, report, stderr)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var errs bytes.Buffer
	args := []string{"-i", keys, "-o", out + "2", "--spec", "fuse", "--shards", "2"}
	if code := run(ctx, args, &errs, &errs); code != 2 {
		t.Errorf("cancelled: exit code %d: %s", code, errs.String())
	}
	text := errs.String()
	if !strings.HasPrefix(text, "bloomery-beam: cancelling the job") || len(strings.Split(text, "\n")) != 3 {
		t.Errorf("cancelled: %s", text)
	}
	if _, err := os.Stat(filepath.Join(out+"2", "manifest.json")); err == nil {
		t.Error("a manifest after the cancel")
	}
}

func TestLine(t *testing.T) {
	start := time.Now()
	for name, steps := range map[string][]struct {
		p     job.Progress
		after time.Duration
		want  string
	}{
		"new": {
			{job.Progress{}, 0, "planning"},
			{job.Progress{Ranges: 4, Shards: 2}, time.Second, "hashing: 0 of 4 ranges, 0 keys, 0s so far"},
			{job.Progress{Ranges: 4, Shards: 2}, 16 * time.Second, "hashing: 0 of 4 ranges, 0 keys, 15s so far"},
			{job.Progress{Ranges: 4, RangesDone: 1, Shards: 2, Keys: 5e6}, 18 * time.Second,
				"hashing: 1 of 4 ranges, 5.0M keys, 6s left"},
			{job.Progress{Ranges: 4, RangesDone: 4, Shards: 200, Keys: 7}, 20 * time.Second,
				"building: 0 of 200 shards, 7 keys, 0s so far"},
			{job.Progress{Ranges: 4, RangesDone: 4, Shards: 200, ShardsDone: 1, Keys: 7}, 22 * time.Second,
				"building: 1 of 200 shards, 7 keys, 7m left"},
			{job.Progress{Ranges: 4, RangesDone: 4, Shards: 200, ShardsDone: 200}, 23 * time.Second,
				"finishing: 200 shards"},
		},
		"a former start has finished half": {
			{job.Progress{Ranges: 8, RangesDone: 4, Keys: 9}, 0, "hashing: 4 of 8 ranges, 9 keys, 0s so far"},
			{job.Progress{Ranges: 8, RangesDone: 5, Keys: 9}, time.Second, "hashing: 5 of 8 ranges, 9 keys, 3s left"},
			{job.Progress{Ranges: 8, RangesDone: 6, Keys: 9}, 4 * time.Second, "hashing: 6 of 8 ranges, 9 keys, 4s left"},
		},
		"lost": { // a damaged run file was removed
			{job.Progress{Ranges: 8, RangesDone: 4}, 0, "hashing: 4 of 8 ranges, 0 keys, 0s so far"},
			{job.Progress{Ranges: 8, RangesDone: 3}, time.Second, "hashing: 3 of 8 ranges, 0 keys, 1s so far"},
		},
	} {
		var c pace
		for _, s := range steps {
			if got := c.progressLine(s.p, start.Add(s.after)); got != s.want {
				t.Errorf("%s: %q; want %q", name, got, s.want)
			}
		}
	}
}

// TestFail checks that an error of a runner is printed in one line, and its stack trace only with --verbose.
func TestFail(t *testing.T) {
	err := fmt.Errorf("job: %w", &job.RunnerError{Text: "no pool", Trace: "x\n\tat y\n"})
	for _, tt := range []struct {
		a    app
		want string
	}{
		{app{}, "bloomery-beam: job: no pool\nbloomery-beam: --verbose shows what the runner says\n"},
		{app{verbose: true}, "bloomery-beam: job: no pool\nx\n\tat y\n"},
		{app{json: true}, `{"error":"job: no pool"}` + "\n"},
		{app{json: true, verbose: true}, `{"error":"job: no pool","trace":"x\n\tat y"}` + "\n"},
	} {
		var b bytes.Buffer
		tt.a.stderr = &b
		tt.a.printError(err)
		if b.String() != tt.want {
			t.Errorf("%+v: %s", tt.a, &b)
		}
	}
}

func TestIsBoot(t *testing.T) {
	for args, want := range map[string]bool{
		"--id=1 --provision_endpoint=localhost:1": true, "-id 1": true, "--id='job_go'": true,
		"--input id --output id": false, "worker --port 1": false, "": false,
	} {
		if got := isBoot(strings.Fields(args)); got != want {
			t.Errorf("%q: %v", args, got)
		}
	}
}

// TestDockerfile checks the paths in the Dockerfile. With -long it builds the program as the Dockerfile does.
func TestDockerfile(t *testing.T) {
	b, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for _, line := range []string{
		"RUN cd beam && CGO_ENABLED=0 go build -trimpath -o /bloomery-beam ./cmd/bloomery-beam", // in the root of the repository
		"COPY --from=build /bloomery-beam /bloomery-beam", `ENTRYPOINT ["/bloomery-beam"]`, job.SecretFileVariable,
	} {
		if !strings.Contains(text, line) {
			t.Errorf("no line %s", line)
		}
	}
	if *long {
		c := exec.Command("go", "build", "-trimpath", "-o", filepath.Join(t.TempDir(), "bloomery-beam"), ".")
		c.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	}
	for _, path := range []string{"main.go", "../../../go.mod", "../../../buckets/go.mod"} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
}
