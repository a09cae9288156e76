// Package beam tests bloomery-beam on clusters of Flink and Spark, and while processes are killed.
package beam

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bloomery/bloomery/eval/beam/clusters"
)

var clusterFlag = flag.String("cluster", "", "with -long, also run the tests on clusters: flink, spark, or flink,spark")

// onClusters runs a test on each engine that the flag names.
func onClusters(t *testing.T, test func(t *testing.T, engine string)) {
	if !*long || *clusterFlag == "" {
		t.Skip("needs Java and Maven, and 3 GB; run it with -long -cluster flink,spark")
	}
	if lacks := clusters.Lacking(); lacks != "" {
		t.Skip("NOT RUN: " + lacks)
	}
	for engine := range strings.SplitSeq(*clusterFlag, ",") {
		if !slices.Contains(clusters.Engines(), engine) {
			t.Fatalf("-cluster %s: want %s", engine, strings.Join(clusters.Engines(), ","))
		}
		t.Run(engine, func(t *testing.T) { test(t, engine) })
	}
}

// site is a folder that contains the programs and the files of jobs on a cluster.
type site struct {
	dir, program, single string
	cluster              *clusters.Cluster
}

// newSite builds the programs.
func newSite(t *testing.T) *site {
	s := &site{dir: t.TempDir()}
	s.program, s.single = s.path("bloomery-beam"), s.path("bloomery")
	for _, args := range [][]string{{"build", "-o", s.program, programPackage},
		{"-C", "../..", "build", "-o", s.single, "./cmd/bloomery"}} {
		if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	return s
}

func (s *site) path(name string) string { return filepath.Join(s.dir, name) }

// start starts a cluster, until the test ends.
func (s *site) start(t *testing.T, o clusters.Config) {
	t.Helper()
	o.Dir = filepath.Join(t.TempDir(), "cluster")
	start := time.Now()
	c, err := clusters.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	s.cluster = c
	t.Cleanup(func() {
		if t.Failed() {
			for _, d := range c.Daemons {
				t.Logf("the log of %s ends:\n%s", d.Name, last(d.Log(), 2000))
			}
		}
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	t.Logf("%s with %d workers runs after %v", o.Engine, o.Workers, time.Since(start).Round(time.Millisecond))
}

func last(text string, n int) string { return text[max(0, len(text)-n):] }

// pool starts a worker pool on a port of an address, until the test ends. Its output goes to a file.
func (s *site) pool(t *testing.T, address string, port int) *exec.Cmd {
	t.Helper()
	c := exec.Command(s.program, "worker", "--host", address, "--port", fmt.Sprint(port))
	log, err := os.OpenFile(s.path("pools.log"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	c.Stdout, c.Stderr = log, log
	startListening(t, c, address, port)
	return c
}

// texts writes text files, each with the given number of keys, and returns their pattern.
func (s *site) texts(t *testing.T, name string, files, each int) string {
	t.Helper()
	for f := range files {
		var b bytes.Buffer
		for i := range each {
			fmt.Fprintf(&b, "key-%d-%d\n", f, i)
		}
		if err := os.WriteFile(s.path(fmt.Sprintf("%s-%d.txt", name, f)), b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return s.path(name + "-*.txt")
}

// build builds a set with the single process and returns its folder.
func (s *site) build(t *testing.T, name, inputs, spec string, shards int) string {
	t.Helper()
	files, err := filepath.Glob(inputs)
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"build", "-q", "-o", s.path(name), "--shards", fmt.Sprint(shards), "--family", spec}
	if out, err := exec.Command(s.single, append(args, files...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return s.path(name)
}

// job returns the command that builds a set on the cluster.
func (s *site) job(name, inputs, spec string, shards int, more ...string) *exec.Cmd {
	return exec.Command(s.program, append([]string{"-i", inputs, "-o", s.path(name), "--spec", spec,
		"--shards", fmt.Sprint(shards), "--range-bytes", "300kB", "--runner", s.cluster.Engine,
		"--endpoint", s.cluster.JobServer}, more...)...)
}

// same runs a job and compares its set with the set in another folder.
func (s *site) same(t *testing.T, c *exec.Cmd, name, want string) {
	t.Helper()
	start := time.Now()
	if text, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	t.Logf("%.1f s", time.Since(start).Seconds())
	sameSets(t, s.path(name), want)
	if err := os.RemoveAll(s.path(name)); err != nil {
		t.Fatal(err)
	}
}
