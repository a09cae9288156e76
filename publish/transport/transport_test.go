package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// get returns the body of an object.
func get(t *testing.T, s Source, name string, r Request) (string, *Object, error) {
	t.Helper()
	r.MaxBytes = max(r.MaxBytes, 1)
	o, err := s.Get(t.Context(), name, r)
	if err != nil || o.NotModified {
		return "", o, err
	}
	b, err := io.ReadAll(o.Body)
	return string(b), o, errors.Join(err, o.Body.Close())
}

func open(t *testing.T, address string, c Config) Source {
	t.Helper()
	s, err := Open(address, c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSources reads whole objects and parts from a folder and a web server.
func TestSources(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer web.Close()
	for _, address := range []string{dir, "file:///" + strings.TrimPrefix(filepath.ToSlash(dir), "/"),
		web.URL, web.URL + "/"} {
		s := open(t, address, Config{})
		if b, o, err := get(t, s, "a", Request{MaxBytes: 10}); b != "0123456789" || o.Size != 10 || err != nil {
			t.Errorf("%s: %q, %+v, %v", s, b, o, err)
		}
		b, o, err := get(t, s, "a", Request{MaxBytes: 10, Offset: 7})
		if b != "789" || o.Size != 10 || o.Offset != 7 || err != nil {
			t.Errorf("%s from 7 on: %q, %+v, %v", s, b, o, err)
		}
		if _, _, err := get(t, s, "a", Request{MaxBytes: 9}); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v", s, err)
		}
		if _, _, err := get(t, s, "none", Request{}); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", s, err)
		}
		for _, name := range []string{"../a", "/a", "a/../a", ""} {
			if _, _, err := get(t, s, name, Request{MaxBytes: 10}); !errors.Is(err, fs.ErrInvalid) {
				t.Errorf("%s: %q: %v", s, name, err)
			}
		}
		// On Windows a name with a backslash leads out of the folder, and NUL is a device.
		for _, name := range []string{`..\a`, `b\..\..\a`, "c:a", "NUL"} {
			_, _, err := get(t, s, name, Request{MaxBytes: 10})
			if _, isFolder := s.(Folder); err == nil || isFolder && runtime.GOOS == "windows" && !errors.Is(err, fs.ErrInvalid) {
				t.Errorf("%s: %q: %v", s, name, err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if o, err := s.Get(ctx, "a", Request{MaxBytes: 10}); err == nil {
			if _, err = io.ReadAll(o.Body); !errors.Is(err, context.Canceled) {
				t.Errorf("%s: canceled: %v", s, err)
			}
			_ = o.Body.Close()
		}
	}
}

// TestRedirects checks that redirects are followed from http to https of the same host, with its credentials, and never
// from https to http.
func TestRedirects(t *testing.T) {
	var down bool
	var plain *httptest.Server
	safe := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		if down {
			http.Redirect(w, r, plain.URL+r.URL.Path, http.StatusFound)
			return
		}
		fmt.Fprint(w, user, password, r.URL.RawQuery)
	}))
	defer safe.Close()
	plain = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, safe.URL+r.URL.RequestURI(), http.StatusMovedPermanently)
	}))
	defer plain.Close()
	roots := x509.NewCertPool()
	roots.AddCert(safe.Certificate())
	c := Config{TLS: &tls.Config{RootCAs: roots}}
	address := strings.Replace(plain.URL, "://", "://ada:secret@", 1) + "?token=hidden"
	s := open(t, address, c)
	if b, _, err := get(t, s, "a", Request{MaxBytes: 100}); b != "adasecrettoken=hidden" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	down = true
	for _, s := range []Source{s, open(t, safe.URL, c)} {
		_, _, err := get(t, s, "a", Request{MaxBytes: 100})
		if err == nil || !strings.Contains(err.Error(), "from https to http is refused") {
			t.Error(err)
		}
		for _, secret := range []string{"secret", "hidden"} {
			if strings.Contains(fmt.Sprint(err, s), secret) {
				t.Errorf("%s is printed: %v, %v", secret, err, s)
			}
		}
	}
	_, _, err := get(t, open(t, safe.URL, Config{}), "a", Request{MaxBytes: 100})
	if err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("an unknown certificate: %v", err)
	}
}

// TestConditions checks that validators of a body that has just changed are not kept.
func TestConditions(t *testing.T) {
	age := time.Duration(0)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		now := time.Now().UTC()
		w.Header().Set("ETag", `"one"`)
		w.Header().Set("Date", now.Format(http.TimeFormat))
		w.Header().Set("Last-Modified", now.Add(-age).Format(http.TimeFormat))
		if r.Header.Get("If-None-Match") == `"one"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		fmt.Fprint(w, "body")
	}))
	defer web.Close()
	s := open(t, web.URL, Config{})
	_, o, err := get(t, s, "a", Request{MaxBytes: 9})
	if err != nil || o.Validators != (Validators{}) {
		t.Errorf("%+v, %v", o, err)
	}
	age = time.Minute
	_, o, err = get(t, s, "a", Request{MaxBytes: 9})
	if err != nil || o.Validators.ETag != `"one"` {
		t.Errorf("%+v, %v", o, err)
	}
	if _, o, err = get(t, s, "a", Request{MaxBytes: 9, Have: o.Validators}); err != nil || !o.NotModified {
		t.Errorf("%+v, %v", o, err)
	}
}

// TestWrongRanges checks that a response with another range than requested is an error, and that a response with the
// whole object is not.
func TestWrongRanges(t *testing.T) {
	for header, want := range map[string]string{
		"bytes 4-9/10": "", "bytes 5-9/10": "range", "bytes 4-3/10": "range", "": "range", "bytes 4-9": "range",
		"bytes -4-9/10": "range", "bytes 4-9/99999999999": "", "bytes 4-9/*": "",
	} {
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Range", header)
			w.WriteHeader(http.StatusPartialContent)
			fmt.Fprint(w, "456789")
		}))
		b, o, err := get(t, open(t, web.URL, Config{}), "a", Request{MaxBytes: 10, Offset: 4})
		switch {
		case header == "bytes 4-9/99999999999":
			if !errors.Is(err, ErrTooLarge) {
				t.Errorf("%s: %v", header, err)
			}
		case want == "" && (err != nil || b != "456789" || o.Offset != 4), want != "" &&
			(err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: %q, %v", header, b, err)
		}
		web.Close()
	}
}

// TestDrip checks that reading from a server that sends one byte at a time fails, although the server never stalls.
func TestDrip(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			fmt.Fprint(w, "x")
			_ = http.NewResponseController(w).Flush()
			time.Sleep(5 * time.Millisecond)
		}
	}))
	defer web.Close()
	s := open(t, web.URL, Config{Stall: 100 * time.Millisecond})
	if b, _, err := get(t, s, "a", Request{MaxBytes: 300}); !errors.Is(err, ErrStalled) {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}

// TestAddresses checks that the path may end with /release.json, before a query, and that no error contains a user, a
// password or a query.
func TestAddresses(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.URL.RequestURI())
	}))
	defer web.Close()
	for address, want := range map[string]string{
		"": "/release.json", "/": "/release.json", "/release.json": "/release.json",
		"/a/release.json?t=b/release.json": "/a/release.json?t=b/release.json", "/a/?t=1": "/a/release.json?t=1",
	} {
		if b, _, err := get(t, open(t, web.URL+address, Config{}), "release.json", Request{MaxBytes: 99}); b != want ||
			err != nil {
			t.Errorf("%q: %q, %v", address, b, err)
		}
	}
	if s := open(t, "a?b/release.json", Config{}); s.String() != "a?b" {
		t.Errorf("a folder: %s", s)
	}
	for _, address := range []string{
		"http://ada:sec/ret@host/", "http://ada:secret %@host/", "http://ada:secret@host:x/",
		"https://ada:secret@host/#a", "file://ada:secret@host/x", "file://ada:secret@./",
		"file:///a?secret", "ftp://ada:secret@host/",
		"http://ada:secret@/", "http://[::secret",
	} {
		s, err := Open(address, Config{})
		if err == nil || strings.Contains(err.Error(), "sec") {
			t.Errorf("%s: %v, %v", address, s, err)
		}
	}
}

// TestRedirectBody checks that the body of a redirect is not read, so that a server that sends one byte of it and then
// nothing causes no delay.
func TestRedirectBody(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/b" {
			fmt.Fprint(w, "body")
			return
		}
		w.Header().Set("Content-Length", "2")
		w.Header().Set("Location", "/b")
		w.WriteHeader(http.StatusFound)
		fmt.Fprint(w, "1")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	defer web.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	o, err := open(t, web.URL, Config{}).Get(ctx, "a", Request{MaxBytes: 10})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Body.Close()
	if b, err := io.ReadAll(o.Body); string(b) != "body" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
}
