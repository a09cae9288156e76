package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestNewer requires that a file of every kind, of a version of the format that this command does not know, is refused
// as newer, by an error that says to use a newer version, and does not say to remove the file or to build it again from
// what is lost with it.
func TestNewer(t *testing.T) {
	t.Chdir(t.TempDir())
	must(t, os.Chmod(".", 0o700)) // follow refuses folders that others may write
	mustWrite(t, "keys", "a\nb\nc\n")
	mustWrite(t, "universe", "a\nb\nc\nd\ne\nf\n")
	for line := range strings.Lines(`build -o f --spec standard --capacity 100 keys
build -o g --like f universe
diff f g -o delta
dedup --keys 1000 --state state keys
dedup --keys 1000 --ttl 1h --state window keys
exact build -o exact --members keys --universe universe
build -o set --shards 2 --spec standard keys
shard plan -o plan --shards 2 --spec standard keys
keygen -o key
publish site f --sign key --name list
follow site -o copy --once --key key.pub
publish unsigned f`) {
		mustRun(t, "", strings.Fields(line)...)
	}
	plans, err := filepath.Glob("plan/work-*/plan.json")
	must(t, err)
	if len(plans) != 1 {
		t.Fatalf("plans %q", plans)
	}

	byteAt := func(at int, want byte) func([]byte) []byte {
		return func(b []byte) []byte {
			if b[at]&15 != want {
				t.Fatalf("byte %d is %d", at, b[at])
			}
			b[at] = b[at]&^15 | 15
			return b
		}
	}
	version := regexp.MustCompile(`"version": ?1`)
	check := regexp.MustCompile(`"check":"[0-9a-f]+"`)
	number := func(b []byte) []byte {
		if len(version.FindAll(b, -1)) != 1 {
			t.Fatalf("no version in %s", b)
		}
		return check.ReplaceAll(version.ReplaceAll(b, []byte(`"version":2`)), []byte(`"check":""`))
	}
	otherKey := func(b []byte) []byte { return bytes.Replace(b, []byte("ed25519"), []byte("later"), 1) }

	for _, c := range []struct {
		path   string
		change func([]byte) []byte
		by     []string // commands that read the file
	}{
		{"f", byteAt(8, 1), []string{"info f", "check f keys", "add f keys", "diff f g -o x", "publish x f"}},
		{"state", byteAt(8, 1), []string{"check state keys", "dedup --keys 1000 --state state keys"}},
		{"window", byteAt(8, 1), []string{"check window keys", "dedup --keys 1000 --ttl 1h --state window keys"}},
		{"exact", byteAt(4, 1), []string{"exact info exact", "exact check exact keys",
			"exact update -o x --base exact --members keys --universe universe"}},
		{"delta", byteAt(3, 1), []string{"patch f delta -o x"}},
		{"set/manifest.json", number, []string{"info set", "check set keys", "add set keys"}},
		{plans[0], number, []string{"shard status plan", "shard range plan --all", "shard finish plan"}},
		{"unsigned/release.json", number, []string{"follow unsigned -o x --once --insecure", "publish unsigned g",
			"publish unsigned --check"}},
		{"key.state", number, []string{"publish site g --sign key"}},
		{"copy.follow", number, []string{"follow site -o copy --once --key key.pub"}},
		{"key", otherKey, []string{"publish site g --sign key"}},
		{"key.pub", otherKey, []string{"follow site -o copy --once --key key.pub"}},
	} {
		good := mustRead(t, c.path)
		mustWrite(t, c.path, c.change(bytes.Clone(good)))
		before := treeOf(t, ".")
		for _, line := range c.by {
			var stderr bytes.Buffer
			code := run(t.Context(), strings.Fields(line), strings.NewReader(""), new(bytes.Buffer), &stderr)
			says := stderr.String()
			if code != 2 || !regexp.MustCompile(`(?i)newer (version of )?bloomery`).MatchString(says) ||
				strings.Contains(says, "damaged") || strings.Contains(says, "remove it") {
				t.Errorf("%s, with a newer %s: exit code %d: %s", line, c.path, code, says)
			}
		}
		for path, content := range treeOf(t, ".") {
			if before[path] != content && !strings.HasSuffix(path, ".lock") {
				t.Errorf("%s has changed by commands that refuse a newer %s", path, c.path)
			}
		}
		mustWrite(t, c.path, good)
	}
}
