package main

import (
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestLifetime parses headers of real origins.
func TestLifetime(t *testing.T) {
	came := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(d time.Duration) string { return came.Add(d).Format(http.TimeFormat) }
	for _, x := range []struct {
		header http.Header
		want   time.Duration
	}{
		{http.Header{}, math.MaxInt64},
		{http.Header{"Cache-Control": {"public", "max-age=60"}}, time.Minute},
		{http.Header{"Cache-Control": {"public", "Private"}}, 0},
		{http.Header{"Cache-Control": {`max-age=60, private="x"`}}, 0},
		{http.Header{"Cache-Control": {"max-age=60 , S-MaxAge = 5"}}, 5 * time.Second},
		{http.Header{"Cache-Control": {`max-age="60"`}, "Age": {"50"}}, 10 * time.Second},
		{http.Header{"Cache-Control": {"max-age=60"}, "Expires": {at(0)}}, time.Minute},
		{http.Header{"Cache-Control": {"max-age=x"}}, 0},
		{http.Header{"Cache-Control": {"max-age=-1"}}, 0},
		{http.Header{"Cache-Control": {"max-age=99999999999999999999"}}, math.MaxInt32 * time.Second},
		{http.Header{"Expires": {"0"}}, 0},
		{http.Header{"Expires": {at(time.Hour)}}, time.Hour},
		{http.Header{"Expires": {at(time.Hour)}, "Date": {at(time.Minute)}}, 59 * time.Minute},
		{http.Header{"Expires": {at(time.Hour)}, "Age": {"60"}}, 59 * time.Minute},
		{http.Header{"X": {"no-store"}, "Cache-Control": {"no-storage, x=no-store"}}, math.MaxInt64},
	} {
		if got := max(0, lifetime(x.header, came)); got != x.want {
			t.Errorf("%v: %v, want %v", x.header, got, x.want)
		}
	}
}

// TestStorable tests headers of several lines and answers without a length.
func TestStorable(t *testing.T) {
	for _, x := range []struct {
		header http.Header
		length int64
		want   bool
	}{
		{http.Header{"Vary": {"Accept-Encoding", ""}}, 1, true}, {http.Header{"Vary": {"Accept-Encoding", "Origin"}}, 1, false},
		{http.Header{"Vary": {"accept-encoding , *"}}, 1, false}, {http.Header{}, 0, true}, {http.Header{}, -1, false},
	} {
		r := &http.Response{StatusCode: http.StatusOK, ProtoMajor: 1, ProtoMinor: 1, Header: x.header, ContentLength: x.length}
		if storable(r) != x.want {
			t.Errorf("%v, %d bytes: storable %v", x.header, x.length, !x.want)
		}
	}
	if r := (&http.Response{StatusCode: http.StatusOK, ProtoMajor: 2, Header: http.Header{}, ContentLength: -1}); !storable(r) {
		t.Error("HTTP/2 says where a body ends")
	}
}

// TestHead checks that the answer to HEAD is not stored as an empty body.
func TestHead(t *testing.T) {
	s := newSite(t, 1<<20, page)
	for range 3 {
		w := httptest.NewRecorder()
		s.cache.ServeHTTP(w, httptest.NewRequest(http.MethodHead, "/head", nil))
		if w.Header().Get("Content-Length") != "500" || len(s.files()) != 0 {
			t.Errorf("%v, %v", w.Header(), s.files())
		}
	}
	if w := s.get("/head"); w.Body.Len() != 500 {
		t.Errorf("%d bytes", w.Body.Len())
	}
}

// TestOldest checks that the oldest files are removed first, several at a time, and that removals by other programs are
// detected.
func TestOldest(t *testing.T) {
	const limit = 20_000
	s := newSite(t, limit, page)
	began := time.Now().Add(-10 * time.Minute)
	twice := func(i int) {
		path := fmt.Sprintf("/%02d", i) // about 500 bytes with its header
		s.get(path)
		s.get(path)
		name := filepath.Join(s.dir, fmt.Sprintf("%x", sha256.Sum256([]byte(path))))
		if err := os.Chtimes(name, time.Time{}, began.Add(time.Duration(i)*time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	stored := 0
	for held := int64(0); s.cache.size >= held; stored++ { // until files are removed
		held = s.cache.size
		twice(stored)
	}
	if s.cache.size > limit*9/10 || s.cache.size < limit*8/10 {
		t.Errorf("%d bytes after the removal", s.cache.size)
	}
	here := func(i int) bool {
		return s.get(fmt.Sprintf("/%02d", i), "Range", "bytes=0-1").Header().Get("X-Cache") == "hit"
	}
	gone := 0
	for gone < stored && !here(gone) {
		gone++
	}
	for i := gone; i < stored; i++ {
		if !here(i) {
			t.Errorf("object %d of %d is gone, %d is not", i, stored, gone)
		}
	}
	if gone == 0 || gone > stored/4 {
		t.Errorf("%d of %d objects are gone", gone, stored)
	}
	for _, name := range s.files() {
		if err := os.Remove(filepath.Join(s.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 10 { // the counted size is too large until the cache lists its directory
		twice(60 + i)
	}
	if n := len(s.files()); n != 10 || s.cache.size > limit/2 {
		t.Errorf("%d of 10 files, %d bytes counted", n, s.cache.size)
	}
	s.origin = func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, limit*95/100)) }
	s.get("/large")
	s.get("/large")
	if w := s.get("/large"); w.Header().Get("X-Cache") != "hit" || len(s.files()) != 1 {
		t.Errorf("what takes nearly all: %v, %d files", w.Header(), len(s.files()))
	}
}

// TestFresh checks lifetimes and the Age header.
func TestFresh(t *testing.T) {
	s := newSite(t, 1<<20, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=60")
		w.Header().Set("Age", "7")
		page(w, r)
	})
	s.get("/")
	s.get("/")
	age := func(d time.Duration) {
		name := filepath.Join(s.dir, s.files()[0])
		if err := os.Chtimes(name, time.Time{}, time.Now().Add(-d)); err != nil {
			t.Fatal(err)
		}
	}
	age(30 * time.Second)
	w := s.get("/")
	if n, err := strconv.Atoi(w.Header().Get("Age")); w.Header().Get("X-Cache") != "hit" || err != nil ||
		n < 37 || n > 50 { // the machine may pause for some seconds
		t.Errorf("after 30 seconds: %v", w.Header())
	}
	age(54 * time.Second)
	if w := s.get("/"); w.Header().Get("X-Cache") != "" {
		t.Errorf("after 61 seconds: %v", w.Header())
	}
}

// TestEncoding checks that answers are stored uncompressed for any encodings that the client accepts.
func TestEncoding(t *testing.T) {
	s := newSite(t, 1<<20, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Vary", "accept-encoding")
		if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			page(w, r)
			return
		}
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = io.WriteString(z, "compressed")
		_ = z.Close()
	})
	if w := s.get("/", "Accept-Encoding", "gzip"); w.Header().Get("Content-Encoding") != "gzip" {
		t.Errorf("first: %v", w.Header())
	}
	s.get("/", "Accept-Encoding", "gzip")
	for _, accept := range []string{"gzip", "br", ""} {
		if w := s.get("/", "Accept-Encoding", accept); w.Header().Get("X-Cache") != "hit" || w.Body.String() != strings.Repeat("/", 100) {
			t.Errorf("%s: %v, %q", accept, w.Header(), w.Body)
		}
	}
}

// TestBareOrigin serves responses that net/http never writes: without a header (stored) and without an end (not
// stored).
func TestBareOrigin(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if r, err := http.ReadRequest(bufio.NewReader(c)); err == nil && r.URL.Path == "/bare" {
				_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbare")
			} else {
				_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\nhal")
			}
			_ = c.Close()
		}
	}()
	s := newSite(t, 1<<20, nil)
	s.url = &url.URL{Scheme: "http", Host: l.Addr().String()}
	s.start(1 << 20)
	for i, cache := range []string{"", "", "hit"} {
		if w := s.get("/bare"); w.Body.String() != "bare" || w.Header().Get("X-Cache") != cache {
			t.Errorf("request %d: %v %q", i+1, w.Header(), w.Body)
		}
	}
	for range 3 {
		if w := s.get("/endless"); w.Body.String() != "hal" || len(s.files()) != 1 {
			t.Errorf("%q, %v", w.Body, s.files())
		}
	}
}

// TestStranger checks that the cache neither counts nor removes files of other programs.
func TestStranger(t *testing.T) {
	s := newSite(t, 2000, page)
	for _, name := range []string{"thesis.txt", "thesis.tmp", strings.Repeat("A", 64), strings.Repeat("a", 64) + ".gz"} {
		if err := os.WriteFile(filepath.Join(s.dir, name), make([]byte, 10_000), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	theirs := s.files()
	s.start(2000)
	for i := range 20 {
		for range 2 {
			s.get(fmt.Sprintf("/%d", i))
		}
	}
	left := s.files()
	if len(left) <= len(theirs) || s.cache.size > 2000 {
		t.Errorf("%d files, %d bytes of the cache", len(left), s.cache.size)
	}
	for _, name := range theirs {
		if !slices.Contains(left, name) {
			t.Errorf("%s is gone", name)
		}
	}
}

// TestFull checks that clients get their answers if the disk cannot be written, and that no file remains.
func TestFull(t *testing.T) {
	s := newSite(t, 1<<20, page)
	s.get("/")
	if err := os.RemoveAll(s.dir); err != nil {
		t.Fatal(err)
	}
	if w := s.get("/"); w.Body.String() != strings.Repeat("/", 100) {
		t.Errorf("without a folder: %q", w.Body)
	}
	s.start(1 << 20)
	f, err := os.CreateTemp(s.dir, unfinished+"*")
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Close() // so that all writes fail
	from := &closed{Reader: strings.NewReader("body")}
	b := &teeBody{from: from, to: f, cache: s.cache, name: strings.Repeat("0", 64)}
	if got, err := io.ReadAll(b); string(got) != "body" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if left := s.files(); len(left) != 0 {
		t.Errorf("%v is left while the body is read", left)
	}
	if err := b.Close(); err != nil || len(s.files()) != 0 || s.cache.size != 0 || from.times != 1 {
		t.Errorf("%v, %v, %d bytes, origin closed %d times", err, s.files(), s.cache.size, from.times)
	}
}

// closed counts calls of Close.
type closed struct {
	io.Reader
	times int
}

func (c *closed) Close() error { c.times++; return nil }

// TestSameTime checks that an object stored by many clients at the same time is counted once.
func TestSameTime(t *testing.T) {
	const clients = 8
	s := newSite(t, 1<<20, nil)
	together := make(chan struct{}, clients)
	s.origin = func(w http.ResponseWriter, r *http.Request) {
		for together <- struct{}{}; len(together) < clients; {
			time.Sleep(time.Millisecond)
		}
		page(w, r)
	}
	s.door.admit("/same")
	done := make(chan *httptest.ResponseRecorder, clients)
	for range clients {
		go func() { done <- s.get("/same") }()
	}
	for range clients {
		if w := <-done; w.Body.String() != strings.Repeat("/same", 100) {
			t.Errorf("%d bytes", w.Body.Len())
		}
	}
	f := s.files()
	if len(f) != 1 {
		t.Fatalf("%v", f)
	}
	if info, err := os.Stat(filepath.Join(s.dir, f[0])); err != nil || info.Size() != s.cache.size {
		t.Errorf("%v bytes, %d counted", info.Size(), s.cache.size)
	}
	if w := s.get("/same"); w.Header().Get("X-Cache") != "hit" {
		t.Error("not stored")
	}
}
