//go:build unix

package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/bloomery/bloomery/internal/filtertest"
)

// namedFile is a file that a command opens by its name and replaces, or locks.
type namedFile struct {
	setup []string // lines before
	line  string
	path  string
	kind  string // state: written only by us; filter; or lock: has no content
}

var namedFiles = []namedFile{
	{[]string{"bloomery dedup --state seen log.txt"}, "bloomery dedup --state seen names.txt", "seen", "state"},
	{[]string{"bloomery dedup --ttl 1h --keys 1k --state seen log.txt"},
		"bloomery dedup --ttl 1h --keys 1k --state seen names.txt", "seen", "state"},
	{nil, "bloomery dedup --state seen names.txt", "seen.lock", "lock"},
	{publishSigned, "bloomery publish site list --sign k", "k.state", "state"},
	{publishSigned, "bloomery publish site list --sign k", "k.state.lock", "lock"},
	{publishSigned, "bloomery publish site list --sign k", "k", "state"},
	{publishSigned, "bloomery publish site list --sign k", "site/release.json", "state"},
	{followOnce, "bloomery follow ./site -o copy --key k.pub --once", "copy.follow", "state"},
	{followOnce, "bloomery follow ./site -o copy --key k.pub --once", "copy.follow.lock", "lock"},
	{followOnce, "bloomery follow ./site -o copy --key k.pub --once", "copy", "filter"},
	{[]string{rankindexed}, "bloomery add list names.txt", "list", "filter"},
	{[]string{rankindexed}, "bloomery remove list log.txt", "list", "filter"},
	{[]string{rankindexed, "bloomery add list names.txt"}, "bloomery trim list", "list", "filter"},
	{[]string{rankindexed + " --value-bits 4"}, "bloomery put list values.tsv", "list", "filter"},
	{[]string{rankindexed}, "bloomery build -o list names.txt", "list", "filter"},
	{[]string{rankindexed, "bloomery build -o next --like list names.txt", "bloomery diff list next -o delta"},
		"bloomery patch list delta -o list", "list", "filter"},
	{[]string{"bloomery build -o list --spec 'partitioned(later=300)' log.txt", "bloomery add list names.txt"},
		"bloomery optimize list --keys log.txt --keys names.txt", "list", "filter"},
	{[]string{"bloomery build --shards 2 -o set --spec blocked log.txt"}, "bloomery add set names.txt",
		"set/manifest.json", "filter"},
}

const rankindexed = "bloomery build -o list --spec rankindexed --capacity 1k log.txt"

var publishSigned = []string{rankindexed, "bloomery keygen -o k", "bloomery publish site list --sign k",
	"bloomery add list names.txt"}

var followOnce = append(publishSigned[:3:3], "bloomery follow ./site -o copy --key k.pub --once", publishSigned[3],
	"bloomery publish site list --sign k")

// run runs the setup lines, calls change, and runs the line.
func (n namedFile) run(t *testing.T, bin string, change func(dir string)) (dir string, got outcome) {
	t.Helper()
	dir = t.TempDir()
	for name, content := range map[string][]byte{
		"log.txt": keyList(0, 300)(t), "names.txt": keyList(200, 400)(t), "values.tsv": []byte("key-1\t3\nkey-2\t7\n"),
	} {
		mustWrite(t, filepath.Join(dir, name), content)
	}
	for _, line := range n.setup {
		if o := ask(t, bin, dir, line); o.code != exitOK {
			t.Fatalf("%s: exit code %d, %s", line, o.code, o.stderr)
		}
	}
	change(dir)
	return dir, ask(t, bin, dir, n.line)
}

// TestNamedFiles runs commands whose state, lock or filter is a link, a dangling link, a pipe, empty or missing. They
// must not wait, and must not replace or follow files that they did not create.
func TestNamedFiles(t *testing.T) {
	bin := exampleBin(t)
	must := func(t *testing.T, errs ...error) {
		t.Helper()
		for _, err := range errs {
			must(t, err)
		}
	}
	for _, n := range namedFiles {
		t.Run(strings.ReplaceAll(n.line+" "+n.path, "/", "_"), func(t *testing.T) {
			t.Parallel()
			runs := filtertest.Third(t, *long)
			at := func(dir string) string { return filepath.Join(dir, n.path) }
			real := func(dir string) string { return filepath.Join(dir, "real") }

			good, want := n.run(t, bin, func(string) {})
			if want.code != exitOK {
				t.Fatalf("exit code %d, %s", want.code, want.stderr)
			}
			if _, err := os.Lstat(at(good)); n.kind == "lock" && os.IsNotExist(err) {
				t.Fatalf("%s takes no lock called %s", n.line, n.path)
			}
			isLink := func(dir string) bool {
				st, err := os.Lstat(at(dir))
				return err == nil && st.Mode()&os.ModeSymlink != 0
			}

			if runs() {
				dir, got := n.run(t, bin, func(dir string) {
					if n.kind == "lock" {
						must(t, os.WriteFile(real(dir), nil, 0o600), os.RemoveAll(at(dir)))
					} else {
						must(t, os.Rename(at(dir), real(dir)))
					}
					must(t, os.Symlink(real(dir), at(dir)))
				})
				first, _, _ := strings.Cut(want.stdout, "\n") // later lines of publish contain the time
				switch {
				case !isLink(dir):
					t.Error("link: it was replaced")
				case got.code == want.code && !strings.HasPrefix(got.stdout, first):
					t.Errorf("link: printed %q, want %q", got.stdout, want.stdout)
				case got.code != want.code && (got.code != exitError || n.kind == "filter"):
					t.Errorf("link: exit code %d, %s", got.code, got.stderr)
				}
			}

			if runs() {
				dir, got := n.run(t, bin, func(dir string) {
					must(t, os.RemoveAll(at(dir)), os.Symlink(filepath.Join(dir, "nowhere"), at(dir)))
				})
				_, err := os.Lstat(filepath.Join(dir, "nowhere"))
				if !isLink(dir) && n.kind != "filter" {
					t.Error("dangling link: it was replaced")
				} else if n.kind == "lock" && (err == nil || got.code != exitError) {
					t.Errorf("dangling link: exit code %d, followed: %t", got.code, err == nil)
				}
			}

			if runs() {
				dir, got := n.run(t, bin, func(dir string) {
					must(t, os.RemoveAll(at(dir)), syscall.Mkfifo(at(dir), 0o600))
				})
				if st, err := os.Lstat(at(dir)); err != nil || st.Mode()&os.ModeNamedPipe == 0 || got.code != exitError {
					t.Errorf("pipe: exit code %d, %v", got.code, err)
				}
			}

			if runs() {
				_, got := n.run(t, bin, func(dir string) {
					must(t, os.RemoveAll(at(dir)), os.WriteFile(at(dir), nil, 0o600))
				})
				if n.kind == "state" && (got.code != exitError || got.stderr == "") ||
					n.kind == "lock" && got.code != want.code {
					t.Errorf("empty: exit code %d, %s", got.code, got.stderr)
				}
			}

			if runs() {
				_, got := n.run(t, bin, func(dir string) { must(t, os.RemoveAll(at(dir))) })
				if got.code != exitOK && got.code != exitError || n.kind == "lock" && got.code != exitOK {
					t.Errorf("missing: exit code %d, %s", got.code, got.stderr)
				}
			}
		})
	}
}

// TestKeepsAccess checks that a file that is replaced keeps its access control list, its mode and its user attributes.
func TestKeepsAccess(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("POSIX access control lists as attributes are of Linux")
	}
	// Version 2; user::rw-, user 12345:r--, group::---, mask::r--, other::---. The mode is then 0640, and without the
	// list the group of the file could read it.
	list := "\x02\x00\x00\x00" + "\x01\x00\x06\x00\xff\xff\xff\xff" + "\x02\x00\x04\x00\x39\x30\x00\x00" +
		"\x04\x00\x00\x00\xff\xff\xff\xff" + "\x10\x00\x04\x00\xff\xff\xff\xff" + "\x20\x00\x00\x00\xff\xff\xff\xff"
	attributes := map[string]string{"system.posix_acl_access": list, "user.note": "kept"}

	bin := exampleBin(t)
	for _, n := range namedFiles {
		if n.kind == "lock" || n.path == "k" {
			continue
		}
		t.Run(strings.ReplaceAll(n.line+" "+n.path, "/", "_"), func(t *testing.T) {
			t.Parallel()
			before := ""
			dir, got := n.run(t, bin, func(dir string) {
				path := filepath.Join(dir, n.path)
				for name, value := range attributes {
					if err := unix.Setxattr(path, name, []byte(value), 0); err != nil {
						t.Skipf("no %s on this file system: %v", name, err)
					}
				}
				before = treeOf(t, dir)[n.path]
			})
			if got.code != exitOK || got.tree[n.path] == before && n.path != "site/release.json" {
				t.Fatalf("exit code %d, changed: %t, %s", got.code, got.tree[n.path] != before, got.stderr)
			}

			path := filepath.Join(dir, n.path)
			for name, want := range attributes {
				value := make([]byte, 256)
				size, err := unix.Getxattr(path, name, value)
				if err != nil || string(value[:size]) != want {
					t.Errorf("%s: %q, %v", name, value[:max(size, 0)], err)
				}
			}
			if st, err := os.Stat(path); err != nil || st.Mode() != 0o640 {
				t.Errorf("mode %v, %v", st.Mode(), err)
			}
		})
	}
}

// TestStepsKeepModes checks that other users cannot read the shards that the steps of a build write for a set that
// other users cannot read.
func TestStepsKeepModes(t *testing.T) {
	n := namedFile{
		setup: []string{"bloomery build --shards 2 -o set --spec blocked log.txt"},
		line: "bloomery shard plan -o set --shards 2 --spec blocked names.txt && bloomery shard range set --all && " +
			"bloomery shard build set --all && bloomery shard finish set",
	}
	modes := func(dir string, each func(path string) error) {
		all, err := filepath.Glob(filepath.Join(dir, "set", "*"))
		if err != nil || len(all) != 3 {
			t.Fatalf("%q, %v", all, err)
		}
		for _, path := range all {
			if err := each(path); err != nil {
				t.Error(err)
			}
		}
	}
	dir, got := n.run(t, exampleBin(t), func(dir string) {
		modes(dir, func(path string) error { return os.Chmod(path, 0o600) })
	})
	if got.code != exitOK {
		t.Fatalf("exit code %d, %s", got.code, got.stderr)
	}
	modes(dir, func(path string) error {
		st, err := os.Stat(path)
		if err == nil && st.Mode() != 0o600 {
			t.Errorf("%s: %v", path, st.Mode())
		}
		return err
	})
}

// TestOwnInput checks that a command that prints lines refuses an input that is the file to which its output is
// appended, which would grow forever.
func TestOwnInput(t *testing.T) {
	bin := exampleBin(t)
	for _, c := range []struct{ setup, line string }{
		{"bloomery build -o list log.txt", "bloomery check list in"},
		{"bloomery build -o list log.txt", "bloomery check -v list in"},
		{"bloomery build -o list log.txt", "bloomery check --json list in"},
		{"bloomery build -o list --spec rankindexed --counting log.txt", "bloomery count list in"},
		{"bloomery build -o list --spec ribbon --value-bits 4 values.tsv", "bloomery get list in"},
		{"bloomery exact build -o set --members log.txt --universe log.txt", "bloomery exact check set in"},
		{"true", "bloomery dedup in"},
		{"true", "bloomery dedup --state seen in"},
		{"true", "bloomery dedup --repeats in"},
	} {
		for _, form := range []string{c.line + " >> in", strings.TrimSuffix(c.line, " in") + " < in >> in",
			strings.TrimSuffix(c.line, " in") + " ./in >> in", c.line + " 1<> in"} {
			t.Run(strings.ReplaceAll(form, "/", "_"), func(t *testing.T) {
				t.Parallel()
				n := namedFile{setup: []string{c.setup}, line: form}
				before := ""
				_, got := n.run(t, bin, func(dir string) {
					mustWrite(t, filepath.Join(dir, "in"), keyList(100, 200)(t))
					before = treeOf(t, dir)["in"]
				})
				if got.code != exitError || got.tree["in"] != before {
					t.Errorf("exit code %d, changed: %t, %s", got.code, got.tree["in"] != before, got.stderr)
				}
			})
		}
	}
}
