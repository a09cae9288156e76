package publish

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/publish/transport"
)

// little is the timeout of a follower in these tests for each part of a response.
const little = 100 * time.Millisecond

// raw starts a server that calls serve with each connection.
func raw(t *testing.T, serve func(c net.Conn)) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	var all sync.WaitGroup
	ended := make(chan struct{})
	t.Cleanup(func() {
		_ = l.Close()
		close(ended)
		all.Wait()
	})
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				go func() {
					<-ended
					_ = c.Close()
				}()
				defer c.Close()
				serve(c)
			})
		}
	})
	return l.Addr().String()
}

// drip writes a text repeatedly and slowly until the other side closes the connection.
func drip(c io.Writer, text string) {
	for {
		if _, err := io.WriteString(c, text); err != nil {
			return
		}
		if f, ok := c.(http.ResponseWriter); ok {
			_ = http.NewResponseController(f).Flush()
		}
		time.Sleep(little / 10)
	}
}

// silence reads until the other side closes the connection.
func silence(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

// TestSlowServers checks that a poll ends after twice Stall and the time for the bytes, even if a server wastes time in
// the handshake, in headers, in 1xx responses, or in bodies that never stall.
func TestSlowServers(t *testing.T) {
	t.Parallel()
	plain := func(serve func(c net.Conn)) func(t *testing.T, c *transport.Config) string {
		return func(t *testing.T, _ *transport.Config) string {
			return "http://" + raw(t, func(c net.Conn) {
				if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
					serve(c)
				}
			})
		}
	}
	overTLS := func(version2 bool, h http.HandlerFunc) func(t *testing.T, c *transport.Config) string {
		return func(t *testing.T, c *transport.Config) string {
			web := httptest.NewUnstartedServer(h)
			web.EnableHTTP2 = version2
			web.StartTLS()
			t.Cleanup(web.Close)
			roots := x509.NewCertPool()
			roots.AddCert(web.Certificate())
			c.TLS = &tls.Config{RootCAs: roots}
			return web.URL
		}
	}
	for name, start := range map[string]func(t *testing.T, c *transport.Config) string{
		"no handshake": func(t *testing.T, _ *transport.Config) string { return "https://" + raw(t, silence) },
		"no answer":    plain(silence),
		"headers": plain(func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nA: ")
			drip(c, "b")
		}),
		"answers before the answer": plain(func(c net.Conn) { drip(c, "HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n") }),
		"body": plain(func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n{")
			drip(c, "x")
		}),
		"redirects": plain(func(c net.Conn) {
			time.Sleep(little)
			_, _ = io.WriteString(c, "HTTP/1.1 302 Found\r\nLocation: /again/release.json\r\nContent-Length: 2\r\n\r\n1")
			silence(c)
		}),
		"version 2, no answer": overTLS(true, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }),
		"version 2, body":      overTLS(true, func(w http.ResponseWriter, _ *http.Request) { drip(w, "x") }),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := transport.Config{Stall: little}
			address := start(t, &c)
			f := newFollower(t, address, filepath.Join(t.TempDir(), "f"), WithInsecure(), WithTransport(c))
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			if _, err := f.Poll(ctx); !errors.Is(err, transport.ErrStalled) || ctx.Err() != nil {
				t.Error(err)
			}
		})
	}
}

// slowly serves content with ranges, at a rate below MinRate.
func slowly(content []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(crawling{w}, r, "", time.Time{}, bytes.NewReader(content))
	}
}

type crawling struct{ http.ResponseWriter }

func (c crawling) Write(b []byte) (n int, err error) {
	for len(b) > 0 && err == nil {
		var one int
		one, err = c.ResponseWriter.Write(b[:min(len(b), 2000)])
		_ = http.NewResponseController(c.ResponseWriter).Flush()
		time.Sleep(little / 10)
		n, b = n+one, b[one:]
	}
	return n, err
}

// TestSlowDownload checks that a download below MinRate ends the poll and the next poll resumes it, for a whole file
// and for a large delta, even if a server has damaged the delta.
func TestSlowDownload(t *testing.T) {
	t.Parallel()
	first, second := filterOf(t, 200000, 0), filterOf(t, 200000, 100)
	for _, way := range []string{"whole", "delta", "damaged delta"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			web := s.serve()
			f := s.follower(web.URL)
			if way != "whole" {
				s.deltas = true
				s.publish(first)
				mustPoll(t, f)
			}
			// Set only now, because on a busy machine the first poll may take longer.
			f.options.transport.Stall, f.options.transport.MinRate = 2*little, 1<<20
			r := s.publish(second)
			slow := r.object()
			switch way {
			case "delta":
				slow = *r.Previous.Delta
			case "damaged delta":
				s.spoil(r.Previous.Delta.SHA256, 100)
			}
			content, err := os.ReadFile(s.path(slow.SHA256))
			if err != nil || len(content) <= inMemory {
				t.Fatalf("%d bytes, %v", len(content), err)
			}
			var sent int64
			web.hook(at(slow.SHA256.String(), func(w http.ResponseWriter, r *http.Request) {
				slowly(content)(&counting{w, &web.bytes}, r)
			}))
			before := web.bytes.Load()
			stalls := 0
			for {
				e, err := f.Poll(t.Context())
				if err == nil {
					if e, ok := e.is(Updated); !ok || e.Delta != (way == "delta") {
						t.Errorf("%v", e)
					}
					break
				}
				if stalls++; !errors.Is(err, transport.ErrStalled) || stalls > 100 {
					t.Fatalf("after %d stalls: %v", stalls, err)
				}
			}
			holds(t, f, second)
			sent = web.bytes.Load() - before
			other := int64(stalls+1) * 3000 // release.json and the bytes that a server sends to a disconnected reader
			if way == "damaged delta" {
				other += int64(stalls+1) * int64(r.Previous.Delta.Bytes)
			}
			if stalls < 1 || sent > 2*int64(len(content))+other {
				t.Errorf("%d stalls, %d bytes sent for %d", stalls, sent, len(content))
			}
		})
	}
}

// TestLocked checks that a poll waits for other polls for a bounded time, including polls of the same Follower.
func TestLocked(t *testing.T) {
	s := newSite(t)
	web := s.serve()
	content := filterOf(t, 1000, 0)
	s.publish(content)
	f := s.follower(web.URL)
	mustPoll(t, f)
	f.options.transport.Stall = little // set only now, because a poll may take longer on a busy machine
	lock, _, err := container.LockFile(t.Context(), f.file+lockSuffix, nil, nil)
	must(t, err)
	if _, err := f.Poll(t.Context()); !errors.Is(err, transport.ErrStalled) ||
		!strings.Contains(err.Error(), "another follower has held the lock for 200ms") {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), little/10)
	defer cancel()
	if _, err := f.Poll(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	must(t, container.Unlock(lock))
	f.polls <- struct{}{}
	pollFails(t, f, transport.ErrStalled)
	<-f.polls
	f.options.transport.Stall = 0
	mustPoll(t, f)
}

// TestExpiresDuringPoll checks that Err and OnEvent report within seconds that a release has expired, while a poll
// waits for a server or for a lock, and after failed polls.
func TestExpiresDuringPoll(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		hook  func(w http.ResponseWriter, r *http.Request) bool
		locks bool
	}{
		"server": {hook: at("", hang)},
		"errors": {hook: at("", status(500))},
		"lock":   {locks: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			web := s.serve()
			s.expires = time.Now().Add(4 * time.Second)
			s.publish(filterOf(t, 1000, 0))
			file := filepath.Join(t.TempDir(), "f")
			var once sync.Once
			told := make(chan Event, 1)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			live, err := Follow(ctx, web.URL, file, WithKeys(s.keys[0].Public()),
				WithInterval(20*time.Millisecond), OnEvent(func(e Event) {
					if _, ok := e.is(Expired); ok {
						once.Do(func() { told <- e })
					}
				}))
			must(t, err)
			if err := live.Err(); err != nil {
				t.Errorf("at the start: %v", err)
			}
			if c.locks {
				lock, _, err := container.LockFile(t.Context(), file+lockSuffix, nil, nil)
				must(t, err)
				defer container.Unlock(lock)
			} else {
				web.hook(c.hook)
			}
			select {
			case <-told:
			case <-time.After(20 * time.Second):
				t.Fatal("no event")
			}
			if late := time.Since(s.expires); late > 8*time.Second {
				t.Errorf("told after %v", late)
			}
			if err := live.Err(); !errors.Is(err, ErrExpired) {
				t.Errorf("Err: %v", err)
			}
			cancel()
			if err := live.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestExpiredAtStart checks that a Live reports that the release of its file has expired, even if no server answers.
func TestExpiredAtStart(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.expires = time.Now().Add(-time.Hour)
	s.publish(filterOf(t, 1000, 0))
	f := s.follower(s.dir)
	if _, err := f.Poll(t.Context()); !errors.Is(err, ErrExpired) {
		t.Fatal(err)
	}
	live, err := Follow(t.Context(), "http://"+raw(t, silence), f.file, WithKeys(s.keys[0].Public()))
	must(t, err)
	eventually(t, "the expiry is not told", func() bool { return errors.Is(live.Err(), ErrExpired) })
	if err := live.Close(); err != nil {
		t.Error(err)
	}
}
