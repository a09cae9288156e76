package publish

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/shard"
)

// signer is a machine that publishes with one key and its state file, each time with new content.
type signer struct {
	t        *testing.T
	src      string
	version  int
	contents map[uint64]shard.Sum // contents by number, over all folders and keys
	Options
}

func newSigner(t *testing.T, letter string) *signer {
	dir := t.TempDir()
	return &signer{t: t, src: dir, contents: map[uint64]shard.Sum{}, Options: Options{Now: start,
		Sign: []PrivateKey{testKey(t, letter)}, State: []string{filepath.Join(dir, "key"+StateSuffix)}}}
}

// next returns a file with new content.
func (s *signer) next() string {
	s.version++
	return build(s.t, s.src, s.version, 0, bloomery.Config{Spec: "standard(k=2,m=4096)"})
}

// publish publishes new content. No number may be used twice.
func (s *signer) publish(dir string) Report {
	s.t.Helper()
	r := mustPublish(s.t, dir, s.next(), s.Options)
	if was, ok := s.contents[r.Release.Number]; ok {
		s.t.Fatalf("release %d has two contents: %s and %s", r.Release.Number, was, r.Release.SHA256)
	}
	s.contents[r.Release.Number] = r.Release.SHA256
	return r
}

// refuses checks that new content is refused with an error.
func (s *signer) refuses(what, dir string, o Options, want error) {
	s.t.Helper()
	if r, err := Publish(s.t.Context(), dir, s.next(), o); !errors.Is(err, want) {
		s.t.Errorf("%s: %v, %+v; want %v", what, err, r.Release, want)
	}
}

// keep returns a function that restores the current release.json.
func keep(t *testing.T, dir string) func() {
	b := released(t, dir)
	return func() {
		t.Helper()
		write(t, filepath.Join(dir, ReleaseName), b, 0o600)
	}
}

// TestRollback checks that after a user with write access restores an older signed release.json, the next release has a
// number that was never signed, even if its content equals the older one.
func TestRollback(t *testing.T) {
	s, dir := newSigner(t, "A"), filepath.Join(t.TempDir(), "list")
	s.publish(dir)
	back := keep(t, dir)
	s.publish(dir)
	if r := s.publish(dir); r.Release.Number != 3 || r.Behind != 0 || len(r.Warnings) > 0 {
		t.Fatalf("%+v", r)
	}
	back()
	r := s.publish(dir)
	if r.Release.Number != 4 || r.Behind != 3 || len(r.Warnings) == 0 || r.record.Previous.Number != 1 {
		t.Errorf("new content: %+v", r)
	}
	back()
	file := filepath.Join(s.src, "v1")
	if r := mustPublish(t, dir, file, s.Options); r.Release.Number != 5 || r.Same || r.Behind != 4 {
		t.Errorf("the old content: %+v", r)
	}
	if r := mustPublish(t, dir, file, s.Options); !r.Same || r.Behind != 0 {
		t.Errorf("the same again: %+v", r)
	}
	if o := s.Options; true {
		o.Number = 5
		s.refuses("a number that was signed", dir, o, ErrOptions)
	}
}

// TestLostRelease removes release.json, or the whole folder. With a state the numbers must continue. Without one, the
// publisher must refuse to start again if there are objects.
func TestLostRelease(t *testing.T) {
	for _, lost := range []string{ReleaseName, ""} {
		s, dir := newSigner(t, "A"), filepath.Join(t.TempDir(), "folder")
		s.Name = "list"
		s.publish(dir)
		s.publish(dir)
		must(t, os.RemoveAll(filepath.Join(dir, lost)))
		s.Name = "" // the state contains the name of the folder
		r := s.publish(dir)
		if r.Release.Number != 3 || r.Release.Name != "list" || r.record.Previous != nil || r.Behind != 2 ||
			len(r.Warnings) != 1 {
			t.Errorf("lost %q: %+v", lost, r)
		}
	}
	s, dir := newSigner(t, "A"), filepath.Join(t.TempDir(), "list")
	s.State = nil
	s.publish(dir)
	must(t, os.Remove(filepath.Join(dir, ReleaseName)))
	s.refuses("without a state", dir, s.Options, ErrLost)
	s.Name, s.Number = "list", 7
	if r := s.publish(dir); r.Release.Number != 7 {
		t.Errorf("%+v", r.Release)
	}
	// An unsigned list starts again, with a warning.
	unsigned := filepath.Join(t.TempDir(), "list")
	mustPublish(t, unsigned, s.next(), Options{})
	must(t, os.Remove(filepath.Join(unsigned, ReleaseName)))
	if r := mustPublish(t, unsigned, s.next(), Options{}); r.Release.Number != 1 || len(r.Warnings) != 1 {
		t.Errorf("%+v", r)
	}
}

// TestKilledFirst checks that if a publisher was killed before its first release, the next publisher starts at 1.
func TestKilledFirst(t *testing.T) {
	s, dir := newSigner(t, "A"), filepath.Join(t.TempDir(), "list")
	s.publish(filepath.Join(t.TempDir(), "another"))
	delete(s.contents, 1)
	before := read(t, s.State[0])
	s.publish(dir)
	delete(s.contents, 1)
	begun := strings.Replace(byHand(before), "]", `,{"name":"list","release":0,"sha256":"`+shard.Sum{}.String()+
		`","keys":0}`+"\n]", 1)
	if err := errors.Join(os.Remove(filepath.Join(dir, ReleaseName)),
		os.WriteFile(s.State[0], []byte(begun), 0o600)); err != nil {
		t.Fatal(err)
	}
	if r := s.publish(dir); r.Release.Number != 1 {
		t.Errorf("%+v", r.Release)
	}
}

// TestForeignList checks that the name of another list is not used if its release.json, signed by the same key, is put
// into the folder.
func TestForeignList(t *testing.T) {
	s := newSigner(t, "A")
	one, two := filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "two")
	s.publish(one)
	s.version += 10
	delete(s.contents, 1)
	s.publish(two)
	write(t, filepath.Join(one, ReleaseName), released(t, two), 0o600)
	s.refuses("the state knows the folder", one, s.Options, ErrName)
	o := s.Options
	o.State, o.Name = nil, "one"
	s.refuses("the name is stated", one, o, ErrName)
}

// TestElsewhere checks that a release that the key signed on another machine causes a warning.
func TestElsewhere(t *testing.T) {
	s, dir := newSigner(t, "A"), filepath.Join(t.TempDir(), "list")
	s.publish(dir)
	elsewhere := *s
	elsewhere.State = nil
	elsewhere.publish(dir)
	s.version = elsewhere.version
	if r := s.publish(dir); r.Release.Number != 3 || len(r.Warnings) != 1 || r.Behind != 0 {
		t.Errorf("%+v", r)
	}
	if r := s.publish(dir); r.Release.Number != 4 || len(r.Warnings) != 0 {
		t.Errorf("%+v", r)
	}
}

// TestTwoStates checks that with two keys, the state of each key contains all numbers.
func TestTwoStates(t *testing.T) {
	s, dir := newSigner(t, "A"), filepath.Join(t.TempDir(), "list")
	one, two := testKey(t, "A"), testKey(t, "E")
	state := []string{s.State[0], filepath.Join(s.src, "two"+StateSuffix)}
	s.publish(dir)
	s.Sign, s.State = []PrivateKey{one, two}, state
	r := s.publish(dir)
	resolved := make([]string, len(state)) // on macOS, temporary folders are behind a link
	for i, path := range state {
		var err error
		resolved[i], err = filepath.EvalSymlinks(path)
		must(t, err)
	}
	if r.Release.Number != 2 || !reflect.DeepEqual(r.State, resolved) {
		t.Errorf("%+v", r)
	}
	for i, key := range s.Sign {
		must(t, os.RemoveAll(dir))
		s := *s
		s.Sign, s.State = []PrivateKey{key}, state[i:i+1]
		if r, err := Publish(t.Context(), dir, s.next(), s.Options); err != nil || r.Release.Number != 3 {
			t.Errorf("key %d: %v, %+v", i, err, r.Release)
		}
	}
}

// TestSharedKey checks that publishers of several lists can share a key and its state at the same time, and that the
// state then contains all lists.
func TestSharedKey(t *testing.T) {
	s := newSigner(t, "A")
	folder, file := t.TempDir(), s.next()
	const lists, releases = 8, 3
	var wg sync.WaitGroup
	for i := range lists {
		wg.Go(func() {
			for n := range releases {
				o := s.Options
				if n > 0 {
					o.Number = uint64(n + 1)
				}
				if _, err := Publish(t.Context(), filepath.Join(folder, fmt.Sprint("list", i)), file, o); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	b := read(t, s.State[0])
	all, err := parseKeyState(b)
	if err != nil || len(all) != lists {
		t.Fatalf("%v: %s", err, b)
	}
	for i, l := range all {
		if l.Name != fmt.Sprint("list", i) || l.Number != releases || l.Keys != 2000 || l.Kind != File {
			t.Errorf("%+v", l)
		}
	}
}

// TestOneListTwoFolders publishes one list with one key in two folders at the same time, and checks that no two
// releases with the same number have different contents.
func TestOneListTwoFolders(t *testing.T) {
	s := newSigner(t, "A")
	s.Name = "list"
	files := []string{s.next(), s.next(), s.next(), s.next()}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, dir := range []string{t.TempDir(), t.TempDir()} {
		wg.Go(func() {
			for i := range 10 {
				r, err := Publish(t.Context(), dir, files[i%len(files)], s.Options)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				if was, ok := s.contents[r.Release.Number]; ok && was != r.Release.SHA256 {
					t.Errorf("release %d has two contents", r.Release.Number)
				}
				s.contents[r.Release.Number] = r.Release.SHA256
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}

// TestBadState checks that a damaged state, and a state that cannot be replaced, are errors, and that nothing is
// published.
func TestBadState(t *testing.T) {
	s, dir := newSigner(t, "A"), filepath.Join(t.TempDir(), "list")
	s.publish(dir)
	good := read(t, s.State[0])
	before := released(t, dir)
	sealed := string(good)
	good = []byte(byHand(good)) // so that not only the check detects the damage
	for what, bad := range map[string]string{
		"check":   strings.Replace(sealed, `"release":1`, `"release":7`, 1),
		"cut":     string(good[:len(good)/2]),
		"empty":   "",
		"blank":   "\n",
		"zeros":   string(make([]byte, len(good))),
		"format":  strings.Replace(string(good), keyStateFormat, "bloomery-follow", 1),
		"version": strings.Replace(string(good), `"version":1`, `"version":2`, 1),
		"number":  strings.Replace(string(good), `"release":1`, `"release":9007199254740992`, 1),
		"kind":    strings.Replace(string(good), `"kind":"file"`, `"kind":"tree"`, 1),
		"twice":   strings.Replace(string(good), "\n]", ","+strings.SplitN(string(good), "\n", 3)[1]+"\n]", 1),
		"field":   strings.Replace(string(good), `"keys":`, `"size":1,"keys":`, 1),
		"null":    strings.Replace(string(good), `"kind":"file"`, `"kind":null`, 1),
		"missing": strings.Replace(string(good), `"name":"list",`, ``, 1),
		"no seal": strings.Replace(string(good), ",\n\"check\":\"\"", ``, 1),
		"large":   string(good) + strings.Repeat(" ", maxKeyState),
	} {
		if bad == string(good) {
			t.Fatalf("%s: nothing has changed", what)
		}
		write(t, s.State[0], []byte(bad), 0o600)
		s.refuses(what, dir, s.Options, ErrKeyState)
	}
	write(t, s.State[0], []byte(s.Sign[0].Text()), 0o600)
	_, err := Publish(t.Context(), dir, s.next(), s.Options)
	if err == nil || !strings.Contains(err.Error(), "it is a key") || strings.Contains(err.Error(), "remove it") {
		t.Errorf("a key in place of its state: %v", err)
	}
	if string(released(t, dir)) != string(before) {
		t.Error("the folder has changed")
	}
	if err := os.Remove(s.State[0]); err != nil { // the number comes from the signed release.json
		t.Fatal(err)
	}
	if r := s.publish(dir); r.Release.Number != 2 || len(r.Warnings) != 0 {
		t.Errorf("%+v", r)
	}
	missing := s.Options
	missing.State = []string{filepath.Join(t.TempDir(), "none", "key.state")}
	s.refuses("a folder that is missing", dir, missing, ErrKeyState)
}

// TestReadOnlyKey uses a key in a read-only folder, like a mounted secret. A state that never existed must cause a
// warning, a state that cannot be replaced an error.
func TestReadOnlyKey(t *testing.T) {
	if runtime.GOOS == "windows" || os.Geteuid() == 0 {
		t.Skip("only folders of an ordinary user on Unix can be read-only")
	}
	for _, exists := range []bool{false, true} {
		s, dir := newSigner(t, "A"), filepath.Join(t.TempDir(), "list")
		folder := t.TempDir()
		s.State = []string{filepath.Join(folder, "key.state")}
		if exists {
			s.publish(dir)
		}
		must(t, os.Chmod(folder, 0o500))
		if exists {
			s.refuses("read-only", dir, s.Options, ErrKeyState)
		} else if r := s.publish(dir); len(r.Warnings) != 1 || len(r.State) != 0 {
			t.Errorf("%+v", r)
		}
		must(t, os.Chmod(folder, 0o700))
	}
}

// TestFullState checks that a state file has room for maxLists lists.
func TestFullState(t *testing.T) {
	var all []lastSigned
	for i := range maxLists {
		all = replaceEntry(all, lastSigned{Name: fmt.Sprintf("list %04d", i), Number: 1, Kind: Exact, Folder: "/site"})
	}
	b, err := marshalKeyState(all)
	if err != nil || len(b) > maxKeyState {
		t.Fatal(err)
	}
	got, err := parseKeyState(b)
	if err != nil || !reflect.DeepEqual(got, all) {
		t.Errorf("%v, %d lists", err, len(got))
	}
	for i, l := range got {
		if (l.Folder != "") != (i == maxLists-1) {
			t.Errorf("%d: several lists have one folder", i)
		}
	}
	if _, err := marshalKeyState(replaceEntry(all, lastSigned{Name: "one more"})); err == nil {
		t.Error("one list too many")
	}
}

// TestFuture checks that a release with a time in the future causes a warning.
func TestFuture(t *testing.T) {
	s, dir := newSigner(t, "A"), filepath.Join(t.TempDir(), "list")
	s.publish(dir)
	s.Now = start.Add(-3 * 24 * time.Hour)
	if r := s.publish(dir); len(r.Warnings) != 1 {
		t.Errorf("%+v", r)
	}
}
