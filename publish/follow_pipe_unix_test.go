//go:build unix

package publish

import (
	"context"
	"errors"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/bloomery/bloomery/internal/shardset"
	"github.com/bloomery/bloomery/internal/untrusted"
	"github.com/bloomery/bloomery/shard"
)

// TestPipes: a named pipe in place of any file that a follower reads is an error at once, or removed if it is a part.
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
	pipe(f.part(r.SHA256))
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
