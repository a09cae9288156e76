package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// silly matches texts that no report may contain, for any number of keys.
var silly = regexp.MustCompile(`(^|[^0-9])1 keys|[0-9]{2} times the smallest|\bNaN\b|\bInf\b|` +
	`[^0-9.][1-9][0-9]{2,}(\.[0-9]+)? bits per key`)

// TestTinyLists builds, describes, trims and plans filters of few keys. Files of less than a few hundred bytes consist
// mostly of the header. Their reports must say this instead of the bits per key.
func TestTinyLists(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 10, 100, 10_000} {
		dir := t.TempDir()
		list, file := filepath.Join(dir, "list"), filepath.Join(dir, "f.bloom")
		var keys strings.Builder
		for i := range n {
			fmt.Fprintf(&keys, "key-%d\n", i)
		}
		mustWrite(t, list, keys.String())

		report := func(args ...string) string {
			t.Helper()
			var out bytes.Buffer
			if code := run(t.Context(), args, strings.NewReader(""), &out, &out); code != exitOK {
				t.Fatalf("%q with %d keys: exit code %d, %s", args, n, code, &out)
			}
			if found := silly.FindString(out.String()); found != "" {
				t.Errorf("%q with %d keys: %q in\n%s", args, n, found, &out)
			}
			return out.String()
		}
		for _, needs := range []string{"unpatented", "remove", "merge"} {
			built := report("build", "-o", file, "--needs", needs, list)
			small := strings.Contains(built, " of them header") && !strings.Contains(built, "bits per key")
			if small != (n <= 100) {
				t.Errorf("%d keys: %s", n, built)
			}

			info := report("info", file)
			if want := n <= 100; strings.Contains(info, ", mostly header") != want {
				t.Errorf("%d keys: %s", n, info)
			}
			if n == 0 && strings.Contains(info, "a key") {
				t.Errorf("no keys: %s", info)
			}
			report("info", file, file)
			if needs == "remove" {
				report("trim", file, "-o", filepath.Join(dir, "t.bloom"))
			}
			if n > 0 {
				report("plan", "--keys", fmt.Sprint(n), "--needs", needs)
				report("plan", "--keys", fmt.Sprint(n), "--needs", needs, "--all")
			}
		}
	}
}
