//go:build unix

package publish

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/internal/shardset"
)

// TestTidy leaves what a follower leaves that is killed after it has replaced the file. The next poll removes it,
// although there is no new release, whether the server sends release.json again or not.
func TestTidy(t *testing.T) {
	s := newSite(t)
	web := s.serve()
	f := s.follower(web.URL)
	r := s.publish(filterOf(t, 1000, 0))
	mustPoll(t, f)
	want := around(t, f)
	for _, name := range []string{
		filepath.Base(f.part(r.SHA256)), ".f.bloom.tmp-0123456789abcdef", ".f.bloom.follow.tmp-0123456789abcdef",
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

// TestTidySet is TestTidy for a set: shards of the set before are left. They stay while a command changes the set.
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
