package publish

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bloomery/bloomery/shard"
)

// TestForeignParts checks that a follower does not write through a symbolic link at the path of its part file, and
// removes only files and folders with its own names.
func TestForeignParts(t *testing.T) {
	s := newSite(t)
	want := filterOf(t, 1000, 0)
	r := s.publish(want)
	f := s.follower(s.dir)
	victim := filepath.Join(t.TempDir(), "victim")
	kept := f.file + partSuffix + "list"
	gone := f.file + partSuffix + "0123456789abcdef" + trialSuffix
	for _, path := range []string{victim, kept} {
		write(t, path, []byte("precious"), 0o600)
	}
	must(t, os.Mkdir(gone, 0o700))
	if err := os.Symlink(victim, f.partOf(r.SHA256)); err != nil {
		t.Logf("no symbolic links here: %v", err)
	}
	mustPoll(t, f)
	holds(t, f, want)
	for _, path := range []string{victim, kept} {
		if b, err := os.ReadFile(path); string(b) != "precious" {
			t.Errorf("%s: %q, %v", path, b, err)
		}
	}
	if _, err := os.Lstat(gone); err == nil {
		t.Errorf("%s is left", gone)
	}
}

// TestForeignFile checks that a file that was never followed and is not a filter is not replaced, but an empty or
// damaged filter is.
func TestForeignFile(t *testing.T) {
	s := newSite(t)
	want := filterOf(t, 1000, 0)
	s.publish(want)
	f := s.follower(s.dir)
	write(t, f.file, []byte("precious"), 0o600)
	if e, err := f.Poll(t.Context()); err == nil {
		t.Errorf("a text is replaced: %v", e)
	}
	holds(t, f, []byte("precious"))
	write(t, f.file, []byte(""), 0o600)
	mustPoll(t, f)
	write(t, f.file, []byte("damaged"), 0o600)
	mustPoll(t, f)
	holds(t, f, want)
	state := f.file + stateSuffix
	must(t, errors.Join(os.Remove(state), os.Mkdir(state, 0o700)))
	pollFails(t, f, ErrState)
}

// TestFewParts checks that interrupted downloads of many releases leave at most two part files: the last one, and one
// of an earlier poll that may be needed again.
func TestFewParts(t *testing.T) {
	s := newSite(t)
	web := s.serve()
	f := s.follower(web.URL)
	web.hook(at(objectPath, body(-1, "cut", end)))
	var last shard.Sum
	for version := range 6 {
		last = s.publish(filterOf(t, 1000, version)).SHA256
		if _, err := f.Poll(t.Context()); err == nil {
			t.Fatal("a cut body")
		}
	}
	var parts []string
	for _, name := range around(t, f) {
		if f.isPart(name) {
			parts = append(parts, name)
		}
	}
	if len(parts) != 2 || !slices.Contains(parts, filepath.Base(f.partOf(last))) {
		t.Errorf("parts: %q", parts)
	}
	web.around.Store(nil)
	mustPoll(t, f)
	if names := around(t, f); len(names) != len(afterPoll()) {
		t.Errorf("left behind: %q", names)
	}
}
