package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/publish"
)

// publishList publishes a list of domains.
func publishList(t *testing.T, dir string, key publish.PrivateKey, domains ...string) {
	t.Helper()
	s, err := bloomery.New(bloomery.Config{Spec: "standard(k=7,m=4096)"})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range domains {
		if err := s.Add([]byte(d)); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "list.bloom")
	if err := s.Save(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	if _, err := publish.Publish(t.Context(), dir, file, publish.Options{Sign: []publish.PrivateKey{key}}); err != nil {
		t.Fatal(err)
	}
}

// signUpAs registers an address and returns the status of the answer.
func signUpAs(t *testing.T, base, email string) int {
	t.Helper()
	r, err := http.PostForm(base+"/signup", url.Values{"email": {email}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if text, err := io.ReadAll(r.Body); err != nil || len(text) == 0 {
		t.Errorf("%s: %q, %v", email, text, err)
	}
	return r.StatusCode
}

// TestSignUp checks that the server follows a signed list over HTTP and uses a new release without a restart.
func TestSignUp(t *testing.T) {
	key, err := publish.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	publishList(t, dir, key, "mailinator.com")
	lists := httptest.NewServer(http.FileServerFS(os.DirFS(dir)))
	defer lists.Close()

	ctx, cancel := context.WithCancel(t.Context())
	read, log := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, []string{"-list", lists.URL, "-key", key.Public().String(), "-interval", "20ms",
			"-listen", "127.0.0.1:0", "-file", filepath.Join(t.TempDir(), "list.bloom")}, log)
		log.Close()
	}()
	base := ""
	for lines := bufio.NewScanner(read); base == ""; {
		if !lines.Scan() {
			t.Fatal("the server does not start: ", <-ended)
		}
		base = regexp.MustCompile(`http://\S+$`).FindString(lines.Text())
	}
	go func() { _, _ = io.Copy(io.Discard, read) }()

	for email, want := range map[string]int{
		"eve@mailinator.com": 422, "Eve@Mailinator.COM. ": 422, "ada@example.org": 202, "no address": 400,
	} {
		if got := signUpAs(t, base, email); got != want {
			t.Errorf("%s: status %d, want %d", email, got, want)
		}
	}
	publishList(t, dir, key, "mailinator.com", "10minutemail.com")
	for until := time.Now().Add(time.Minute); signUpAs(t, base, "eve@10minutemail.com") != 422; {
		if time.Now().After(until) {
			t.Fatal("the new release does not arrive")
		}
		time.Sleep(10 * time.Millisecond)
	}
	r, err := http.Get(base + "/-/blocklist")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if text, err := io.ReadAll(r.Body); err != nil || !strings.Contains(string(text), `"keys":2`) {
		t.Errorf("status %q, %v", text, err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestUnsigned checks that a list from another machine requires a key.
func TestUnsigned(t *testing.T) {
	args := []string{"-list", "http://example.invalid", "-file", filepath.Join(t.TempDir(), "f")}
	err := run(t.Context(), args, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "key") {
		t.Errorf("error %v", err)
	}
}
