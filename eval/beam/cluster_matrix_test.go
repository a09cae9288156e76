package beam

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	pq "github.com/parquet-go/parquet-go"

	"github.com/bloomery/bloomery/eval/beam/clusters"
)

// TestClusterEnvironments builds a set in every environment except docker, with 1, 2 and 4 workers of the engine.
func TestClusterEnvironments(t *testing.T) {
	onClusters(t, func(t *testing.T, engine string) {
		s := newSite(t)
		const spec, shards = "blocked(fpr=0.01)", 16
		inputs := s.texts(t, "keys", 8, 25_000)
		want := s.build(t, "want", inputs, spec, shards)
		for _, workers := range []int{1, 2, 4} {
			t.Run(fmt.Sprintf("%d workers", workers), func(t *testing.T) {
				s.start(t, clusters.Config{Engine: engine, Workers: workers, OwnPools: true})
				one, own := freePort(t), freePort(t)
				s.pool(t, "localhost", one)
				for i := range workers {
					s.pool(t, clusters.PoolAddress(i+1), own)
				}
				for _, e := range []struct {
					name string
					args []string
				}{
					{"loopback", nil},
					{"one pool", []string{"--environment", "external", "--environment-config", fmt.Sprintf("localhost:%d", one)}},
					{"own pools", []string{"--environment", "external", "--environment-config",
						fmt.Sprintf("%s:%d", clusters.PoolHost, own)}},
					{"process", []string{"--environment", "process", "--environment-config", s.program}},
				} {
					t.Run(e.name, func(t *testing.T) { s.same(t, s.job("set", inputs, spec, shards, e.args...), "set", want) })
				}
			})
		}
	})
}

// pair is a key with a value.
type pair struct {
	ID    int64  `parquet:"id"`
	Key   string `parquet:"key"`
	Value int64  `parquet:"value"`
}

// formats lists the formats of input: the flags of a job that reads it, and a function that writes it.
var formats = []struct {
	name, extension string
	flags, values   []string
	write           func(w io.Writer, pairs []pair, values bool) error
}{
	{"text", "txt", nil, nil, writeLines},
	{"gzip", "txt.gz", nil, nil, func(w io.Writer, pairs []pair, values bool) error {
		z := gzip.NewWriter(w)
		return first(writeLines(z, pairs, values), z.Close())
	}},
	{"zstd", "txt.zst", nil, nil, func(w io.Writer, pairs []pair, values bool) error {
		z, err := zstd.NewWriter(w)
		if err != nil {
			return err
		}
		return first(writeLines(z, pairs, values), z.Close())
	}},
	{"CSV", "csv", []string{"--input-format", "csv", "--column", "key"}, []string{"--value-column", "value"},
		func(w io.Writer, pairs []pair, _ bool) error {
			fmt.Fprintln(w, "id,key,value")
			for _, p := range pairs {
				if _, err := fmt.Fprintf(w, "%d,\"%s\",%d\n", p.ID, p.Key, p.Value); err != nil {
					return err
				}
			}
			return nil
		}},
	{"Parquet", "parquet", []string{"--input-format", "parquet", "--column", "key"}, []string{"--value-column", "value"},
		func(w io.Writer, pairs []pair, _ bool) error {
			p := pq.NewGenericWriter[pair](w, pq.MaxRowsPerRowGroup(5000))
			_, err := p.Write(pairs)
			return first(err, p.Close())
		}},
}

func writeLines(w io.Writer, pairs []pair, values bool) error {
	for _, p := range pairs {
		text := p.Key
		if values {
			text += fmt.Sprintf("\t%d", p.Value)
		}
		if _, err := fmt.Fprintln(w, text); err != nil {
			return err
		}
	}
	return nil
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestClusterInputs builds sets of five families from keys in every format.
func TestClusterInputs(t *testing.T) {
	onClusters(t, func(t *testing.T, engine string) {
		s := newSite(t)
		const files, each, shards = 4, 20_000, 8
		s.start(t, clusters.Config{Engine: engine, Workers: 2})
		port := freePort(t)
		s.pool(t, "localhost", port)
		for _, family := range []struct {
			spec   string
			values bool
		}{
			{"blocked(fpr=0.01)", false}, {"standard(fpr=0.01)", false}, {"ribbon(r=8,value_bits=8)", true},
			{"partitioned(bits_per_key=8,effort=fast)", false}, {"rankindexed(fpr=0.01)", false},
		} {
			var want string
			for _, format := range formats {
				name := fmt.Sprintf("%s-%v", format.name, family.values)
				for f := range files {
					var b bytes.Buffer
					var pairs []pair
					for i := range each {
						pairs = append(pairs, pair{int64(i), fmt.Sprintf("key-%d-%d", f, i), int64((f + 3*i) % 251)})
					}
					if err := format.write(&b, pairs, family.values); err != nil {
						t.Fatal(err)
					}
					path := s.path(fmt.Sprintf("%s-%d.%s", name, f, format.extension))
					if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
						t.Fatal(err)
					}
				}
				inputs := s.path(name + "-*")
				if want == "" { // of text
					want = s.build(t, "want-"+family.spec, inputs, family.spec, shards)
				}
				args := append([]string{"--environment", "external", "--environment-config", fmt.Sprintf("localhost:%d", port)},
					format.flags...)
				if family.values {
					args = append(args, format.values...)
				}
				t.Run(family.spec+" from "+format.name, func(t *testing.T) {
					s.same(t, s.job("set", inputs, family.spec, shards, args...), "set", want)
				})
			}
		}
	})
}

// TestClusterCancel interrupts a job during its search, with workers in the submitter and in a pool. The submitter must
// end within 5 seconds, and the workers of the pool must then be idle.
func TestClusterCancel(t *testing.T) {
	onClusters(t, func(t *testing.T, engine string) {
		s := newSite(t)
		inputs := s.texts(t, "keys", 8, 125_000)
		s.start(t, clusters.Config{Engine: engine, Workers: 2})
		port := freePort(t)
		pool := s.pool(t, "localhost", port)
		for name, args := range map[string][]string{
			"loopback": nil,
			"pool":     {"--environment", "external", "--environment-config", fmt.Sprintf("localhost:%d", port)},
		} {
			c := s.job(name, inputs, "partitioned(bits_per_key=12,effort=max)", 16, args...) // takes more than a minute
			start := interrupt(t, c, s.path(name))
			if took := rested(t, pool).Sub(start); name == "pool" {
				t.Logf("the pool rests after %v", took)
				if took > 5*time.Second {
					t.Error("later than 5 s")
				}
			}
		}
	})
}

// interrupt starts a build, interrupts it during its search, and fails the test unless the build ends within 5 seconds
// without writing a set. It returns the time of the interrupt.
func interrupt(t *testing.T, c *exec.Cmd, out string) time.Time {
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
	time.Sleep(2 * time.Second) // the search has begun
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
	return start
}

// rested waits for a period of half a second in which a process uses less than a tenth of a processor, and returns the
// start of the period.
func rested(t *testing.T, c *exec.Cmd) time.Time {
	t.Helper()
	const span = 500 * time.Millisecond
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		begin, before := time.Now(), processorTime(t, c)
		time.Sleep(span)
		if processorTime(t, c)-before < span/10 {
			return begin
		}
	}
	t.Fatal("the process does not rest")
	return time.Time{}
}

// processorTime returns the processor time of a process, in steps of 10 ms.
func processorTime(t *testing.T, c *exec.Cmd) time.Duration {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.Process.Pid))
	if err != nil {
		t.Skipf("the time until workers rest is measured on Linux only: %v", err)
	}
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')'):]))
	var user, system time.Duration
	if _, err := fmt.Sscan(fields[12]+" "+fields[13], &user, &system); err != nil {
		t.Fatal(err)
	}
	return (user + system) * 10 * time.Millisecond
}
