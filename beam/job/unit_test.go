package job

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
)

func mustProto(t *testing.T, m proto.Message) []byte {
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// formsOf returns the encodings in which bytes may appear in a text or a proto.
func formsOf(b []byte) [][]byte {
	j, _ := json.Marshal(b)
	forms := [][]byte{
		b, []byte(hex.EncodeToString(b)), []byte(strings.ToUpper(hex.EncodeToString(b))),
		[]byte(strings.Trim(string(j), `"`)), []byte(strings.Trim(strconv.Quote(string(b)), `"`)),
		[]byte(strings.Trim(fmt.Sprint(b), "[]")), []byte(strings.ReplaceAll(strings.Trim(fmt.Sprint(b), "[]"), " ", ",")),
	}
	for shift := range 3 { // base64 of a longer text that contains b
		enc := base64.StdEncoding.EncodeToString(append(make([]byte, shift), b...))
		forms = append(forms, []byte(strings.TrimRight(enc, "=")[4*((shift+2)/3):len(enc)-4]))
	}
	return forms
}

var base64Text = regexp.MustCompile(`[A-Za-z0-9+/_-]{16,}=*`)

// layers returns b and all data nested in it as base64, at any depth. Beam encodes the fields of a DoFn in this way,
// twice.
func layers(b []byte) [][]byte {
	all := [][]byte{b}
	for _, text := range base64Text.FindAll(b, -1) {
		for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			for skip := range min(4, len(text)) { // the base64 may follow a length
				if inner, err := e.DecodeString(strings.TrimRight(string(text[skip:]), "=")); err == nil {
					all = append(all, layers(inner)...)
				}
			}
		}
	}
	return all
}

func TestFailed(t *testing.T) {
	cause := errors.New("a.txt:3: \"quoted\"\nand more")
	err := fail(fmt.Errorf("step: %w", cause))
	if !errors.Is(err, cause) || fail(err) != err {
		t.Error("the mark hides the cause, or is set twice")
	}
	text := "process bundle failed:\n\tcaused by: " + err.Error() + "\n\tcaused by: " + fail(errors.New("other")).Error()
	if got, ok := failureIn(text); !ok || got != "step: "+cause.Error() {
		t.Errorf("%q, %v", got, ok)
	}
	for _, text := range []string{"", "panic", failureBegin + "cut"} {
		if got, ok := failureIn(text); ok {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func TestConfigErrors(t *testing.T) {
	good := Config{Input: []string{"a"}, Output: "b"}
	if _, err := good.withDefaults(); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		change func(*Config)
		says   string
	}{
		{func(c *Config) { c.Input = nil }, "no input"},
		{func(c *Config) { c.Output = "" }, "no output"},
		{func(c *Config) { c.Runner = "storm" }, "want prism, universal"},
		{func(c *Config) { c.Runner = Flink }, "HOST:PORT of its Beam job server"},
		{func(c *Config) { c.Endpoint = "host" }, "want HOST:PORT"},
		{func(c *Config) { c.Memory = 1 << 20 }, "at least 64 MiB"},
		{func(c *Config) { c.Parallelism = -1 }, "want 1 or more"},
		{func(c *Config) { c.Parallelism = 2 }, "prism takes all processors"},
		{func(c *Config) { c.Runner, c.Endpoint, c.Parallelism = Spark, "host:1", 2 }, "spark.default.parallelism"},
		{func(c *Config) {
			c.Runner, c.Endpoint, c.Parallelism, c.Options = Flink, "host:1", 2, map[string]string{"parallelism": "3"}
		}, "given twice"},
		{func(c *Config) { c.Environment = "cloud" }, "want loopback, external"},
		{func(c *Config) { c.EnvironmentConfig = "x" }, "loopback takes no configuration"},
		{func(c *Config) { c.Environment = External }, "bloomery-beam worker"},
		{func(c *Config) { c.Environment = Docker }, "name of an image"},
		{func(c *Config) { c.Environment = Process }, "path of bloomery-beam"},
	} {
		c := good
		tt.change(&c)
		if _, err := c.withDefaults(); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("error %v; want %q", err, tt.says)
		}
	}
}

// TestUnreachable checks that an endpoint without a server, or with another kind of server, is an error at once.
func TestUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			fmt.Fprint(c, "HTTP/1.1 400 Bad Request\r\n\r\n")
			c.Close()
		}
	}()
	c := config("unread", t.TempDir(), "fuse")
	c.Runner, c.Endpoint = Flink, l.Addr().String()
	if _, err := Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), "not answer as a Beam job server") {
		t.Errorf("another server: %v", err)
	}
	l.Close()
	start := time.Now()
	if _, err := Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), "no Beam job server answers at") {
		t.Errorf("no server: %v", err)
	}
	if took := time.Since(start); took > 2*dialTimeout {
		t.Errorf("it took %v", took)
	}
}

// TestPrismIsLocal dials Prism at the addresses of this machine: only the loopback interface may answer.
func TestPrismIsLocal(t *testing.T) {
	s, err := startPrism()
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "linux" {
		if s.open == nil {
			t.Error("no warning")
		}
		t.Skip("only Linux can bind a socket that listens")
	}
	if s.open != nil {
		t.Fatal(s.open)
	}
	_, port, _ := net.SplitHostPort(s.endpoint)
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addresses {
		n, ok := a.(*net.IPNet)
		if !ok || n.IP.IsLinkLocalUnicast() {
			continue
		}
		c, err := net.DialTimeout("tcp", net.JoinHostPort(n.IP.String(), port), 5*time.Second)
		if (err == nil) != n.IP.IsLoopback() {
			t.Errorf("%s: %v", n.IP, err)
		}
		if err == nil {
			c.Close()
		}
	}
}

// TestBundle checks that the steps of a bundle run concurrently, up to the limit, and that an error stops them.
func TestBundle(t *testing.T) {
	const most = 4
	l := newLimit(most << 20)
	var now, peak atomic.Int64
	var b bundle
	emitted := 0
	emit := func(int, []byte) { emitted++ }
	step := func(ctx context.Context, bytes int64) (result, error) {
		units := bytes >> 20
		n := now.Add(units)
		for p := peak.Load(); n > p && !peak.CompareAndSwap(p, n); p = peak.Load() {
		}
		time.Sleep(time.Millisecond)
		now.Add(-units)
		return result{element: []byte{}}, ctx.Err()
	}
	for range 100 {
		if err := b.start(t.Context(), l, 1, emit, step); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.finish(t.Context(), emit); err != nil || emitted != 100 {
		t.Errorf("%d of 100 results, %v", emitted, err)
	}
	if p := peak.Load(); p > most || runtime.GOMAXPROCS(0) > 1 && p < 2 {
		t.Errorf("steps took %d of %d", p, most)
	}

	broken := errors.New("broken")
	if err := b.start(t.Context(), l, 1, emit, func(context.Context, int64) (result, error) {
		return result{}, broken
	}); err != nil {
		t.Fatal(err)
	}
	var err error
	for err == nil {
		err = b.start(t.Context(), l, 1, emit, func(ctx context.Context, _ int64) (result, error) {
			<-ctx.Done() // the error ends the other steps
			return result{}, ctx.Err()
		})
	}
	if !errors.Is(err, broken) {
		t.Errorf("error %v; want %v", err, broken)
	}
}
