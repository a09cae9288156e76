//go:build unix

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/internal/patch"
	"github.com/bloomery/bloomery/publish"
	"github.com/bloomery/bloomery/shard"
)

// versions builds n versions of a filter of the given number of bytes, or of a sharded set if shards is true, and
// returns their paths.
func versions(t *testing.T, dir string, n, bytes int, shards bool) (files []string) {
	t.Helper()
	for v := range n {
		path := filepath.Join(dir, fmt.Sprint("version-", v))
		args := []string{"build", "-o", path, "--spec", fmt.Sprintf("standard(bytes=%d)", bytes)}
		if shards {
			args = append(args, "--shards", "8")
		}
		keys := trialKeys("key", 3000) + trialKeys(fmt.Sprint("new-", v), 20)
		mustProgram(t, keys, args...)
		files = append(files, path)
	}
	return files
}

// blob is an object of a published folder.
type blob struct {
	SHA256 shard.Sum `json:"sha256"`
	Bytes  uint64    `json:"bytes"`
}

// current is the content of a release.json: see docs/format/release.md.
type current struct {
	publish.Release
	Previous *struct {
		SHA256 shard.Sum `json:"sha256"`
		Delta  *blob     `json:"delta"`
	} `json:"previous"`
	History *blob `json:"history"`
}

func (r *current) blob() blob { return blob{r.SHA256, r.Bytes} }

// olderRelease is an entry of a history.
type olderRelease struct {
	blob
	Delta *blob `json:"delta"`
}

func parseHistory(b []byte) ([]olderRelease, error) {
	var all struct {
		Releases []olderRelease `json:"releases"`
	}
	err := json.Unmarshal(b, &all)
	return all.Releases, err
}

// shelf is a reader of the folder of a publisher.
type shelf struct {
	dir string
	key publish.PublicKey
}

// object returns an object. It checks length and hash.
func (s shelf) object(o blob) ([]byte, error) {
	b, err := os.ReadFile(filepath.Join(s.dir, publish.ObjectsName, o.SHA256.String()))
	if err == nil && (uint64(len(b)) != o.Bytes || shard.Sum(sha256.Sum256(b)) != o.SHA256) {
		err = fmt.Errorf("object %s has %d bytes and another hash", o.SHA256, len(b))
	}
	return b, err
}

// files returns the manifest and the shards of a set.
func (s shelf) files(o blob) (patch.Version, *shard.Manifest, error) {
	b, err := s.object(o)
	if err != nil {
		return patch.Version{}, nil, err
	}
	m, err := shard.ReadManifest(bytes.NewReader(b))
	return patch.Version{File: b, Shard: func(i int) ([]byte, error) {
		return s.object(blob{SHA256: m.Shards[i].SHA256, Bytes: m.Shards[i].Bytes})
	}}, m, err
}

// open opens a release completely.
func (s shelf) open(r *current) error {
	if r.Kind == publish.File {
		b, err := s.object(r.blob())
		if err == nil {
			_, err = bloomery.FromBytes(b)
		}
		return err
	}
	set, m, err := s.files(r.blob())
	if err != nil {
		return err
	}
	for i := range m.Shards {
		b, err := set.Shard(i)
		if err == nil {
			_, err = bloomery.FromBytes(b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// patch applies the delta from the release before.
func (s shelf) patch(r *current, old blob) error {
	ctx := context.Background()
	d, err := s.object(*r.Previous.Delta)
	if err != nil {
		return err
	}
	var was patch.Version
	if r.Kind == publish.File {
		was.File, err = s.object(old)
	} else {
		was, _, err = s.files(old)
	}
	if err != nil {
		return err
	}
	got, err := patch.Patch(ctx, was, d, 0, func(string, []byte) error { return nil })
	if err != nil {
		return err
	}
	if shard.Sum(sha256.Sum256(got)) != r.SHA256 {
		return errors.New("the delta gives another filter")
	}
	return nil
}

// read reads the current release like a new follower, and like a follower that has the release before.
func (s shelf) read() (*current, error) {
	raw, err := os.ReadFile(filepath.Join(s.dir, publish.ReleaseName))
	if err != nil {
		return nil, err
	}
	if _, err := publish.Verify(raw, s.key); err != nil {
		return nil, err
	}
	if _, err := publish.ParseRelease(raw); err != nil {
		return nil, err
	}
	r := new(current)
	if err := json.Unmarshal(raw, r); err != nil {
		return nil, err
	}
	if err := s.open(r); err != nil || r.Previous == nil {
		return r, err
	}
	b, err := s.object(*r.History)
	if err != nil {
		return r, err
	}
	h, err := parseHistory(b)
	switch {
	case err != nil:
		return r, err
	case r.Previous.Delta == nil || h[0].SHA256 != r.Previous.SHA256:
		return r, fmt.Errorf("release %d has no delta from the one before", r.Number)
	}
	return r, s.patch(r, h[0].blob)
}

// named adds the names of all objects of the current release.
func (s shelf) named(t *testing.T, names map[string]bool) {
	t.Helper()
	r, err := s.read()
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	must(t, err)
	content := func(o blob) {
		names[o.SHA256.String()] = true
		if r.Kind == publish.Set {
			_, m, err := s.files(o)
			must(t, err)
			for _, e := range m.Shards {
				names[e.SHA256.String()] = true
			}
		}
	}
	content(r.blob())
	if r.History == nil {
		return
	}
	names[r.History.SHA256.String()] = true
	b, err := s.object(*r.History)
	must(t, err)
	h, err := parseHistory(b)
	must(t, err)
	for _, step := range h {
		content(step.blob)
		if step.Delta != nil {
			names[step.Delta.SHA256.String()] = true
		}
	}
}

// signedLast returns the highest number in the state file of a key that signs one list.
func signedLast(t *testing.T, key string) uint64 {
	t.Helper()
	b := mustRead(t, key+publish.StateSuffix)
	var s struct{ Lists []struct{ Release uint64 } }
	if err := json.Unmarshal(b, &s); err != nil || len(s.Lists) != 1 {
		t.Fatalf("%v: %s", err, b)
	}
	return s.Lists[0].Release
}

// TestTrialPublishKills kills the publisher at random moments. Afterwards a reader must find the complete and signed
// old or new release, no number may be used for two contents, and the next publisher must continue with the next number
// that was never signed and leave only the objects of the new release and the one before.
func TestTrialPublishKills(t *testing.T) {
	wantKills := 10
	if *long {
		wantKills = 250
	}
	for what, shards := range map[string]bool{"file": false, "set": true} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			files := versions(t, dir, 7, 100_000, shards)
			key := filepath.Join(dir, "key")
			public, err := publish.CreateKey(t.Context(), key)
			must(t, err)
			s := shelf{filepath.Join(dir, "site"), public}
			run := func(v int) *exec.Cmd {
				return program("", "publish", s.dir, files[v%len(files)], "--sign", key, "--keep", "4")
			}
			publishOne := func(v int) time.Duration {
				t.Helper()
				start := time.Now()
				if out, err := run(v).CombinedOutput(); err != nil {
					t.Fatalf("%v, %s", err, out)
				}
				return time.Since(start)
			}
			for v := range len(files) - 1 {
				publishOne(v)
			}
			took := publishOne(len(files) - 1)
			kills, replaced, left, round, gaps := 0, 0, 0, 0, 0
			contents := map[uint64]shard.Sum{}
			see := func(r *current) {
				if was, ok := contents[r.Number]; ok && was != r.SHA256 {
					t.Fatalf("release %d has two contents", r.Number)
				}
				contents[r.Number] = r.SHA256
			}
			for ; kills < wantKills; round++ { // some rounds end before the kill
				before, err := s.read()
				must(t, err)
				if killed(t, run(2*round+7), took, false) {
					kills++
				}
				now, err := s.read()
				if err != nil || now.Number != before.Number && now.Number != before.Number+1 ||
					now.Number == before.Number && now.SHA256 != before.SHA256 {
					t.Fatalf("kill %d: %v, release %d after %d", round, err, now.Number, before.Number)
				}
				see(now)
				signed := signedLast(t, key)
				if signed < now.Number || signed > before.Number+1 {
					t.Fatalf("kill %d: release %d, and %d was signed", round, now.Number, signed)
				}
				if signed > now.Number {
					gaps++
				}
				names := map[string]bool{}
				s.named(t, names)
				objects := entriesOf(t, filepath.Join(s.dir, publish.ObjectsName))
				if now.Number != before.Number {
					replaced++
				}
				for _, name := range append(objects, entriesOf(t, s.dir)...) {
					if strings.Contains(name, ".tmp-") {
						left++
					}
				}
				publishOne(2*round + 8)
				after, err := s.read()
				if err != nil || after.Number != signed+1 || signedLast(t, key) != after.Number {
					t.Fatalf("after kill %d: %v, release %d after %d", round, err, after.Number, now.Number)
				}
				see(after)
				s.named(t, names)
				for _, name := range entriesOf(t, filepath.Join(s.dir, publish.ObjectsName)) {
					if !names[name] {
						t.Errorf("after kill %d: %s is still there", round, name)
					}
				}
				if all := entriesOf(t, s.dir); len(all) != 2 {
					t.Errorf("after kill %d: %q", round, all)
				}
			}
			if all := entriesOf(t, dir); slices.ContainsFunc(all, func(name string) bool {
				return strings.Contains(name, ".tmp-")
			}) {
				t.Errorf("beside the key: %q", all)
			}
			t.Logf("%d kills in %d rounds; %d times the release was the new one, %d times a number was signed and not "+
				"used; %d temporary files, none after the next publisher", kills, round, replaced, gaps, left)
		})
	}
}

// TestTrialPublishFirstKills kills publishers before and after the first release of a folder. The next publisher must
// continue with the number after the last signed one.
func TestTrialPublishFirstKills(t *testing.T) {
	wantKills := 4
	if *long {
		wantKills = 100
	}
	dir := t.TempDir()
	files := versions(t, dir, 2, 100_000, true)
	key := filepath.Join(dir, "key")
	public, err := publish.CreateKey(t.Context(), key)
	must(t, err)
	took, kills, begun := 100*time.Millisecond, 0, 0
	for round := 0; kills < wantKills; round++ {
		s := shelf{filepath.Join(dir, fmt.Sprint("site", round)), public}
		must(t, os.RemoveAll(key+publish.StateSuffix))
		if killed(t, program("", "publish", s.dir, files[0], "--sign", key), took, false) {
			kills++
		}
		first, err := s.read()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(s.dir, publish.ObjectsName)); err == nil && first == nil {
			begun++
		}
		start := time.Now()
		mustProgram(t, "", "publish", s.dir, files[1], "--sign", key)
		took = time.Since(start)
		next, err := s.read()
		switch {
		case err != nil || next.Number > 2 || first != nil && next.Number != first.Number+1:
			t.Fatalf("after kill %d: %v, %+v after %+v", round, err, next, first)
		case signedLast(t, key) != next.Number:
			t.Fatalf("after kill %d: release %d, and %d was signed", round, next.Number, signedLast(t, key))
		}
	}
	t.Logf("%d kills, %d of them before the first release", kills, begun)
}

// TestTrialPublishRaces runs several publishers on one folder at once while a reader reads it, and checks that every
// release is complete and that the numbers have no gaps.
func TestTrialPublishRaces(t *testing.T) {
	rounds := 2
	if *long {
		rounds = 20
	}
	const writers = 4
	dir := t.TempDir()
	files := versions(t, dir, writers, 300_000, false)
	key := filepath.Join(dir, "key")
	public, err := publish.CreateKey(t.Context(), key)
	must(t, err)
	s := shelf{filepath.Join(dir, "site"), public}
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for range rounds {
				if out, err := program("", "publish", s.dir, files[w], "--sign", key).CombinedOutput(); err != nil {
					t.Errorf("%v, %s", err, out)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	reads, last := 0, uint64(0)
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		r, err := s.read()
		switch {
		case errors.Is(err, fs.ErrNotExist): // not yet there, or replaced since release.json was read
		case err != nil || r.Number < last:
			t.Fatalf("%v, release %d after %d", err, r.Number, last)
		default:
			reads, last = reads+1, r.Number
		}
	}
	if _, err := publish.Check(t.Context(), s.dir, []publish.PublicKey{public}, nil); err != nil {
		t.Error(err)
	}
	if r, err := s.read(); err != nil || r.Number < writers || r.Number > uint64(writers*rounds) {
		t.Errorf("%v, %+v", err, r)
	}
	t.Logf("%d publishers, %d releases, %d complete reads", writers, last, reads)
}

// TestTrialPublishLimit limits the size of the files that the publisher can write. It checks that the exit code is 2,
// that the message names a file in the folder, and that only the old release remains.
func TestTrialPublishLimit(t *testing.T) {
	dir := t.TempDir()
	files := versions(t, dir, 2, 300_000, false)
	site := filepath.Join(dir, "site")
	mustProgram(t, "", "publish", site, files[0])
	for _, args := range [][]string{{"publish", site, files[1]}, {"publish", site, files[0], "--renew"}} {
		for _, limit := range []int{0, 10, 200, 299999} {
			if len(args) == 4 && limit > 200 {
				continue // release.json is smaller
			}
			before := treeOf(t, site)
			out, err := limited(t, limit, change{args, ""})
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != exitError || !strings.Contains(out, site) ||
				strings.Contains(out, "tmp-") {
				t.Errorf("%q with %d bytes: %v, %s", args, limit, err, out)
			}
			if now := treeOf(t, site); !maps.Equal(now, before) {
				t.Errorf("%q with %d bytes: %s, want %s", args, limit, now, before)
			}
		}
	}
}
