package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/publish"
)

// followed lists the specs of the published filters, one for each kind of delta: removed and added cells in both forms,
// counters, changed bits, changed bits of blocks, and searched families.
var followed = []string{
	"rankindexed", "rankindexed trimmed", "counting", "standard", "blocked", "partitioned", "blockpartitioned", "fuse",
}

// TestFollowersAgree publishes releases of several families. After each release, the followers in Go, of the command
// and in JavaScript must have the published bytes and have loaded a delta. The JavaScript follower skips releases, so
// that it needs the history.
func TestFollowersAgree(t *testing.T) {
	command, key := commandAndKey(t)
	for _, spec := range followed {
		t.Run(spec, func(t *testing.T) {
			f := newFollowers(t, command, key, nil)
			deltas := 0
			for release := range 6 {
				f.publish(spec, release)
				f.pollGo()
				f.pollCommand()
				if release%2 == 1 {
					continue
				}
				if f.pollJS() == "delta" {
					deltas++
				}
			}
			if deltas < 2 && spec != "fuse" {
				t.Errorf("%d deltas in JavaScript", deltas)
			}
		})
	}
}

// TestExactFollowersAgree publishes an exact set on 31 days, on all except the first day with an update. The members on
// a day are keys [3*day, 3*day+100) of 2,000. After the first day the JavaScript follower must load deltas. It does not
// poll on every third day.
func TestExactFollowersAgree(t *testing.T) {
	command, key := commandAndKey(t)
	f := newFollowers(t, command, key, []string{"exact"})
	f.must(os.WriteFile(f.path("universe"), lines(0, 2000), 0o600))
	for day := range 31 {
		f.must(os.WriteFile(f.path("members"), lines(3*day, 3*day+100), 0o600))
		args := []string{"exact", "build"}
		if day > 0 {
			args = []string{"exact", "update", "--base", f.file}
		}
		f.run(append(args, "-o", f.file, "--members", f.path("members"), "--universe", f.path("universe"))...)
		f.publishFile(publish.Options{})
		f.pollGo()
		f.pollCommand()
		if day%3 == 2 {
			continue
		}
		want := "delta"
		if day == 0 {
			want = "whole"
		}
		if how := f.pollJS(); how != want {
			t.Errorf("day %d: %s in JavaScript", day, how)
		}
	}
}

// commandAndKey builds the Go command, and returns its path and a new key.
func commandAndKey(t *testing.T) (string, publish.PrivateKey) {
	t.Helper()
	g, err := newGoCommand(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	key, err := publish.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return g.path, key
}

// lines returns the keys from first to end-1, one per line.
func lines(first, end int) (b []byte) {
	for i := first; i < end; i++ {
		b = fmt.Appendf(b, "key %d\n", i)
	}
	return b
}

// followers follow a publisher in three ways.
type followers struct {
	t                       *testing.T
	command, url, dir, file string
	key                     publish.PrivateKey
	inGo                    *publish.Follower
	in                      io.Writer // input of the JavaScript follower
	out                     *bufio.Reader
}

// newFollowers returns the followers of a publisher that has no release yet. js holds additional arguments for
// followers.mjs.
func newFollowers(t *testing.T, command string, key publish.PrivateKey, js []string) *followers {
	t.Helper()
	dir := t.TempDir()
	site := httptest.NewServer(http.FileServer(http.Dir(filepath.Join(dir, "site"))))
	t.Cleanup(site.Close)
	f := &followers{
		t: t, command: command, key: key, url: site.URL + "/list", dir: dir, file: filepath.Join(dir, "filter"),
	}
	f.start(js)
	return f
}

// start starts the follower in JavaScript.
func (f *followers) start(js []string) {
	script := filepath.Join("..", "..", "js", "test", "followers.mjs")
	args := append([]string{script, f.url, f.key.Public().String(), f.path("js")}, js...)
	c := exec.CommandContext(f.t.Context(), "node", args...)
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	f.must(err)
	out, err := c.StdoutPipe()
	f.must(err)
	f.must(c.Start())
	f.t.Cleanup(func() {
		_ = in.Close()
		if err := c.Wait(); err != nil && f.t.Context().Err() == nil {
			f.t.Error(err)
		}
	})
	f.in, f.out = in, bufio.NewReader(out)
}

func (f *followers) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *followers) path(name string) string { return filepath.Join(f.dir, name) }

// publish builds and publishes a release. Each release replaces 40 keys of the one before.
func (f *followers) publish(spec string, release int) {
	f.t.Helper()
	family, form, _ := strings.Cut(spec, " ")
	c := bloomery.Config{Spec: family, FPR: 0.01}
	if release > 0 {
		old, err := bloomery.Open(context.Background(), f.path("first"))
		f.must(err)
		defer old.Close()
		c = bloomery.Config{Like: bloomery.Like{Set: old}}
	}
	b, err := bloomery.NewBuilder(context.Background(), c)
	f.must(err)
	for i := range 5000 {
		f.must(b.AddString(fmt.Sprintf("key %d", 40*release+i)))
	}
	set, err := b.Build(f.t.Context())
	f.must(err)
	if release == 0 {
		f.must(set.Save(f.t.Context(), f.path("first")))
	}
	f.must(set.Save(f.t.Context(), f.file))
	f.publishFile(publish.Options{Trim: form != ""})
}

// publishFile publishes the file as the next release.
func (f *followers) publishFile(o publish.Options) {
	f.t.Helper()
	o.Sign = []publish.PrivateKey{f.key}
	_, err := publish.Publish(f.t.Context(), f.path("site/list"), f.file, o)
	f.must(err)
}

// run runs the Go command.
func (f *followers) run(args ...string) {
	f.t.Helper()
	if out, err := exec.CommandContext(f.t.Context(), f.command, args...).CombinedOutput(); err != nil {
		f.t.Fatalf("%v: %s", err, out)
	}
}

// same compares the file of a follower with what was published.
func (f *followers) same(name string) {
	f.t.Helper()
	r, err := os.ReadFile(f.path("site/list/release.json"))
	f.must(err)
	release, err := publish.ParseRelease(r)
	f.must(err)
	want, err := os.ReadFile(f.path("site/list/objects/" + release.SHA256.String()))
	f.must(err)
	got, err := os.ReadFile(f.path(name))
	f.must(err)
	if !bytes.Equal(got, want) {
		f.t.Errorf("release %d: %s has other bytes than those published", release.Number, name)
	}
}

func (f *followers) pollGo() {
	f.t.Helper()
	if f.inGo == nil {
		var err error
		f.inGo, err = publish.NewFollower(f.url, f.path("go"), publish.WithKeys(f.key.Public()))
		f.must(err)
	}
	_, err := f.inGo.Poll(f.t.Context())
	f.must(err)
	f.same("go")
}

func (f *followers) pollCommand() {
	f.t.Helper()
	f.run("follow", f.url, "-o", f.path("command"), "--once", "--key", f.key.Public().String())
	f.same("command")
}

// pollJS returns how the filter was loaded: delta, whole or same.
func (f *followers) pollJS() string {
	f.t.Helper()
	_, err := io.WriteString(f.in, "poll\n")
	f.must(err)
	how, err := f.out.ReadString('\n')
	f.must(err)
	f.same("js")
	return strings.TrimSpace(how)
}
