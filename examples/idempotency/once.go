package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bloomery/bloomery/window"
)

// maxKey is the largest length of a key in bytes.
const maxKey = 255

// once is a middleware that passes on the first request with each key, and further requests with the key after a
// failure.
//
// A request succeeds if its handler returns with a status of 2xx. Only then is its key remembered: a request that
// fails, panics or dies with the process is handled again when the sender repeats it. Repeated requests get 200 and the
// header Idempotent-Replayed. They do not get the first answer, which is not stored.
//
// A request that arrives while another one with its key is being handled waits for the result, and for its turn after a
// failure. If that takes longer than patience, it gets 409 and the sender must repeat it.
//
// The handler must tolerate two cases:
//
//   - A key that looks like a remembered one is taken for it, at the false-positive rate of seen: a request is answered
//     as handled and never was. Choose a rate such as 1e-9, and a secret if strangers choose keys.
//   - If the process is killed between the success of a handler and the next Save, or if seen is full, the request is
//     handled again when it is repeated.
//
// Put it after the check of the sender's signature: otherwise anybody can add keys.
type once struct {
	seen     *window.Filter[string]
	id       func(*http.Request) string // the key of a request, or "" for one that is always passed on
	next     http.Handler
	patience time.Duration

	mu      sync.Mutex
	running map[string]chan struct{} // channel of each key; closed when the request has been handled

	replayed, refused, unremembered atomic.Uint64
}

func newOnce(
	seen *window.Filter[string], id func(*http.Request) string, patience time.Duration, next http.Handler,
) *once {
	return &once{seen: seen, id: id, next: next, patience: patience, running: map[string]chan struct{}{}}
}

// headerKey returns the header Idempotency-Key with the method and the path of the request, since the key is only valid
// for these.
func headerKey(r *http.Request) string {
	key := r.Header.Get("Idempotency-Key")
	if key == "" {
		return ""
	}
	return r.Method + " " + r.URL.Path + " " + key
}

func (o *once) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key := o.id(r)
	switch {
	case key == "":
		o.next.ServeHTTP(w, r)
		return
	case len(key) > maxKey:
		http.Error(w, fmt.Sprintf("the key of a request has at most %d bytes", maxKey), http.StatusBadRequest)
		return
	}
	release := o.acquire(r.Context(), key)
	if release == nil {
		o.refused.Add(1)
		w.Header().Set("Retry-After", strconv.Itoa(1+int(o.patience.Seconds())))
		http.Error(w, "a request with this key is being handled; come again", http.StatusConflict)
		return
	}
	defer release()
	if o.seen.Contains(key) { // only now, because the previous request may just have ended
		o.replayed.Add(1)
		w.Header().Set("Idempotent-Replayed", "true")
		fmt.Fprintln(w, "handled before")
		return
	}
	answer := &statusWriter{ResponseWriter: w}
	o.next.ServeHTTP(answer, r) // if it panics, nothing is remembered
	if !answer.succeeded() {
		return
	}
	if _, err := o.seen.TestAndAdd(key); err != nil { // full
		o.unremembered.Add(1)
	}
}

// acquire waits until no other request with the key is being handled, and returns the function that ends this one. It
// returns nil if that takes longer than patience, or if ctx ends first.
func (o *once) acquire(ctx context.Context, key string) (release func()) {
	ctx, cancel := context.WithTimeout(ctx, o.patience)
	defer cancel()
	for {
		o.mu.Lock()
		other, ok := o.running[key]
		if !ok {
			mine := make(chan struct{})
			o.running[key] = mine
			o.mu.Unlock()
			return func() {
				o.mu.Lock()
				delete(o.running, key)
				o.mu.Unlock()
				close(mine)
			}
		}
		o.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil
		}
	}
}

// status reports the state of the filter, for monitoring.
func (o *once) status(w http.ResponseWriter, _ *http.Request) {
	i := o.seen.Info()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"keys": i.Keys, "room": i.Room, "false_positive_rate": i.FPR, "replayed": o.replayed.Load(),
		"refused": o.refused.Load(), "unremembered": o.unremembered.Load(),
	})
}

// statusWriter keeps the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	if w.status == 0 && status >= 200 { // smaller ones are not final
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(b)
}

// FlushError sends the written data, with the status 200 if there is none yet.
func (w *statusWriter) FlushError() error {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Unwrap serves http.ResponseController.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// succeeded reports whether the status is 2xx. A handler that writes nothing answers 200.
func (w *statusWriter) succeeded() bool { return w.status == 0 || w.status < 300 }
