package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bloomery/bloomery/window"
)

// receiver is a middleware with a filter, and a handler that counts its calls.
type receiver struct {
	t       *testing.T
	called  atomic.Int32
	handler http.HandlerFunc
	once    *once
}

func newReceiver(t *testing.T, c window.Config, handler http.HandlerFunc) *receiver {
	seen, err := window.New[string](c)
	if err != nil {
		t.Fatal(err)
	}
	r := &receiver{t: t, handler: handler}
	r.once = newOnce(seen, headerKey, time.Minute, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.called.Add(1)
		r.handler(w, q)
	}))
	return r
}

// post sends a request with a key to the middleware.
func (r *receiver) post(path, key string) *httptest.ResponseRecorder {
	q := httptest.NewRequest(http.MethodPost, path, strings.NewReader("event"))
	if key != "" {
		q.Header.Set("Idempotency-Key", key)
	}
	w := httptest.NewRecorder()
	r.once.ServeHTTP(w, q)
	return w
}

// want sends a request and checks the status, and whether the handler was called.
func (r *receiver) want(path, key string, status int, called bool) {
	r.t.Helper()
	before := r.called.Load()
	w := r.post(path, key)
	now := r.called.Load() > before
	replayed := w.Header().Get("Idempotent-Replayed") == "true"
	if w.Code != status || now != called || replayed != (!called && status == http.StatusOK) {
		r.t.Errorf("%s with key %q: status %d, handler called: %t, %v; want %d, %t", path, key, w.Code, now, w.Header(),
			status, called)
	}
}

func created(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusCreated) }

func usual() window.Config { return window.Config{Keys: 1000, TTL: time.Hour, FPR: 1e-9} }

// TestOnce checks that a key counts once for its method and path, and that requests without a key are passed on.
func TestOnce(t *testing.T) {
	r := newReceiver(t, usual(), created)
	for _, c := range []struct {
		path, key string
		status    int
		called    bool
	}{
		{"/a", "1", 201, true}, {"/a", "1", 200, false}, {"/a", "1", 200, false}, {"/a", "2", 201, true},
		{"/b", "1", 201, true}, {"/b", "1", 200, false}, {"/a", "", 201, true}, {"/a", "", 201, true},
		{"/a", strings.Repeat("x", maxKey), 400, false},
	} {
		r.want(c.path, c.key, c.status, c.called)
	}
	if n := r.once.replayed.Load(); n != 3 || len(r.once.running) > 0 {
		t.Errorf("%d replayed, running %v", n, r.once.running)
	}
}

// TestStatus checks which answers are successes: only answers with a status of 2xx are remembered.
func TestStatus(t *testing.T) {
	for i, c := range []struct {
		answer http.HandlerFunc
		status int
		kept   bool
	}{
		{func(http.ResponseWriter, *http.Request) {}, 200, true},
		{func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "done") }, 200, true},
		{func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }, 204, true},
		{func(w http.ResponseWriter, _ *http.Request) { _ = http.NewResponseController(w).Flush() }, 200, true},
		{func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(303) }, 303, false},
		{func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) }, 404, false},
		{func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500); _, _ = io.WriteString(w, "no") }, 500, false},
	} {
		r := newReceiver(t, usual(), c.answer)
		key := fmt.Sprint(i)
		r.want("/", key, c.status, true)
		if c.kept {
			r.want("/", key, 200, false)
		} else {
			r.want("/", key, c.status, true)
		}
	}
}

// TestEarlyHints checks that a response with status 1xx is not the final response.
func TestEarlyHints(t *testing.T) {
	r := newReceiver(t, usual(), func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(http.StatusInternalServerError)
	})
	server := httptest.NewServer(r.once)
	defer server.Close()
	for range 2 {
		if status := send(t, server.URL, "1"); status != 500 {
			t.Errorf("status %d", status)
		}
	}
	if n := r.called.Load(); n != 2 {
		t.Errorf("called %d times", n)
	}
}

// send posts an event to a server and returns the status of the answer.
func send(t *testing.T, url, key string) int { return sendBody(t, url, key, "event") }

func sendBody(t *testing.T, url, key, event string) int {
	q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(event))
	if err != nil {
		t.Error(err)
		return 0
	}
	q.Header.Set("Idempotency-Key", key)
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Error(err)
		return 0
	}
	defer a.Body.Close()
	_, _ = io.Copy(io.Discard, a.Body)
	return a.StatusCode
}

// waiting waits until n requests have reached the middleware, including requests that wait for others.
func waiting(arrived *atomic.Int32, n int32) {
	for arrived.Load() < n {
		time.Sleep(time.Millisecond)
	}
}

// TestConcurrent sends the same request fifty times at once. The handler must run exactly once, and all other requests
// must wait for it and receive the status of a repeated request.
func TestConcurrent(t *testing.T) {
	const senders = 50
	var arrived atomic.Int32
	r := newReceiver(t, usual(), func(w http.ResponseWriter, q *http.Request) {
		waiting(&arrived, senders)
		created(w, q)
	})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		arrived.Add(1)
		r.once.ServeHTTP(w, q)
	}))
	defer server.Close()
	var statuses [600]atomic.Int32
	var all sync.WaitGroup
	for range senders {
		all.Go(func() { statuses[send(t, server.URL, "1")].Add(1) })
	}
	all.Wait()
	if n, first, again := r.called.Load(), statuses[201].Load(), statuses[200].Load(); n != 1 || first != 1 ||
		again != senders-1 {
		t.Errorf("called %d times, %d answers of 201 and %d of 200", n, first, again)
	}
}

// TestConflict checks that a request waits for a running one with the same key at most for patience, and is answered
// when it is repeated later.
func TestConflict(t *testing.T) {
	began, end := make(chan struct{}), make(chan struct{})
	r := newReceiver(t, usual(), func(w http.ResponseWriter, q *http.Request) {
		close(began)
		<-end
		created(w, q)
	})
	r.once.patience = 5 * time.Millisecond
	var first sync.WaitGroup
	first.Go(func() { r.post("/", "1") })
	<-began
	if w := r.post("/", "1"); w.Code != http.StatusConflict || w.Header().Get("Retry-After") != "1" {
		t.Errorf("status %d, %v", w.Code, w.Header())
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if release := r.once.acquire(gone, "POST / 1"); release != nil {
		t.Error("a request whose client has gone is handled")
	}
	close(end)
	first.Wait()
	r.want("/", "1", 200, false)
	if n := r.once.refused.Load(); n != 1 {
		t.Errorf("%d refused", n)
	}
}

// TestFailure checks that a failed request is handled again when it is repeated or when another request has waited for
// it, and that no request is handled again after a success.
func TestFailure(t *testing.T) {
	const senders = 10
	var arrived, calls atomic.Int32
	r := newReceiver(t, usual(), func(w http.ResponseWriter, q *http.Request) {
		waiting(&arrived, senders)
		switch calls.Add(1) {
		case 1:
			panic(http.ErrAbortHandler)
		case 2:
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			created(w, q)
		}
	})
	var all sync.WaitGroup
	var statuses [600]atomic.Int32
	for range senders {
		all.Go(func() {
			defer func() { _ = recover() }() // as a server does
			arrived.Add(1)
			statuses[r.post("/", "1").Code].Add(1)
		})
	}
	all.Wait()
	if n := r.called.Load(); n != 3 || statuses[503].Load() != 1 || statuses[201].Load() != 1 ||
		statuses[200].Load() != senders-3 || len(r.once.running) > 0 {
		t.Errorf("called %d times, %d answers of 503, %d of 201, %d of 200; running %v", n, statuses[503].Load(),
			statuses[201].Load(), statuses[200].Load(), r.once.running)
	}
	r.want("/", "1", 200, false)
}

// TestExpiry checks that a key is remembered for the time to live, and accepted again after at most 8/7 of it.
func TestExpiry(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	c := usual()
	c.TTL, c.Clock = 7*time.Hour, func() time.Time { return now }
	r := newReceiver(t, c, created)
	r.want("/", "1", 201, true)
	now = now.Add(7*time.Hour - time.Nanosecond)
	r.want("/", "1", 200, false) // the repetition does not renew the key
	now = now.Add(time.Hour + time.Nanosecond)
	r.want("/", "1", 201, true)
	r.want("/", "1", 200, false)
}

// TestFull checks that requests are handled and counted if there is no room for their keys.
func TestFull(t *testing.T) {
	c := usual()
	c.Keys = 10
	r := newReceiver(t, c, created)
	const requests = 1000
	for i := range requests {
		r.want("/", fmt.Sprint(i), 201, true)
	}
	lost := r.once.unremembered.Load()
	if kept := r.once.seen.Len(); lost == 0 || kept+lost != requests || kept < 10 {
		t.Errorf("%d keys remembered and %d not, of %d", kept, lost, requests)
	}
	r.want("/", fmt.Sprint(requests-1), 201, true) // handled again
	r.want("/", "0", 200, false)
}
