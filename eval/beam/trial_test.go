package beam

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bloomery/bloomery/beam/job"
	"github.com/bloomery/bloomery/shard"
)

// programPackage is the package of bloomery-beam.
const programPackage = "github.com/bloomery/bloomery/beam/cmd/bloomery-beam"

var (
	long   = flag.Bool("long", false, "also run the trials with processes that are killed")
	rounds = flag.Int("rounds", 0, "kills of TestKills (default 20), and of TestClusterKills for an engine (default 30)")
	seed   = flag.Uint64("seed", 0, "seed of TestKills and the tests that kill on clusters, 0 for a random one")
)

// seeded returns a generator of random numbers. The flag -seed repeats the numbers; each stream has different ones.
func seeded(t *testing.T, stream uint64) *rand.Rand {
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano())
	}
	t.Logf("-seed %d", *seed)
	return rand.New(rand.NewPCG(*seed, stream))
}

// programs builds bloomery-beam and the job server of Beam.
func programs(t *testing.T) (program, prism string) {
	dir := t.TempDir()
	program, prism = filepath.Join(dir, "bloomery-beam"), filepath.Join(dir, "prism")
	for path, pkg := range map[string]string{program: programPackage, prism: "github.com/apache/beam/sdks/v2/go/cmd/prism"} {
		if out, err := exec.Command("go", "build", "-o", path, pkg).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	return program, prism
}

// process starts a process that listens on a port of localhost, and waits until it is listening.
func process(t *testing.T, port int, program string, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.Command(program, args...)
	startListening(t, c, "localhost", port)
	return c
}

// startListening starts a command and waits until it listens. The command is killed when the test ends.
func startListening(t *testing.T, c *exec.Cmd, host string, port int) {
	t.Helper()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { kill(c) })
	for range 200 {
		if conn, err := net.Dial("tcp", net.JoinHostPort(host, fmt.Sprint(port))); err == nil {
			conn.Close()
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("%s does not listen on port %d of %s", c.Path, port, host)
}

func kill(c *exec.Cmd) {
	_ = c.Process.Kill() // SIGKILL
	_ = c.Wait()
}

func freePort(t *testing.T) int {
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// TestKills runs jobs on a Prism job server with a worker pool, each in a separate process, and kills the submitter,
// the worker or the job server at a random moment. A manifest that lists missing shards must never exist, and the next
// run must complete with the same bytes.
func TestKills(t *testing.T) {
	if !*long {
		t.Skip("takes a minute; run it with -long")
	}
	r := seeded(t, 0)
	program, prism := programs(t)
	dir := t.TempDir()
	for f := range 4 {
		var b bytes.Buffer
		for i := range 100_000 {
			fmt.Fprintf(&b, "key-%d-%d\n", f, i)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.txt", f)), b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	args := func(out string, more ...string) []string {
		return append([]string{"--input", filepath.Join(dir, "*.txt"), "--output", filepath.Join(dir, out),
			"--spec", "partitioned(bits_per_key=8,effort=fast)", "--shards", "8", "--range-bytes", "100000", "--quiet"}, more...)
	}
	start := time.Now()
	if out, err := exec.Command(program, args("want")...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	took := time.Since(start)

	jobPort, poolPort := freePort(t), freePort(t)
	startServer := func() *exec.Cmd {
		return process(t, jobPort, prism, "-serve_http=false", fmt.Sprintf("-job_port=%d", jobPort))
	}
	startPool := func() *exec.Cmd { return process(t, poolPort, program, "worker", "--port", fmt.Sprint(poolPort)) }
	server, pool := startServer(), startPool()
	remote := []string{"--runner", "universal", "--endpoint", fmt.Sprintf("localhost:%d", jobPort),
		"--environment", "external", "--environment-config", fmt.Sprintf("localhost:%d", poolPort)}
	killed := map[string]int{}
	for round := range cmp.Or(*rounds, 20) {
		out := fmt.Sprintf("set-%d", round)
		c := exec.Command(program, args(out, remote...)...)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(r.Float64() * float64(took)))
		switch who := r.IntN(4); who {
		case 0:
			killed["submitter"]++
			kill(c)
		case 1:
			killed["worker"]++
			kill(pool)
			pool = startPool()
		case 2:
			killed["job server"]++
			kill(server)
			server = startServer()
		case 3:
			killed["all"]++
			kill(c)
			kill(pool)
			kill(server)
			server, pool = startServer(), startPool()
		}
		_ = c.Wait()
		checkManifest(t, filepath.Join(dir, out))
		for attempt := 0; ; attempt++ { // a job of a killed submitter may still run and remove input of this run
			text, err := exec.Command(program, args(out, remote...)...).CombinedOutput()
			if err == nil {
				if attempt > 0 {
					t.Logf("round %d: %d further runs", round, attempt)
				}
				break
			}
			if attempt == 3 {
				t.Fatalf("round %d: %v: %s", round, err, text)
			}
			if conn, err := net.Dial("tcp", fmt.Sprintf("localhost:%d", jobPort)); err == nil {
				conn.Close()
			} else { // Prism panics if it reads from a worker that was killed
				killed["job server, by a panic of its own"]++
				kill(server)
				server = startServer()
			}
		}
		checkManifest(t, filepath.Join(dir, out))
		time.Sleep(200 * time.Millisecond)
		sameSets(t, filepath.Join(dir, out), filepath.Join(dir, "want"))
	}
	t.Logf("killed: %v", killed)
}

// TestEntryPoint makes the job server start the program like the entry point of the Dockerfile, with a secret from the
// environment. Prism starts a process with the flags of a container.
func TestEntryPoint(t *testing.T) {
	if !*long {
		t.Skip("builds two programs; run it with -long")
	}
	program, prism := programs(t)
	dir := t.TempDir()
	keys, secret := filepath.Join(dir, "keys.txt"), filepath.Join(dir, "secret")
	for path, text := range map[string]string{keys: "a\nb\nc\n", secret: "000102030405060708090a0b0c0d0e0f\n"} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	args := func(out string, more ...string) []string {
		return append([]string{"-q", "-i", keys, "-o", filepath.Join(dir, out), "--spec", "fuse", "--shards", "2",
			"--secret-file", secret}, more...)
	}
	if out, err := exec.Command(program, args("want")...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	port := freePort(t)
	remote := []string{"--runner", "universal", "--endpoint", fmt.Sprintf("localhost:%d", port),
		"--environment", "process", "--environment-config", program}
	server := process(t, port, prism, "-serve_http=false", fmt.Sprintf("-job_port=%d", port))
	out, err := exec.Command(program, args("got", remote...)...).CombinedOutput()
	if err == nil || !strings.Contains(string(out), job.SecretFileVariable) {
		t.Errorf("without a secret for the worker: %v: %s", err, out)
	}
	kill(server)
	t.Setenv(job.SecretFileVariable, secret) // the workers of Prism have its environment
	process(t, port, prism, "-serve_http=false", fmt.Sprintf("-job_port=%d", port))
	if out, err := exec.Command(program, args("got", remote...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	sameSets(t, filepath.Join(dir, "got"), filepath.Join(dir, "want"))
}

// checkManifest fails the test if there is a manifest and the file of a shard does not match its entry.
func checkManifest(t *testing.T, dir string) {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, shard.ManifestName))
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := shard.ReadManifest(f)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range m.Shards {
		b, err := os.ReadFile(filepath.Join(dir, e.File))
		if err != nil || sha256.Sum256(b) != e.SHA256 {
			t.Fatalf("a manifest over a shard that is missing or another one: %s: %v", e.File, err)
		}
	}
}

// sameSets fails the test unless the shards and manifests in two folders have the same bytes. Work files of jobs whose
// submitter was killed may remain.
func sameSets(t *testing.T, got, want string) {
	t.Helper()
	files, err := os.ReadDir(want)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if strings.HasPrefix(f.Name(), "work-") {
			t.Fatalf("working files in %s", want)
		}
		g, err := os.ReadFile(filepath.Join(got, f.Name()))
		w, err2 := os.ReadFile(filepath.Join(want, f.Name()))
		if err = errors.Join(err, err2); err != nil || !bytes.Equal(g, w) {
			t.Fatalf("%s differs: %v", f.Name(), err)
		}
	}
}
