package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bloomery/bloomery/window"
)

// TestWindowTime checks that a file with the time of a clock is read at the time that was saved, however long ago.
func TestWindowTime(t *testing.T) {
	now := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	f, err := window.New[string](window.Config{Keys: 10, TTL: time.Minute, Clock: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Add("key"); err != nil {
		t.Fatal(err)
	}
	now = now.Add(30 * time.Second)
	path := filepath.Join(t.TempDir(), "seen.window")
	if err := f.Save(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	if code, out := runOn(t, "key\nother\n", "check", path); code != 0 || out != "key\n" {
		t.Errorf("check: %d, %q", code, out)
	}
	if code, out := runOn(t, "", "info", path); code != 0 || !strings.Contains(out, "2020-01-01T00:00:30Z") {
		t.Errorf("info: %d, %s", code, out)
	}
	if code, out := runOn(t, "key\n", "verify", path, "--members", "-", "--random", "1000"); code != 0 {
		t.Errorf("verify: %d, %s", code, out)
	}
}
