package s3_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bloomery/bloomery/buckets/internal/fakes3"
	"github.com/bloomery/bloomery/buckets/internal/reals3"
	"github.com/bloomery/bloomery/buckets/internal/storetest"
	"github.com/bloomery/bloomery/internal/steps"
)

// TestLost drops the responses of the imitation to writes that took effect.
func TestLost(t *testing.T) {
	f := fakes3.New(t)
	lost(t, f, true)
	if n := f.Uploads(); n != 0 {
		t.Errorf("%d uploads are left behind", n)
	}
}

// lost drops the first response to each write, after the write took effect. The client repeats the request. The object
// must be complete, and the only allowed error is the error of WriteIf that the object exists. If parts is true, large
// objects are also tested.
func lost(t *testing.T, f server, parts bool) {
	defer f.Lose(nil)
	s := openURL(t, f, "lost")
	c := s.(steps.Conditional)
	sizes := map[string]int{"small": 1000}
	if parts {
		sizes["large"] = 20 << 20
	}
	for size, n := range sizes {
		text := bytes.Repeat([]byte(size), n/len(size))
		write := func(w io.Writer) error { _, err := w.Write(text); return err }
		for how, do := range map[string]func(name string) error{
			"Write":   func(name string) error { return s.Write(t.Context(), name, write) },
			"WriteIf": func(name string) error { return c.WriteIf(t.Context(), name, "", write) },
		} {
			var n atomic.Int32
			f.Lose(func(r *http.Request) bool {
				q := r.URL.Query()
				whole := r.Method == "PUT" && !q.Has("partNumber") || r.Method == "POST" && q.Has("uploadId")
				return whole && n.Add(1) == 1
			})
			name := size + how
			err := do(name)
			f.Lose(nil)
			if n.Load() < 2 {
				t.Errorf("%s: %d requests", name, n.Load())
			}
			if err != nil && !(how == "WriteIf" && errors.Is(err, fs.ErrExist)) { // its own object
				t.Errorf("%s: %v", name, err)
			}
			if b, err := storetest.Read(t.Context(), s, name, "", 0, -1); err != nil || !bytes.Equal(b, text) {
				t.Errorf("%s: %d bytes, %v", name, len(b), err)
			}
		}
	}
}

// TestDied checks the effect of the parts that an upload leaves if its program dies, with the imitation.
func TestDied(t *testing.T) {
	f := fakes3.New(t)
	died(t, f, func() int { return f.Uploads() })
}

// died refuses all requests after the beginning of an upload in parts, as if the program had died. The parts remain,
// but must be invisible and must not affect a later write.
func died(t *testing.T, f server, uploads func() int) {
	defer f.Fault(nil, nil)
	s := openURL(t, f, "died")
	big := bytes.Repeat([]byte("0123456789abcdef"), 20<<16)
	write := func() error {
		return s.Write(t.Context(), "big", func(w io.Writer) error { _, err := w.Write(big); return err })
	}
	f.Fault(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Has("uploads") {
			return false
		}
		fakes3.Fail(w, http.StatusForbidden, "AccessDenied")
		return true
	}, nil)
	if err := write(); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a refused upload: %v", err)
	}
	f.Fault(nil, nil)
	if _, err := s.Stat(t.Context(), "big"); !errors.Is(err, fs.ErrNotExist) || uploads() != 1 {
		t.Errorf("%d uploads are left, %v", uploads(), err)
	}
	for o, err := range s.List(t.Context(), "") {
		t.Errorf("listed: %v, %v", o, err)
	}
	if err := write(); err != nil {
		t.Error(err)
	}
	if b, err := storetest.Read(t.Context(), s, "big", "", 0, -1); err != nil || !bytes.Equal(b, big) || uploads() != 1 {
		t.Errorf("%d bytes, %d uploads are left, %v", len(b), uploads(), err)
	}
}

// realThrottled builds a set while every 17th request is throttled, every fifth response with an object is cut off, and
// every seventh response to a write is lost.
func realThrottled(t *testing.T, f *reals3.Server) {
	defer f.Lose(nil)
	defer f.Fault(nil, nil)
	var requests, throttled, gets, cut, writes, lost atomic.Int32
	f.Fault(func(w http.ResponseWriter, _ *http.Request) bool {
		if requests.Add(1)%17 != 0 {
			return false
		}
		throttled.Add(1)
		fakes3.Fail(w, http.StatusServiceUnavailable, "SlowDown")
		return true
	}, func(*http.Request) int {
		if gets.Add(1)%5 != 0 {
			return -1
		}
		cut.Add(1)
		return 1000
	})
	f.Lose(func(r *http.Request) bool {
		if r.Method != "PUT" || writes.Add(1)%7 != 0 {
			return false
		}
		lost.Add(1)
		return true
	})
	failed := realDistribute(t, f, "sets/throttled")
	t.Logf("%d requests: %d throttled, %d answers cut, %d lost; %d steps repeated", requests.Load(), throttled.Load(),
		cut.Load(), lost.Load(), failed)
	if throttled.Load() == 0 || cut.Load() == 0 || lost.Load() == 0 {
		t.Error("a fault did not occur")
	}
}

// realCommand describes, verifies and queries the set of realDistribute with bloomery-bucket.
func realCommand(t *testing.T, f *reals3.Server, at string) {
	dir := t.TempDir()
	program := filepath.Join(dir, "bloomery-bucket")
	if out, err := exec.Command("go", "build", "-o", program, "../cmd/bloomery-bucket").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var there, not strings.Builder
	for i := range 1000 {
		fmt.Fprintln(&there, "key", realKeys/1000*i)
		fmt.Fprintln(&not, "another key", i)
	}
	run := func(stdin string, args ...string) string {
		t.Helper()
		c := exec.Command(program, args...)
		c.Env, c.Stdin = os.Environ(), strings.NewReader(stdin)
		var errs bytes.Buffer
		c.Stderr = &errs
		out, err := c.Output()
		if err != nil {
			t.Errorf("%v: %v: %s", args, err, &errs)
		}
		return string(out)
	}
	address := f.Address(at)
	if out := run("", "info", "--json", address); !strings.Contains(out, fmt.Sprint(realKeys)) {
		t.Errorf("info: %s", out)
	}
	for _, more := range [][]string{nil, {"--cache-dir", filepath.Join(dir, "cache")}} {
		if out := run(there.String(), append([]string{"check", address}, more...)...); out != there.String() {
			t.Errorf("check: %d bytes of %d", len(out), there.Len())
		}
	}
	if out := run(not.String(), "check", "--count", address); strings.TrimSpace(out) == "0" || len(out) > 3 {
		t.Errorf("%s of 1000 other keys", out) // 10 are expected; 0 has a chance of 0.00004
	}
	if out := run("", "verify", address); !strings.Contains(out, "7") {
		t.Errorf("verify: %s", out)
	}
	const damaged = "00003-of-00007.bloom"
	s := openURL(t, f, at)
	o, err := s.Stat(t.Context(), damaged)
	if err != nil {
		t.Fatal(err)
	}
	storetest.Put(t, s, damaged, strings.Repeat("x", int(o.Size)))
	if out, err := exec.Command(program, "verify", address).CombinedOutput(); err == nil ||
		!strings.Contains(string(out), damaged) {
		t.Errorf("verify of a damaged shard: %v: %s", err, out)
	}
}
