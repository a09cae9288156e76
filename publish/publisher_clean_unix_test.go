//go:build unix

package publish

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/shard"
)

// unreadable replaces a file by a link to itself, so that opening fails with neither "missing" nor "damaged", and
// returns a function that restores the file.
func unreadable(t *testing.T, path string) (repair func()) {
	t.Helper()
	kept := filepath.Join(t.TempDir(), "kept")
	must(t, errors.Join(os.Rename(path, kept), os.Symlink(path, path)))
	return func() {
		t.Helper()
		must(t, errors.Join(os.Remove(path), os.Rename(kept, path)))
	}
}

// TestCleanUnreadable checks that no object is removed while the manifest of an older set cannot be read. When the
// manifest can be read again, all objects that the history names must exist.
func TestCleanUnreadable(t *testing.T) {
	src, dir := t.TempDir(), filepath.Join(t.TempDir(), "list")
	o := Options{Now: start, Keep: 8}
	var releases []*record
	for v := range 4 {
		releases = append(releases, mustPublish(t, dir, build(t, src, 40*v, 3, bloomery.Config{}), o).record)
	}
	store := filepath.Join(dir, ObjectsName)
	next := 4
	for _, old := range releases[:3] { // the last one is the current release at first
		before := names(t, store)
		repair := unreadable(t, filepath.Join(store, old.SHA256.String()))
		r, err := Publish(t.Context(), dir, build(t, src, 40*next, 3, bloomery.Config{}), o)
		if err != nil || r.Removed != 0 || len(r.Warnings) == 0 {
			t.Fatalf("%v, %+v", err, r)
		}
		repair()
		for _, name := range before {
			if _, err := os.Stat(filepath.Join(store, name)); err != nil {
				t.Error(err)
			}
		}
		if _, err := Check(t.Context(), dir, nil, nil); err != nil {
			t.Error(err)
		}
		next++
	}
	// If nothing fails, the next release removes the objects that are no longer named.
	if r := mustPublish(t, dir, build(t, src, 40*next, 3, bloomery.Config{}), o); r.Removed == 0 {
		t.Errorf("%+v", r)
	}
}

// TestHistoryUnreadable checks that a temporary error in reading the history stops the release. With a damaged history
// there are no deltas, and the objects must remain until the release after the next.
func TestHistoryUnreadable(t *testing.T) {
	src, dir := t.TempDir(), filepath.Join(t.TempDir(), "list")
	o := Options{Now: start}
	var r *record
	for v := range 4 {
		r = mustPublish(t, dir, build(t, src, v, 0, bloomery.Config{}), o).record
	}
	store := filepath.Join(dir, ObjectsName)
	history := filepath.Join(store, r.History.SHA256.String())
	before, all := released(t, dir), names(t, store)
	repair := unreadable(t, history)
	next := build(t, src, 5, 0, bloomery.Config{})
	if _, err := Publish(t.Context(), dir, next, o); err == nil {
		t.Error("the history is lost")
	}
	repair()
	if string(released(t, dir)) != string(before) || !slices.Equal(names(t, store), all) {
		t.Error("the folder has changed")
	}
	write(t, history, []byte("damaged"), 0o600)
	got, err := Publish(t.Context(), dir, next, o)
	if err != nil || len(got.Warnings) != 1 || got.Removed != 0 || len(got.kept) != 1 {
		t.Errorf("%v, %+v", err, got)
	}
	if now := names(t, store); !slices.Equal(slices.DeleteFunc(now, func(s string) bool {
		return !slices.Contains(all, s)
	}), all) {
		t.Error("objects were removed")
	}
}

// TestUndoKeepsLive makes a release fail after its objects were written, and checks that objects that existed before
// remain, even an object that could not be read and was written again.
func TestUndoKeepsLive(t *testing.T) {
	src, dir := t.TempDir(), filepath.Join(t.TempDir(), "list")
	o := Options{Now: start}
	one := build(t, src, 1, 2, bloomery.Config{})
	first := mustPublish(t, dir, one, o).Release
	two := build(t, src, 50, 2, bloomery.Config{})
	mustPublish(t, dir, two, o)
	store := filepath.Join(dir, ObjectsName)
	manifest := filepath.Join(store, first.SHA256.String())
	write(t, manifest, []byte("damaged"), 0o600)
	all := names(t, store)
	// release.json becomes a folder while the objects are written, so that the last step fails.
	once := sync.OnceFunc(func() {
		path := filepath.Join(dir, ReleaseName)
		if err := errors.Join(os.Rename(path, path+".kept"), os.Mkdir(path, 0o700)); err != nil {
			t.Error(err)
		}
	})
	o.Progress = func(int, int) { once() }
	if _, err := Publish(t.Context(), dir, one, o); err == nil {
		t.Fatal("release.json is a folder")
	}
	if now := names(t, store); !slices.Equal(now, all) {
		t.Errorf("%q, want %q", now, all)
	}
}

// TestAbandoned creates the files that publishers killed at different moments leave, and checks that the next Publish
// removes them, with new content and with the same content.
func TestAbandoned(t *testing.T) {
	src, dir := t.TempDir(), t.TempDir()
	file := build(t, src, 0, 0, bloomery.Config{})
	store := filepath.Join(dir, ObjectsName)
	for _, same := range []bool{false, true} {
		object := strings.Repeat("0a", len(shard.Sum{}))
		left := []string{
			filepath.Join(dir, "."+ReleaseName+".tmp-0123456789abcdef"),
			filepath.Join(store, ".object.tmp-0123456789abcdef"), // left by the check that files can be created
			filepath.Join(store, "."+object+".tmp-0123456789abcdef"),
		}
		must(t, os.MkdirAll(store, 0o777))
		for _, path := range left {
			write(t, path, []byte("half"), 0o600)
		}
		if r := mustPublish(t, dir, file, Options{Name: "x", Now: start}); r.Same != same {
			t.Errorf("same content: %v, want %v", r.Same, same)
		}
		for _, path := range left {
			if _, err := os.Lstat(path); err == nil {
				t.Errorf("same content: %v: %s is still there", same, path)
			}
		}
	}
}
