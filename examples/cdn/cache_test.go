package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// site is an origin that counts requests, and a cache in front of it.
type site struct {
	t      *testing.T
	dir    string
	asked  atomic.Int32
	origin http.HandlerFunc
	cache  *cache
	door   *doorkeeper
	url    *url.URL
}

func newSite(t *testing.T, limit int64, origin http.HandlerFunc) *site {
	s := &site{t: t, dir: t.TempDir(), origin: origin}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.asked.Add(1)
		s.origin(w, r)
	}))
	t.Cleanup(server.Close)
	var err error
	if s.url, err = url.Parse(server.URL); err != nil {
		t.Fatal(err)
	}
	if s.door, err = newDoorkeeper(1000, 1e-6); err != nil {
		t.Fatal(err)
	}
	s.start(limit)
	return s
}

// start starts a cache on the directory and its files.
func (s *site) start(limit int64) {
	s.t.Helper()
	var err error
	if s.cache, err = newCache(s.dir, limit, time.Hour, s.url, s.door); err != nil {
		s.t.Fatal(err)
	}
}

// get sends a request to the cache; header is a list of names and values.
func (s *site) get(path string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.cache.ServeHTTP(w, r)
	return w
}

// files returns the files in the directory.
func (s *site) files() (names []string) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func page(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("ETag", `"1"`)
	_, _ = io.WriteString(w, strings.Repeat(r.URL.RequestURI(), 100))
}

// TestThird checks that the first request stores nothing, the second stores a file, and the third is answered from it.
func TestThird(t *testing.T) {
	s := newSite(t, 1<<20, page)
	for i, want := range []struct {
		asked, files int
		cache        string
	}{{1, 0, ""}, {2, 1, ""}, {2, 1, "hit"}, {2, 1, "hit"}} {
		w := s.get("/a?b=c")
		if w.Code != 200 || w.Body.String() != strings.Repeat("/a?b=c", 100) || w.Header().Get("Content-Type") != "text/plain; charset=utf-8" {
			t.Errorf("request %d: %d, %v, %d bytes", i+1, w.Code, w.Header(), w.Body.Len())
		}
		if n := len(s.files()); int(s.asked.Load()) != want.asked || n != want.files || w.Header().Get("X-Cache") != want.cache {
			t.Errorf("request %d: origin asked %d times, %d files, X-Cache %q; want %+v", i+1, s.asked.Load(), n, w.Header().Get("X-Cache"), want)
		}
	}
	if w := s.get("/a?b=c", "Range", "bytes=2-4"); w.Code != http.StatusPartialContent || w.Body.String() != "?b=" {
		t.Errorf("a part: %d %q", w.Code, w.Body)
	}
	if w := s.get("/a?b=c", "If-None-Match", `"1"`); w.Code != http.StatusNotModified {
		t.Errorf("what has not changed: %d", w.Code)
	}
	w := httptest.NewRecorder()
	s.cache.ServeHTTP(w, httptest.NewRequest(http.MethodHead, "/a?b=c", nil))
	if w.Header().Get("X-Cache") != "hit" || w.Header().Get("Content-Length") != "600" || w.Body.Len() != 0 {
		t.Errorf("a header: %v, %d bytes", w.Header(), w.Body.Len())
	}
	for _, other := range []string{"/a?b=d", "/a", "/a?", "/%61?b=c", "/a/../a?b=c"} { // stored in other files
		if w := s.get(other); w.Header().Get("X-Cache") != "" || w.Body.String() != strings.Repeat(other, 100) {
			t.Errorf("%s: %v %.20q", other, w.Header(), w.Body)
		}
	}
	s.asked.Store(2)
	s.start(1 << 20) // files remain when the program ends
	if w := s.get("/a?b=c"); w.Header().Get("X-Cache") != "hit" || s.cache.size == 0 {
		t.Errorf("after a restart: %v, %d bytes", w.Header(), s.cache.size)
	}
	s.cache.fresh = 0
	if w := s.get("/a?b=c"); w.Header().Get("X-Cache") != "" || s.asked.Load() != 3 {
		t.Error("an old file is served")
	}
	if held := s.cache.size; len(s.files()) != 1 || held > 1000 {
		t.Errorf("%v after a file was replaced, %d bytes", s.files(), held)
	}
}

// TestUnfinished checks that an answer that is cut off at the origin or at the client leaves no file, and that a new
// cache removes unfinished files of a killed program.
func TestUnfinished(t *testing.T) {
	s := newSite(t, 1<<20, page)
	s.get("/half")
	s.origin = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write(make([]byte, 500))
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	s.get("/half")
	if f := s.files(); len(f) != 0 || s.asked.Load() != 2 {
		t.Fatalf("half an answer was stored: %v", f)
	}
	ctx, cancel := context.WithCancel(t.Context())
	began := make(chan struct{})
	s.origin = func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write(make([]byte, 500))
		_ = http.NewResponseController(w).Flush()
		close(began)
		<-r.Context().Done()
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { _ = recover() }() // the proxy panics to abort the response, as in a server
		s.cache.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/half", nil).WithContext(ctx))
	}()
	<-began
	cancel()
	<-done
	if f := s.files(); len(f) != 0 {
		t.Fatalf("what a client gave up was stored: %v", f)
	}
	s.origin = page
	if w := s.get("/half"); w.Header().Get("X-Cache") != "" || len(s.files()) != 1 {
		t.Errorf("%v, %v", w.Header(), s.files())
	}
	if err := os.WriteFile(filepath.Join(s.dir, unfinished+"1234"), []byte("A: b\r\n\r\nhal"), 0o644); err != nil {
		t.Fatal(err)
	}
	s.start(1 << 20)
	if f := s.files(); len(f) != 1 || strings.HasPrefix(f[0], unfinished) {
		t.Errorf("%v after a start", f)
	}
}

// TestNotStored checks that private and too large answers, and answers to other methods, are not stored.
func TestNotStored(t *testing.T) {
	s := newSite(t, 3000, func(w http.ResponseWriter, r *http.Request) {
		for name, value := range r.URL.Query() {
			w.Header().Set(name, value[0])
		}
		if r.URL.Path == "/missing" {
			http.NotFound(w, r)
		}
		if r.URL.Path == "/large" { // without Content-Length
			_ = http.NewResponseController(w).Flush()
		}
		if strings.HasPrefix(r.URL.Path, "/large") {
			_, _ = w.Write(make([]byte, 3001))
		}
	})
	for _, path := range []string{
		"/?Set-Cookie=a", "/?Set-Cookie=", "/?Cache-Control=No-Store", "/?Cache-Control=private",
		"/?Cache-Control=max-age=5,no-cache", "/?Vary=Accept", "/?Vary=*", "/?Vary=Accept-Encoding,+Origin",
		"/?Content-Encoding=gzip", "/?Cache-Control=max-age=0", "/?Expires=-1", "/missing", "/large", "/larger",
	} {
		for range 3 {
			if w := s.get(path); w.Header().Get("X-Cache") != "" {
				t.Errorf("%s: stored", path)
			}
		}
	}
	for header, value := range map[string]string{
		"Cookie": "a=b", "Authorization": "x", "Range": "bytes=0-", "Cache-Control": "no-store", "Upgrade": "x",
	} {
		for range 3 {
			if w := s.get("/plain"+header, header, value); w.Header().Get("X-Cache") != "" {
				t.Errorf("%s: stored", header)
			}
		}
	}
	for _, r := range []func() *http.Request{
		func() *http.Request { return httptest.NewRequest(http.MethodPost, "/", nil) },
		func() *http.Request { return httptest.NewRequest(http.MethodHead, "/", nil) },
		func() *http.Request { return httptest.NewRequest(http.MethodGet, "/", strings.NewReader("asks more")) },
	} {
		for range 3 {
			s.cache.ServeHTTP(httptest.NewRecorder(), r())
		}
	}
	if f := s.files(); len(f) != 0 {
		t.Errorf("%v", f)
	}
	for range 3 { // for comparison: this answer is stored
		s.get("/?Vary=Accept-Encoding&Cache-Control=max-age=60,+public")
	}
	if f := s.files(); len(f) != 1 {
		t.Errorf("%v", f)
	}
}

// TestLimit checks that many concurrent clients do not push the cache over its limit.
func TestLimit(t *testing.T) {
	const limit = 5000
	s := newSite(t, limit, page)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 40 {
				for range 3 {
					path := fmt.Sprintf("/%d", i)
					if w := s.get(path); w.Body.String() != strings.Repeat(path, 100) {
						t.Errorf("%s: %d bytes", path, w.Body.Len())
					}
				}
			}
		})
	}
	wg.Wait()
	var size int64
	files := s.files()
	for _, name := range files {
		info, err := os.Stat(filepath.Join(s.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	if size > limit || size != s.cache.size || len(files) < 5 {
		t.Errorf("%d files of %d bytes in all, %d counted", len(files), size, s.cache.size)
	}
	if w := s.get("/39"); w.Header().Get("X-Cache") != "hit" {
		t.Error("the last object is not there")
	}
}

// TestRun checks that run serves, counts and stops.
func TestRun(t *testing.T) {
	origin := httptest.NewServer(http.HandlerFunc(page))
	defer origin.Close()
	ctx, cancel := context.WithCancel(t.Context())
	log, ended := &firstLine{line: make(chan string, 1)}, make(chan error, 1)
	go func() {
		dir := filepath.Join(t.TempDir(), "new")
		ended <- run(ctx, []string{"-origin", origin.URL, "-dir", dir, "-listen", "127.0.0.1:0"}, log)
	}()
	var line string
	select {
	case line = <-log.line:
	case err := <-ended:
		t.Fatal("the server does not start: ", err)
	}
	at := regexp.MustCompile(`http://\S+:\d+`).FindString(line)
	get := func(path string) string {
		r, err := http.Get(at + path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	get("/x")
	if got := get("/x"); got != strings.Repeat("/x", 100) {
		t.Errorf("%q", got)
	}
	if got := get("//x//y"); got != strings.Repeat("//x//y", 100) {
		t.Errorf("%q", got)
	}
	if got := get("/-/doorkeeper"); !strings.Contains(got, `"Requests":3,"Admitted":1,`) {
		t.Errorf("%q", got)
	}
	http.DefaultClient.CloseIdleConnections()
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	for _, args := range [][]string{
		{}, {"-origin", "x", "-dir", "y"}, {"-origin", origin.URL}, {"-nonsense"}, {"-origin", "ftp://x", "-dir", "y"},
		{"-origin", origin.URL, "-dir", "y", "z"},
	} {
		if err := run(t.Context(), args, io.Discard); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
}

// firstLine is a writer that sends its first line to a channel.
type firstLine struct {
	line chan string
	all  bytes.Buffer
}

func (f *firstLine) Write(p []byte) (int, error) {
	if f.all.Len() == 0 {
		f.line <- string(p)
	}
	return f.all.Write(p)
}
