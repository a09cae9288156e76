//go:build unix

package publish

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/shardset"
	"github.com/bloomery/bloomery/internal/untrusted"
	"github.com/bloomery/bloomery/shard"
)

// soon runs f and fails the test if f does not return soon, since opening a pipe without a writer blocks.
func soon(t *testing.T, what string, f func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-time.After(time.Minute):
		t.Fatalf("%s: it waits", what)
		return nil
	}
}

// special creates something other than a regular file at a path.
var special = map[string]func(path string) error{
	"pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
	"device": func(path string) error { return os.Symlink("/dev/zero", path) },
	"folder": func(path string) error { return os.Mkdir(path, 0o700) },
	"sparse": func(path string) error {
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		return errors.Join(f.Truncate(1<<40), f.Close())
	},
}

// TestSpecialFiles checks that Publish and Check return an error at once for pipes, devices, folders and huge files.
func TestSpecialFiles(t *testing.T) {
	src := t.TempDir()
	good, next := build(t, src, 1, 0, bloomery.Config{}), build(t, src, 2, 0, bloomery.Config{})
	for what, make := range special {
		s, dir := newSigner(t, "A"), filepath.Join(t.TempDir(), "list")
		r := mustPublish(t, dir, good, s.Options)
		replaced := func(path string) (repair func()) {
			must(t, os.Rename(path, path+".kept"))
			if err := make(path); err != nil {
				t.Skip(what, ": ", err)
			}
			return func() {
				must(t, errors.Join(os.RemoveAll(path), os.Rename(path+".kept", path)))
			}
		}
		publish := func(file string) func() error {
			return func() error { _, err := Publish(t.Context(), dir, file, s.Options); return err }
		}
		check := func() error { _, err := Check(t.Context(), dir, nil, nil); return err }

		repair := replaced(filepath.Join(dir, ReleaseName))
		for name, f := range map[string]func() error{"publish": publish(next), "same": publish(good), "check": check} {
			err := soon(t, what, f)
			if want := map[bool]error{true: ErrRelease,
				false: untrusted.ErrNotRegular}[what == "sparse"]; !errors.Is(err, want) {
				t.Errorf("release.json is a %s, %s: %v", what, name, err)
			}
		}
		repair()

		file := filepath.Join(t.TempDir(), "file")
		if err := make(file); err != nil {
			t.Skip(what, ": ", err)
		}
		want := map[string]error{"folder": filter.ErrNoManifest, "sparse": filter.ErrMagic}[what]
		if want == nil {
			want = untrusted.ErrNotRegular
		}
		if err := soon(t, what, publish(file)); !errors.Is(err, want) {
			t.Errorf("FILE is a %s: %v", what, err)
		}
		for name, f := range map[string]func() error{
			"private": func() error { _, err := ReadPrivateKey(t.Context(), file); return err },
			"public":  func() error { _, err := ReadPublicKey(t.Context(), file); return err },
		} {
			if err := soon(t, what, f); !errors.Is(err, untrusted.ErrNotRegular) && !errors.Is(err, ErrKey) {
				t.Errorf("a %s key is a %s: %v", name, what, err)
			}
		}

		repair = replaced(s.State[0])
		if err := soon(t, what, publish(next)); !errors.Is(err, ErrKeyState) {
			t.Errorf("the state is a %s: %v", what, err)
		}
		repair()

		repair = replaced(filepath.Join(dir, ObjectsName, r.Release.SHA256.String()))
		if err := soon(t, what, check); !errors.Is(err, ErrObject) {
			t.Errorf("an object is a %s, check: %v", what, err)
		}
		if err := soon(t, what, publish(next)); err != nil { // without a delta
			t.Errorf("an object is a %s: %v", what, err)
		}
		repair()
	}
}

// TestSpecialShards is TestSpecialFiles for the manifest and a shard of FILE.
func TestSpecialShards(t *testing.T) {
	for _, name := range []string{shard.ManifestName, shardset.Name(1, 2, "")} {
		for _, what := range []string{"pipe", "device"} {
			set := build(t, t.TempDir(), 1, 2, bloomery.Config{})
			path := filepath.Join(set, name)
			must(t, os.Remove(path))
			if err := special[what](path); err != nil {
				t.Skip(err)
			}
			err := soon(t, name, func() error {
				_, err := Publish(t.Context(), filepath.Join(t.TempDir(), "x"), set, Options{})
				return err
			})
			if !errors.Is(err, untrusted.ErrNotRegular) {
				t.Errorf("%s is a %s: %v", name, what, err)
			}
		}
	}
}

// TestCancelled checks that the end of the context stops Publish and Check, even in the middle of an object.
func TestCancelled(t *testing.T) {
	dir, file := filepath.Join(t.TempDir(), "list"), build(t, t.TempDir(), 1, 0, bloomery.Config{})
	mustPublish(t, dir, file, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Publish(ctx, dir, file, Options{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := Check(ctx, dir, nil, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestLinks checks that Publish does not replace or remove files through links in the published folder.
func TestLinks(t *testing.T) {
	src := t.TempDir()
	one, two := build(t, src, 1, 0, bloomery.Config{}), build(t, src, 2, 0, bloomery.Config{})
	s := newSigner(t, "A")
	dir, other := filepath.Join(t.TempDir(), "list"), filepath.Join(t.TempDir(), "other")
	mustPublish(t, other, one, Options{})
	mustPublish(t, other, two, Options{})
	kept := names(t, filepath.Join(other, ObjectsName))

	r := mustPublish(t, dir, one, s.Options)
	release, objects := filepath.Join(dir, ReleaseName), filepath.Join(dir, ObjectsName)
	elsewhere := filepath.Join(t.TempDir(), "file")
	write(t, elsewhere, []byte("private"), 0o600)
	for path, target := range map[string]string{release: elsewhere, objects: filepath.Join(other, ObjectsName)} {
		must(t, errors.Join(os.Rename(path, path+".kept"), os.Symlink(target, path)))
		for _, o := range []Options{s.Options, {}, {Sign: s.Sign, Name: "list", Number: 90}} {
			if _, err := Publish(t.Context(), dir, two, o); !errors.Is(err, untrusted.ErrNotRegular) {
				t.Errorf("%s is a link: %v", path, err)
			}
		}
		must(t, errors.Join(os.Remove(path), os.Rename(path+".kept", path)))
	}
	if now := names(t, filepath.Join(other, ObjectsName)); fmt.Sprint(now) != fmt.Sprint(kept) {
		t.Errorf("another list has %q, want %q", now, kept)
	}

	// An object of the next release already exists as a link. The link must be replaced, not its target.
	b := read(t, two)
	link := filepath.Join(objects, shard.Sum(sha256.Sum256(b)).String())
	must(t, os.Symlink(elsewhere, link))
	next := mustPublish(t, dir, two, s.Options)
	if st, err := os.Lstat(link); err != nil || !st.Mode().IsRegular() || next.Release.Number != r.Release.Number+1 {
		t.Errorf("%v, %v", st, err)
	}
	if text, err := os.ReadFile(elsewhere); err != nil || !bytes.Equal(text, []byte("private")) {
		t.Errorf("a file elsewhere has %q, %v", text, err)
	}
}
