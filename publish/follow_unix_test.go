//go:build unix

package publish

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/internal/shardset"
	"github.com/bloomery/bloomery/internal/untrusted"
	"github.com/bloomery/bloomery/shard"
)

// TestPipes checks that a named pipe in place of a file that a follower reads is refused at once, or is removed if it
// replaces a part file.
func TestPipes(t *testing.T) {
	s := newSite(t)
	content := filterOf(t, 1000, 0)
	r := s.publish(content)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	pipe := func(path string) {
		t.Helper()
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Skip("no named pipes here: ", err)
		}
	}
	for _, name := range []string{"", stateSuffix, lockSuffix} {
		f := s.follower(s.dir)
		pipe(f.file + name)
		if _, err := f.Poll(ctx); !errors.Is(err, untrusted.ErrNotRegular) {
			t.Errorf("FILE%s: %v", name, err)
		}
	}
	f := s.follower(s.dir)
	pipe(f.file)
	if _, err := Follow(ctx, s.dir, f.file); !errors.Is(err, untrusted.ErrNotRegular) {
		t.Errorf("Follow: %v", err)
	}
	if _, err := FollowExact(ctx, s.dir, f.file); !errors.Is(err, untrusted.ErrNotRegular) {
		t.Errorf("FollowExact: %v", err)
	}
	f = s.follower(s.dir)
	pipe(f.partOf(r.SHA256))
	mustPoll(t, f)
	holds(t, f, content)

	for _, name := range []string{ReleaseName, filepath.Join(ObjectsName, r.SHA256.String())} {
		other := newSite(t)
		if name != ReleaseName {
			other.put(s.text())
		}
		pipe(filepath.Join(other.dir, name))
		if _, err := s.follower(other.dir).Poll(ctx); !errors.Is(err, untrusted.ErrNotRegular) {
			t.Errorf("%s: %v", name, err)
		}
	}

	sets := newSite(t)
	sets.publishSet(1)
	f = sets.follower(sets.dir)
	mustPoll(t, f)
	m, _, err := shardset.ReadManifest(f.file)
	must(t, err)
	for name, want := range map[string]error{shard.ManifestName: untrusted.ErrNotRegular, m.Shards[0].File: nil} {
		path := filepath.Join(f.file, name)
		must(t, syscall.Unlink(path))
		pipe(path)
		if _, err := f.Poll(ctx); !errors.Is(err, want) && (want != nil || err == nil) {
			t.Errorf("%s: %v", name, err)
		}
		must(t, syscall.Unlink(path))
		mustPoll(t, f)
		sets.holdsSet(f, 1, true)
	}
	if ctx.Err() != nil {
		t.Error("it has waited")
	}
}

// TestTidy creates the files that remain if a follower is killed after it has replaced the file. The next poll must
// remove them even without a new release, whether the server sends release.json again or not.
func TestTidy(t *testing.T) {
	s := newSite(t)
	web := s.serve()
	f := s.follower(web.URL)
	r := s.publish(filterOf(t, 1000, 0))
	mustPoll(t, f)
	want := around(t, f)
	for _, name := range []string{
		filepath.Base(f.partOf(r.SHA256)), ".f.bloom.tmp-0123456789abcdef", ".f.bloom.follow.tmp-0123456789abcdef",
	} {
		path := filepath.Join(filepath.Dir(f.file), name)
		for _, address := range []string{web.URL, s.dir} { // a folder has no validators
			write(t, path, []byte("half"), 0o600)
			other := newFollower(t, address, f.file, WithKeys(s.keys[0].Public()))
			if e, ok := mustPoll(t, other).is(Unchanged); !ok {
				t.Fatal(e)
			}
			if got := around(t, f); !slices.Equal(got, want) {
				t.Errorf("%s: %s is left, want %s", address, got, want)
			}
		}
	}
}

// TestTidySet is TestTidy for a set of which old shards remain. They must not be removed while a command changes the
// set.
func TestTidySet(t *testing.T) {
	s := newSite(t)
	f := s.follower(s.dir)
	s.publishSet(1)
	mustPoll(t, f)
	path := filepath.Join(f.file, shardset.Name(3, 5, "aa"))
	write(t, path, []byte("old"), 0o600)
	l, err := bloomery.Lock(t.Context(), f.file) // removes it
	if err == nil {
		err = os.WriteFile(path, []byte("new"), 0o600)
	}
	must(t, err)
	mustPoll(t, f)
	if text, err := os.ReadFile(path); string(text) != "new" {
		t.Errorf("the shard of a command that is at work: %q, %v", text, err)
	}
	must(t, l.Close())
	write(t, path, []byte("old"), 0o600)
	if e := mustPoll(t, f); !strings.Contains(e.String(), "current") {
		t.Error(e)
	}
	s.holdsSet(f, 1, true)
}
