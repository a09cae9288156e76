package publish

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/shardset"
	"github.com/bloomery/bloomery/internal/untrusted"
	"github.com/bloomery/bloomery/shard"
)

// TestListOfAnotherFolder checks that a release.json of another list of the key, in a folder that is not in the state,
// does not determine the name of the next release. After a folder was moved, the name must be set once.
func TestListOfAnotherFolder(t *testing.T) {
	s := newSigner(t, "A")
	one, two := filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "two")
	s.publish(one)
	must(t, os.MkdirAll(filepath.Join(two, ObjectsName), 0o700))
	write(t, filepath.Join(two, ReleaseName), released(t, one), 0o600)
	s.refuses("a release of another folder", two, s.Options, ErrName)
	namesake := filepath.Join(t.TempDir(), "one")
	s.refuses("a folder of the same name", namesake, s.Options, ErrName)
	moved := filepath.Join(t.TempDir(), "moved")
	must(t, os.Rename(one, moved))
	s.refuses("a folder that has moved", moved, s.Options, ErrName)
	o := s.Options
	o.Name = "one"
	if r := mustPublish(t, moved, s.next(), o); r.Release.Number != 2 || len(r.Warnings) > 0 {
		t.Errorf("the name is stated: %+v", r)
	}
	if r := s.publish(moved); r.Release.Number != 3 {
		t.Errorf("release %d", r.Release.Number)
	}
}

// TestStateOfTwoNames checks that two keys whose states are the same file through a link do not deadlock.
func TestStateOfTwoNames(t *testing.T) {
	s, dir := newSigner(t, "A"), filepath.Join(t.TempDir(), "list")
	s.publish(dir)
	link := filepath.Join(s.src, "second.key.state")
	if err := os.Symlink(s.State[0], link); err != nil {
		t.Skip(err)
	}
	s.Sign, s.State = append(s.Sign, testKey(t, "E")), append(s.State, link)
	if r := s.publish(dir); r.Release.Number != 2 || len(r.State) != 1 {
		t.Errorf("%+v", r)
	}
}

// TestStateLocked checks that a publisher returns an error if another process never releases the lock of its state.
func TestStateLocked(t *testing.T) {
	defer func(d time.Duration) { stateWait = d }(stateWait)
	stateWait = 100 * time.Millisecond
	s, dir := newSigner(t, "A"), filepath.Join(t.TempDir(), "list")
	s.publish(dir)
	lock, _, err := container.LockFile(t.Context(), s.State[0]+container.LockSuffix, nil, nil)
	must(t, err)
	other, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if again, _, err := container.LockFile(other, s.State[0]+container.LockSuffix, nil, nil); err == nil {
		_ = container.Unlock(again)
		t.Skip("no locks here")
	}
	waited := 0
	o := s.Options
	o.Waiting = func() { waited++ }
	s.refuses("a locked state", dir, o, ErrKeyState)
	if waited != 1 {
		t.Errorf("Waiting was called %d times", waited)
	}
	must(t, container.Unlock(lock))
	s.publish(dir)
	if st, err := os.Stat(s.State[0]); err != nil || runtime.GOOS != "windows" && st.Mode().Perm()&0o007 != 0 {
		t.Errorf("%v: others may read the state: %v", err, st.Mode())
	}
}

// TestObjectsReplaced replaces the folder of objects by the folder of another list while a filter is loaded. Nothing
// may be written or removed there.
func TestObjectsReplaced(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows renames no folder that is open")
	}
	s := newSigner(t, "A")
	dir, other := filepath.Join(t.TempDir(), "list"), filepath.Join(t.TempDir(), "other")
	for range 2 {
		s.publish(dir)
		mustPublish(t, other, s.next(), Options{Now: start})
	}
	objects, theirs := filepath.Join(dir, ObjectsName), filepath.Join(other, ObjectsName)
	before := names(t, theirs)
	o := s.Options
	o.Progress = func(done, all int) {
		if done < all {
			return
		}
		if err := errors.Join(os.Rename(objects, objects+".aside"), os.Symlink(theirs, objects)); err != nil {
			t.Error(err)
		}
	}
	r, err := Publish(t.Context(), dir, s.next(), o)
	if err == nil && len(r.Warnings) == 0 {
		t.Errorf("nothing was noticed: %+v", r)
	}
	if err != nil && !errors.Is(err, untrusted.ErrNotRegular) {
		t.Error(err)
	}
	if after := names(t, theirs); !slices.Equal(after, before) {
		t.Errorf("objects of the other list: %q, and %q before", after, before)
	}
	if _, err := Check(t.Context(), other, nil, nil); err != nil {
		t.Error("the other list: ", err)
	}
}

// TestKindRestarted checks that a list whose first release has failed, or whose folder is lost, may change its kind if
// name and number are given.
func TestKindRestarted(t *testing.T) {
	s, dir := newSigner(t, "A"), filepath.Join(t.TempDir(), "list")
	s.publish(dir)
	states, err := openStates(t.Context(), s.State, func(err error) { t.Error(err) })
	if err == nil {
		l := *states.newestOf("list")
		l.Kind = Exact
		err = states.record(t.Context(), l)
	}
	if err == nil {
		err = os.RemoveAll(dir)
	}
	must(t, err)
	s.refuses("another kind", dir, s.Options, ErrName)
	o := s.Options
	o.Name, o.Number = "list", 50
	if r := mustPublish(t, dir, s.next(), o); r.Release.Number != 50 {
		t.Errorf("%+v", r)
	}
}

// TestUnpublishable checks that files and folders that are not a filter of a known family are refused before the folder
// is created. The error for a file of package window must name the package.
func TestUnpublishable(t *testing.T) {
	dir := t.TempDir()
	m, _, err := shardset.ReadManifest(filepath.Join("..", "shard", "testdata", "sets", "one-shard"))
	must(t, err)
	var manifest bytes.Buffer
	if m.Spec, err = filter.ParseSpec("window(keys=1,ttl=1000000)"); err == nil {
		_, err = m.WriteTo(&manifest)
	}
	set, text := filepath.Join(dir, "set"), filepath.Join(dir, "list.txt")
	err = errors.Join(err, os.Mkdir(set, 0o700), os.WriteFile(text, []byte("a list of keys\n"), 0o600),
		os.WriteFile(filepath.Join(set, shard.ManifestName), manifest.Bytes(), 0o600))
	must(t, err)
	for path, want := range map[string]error{
		filepath.Join("..", "window", "testdata", "few.window"): filter.ErrMagic, set: filter.ErrFamily,
		text: filter.ErrMagic, filepath.Join(dir, "none"): fs.ErrNotExist, dir: filter.ErrNoManifest,
	} {
		out := filepath.Join(dir, "out")
		_, err := Publish(t.Context(), out, path, Options{Unsigned: true})
		if !errors.Is(err, want) || filepath.Ext(path) == ".window" && !strings.Contains(err.Error(), "package window") {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
		if _, err := os.Stat(out); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the folder was made: %v", path, err)
		}
	}
}
