package publish

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/settest"
	"github.com/bloomery/bloomery/internal/shardset"
	"github.com/bloomery/bloomery/shard"
)

// publishSet publishes a sharded set of 5 shards, which contains the keys of every version and some keys of this
// version only.
func (s *site) publishSet(version int) Report {
	s.t.Helper()
	keys := func(yield func(string) bool) {
		for i := range 100000 {
			if !yield(fmt.Sprintf("key%d", i)) {
				return
			}
		}
		yield(fmt.Sprintf("version%d", version))
	}
	dir := filepath.Join(s.t.TempDir(), "set")
	c := bloomery.Config{Spec: "standard(bytes=125000)", Sharding: bloomery.Sharding{Shards: 5}, FPR: 0.01}
	if _, err := settest.BuildShards(s.t.Context(), keys, dir, c); err != nil {
		s.t.Fatal(err)
	}
	r, err := Publish(s.t.Context(), s.dir, dir, Options{Sign: s.keys})
	must(s.t, err)
	return r
}

// holdsSet fails the test unless the folder of a follower contains the published set, and if only is true, nothing
// else.
func (s *site) holdsSet(f *Follower, version int, only bool) {
	s.t.Helper()
	r := s.publishing(s.t)
	text, err := os.ReadFile(filepath.Join(f.file, shard.ManifestName))
	if err != nil || r.object().matches(text) != nil {
		s.t.Errorf("version %d: another manifest: %v", version, err)
		return
	}
	m, err := shard.ReadManifest(bytes.NewReader(text))
	must(s.t, err)
	want := []string{shard.ManifestName}
	for _, e := range m.Shards {
		b, err := os.ReadFile(filepath.Join(f.file, e.File))
		if err != nil || (object{e.SHA256, e.Bytes}).matches(b) != nil {
			s.t.Errorf("version %d: shard %s: %v", version, e.File, err)
		}
		want = append(want, e.File)
	}
	if got := names(s.t, f.file); only && !slices.Equal(slices.Sorted(slices.Values(want)), got) {
		s.t.Errorf("version %d: the folder has %s", version, got)
	}
	set, err := bloomery.Open(context.Background(), f.file)
	if err != nil || !set.ContainsString(fmt.Sprint("version", version)) {
		s.t.Errorf("version %d: %v", version, err)
	}
	if err == nil {
		_ = set.Close()
	}
}

// TestFollowSet follows a sharded set: it loads the whole set, a delta, only the changed shards, and replaces a damaged
// shard.
func TestFollowSet(t *testing.T) {
	s := newSite(t)
	web := s.serve()
	f := s.follower(web.URL)
	first := s.publishSet(1)
	e := mustPoll(t, f).must(t, Updated)
	if e.Delta || e.Bytes < int64(first.Release.Total) {
		t.Errorf("first: %v", e)
	}
	s.holdsSet(f, 1, true)
	live, err := bloomery.OpenLive(t.Context(), f.file)
	must(t, err)
	defer live.Close()

	two := s.publishSet(2)
	if e = mustPoll(t, f).must(t, Updated); !e.Delta || e.Bytes > 4000 || e.From != 1 {
		t.Errorf("delta: %v", e)
	}
	s.holdsSet(f, 2, runtime.GOOS != "windows") // Windows does not remove the files that the Live has open
	if err := live.Reload(t.Context()); err != nil || !live.ContainsString("version2") {
		t.Errorf("the Live: %v", err)
	}
	if runtime.GOOS == "windows" { // where the damaged shard below could not be replaced either
		must(t, live.Close())
	}
	if e := mustPoll(t, f); e.String() != "release 2: current" {
		t.Errorf("again: %v", e)
	}

	s.drop(s.publishSet(3).record.Previous.Delta.SHA256)
	if e = mustPoll(t, f).must(t, Updated); e.Delta || e.Unused == nil || e.Bytes > int64(two.Release.Total)*3/5 {
		t.Errorf("changed shards: %v", e)
	}
	s.holdsSet(f, 3, true)

	m, _, err := shardset.ReadManifest(f.file)
	must(t, err)
	broken := filepath.Join(f.file, m.Shards[2].File)
	write(t, broken, bytes.Repeat([]byte{1}, int(m.Shards[2].Bytes)), 0o600)
	if e = mustPoll(t, f).must(t, Updated); e.Bytes > int64(two.Release.Total)*2/5 {
		t.Errorf("a damaged shard: %v", e)
	}
	s.holdsSet(f, 3, true)
	if got := around(t, f); len(got) != len(afterPoll()) {
		t.Errorf("left behind: %s", got)
	}
}

// TestHostileSet checks that the old set remains if shards of the new set cannot be loaded or do not match the
// manifest, and that loaded shards are not loaded again.
func TestHostileSet(t *testing.T) {
	s := newSite(t)
	web := s.serve()
	f := s.follower(web.URL)
	s.publishSet(1)
	mustPoll(t, f)
	was := s.text()
	three := s.publishSet(3)
	s.drop(three.record.Previous.Delta.SHA256)
	is := s.text()
	old := func() {
		t.Helper()
		s.put(was)
		s.holdsSet(f, 1, false)
		s.put(is)
	}
	served := 0
	web.hook(func(w http.ResponseWriter, r *http.Request) bool { // all objects except the manifest and one other
		if !strings.Contains(r.URL.Path, objectPath) || strings.Contains(r.URL.Path, three.Release.SHA256.String()) {
			return false
		}
		if served++; served == 2 { // the first one is the delta
			w.WriteHeader(http.StatusBadGateway)
		}
		return served == 2
	})
	if _, err := f.Poll(t.Context()); err == nil || !strings.Contains(err.Error(), "502") ||
		!strings.Contains(err.Error(), "shard 0") {
		t.Errorf("a missing shard: %v", err)
	}
	old()

	web.around.Store(nil)
	for what, c := range map[string]struct {
		change func(m *shard.Manifest, text []byte) []byte
		want   string
	}{
		"no manifest": {func(*shard.Manifest, []byte) []byte { return []byte("{}") }, "manifest"},
		"a shard for another": {func(m *shard.Manifest, _ []byte) []byte {
			a, b := &m.Shards[0], &m.Shards[1]
			a.SHA256, b.SHA256, a.Bytes, b.Bytes = b.SHA256, a.SHA256, b.Bytes, a.Bytes
			a.File, b.File = shardset.Name(0, 5, "aa"), shardset.Name(1, 5, "aa")
			return encoded(t, m)
		}, "cannot open it"},
		"an old name": {func(m *shard.Manifest, _ []byte) []byte {
			have, _, err := shardset.ReadManifest(f.file)
			must(t, err)
			for i := range m.Shards {
				m.Shards[i].File = have.Shards[i].File
			}
			return encoded(t, m)
		}, "has the name of an old one"},
	} {
		text := read(t, s.path(three.Release.SHA256))
		m, err := shard.ReadManifest(bytes.NewReader(text))
		must(t, err)
		text = c.change(m, text)
		is = nil
		s.release(s.publishing(t), 4, func(r *record) {
			r.set(*s.object(text))
			r.Total = m.Bytes() + r.Bytes
		})
		is = s.text()
		if _, err := f.Poll(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", what, err)
		}
		old()
	}
	if err := os.Remove(f.file + stateSuffix); err != nil { // number 4 was seen with three different contents
		t.Fatal(err)
	}
	s.publishSet(5)
	mustPoll(t, f)
	s.holdsSet(f, 5, true)
}

// TestFollowSecret checks that a filter with a keyed hash is followed without its secret, and opened with it.
func TestFollowSecret(t *testing.T) {
	secret := filter.NewSecret()
	s := newSite(t)
	set, err := bloomery.Build(t.Context(), slices.Values([]string{"a", "b"}),
		bloomery.Config{Spec: "standard(fpr=0.01)", Hashing: bloomery.Hashing{Secret: secret}})
	must(t, err)
	content := encoded(t, set)
	s.publish(content)
	f := s.follower(s.dir)
	mustPoll(t, f)
	holds(t, f, content)
	keys := WithKeys(s.keys[0].Public())
	if _, err := Follow(t.Context(), s.dir, f.file, keys); !errors.Is(err, filter.ErrNoSecret) {
		t.Errorf("without the secret: %v", err)
	}
	live, err := Follow(t.Context(), s.dir, f.file, keys, WithOpen(bloomery.WithSecret(secret)))
	if err != nil || !live.ContainsString("a") {
		t.Fatal(err)
	}
	if err := live.Close(); err != nil {
		t.Error(err)
	}
}
