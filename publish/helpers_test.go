package publish

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"testing"
)

// must ends the test if err is not nil.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// write writes a file and returns its path.
func write(t testing.TB, path string, content []byte, perm fs.FileMode) string {
	t.Helper()
	must(t, os.WriteFile(path, content, perm))
	return path
}

// read returns the content of a file.
func read(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	return b
}

// is returns the event, and whether it has the kind.
func (e Event) is(k EventKind) (Event, bool) { return e, e.Kind == k }

// must returns the event, and fails the test if it does not have the kind.
func (e Event) must(t *testing.T, k EventKind) Event {
	t.Helper()
	if e.Kind != k {
		t.Fatalf("%s, want %s: %v", e.Kind, k, e)
	}
	return e
}

// set sets the object of a release.
func (r *Release) set(o object) { r.SHA256, r.Bytes = o.SHA256, o.Bytes }

// encoded returns the file of a filter, an exact set or a manifest.
func encoded(t testing.TB, w io.WriterTo) []byte {
	t.Helper()
	var b bytes.Buffer
	_, err := w.WriteTo(&b)
	must(t, err)
	return b.Bytes()
}

// newFollower returns a follower of an address.
func newFollower(t testing.TB, address, file string, o ...FollowOption) *Follower {
	t.Helper()
	f, err := NewFollower(address, file, o...)
	must(t, err)
	return f
}
