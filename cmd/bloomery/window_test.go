package main

import (
	"os"
	"path/filepath"
	"slices"
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

// TestWindowDamage checks that files that were cut, or have bytes behind them, are refused as damaged.
func TestWindowDamage(t *testing.T) {
	file, err := os.ReadFile("../../window/testdata/few.window")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "seen.window")
	for name, b := range map[string][]byte{
		"cut": file[:len(file)-1], "cut in the clock": file[:len(file)-40], "bytes behind": append(slices.Clip(file), 0),
		"a bit": append(slices.Clip(file[:len(file)-1]), file[len(file)-1]^1),
	} {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"info", path}, {"check", path}, {"verify", path, "--members", "-"}} {
			var stdout, stderr strings.Builder
			code := run(t.Context(), args, strings.NewReader("a\n"), &stdout, &stderr)
			if code != exitError || !strings.Contains(stderr.String(), path+": ") ||
				!strings.Contains(stderr.String(), adviceDamaged) {
				t.Errorf("%s of a file with %s: exit code %d, %s%s", args[0], name, code, &stdout, &stderr)
			}
		}
	}
}
