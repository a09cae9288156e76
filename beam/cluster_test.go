package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bloomery/bloomery/beam/clusters"
)

var cluster = flag.String("cluster", "", "with -long, also run the tests on a cluster: flink")

// TestFlink starts Flink with two task managers and builds a million keys in 16 shards, with workers in the submitter
// and in a pool: the set is that of bloomery build. Then it interrupts a build that searches.
func TestFlink(t *testing.T) {
	if !*long || *cluster != "flink" {
		t.Skip("takes two minutes and 3 GB; run it with -long -cluster flink")
	}
	if lacks := clusters.Lacking(); lacks != "" {
		t.Skip("NOT RUN: " + lacks)
	}
	dir := t.TempDir()
	program, single := filepath.Join(dir, "bloomery-beam"), filepath.Join(dir, "bloomery")
	for path, args := range map[string][]string{program: {"build", "-o", program, "."},
		single: {"-C", "..", "build", "-o", single, "./cmd/bloomery"}} {
		if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", path, err, out)
		}
	}
	for f := range 8 {
		var b bytes.Buffer
		for i := range 125_000 {
			fmt.Fprintf(&b, "key-%d-%d\n", f, i)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.txt", f)), b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	inputs, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	const spec = "blocked(fpr=0.01)"
	want := filepath.Join(dir, "want")
	args := append([]string{"build", "-q", "-o", want, "--shards", "16", "--family", spec}, inputs...)
	if out, err := exec.Command(single, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	home := filepath.Join(dir, "flink")
	if err := os.Mkdir(home, 0o777); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	f, err := clusters.StartFlink(t.Context(), home, 2)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Stop)
	t.Logf("the cluster runs after %v", time.Since(start))
	port := freePort(t)
	process(t, port, program, "worker", "-q", "--port", fmt.Sprint(port))
	build := func(out, spec string, more ...string) *exec.Cmd {
		return exec.Command(program, append([]string{"-i", filepath.Join(dir, "*.txt"), "-o", filepath.Join(dir, out),
			"--spec", spec, "--shards", "16", "--range-bytes", "1MB", "--runner", "flink", "--endpoint", f.JobServer,
			"--beam", "parallelism=4"}, more...)...)
	}
	pool := []string{"--environment", "external", "--environment-config", fmt.Sprintf("localhost:%d", port)}
	for out, environment := range map[string][]string{"loopback": nil, "pool": pool} {
		start := time.Now()
		if text, err := build(out, spec, environment...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", out, err, text)
		}
		t.Logf("%s: %v", out, time.Since(start))
		sameSets(t, filepath.Join(dir, out), want)
	}
	for _, name := range []string{"task-manager-1", "task-manager-2"} {
		if !strings.Contains(f.Log(name), "client connected with id 1-1") {
			t.Errorf("the %s had no worker 1-1", name)
		}
	}

	for out, environment := range map[string][]string{"loopback": nil, "pool": pool} {
		interrupt(t, build("cancelled-"+out, "partitioned(bits_per_key=12,effort=max)", environment...), // a minute and more
			filepath.Join(dir, "cancelled-"+out))
	}
}

// interrupt starts a build, interrupts it in its search, and expects that it ends within 5 seconds, without a set.
func interrupt(t *testing.T, c *exec.Cmd, out string) {
	t.Helper()
	var text bytes.Buffer
	c.Stderr = &text
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { kill(c) })
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if found, _ := filepath.Glob(filepath.Join(out, "work-*", "index")); len(found) > 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("no index: %s", &text)
		}
	}
	time.Sleep(2 * time.Second) // in the search
	start := time.Now()
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	err := c.Wait()
	took := time.Since(start)
	t.Logf("interrupted: %v, %v: %s", took, err, &text)
	if took > 5*time.Second || c.ProcessState.ExitCode() != 130 {
		t.Errorf("the submitter ended after %v: %v", took, err)
	}
	if left, _ := filepath.Glob(filepath.Join(out, "*.bloom")); len(left) > 0 {
		t.Errorf("a set after the cancel: %q", left)
	}
}
