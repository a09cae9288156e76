package main

import (
	"bufio"
	"bytes"
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

// followed are the specs of the filters that are published, one for each kind of delta: cells that go and come in both
// forms, counters, changed bits, changed bits of blocks, and searched families.
var followed = []string{
	"rankindexed", "rankindexed trimmed", "counting", "standard", "blocked", "partitioned", "blockpartitioned", "fuse",
}

// TestFollowersAgree publishes releases of several families. After each one the followers in Go, of the command and in
// JavaScript must have the bytes that were published; they must have loaded deltas. The JavaScript follower skips
// releases, so that it needs the history.
func TestFollowersAgree(t *testing.T) {
	g, err := newGoCommand(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	key, err := publish.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range followed {
		t.Run(spec, func(t *testing.T) {
			dir := t.TempDir()
			site := httptest.NewServer(http.FileServer(http.Dir(filepath.Join(dir, "site"))))
			defer site.Close()
			f := &followers{
				t: t, command: g.path, key: key, url: site.URL + "/list", dir: dir, file: filepath.Join(dir, "filter"),
			}
			f.start()
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

// followers follow a publisher in three ways.
type followers struct {
	t                       *testing.T
	command, url, dir, file string
	key                     publish.PrivateKey
	inGo                    *publish.Follower
	in                      io.Writer // of the JavaScript follower
	out                     *bufio.Reader
}

// start starts the follower in JavaScript.
func (f *followers) start() {
	script := filepath.Join("..", "js", "test", "followers.mjs")
	c := exec.CommandContext(f.t.Context(), "node", script, f.url, f.key.Public().String(), f.path("js"))
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

// publish builds and publishes a release. Each one has 40 keys that the one before did not have, and not 40 others.
func (f *followers) publish(spec string, release int) {
	f.t.Helper()
	family, form, _ := strings.Cut(spec, " ")
	c := bloomery.Config{Spec: family, FPRChosen: 0.01}
	if release > 0 {
		old, err := bloomery.Open(f.path("first"))
		f.must(err)
		defer old.Close()
		c = bloomery.Config{Like: old}
	}
	b, err := bloomery.NewBuilder(c)
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
	_, err = publish.Publish(f.t.Context(), f.path("site/list"), f.file, publish.Options{
		Sign: []publish.PrivateKey{f.key}, Trim: form != "",
	})
	f.must(err)
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
	args := []string{"follow", f.url, "-o", f.path("command"), "--once", "--key", f.key.Public().String()}
	if out, err := exec.CommandContext(f.t.Context(), f.command, args...).CombinedOutput(); err != nil {
		f.t.Fatalf("%v: %s", err, out)
	}
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
