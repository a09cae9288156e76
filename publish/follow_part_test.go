package publish

import (
	"os"
	"path/filepath"
	"testing"
)

// TestForeignParts: a follower writes through no symbolic link that lies at the place of its part file, and removes
// only files and folders whose names are those of its own.
func TestForeignParts(t *testing.T) {
	s := newSite(t)
	want := filterOf(t, 1000, 0)
	r := s.publish(want)
	f := s.follower(s.dir)
	victim := filepath.Join(t.TempDir(), "victim")
	kept := f.file + partSuffix + "list"
	gone := f.file + partSuffix + "0123456789abcdef" + trialSuffix
	for _, path := range []string{victim, kept} {
		if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(gone, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, f.part(r.SHA256)); err != nil {
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
