package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bloomery/bloomery/window"
)

// start runs the program and returns its address, and a function that stops it as ctrl-C does.
func start(t *testing.T, args ...string) (base string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	read, log := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, append([]string{"-listen", "127.0.0.1:0"}, args...), log)
		log.Close()
	}()
	for lines := bufio.NewScanner(read); base == ""; {
		if !lines.Scan() {
			cancel()
			t.Fatal("the server does not start: ", <-ended)
		}
		if m := regexp.MustCompile(`(http://\S+),`).FindStringSubmatch(lines.Text()); m != nil {
			base = m[1]
		}
	}
	go func() { _, _ = io.Copy(io.Discard, read) }()
	return base, func() {
		t.Helper()
		http.DefaultClient.CloseIdleConnections()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// TestRestart checks that keys are remembered across restarts, and that a request that failed before a restart is
// handled after it.
func TestRestart(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte("000102030405060708090a0b0c0d0e0f\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"-file", filepath.Join(dir, "seen.window"), "-keys", "1000", "-secret", secret}
	base, stop := start(t, args...)
	for _, c := range []struct {
		key    string
		status int
	}{{"1", 202}, {"2", 202}, {"1", 200}} {
		if got := send(t, base+"/events", c.key); got != c.status {
			t.Errorf("key %s: status %d, want %d", c.key, got, c.status)
		}
	}
	if got := sendBody(t, base+"/events", "3", "fail"); got != 500 {
		t.Errorf("an event that fails: status %d", got)
	}
	stop()

	base, stop = start(t, args...)
	for _, c := range []struct {
		key    string
		status int
	}{{"1", 200}, {"2", 200}, {"3", 202}, {"3", 200}} {
		if got := send(t, base+"/events", c.key); got != c.status {
			t.Errorf("key %s after a restart: status %d, want %d", c.key, got, c.status)
		}
	}
	if got := sendBody(t, base+"/events", "4", strings.Repeat("x", maxEvent+1)); got != 400 {
		t.Errorf("a large event: status %d", got)
	}
	r, err := http.Get(base + "/-/seen")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if text, err := io.ReadAll(r.Body); err != nil || !strings.Contains(string(text), `"keys":3,`) ||
		!strings.Contains(string(text), `"replayed":3,`) {
		t.Errorf("%s, %v", text, err)
	}
	stop()

	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := run(ctx, append(args, "-keys", "2000"), io.Discard); err == nil ||
		!strings.Contains(err.Error(), "1000") || !strings.Contains(err.Error(), "2000") {
		t.Errorf("with another number of keys: %v", err)
	}
}

// TestSaves checks that the file is written while the server runs.
func TestSaves(t *testing.T) {
	file := filepath.Join(t.TempDir(), "seen.window")
	base, stop := start(t, "-file", file, "-save", "5ms")
	defer stop()
	send(t, base+"/events", "1")
	for until := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		seen, err := window.Open[string](t.Context(), file, window.Config{})
		if err == nil && seen.Contains("POST /events 1") {
			return
		}
		if time.Now().After(until) {
			t.Fatal("the key is not in the file: ", err)
		}
	}
}

// TestArguments checks that wrong arguments are errors when the program starts.
func TestArguments(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad")
	if err := os.WriteFile(bad, []byte("no secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"x"}, {"-nonsense"}, {"-save", "0s"}, {"-keys", "0"}, {"-ttl", "1us"}, {"-file", bad}, {"-secret", bad},
		{"-secret", bad + "x"}, {"-listen", "nowhere:-1"},
	} {
		all := append([]string{"-file", filepath.Join(t.TempDir(), "seen.window"), "-listen", "127.0.0.1:0"}, args...)
		if err := run(t.Context(), all, io.Discard); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}
