package otel

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/plog"
)

// builder is the program that builds a Collector.
const builder = "go.opentelemetry.io/collector/cmd/builder@v0.165.0"

// builtCollector returns the path of a Collector that the builder makes of builder-config.yaml, or of the variable
// BLOOMERY_OTELCOL, which saves two minutes. Without CI_FULL=1 it returns "", because the builder downloads modules.
func builtCollector(t *testing.T) string {
	if path := os.Getenv("BLOOMERY_OTELCOL"); path != "" {
		return path
	}
	if !full {
		t.Log("NOT RUN: CI_FULL=1 builds a Collector for this test")
		return ""
	}

	here, err := os.Getwd()
	check(t, err)
	text, err := os.ReadFile("builder-config.yaml")
	check(t, err)
	dir := t.TempDir()
	config := filepath.Join(dir, "builder-config.yaml")
	moved := strings.NewReplacer("./build", dir, "=> ../../", "=> "+filepath.Dir(here), "=> ../", "=> "+here)
	check(t, os.WriteFile(config, []byte(moved.Replace(string(text))), 0o600))
	cmd := exec.CommandContext(t.Context(), "go", "run", builder, "--config", config)
	cmd.Dir = dir // of no module
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return filepath.Join(dir, "otelcol-dedup")
}

// An OTLP request has the form of logs in a file. Package plogotlp has its own types for it, and needs gRPC.
var (
	requests plog.ProtoMarshaler
	received plog.ProtoUnmarshaler
)

// A collector is a process.
type collector struct {
	cmd              *exec.Cmd
	says             bytes.Buffer
	receive, metrics string // addresses
}

// freeAddress returns an address on this machine that nothing uses.
func freeAddress(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	defer l.Close()
	return l.Addr().String()
}

// startCollector starts a Collector with the processors and exporters in YAML, and waits until it receives.
func startCollector(t *testing.T, path, processors, exporter string, env ...string) *collector {
	t.Helper()
	c := &collector{receive: freeAddress(t), metrics: freeAddress(t)}
	host, port, _ := net.SplitHostPort(c.metrics)
	name := ""
	if processors != "" {
		name = "dedup"
	}
	exporterName, _, _ := strings.Cut(strings.TrimSpace(exporter), ":")
	config := fmt.Sprintf(`
receivers:
  otlp:
    protocols:
      http: {endpoint: "%s", max_request_body_size: 100000000}
processors:
%s
exporters:
%s
service:
  telemetry:
    metrics:
      readers: [{pull: {exporter: {prometheus: {host: "%s", port: %s}}}}]
  pipelines:
    logs: {receivers: [otlp], processors: [%s], exporters: [%s]}
`, c.receive, processors, exporter, host, port, name, exporterName)
	file := filepath.Join(t.TempDir(), "config.yaml")
	check(t, os.WriteFile(file, []byte(config), 0o600))
	c.cmd = exec.CommandContext(t.Context(), path, "--config", file)
	c.cmd.Env = append(os.Environ(), env...)
	c.cmd.Stdout, c.cmd.Stderr = &c.says, &c.says
	check(t, c.cmd.Start())
	for range 1200 {
		if conn, err := net.Dial("tcp", c.receive); err == nil {
			_ = conn.Close()
			return c
		}
		time.Sleep(50 * time.Millisecond)
	}
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
	t.Fatalf("the Collector does not receive: %s", &c.says)
	return nil
}

// end ends the Collector by a signal.
func (c *collector) end(t *testing.T, how syscall.Signal) {
	t.Helper()
	check(t, c.cmd.Process.Signal(how))
	err := c.cmd.Wait()
	if how == syscall.SIGTERM && err != nil {
		t.Fatalf("%v: %s", err, &c.says)
	}
}

// post sends the body of an OTLP request.
func (c *collector) post(body []byte) error {
	r, err := http.Post("http://"+c.receive+"/v1/logs", "application/x-protobuf", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer r.Body.Close()
	_, _ = io.Copy(io.Discard, r.Body)
	if r.StatusCode != http.StatusOK {
		return errors.New(r.Status)
	}
	return nil
}

// dedupYAML is a processor whose state is in a folder.
func dedupYAML(keys int, fpr float64, state, interval string) string {
	return fmt.Sprintf(`  dedup:
    ttl: 24h
    keys: %d
    fpr: %g
    key: attributes["id"]
    state: %s
    save_interval: %s
`, keys, fpr, state, interval)
}

// exportYAML is an exporter that reports success only after the server has accepted the records.
const exportYAML = `  otlphttp:
    endpoint: "%s"
    sending_queue: {enabled: false}
    retry_on_failure: {enabled: false}
    compression: none
`

// TestCollector sends ids to a real Collector, which sends what is new to a server that refuses some of the requests. The
// sender repeats what fails. The Collector is killed at random moments and starts again. All ids must arrive. When all are
// sent again, only ids since the last save before a kill may arrive, and none after the Collector has ended and started.
func TestCollector(t *testing.T) {
	path := builtCollector(t)
	if path == "" {
		return
	}
	var mu sync.Mutex
	arrived := map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var all plog.Logs
		if err == nil {
			all, err = received.UnmarshalLogs(body)
		}
		if err != nil || rand.IntN(5) == 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		for _, id := range idsOf(all) {
			arrived[id]++
		}
	}))
	defer server.Close()

	const rounds, ids, batch = 10, 300_000, 100
	processors := dedupYAML(ids, 1e-9, t.TempDir(), "50ms")
	exporter := fmt.Sprintf(exportYAML, server.URL)
	var c atomic.Pointer[collector]
	start := func() { c.Store(startCollector(t, path, processors, exporter)) }
	send := func(first int) {
		for {
			body, err := requests.MarshalLogs(logsOf(numbered(first, first+batch)...))
			check(t, err)
			if c.Load().post(body) == nil {
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	start()
	done := make(chan bool)
	go func() {
		defer close(done)
		var senders sync.WaitGroup
		for s := range 4 {
			senders.Go(func() {
				for first := s * batch; first < ids; first += 3 * batch { // many batches are sent twice
					send(first)
					time.Sleep(5 * time.Millisecond) // so that kills hit the middle
				}
			})
		}
		senders.Wait()
	}()
	kills := 0
	for running := true; running && kills < rounds; {
		select {
		case <-done:
			running = false
		case <-time.After(200*time.Millisecond + rand.N(500*time.Millisecond)):
			c.Load().end(t, syscall.SIGKILL)
			start()
			kills++
		}
	}
	<-done

	again := 0
	for _, id := range numbered(0, ids) {
		if arrived[id] == 0 {
			t.Errorf("%s is lost", id)
		} else if arrived[id] > 1 {
			again++
		}
	}

	clear(arrived)
	sendAll := func() {
		for first := 0; first < ids; first += batch {
			send(first)
		}
	}
	sendAll()
	late := len(arrived) // ids since a last save before a kill
	clear(arrived)
	c.Load().end(t, syscall.SIGTERM)
	start()
	sendAll()
	if len(arrived) > 0 {
		t.Errorf("%d ids arrived again after a Collector had ended and started", len(arrived))
	}

	r, err := http.Get("http://" + c.Load().metrics + "/metrics")
	check(t, err)
	text, err := io.ReadAll(r.Body)
	check(t, err)
	_ = r.Body.Close()
	for _, name := range []string{"dropped", "fill", "fpr", "forgotten_early"} {
		if !strings.Contains(string(text), "otelcol_processor_dedup_"+name) {
			t.Errorf("no metric %s", name)
		}
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "otelcol_processor_dedup") {
			t.Log(strings.TrimSpace(line))
		}
	}
	c.Load().end(t, syscall.SIGTERM)
	t.Logf("%d kills; of %d ids, %d arrived more than once and %d when all were sent again", kills, ids, again, late)
	if kills == 0 || late > ids/2 {
		t.Errorf("%d kills, %d ids arrived again", kills, late)
	}
}

// TestCollectorFigures sends the ids of a day to a Collector on one core, once without and once with the processor, and
// compares memory and time. The machine should be idle.
func TestCollectorFigures(t *testing.T) {
	path := builtCollector(t)
	if path == "" {
		return
	}
	const batch = 8192
	const exporter = "  debug: {verbosity: basic, sampling_initial: 1, sampling_thereafter: 100000}\n"
	all := plog.NewLogs()
	fillLogs(all, 0, batch)
	template, err := requests.MarshalLogs(all)
	check(t, err)
	places := make([]int, batch) // of the ids in template
	for i := range places {
		places[i] = bytes.Index(template, []byte(idOf(i)))
	}

	type figures struct {
		rss, peak float64 // MB, on average while records arrive and at most
		cpu       float64 // seconds
	}
	measure := func(processors string) (f figures) {
		c := startCollector(t, path, processors, exporter, "GOMAXPROCS=1")
		next := atomic.Int64{}
		var senders sync.WaitGroup
		pid, done, sampled := c.cmd.Process.Pid, make(chan bool), make(chan []float64)
		go func() { // one size depends on the time since the last garbage collection
			var sizes []float64
			for {
				select {
				case <-time.After(100 * time.Millisecond):
					sizes = append(sizes, statusMB(pid, "VmRSS:"))
				case <-done:
					sampled <- sizes
					return
				}
			}
		}()
		begin := time.Now()
		for range 2 {
			senders.Go(func() {
				body := bytes.Clone(template)
				for {
					first := int(next.Add(batch)) - batch
					if first >= dayKeys {
						return
					}
					for i, at := range places {
						copy(body[at:], idOf(first+i))
					}
					if err := c.post(body); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		senders.Wait()
		elapsed := time.Since(begin)
		close(done)
		sizes := <-sampled
		sizes = sizes[len(sizes)/2:] // at first memory grows
		for _, size := range sizes {
			f.rss += size / float64(len(sizes))
		}
		if f.peak = statusMB(pid, "VmHWM:"); f.rss == 0 || f.peak == 0 {
			t.Fatal("no size of the Collector")
		}
		c.end(t, syscall.SIGTERM)
		f.cpu = (c.cmd.ProcessState.UserTime() + c.cmd.ProcessState.SystemTime()).Seconds()
		t.Logf("processor %v: %.0f MB resident, at most %.0f; %.1f s of CPU, %.0f records per CPU second; %.1f s elapsed",
			processors != "", f.rss, f.peak, f.cpu, dayKeys/f.cpu, elapsed.Seconds())
		return f
	}
	state := t.TempDir()
	without := measure("")
	with := measure(dedupYAML(dayKeys, 0.001, state, "30s"))
	size := int64(0)
	files, err := filepath.Glob(filepath.Join(state, "*"+suffix))
	check(t, err)
	for _, file := range files {
		st, err := os.Stat(file)
		check(t, err)
		size += st.Size()
	}
	t.Logf("%.1f MB of state; %.0f MB more resident, at the peak %.0f; %.0f ns per record more", float64(size)/1e6,
		with.rss-without.rss, with.peak-without.peak, (with.cpu-without.cpu)*1e9/dayKeys)
	if size > 45e6 || with.rss-without.rss > 80 || with.peak-without.peak > 80 {
		t.Error("want at most 45 MB of state, and at most 80 MB more memory")
	}
	if rate := dayKeys / with.cpu; rate < 200_000 {
		t.Errorf("%.0f records per second of CPU, want 200,000", rate)
	}
}

// statusMB returns a size in /proc/PID/status in MB, or 0 if there is none, such as of a process that has ended.
func statusMB(pid int, name string) float64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := strings.Cut(string(text), name)
	number, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	kb, _ := strconv.ParseFloat(number, 64)
	return kb * 1024 / 1e6
}
