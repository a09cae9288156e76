//go:build unix

package publish

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bloomery/bloomery/filter"
)

const strangerID = 12345 // id of a user

// give changes the owner of a file to another user: on disk if run as root, else only as seen by this follower.
func give(t *testing.T, f *Follower, path string) {
	t.Helper()
	if os.Geteuid() == 0 {
		must(t, os.Lchown(path, strangerID, strangerID))
		return
	}
	t.Logf("NOT ROOT: the owner of %s is an assumption of the test, no file is really given away", filepath.Base(path))
	given, err := os.Lstat(path)
	must(t, err)
	real := f.options.guard.owner
	f.options.guard.owner = func(p string, st fs.FileInfo) (owner, bool) {
		o, ok := real(p, st)
		if os.SameFile(st, given) && st.ModTime().Equal(given.ModTime()) { // a new file may have the same inode
			o.uid, o.gid = strangerID, strangerID
		}
		return o, ok
	}
}

// TestForeignFiles checks that state, lock and part files of another user, and links, are refused without WithForeign.
// A part file must be removed where possible. The installed file must be correct in every case.
func TestForeignFiles(t *testing.T) {
	s := newSite(t)
	content := filterOf(t, 1000, 0)
	r := s.publish(content)
	evil := bytes.Repeat([]byte{1}, len(content)/2)
	for _, c := range []struct {
		name   string
		make   func(t *testing.T, f *Follower) (path string)
		mended bool // the file is removed
		allows bool // the poll succeeds with WithForeign
	}{
		{"state", func(t *testing.T, f *Follower) string {
			mustPoll(t, f)
			give(t, f, f.file+stateSuffix)
			return f.file + stateSuffix
		}, false, true},
		{"state that others may write", func(t *testing.T, f *Follower) string {
			mustPoll(t, f)
			return mode(t, f.file+stateSuffix, 0o666)
		}, false, true},
		{"link for the state", func(t *testing.T, f *Follower) string {
			mustPoll(t, f)
			return linked(t, f.file+stateSuffix)
		}, false, false},
		{"lock", func(t *testing.T, f *Follower) string {
			mustPoll(t, f)
			give(t, f, f.file+lockSuffix)
			return f.file + lockSuffix
		}, false, true},
		{"link for the lock", func(t *testing.T, f *Follower) string {
			mustPoll(t, f)
			return linked(t, f.file+lockSuffix)
		}, false, false},
		{"part", func(t *testing.T, f *Follower) string {
			path := write(t, f.partOf(r.SHA256), evil, 0o600)
			give(t, f, path)
			return path
		}, true, true},
		{"part that others may write", func(t *testing.T, f *Follower) string {
			return mode(t, write(t, f.partOf(r.SHA256), evil, 0o600), 0o622)
		}, true, true},
		{"link for a part", func(t *testing.T, f *Follower) string {
			write(t, f.partOf(r.SHA256), evil, 0o600)
			return linked(t, f.partOf(r.SHA256))
		}, true, true},
		{"part with two names", func(t *testing.T, f *Follower) string {
			path := write(t, f.partOf(r.SHA256), evil, 0o600)
			if err := os.Link(path, filepath.Join(t.TempDir(), "other")); err != nil {
				t.Skip("no hard links here: ", err)
			}
			return path
		}, true, true},
		{"link of another user for the file", func(t *testing.T, f *Follower) string {
			write(t, f.file, content, 0o600)
			give(t, f, linked(t, f.file))
			return f.file
		}, false, true},
		{"folder that all may write", func(t *testing.T, f *Follower) string {
			return mode(t, filepath.Dir(f.file), 0o777)
		}, false, true},
		{"folder that a group may write", func(t *testing.T, f *Follower) string {
			dir := filepath.Dir(f.file)
			real := f.options.guard.owner
			f.options.guard.owner = func(p string, st fs.FileInfo) (owner, bool) {
				o, ok := real(p, st)
				if p == dir {
					o.gid = o.uid + 1
				}
				return o, ok
			}
			return mode(t, dir, 0o775)
		}, false, true},
		{"set of another user in a sticky folder", func(t *testing.T, f *Follower) string {
			mode(t, filepath.Dir(f.file), 0o777|fs.ModeSticky)
			must(t, os.Mkdir(f.file, 0o755))
			give(t, f, f.file)
			return f.file
		}, false, false},
		{"folder of another user", func(t *testing.T, f *Follower) string {
			dir := filepath.Dir(f.file)
			give(t, f, dir)
			f.options.guard.user = strangerID + 1
			return dir
		}, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := s.follower(s.dir)
			path := c.make(t, f)
			_, err := f.Poll(t.Context())
			switch {
			case c.mended && err != nil:
				t.Errorf("not mended: %v", err)
			case !c.mended && (!errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), path)):
				t.Errorf("%v; want an error that names %s", err, path)
			}
			if st, err := os.Lstat(path); c.mended && err == nil {
				t.Errorf("%v is left", st)
			}
			f.options.guard.off = true
			if _, err := f.Poll(t.Context()); (err == nil) != c.allows {
				t.Errorf("with WithForeign: %v", err)
			}
			if c.allows {
				holds(t, f, content)
			}
		})
	}
}

// TestOwnFolders checks that a follower accepts sticky folders and folders of root, that root accepts folders of other
// users, and that the followed file may have any owner.
func TestOwnFolders(t *testing.T) {
	s := newSite(t)
	first, second := filterOf(t, 1000, 0), filterOf(t, 1000, 1)
	for name, c := range map[string]func(f *Follower){
		"sticky": func(f *Follower) { mode(t, filepath.Dir(f.file), 0o777|fs.ModeSticky) },
		"file of another": func(f *Follower) {
			write(t, f.file, first, 0o666)
			give(t, f, f.file)
		},
		"folder of another, as root": func(f *Follower) {
			if f.options.guard.user == 0 {
				give(t, f, filepath.Dir(f.file))
				return
			}
			t.Log("NOT ROOT: only root may follow into folders of others")
		},
		"group of the user": func(f *Follower) {
			dir := mode(t, filepath.Dir(f.file), 0o775)
			real := f.options.guard.owner
			f.options.guard.owner = func(p string, st fs.FileInfo) (owner, bool) {
				o, ok := real(p, st)
				if p == dir {
					o.gid = o.uid
				}
				return o, ok
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := s.follower(s.dir)
			c(f)
			for _, content := range [][]byte{first, second} {
				s.publish(content)
				mustPoll(t, f)
				holds(t, f, content)
			}
		})
	}
}

// TestUmask checks that with umask 0, a follower does not create files that it would refuse at the next poll.
func TestUmask(t *testing.T) {
	s := newSite(t)
	f := s.follower(s.dir)
	was := syscall.Umask(0)
	defer syscall.Umask(was)
	for version := range 3 {
		content := filterOf(t, 1000, version)
		s.publish(content)
		mustPoll(t, f)
		holds(t, f, content)
	}
	for name, want := range map[string]fs.FileMode{stateSuffix: 0o644, lockSuffix: 0o600} {
		if st, err := os.Stat(f.file + name); err != nil || st.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", name, st.Mode(), err)
		}
	}
}

// TestPartChanges checks that a part file that is changed after its check is not installed and is loaded again at the
// next poll, and that a part file that cannot be removed is an error, not an endless loop.
func TestPartChanges(t *testing.T) {
	s := newSite(t)
	first, second := filterOf(t, 1000, 0), filterOf(t, 1000, 1)
	f := s.follower(s.dir)
	s.publish(first)
	mustPoll(t, f)
	r := s.publish(second)
	p := &poll{Follower: f, release: r,
		pace: newPace(time.Minute, 0, func(error) {})}
	path, err := p.download(t.Context(), r.object())
	must(t, err)
	write(t, path, filterOf(t, 1000, 9), 0o600) // also a filter, of the same length
	if p.was, err = f.readState(t.Context(), f.file); err != nil {
		t.Fatal(err)
	}
	p.next = p.was
	if err := p.releaseKind().install(t.Context(), p, loaded{part: path}); !errors.Is(err, ErrObject) {
		t.Error(err)
	}
	holds(t, f, first)
	mustPoll(t, f)
	holds(t, f, second)

	third := filterOf(t, 1000, 2)
	r = s.publish(third)
	s.spoil(r.SHA256, 999)
	part := write(t, f.partOf(r.SHA256), third[:100], 0o600)
	out, err := os.OpenFile(part, os.O_RDONLY, 0) // read-only, like a failing file system
	must(t, err)
	defer out.Close()
	p = &poll{Follower: f, release: r, pace: p.pace}
	if _, err := p.fillPart(t.Context(), out, r.object()); err == nil {
		t.Error("filled a file that cannot be written")
	}
	pollFails(t, f, ErrObject)
	if _, err := os.Lstat(part); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the part is left: %v", err)
	}
	s.swap(r.SHA256, third)
	mustPoll(t, f)
	holds(t, f, third)
}

// TestStuckParts checks that a damaged part in a folder from which nothing can be removed is an error, not an endless
// loop.
func TestStuckParts(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("ROOT: it can remove every file, so that this is tested for other users only")
	}
	s := newSite(t)
	content := filterOf(t, 1000, 0)
	r := s.publish(content)
	f := s.follower(s.dir)
	write(t, f.partOf(r.SHA256), bytes.Repeat([]byte{1}, 100), 0o600)
	write(t, f.file+lockSuffix, nil, 0o600)
	s.spoil(r.SHA256, 99)
	dir := filepath.Dir(f.file)
	mode(t, dir, 0o500)
	defer mode(t, dir, 0o700)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if _, err := f.Poll(ctx); !errors.Is(err, ErrObject) || ctx.Err() != nil {
		t.Errorf("damaged: %v", err)
	}
	give(t, f, f.partOf(r.SHA256))
	if _, err := f.Poll(ctx); !errors.Is(err, ErrForeign) || ctx.Err() != nil {
		t.Errorf("of another user: %v", err)
	}
}

// mode changes the permissions of a file and returns its path.
func mode(t *testing.T, path string, m fs.FileMode) string {
	t.Helper()
	must(t, os.Chmod(path, m))
	return path
}

// linked moves a file away, leaves a symbolic link to it, and returns its path.
func linked(t *testing.T, path string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), filepath.Base(path))
	must(t, errors.Join(os.Rename(path, to), os.Symlink(to, path)))
	return path
}

// TestLinksDuringPoll checks that links that another user creates during a download are not followed.
func TestLinksDuringPoll(t *testing.T) {
	s := newSite(t)
	web := s.serve()
	content := filterOf(t, 1000, 0)
	s.publish(content)
	f := s.follower(web.URL)
	victims := []string{filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "two")}
	made := 0
	web.hook(at(objectPath, func(w http.ResponseWriter, _ *http.Request) {
		for i, path := range []string{f.file, f.file + stateSuffix} {
			write(t, victims[i], content, 0o600)
			if err := os.Symlink(victims[i], path); err != nil {
				t.Error(err)
			}
		}
		made++
		_, _ = w.Write(content)
	}))
	if _, err := f.Poll(t.Context()); !errors.Is(err, filter.ErrChanged) || made != 1 {
		t.Errorf("%v, %d times", err, made)
	}
	for _, path := range victims {
		if b, err := os.ReadFile(path); err != nil || !bytes.Equal(b, content) {
			t.Errorf("%s has %d bytes: %v", path, len(b), err)
		}
	}
	if st, err := os.Lstat(f.file + stateSuffix); err != nil || !st.Mode().IsRegular() {
		t.Errorf("the state: %v, %v", st, err)
	}
}

// TestDamagedState checks that the error for a damaged or truncated state gives advice.
func TestDamagedState(t *testing.T) {
	s := newSite(t)
	s.publish(filterOf(t, 1000, 0))
	f := s.follower(s.dir)
	mustPoll(t, f)
	good := read(t, f.file+stateSuffix)
	for what, bad := range map[string][]byte{
		"empty": nil, "cut": good[:len(good)/2], "zeros": make([]byte, len(good)),
		"changed": bytes.Replace(good, []byte(`"release":1`), []byte(`"release":2`), 1),
		"version": []byte(`{"format":"bloomery-follow","version":2}`), "large": make([]byte, maxState+1),
	} {
		write(t, f.file+stateSuffix, bad, 0o600)
		_, err := f.Poll(t.Context())
		if !errors.Is(err, ErrState) || !strings.Contains(err.Error(), f.file+stateSuffix) ||
			!strings.Contains(err.Error(), "restore it from a copy, or remove it") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", what, err)
		}
	}
	must(t, os.Remove(f.file+stateSuffix))
	mustPoll(t, f)
}

// TestFollowTwoNames checks that followers of one file under two names share a state, so that numbers seen by one also
// apply to the other.
func TestFollowTwoNames(t *testing.T) {
	s := newSite(t)
	s.publish(filterOf(t, 1000, 0))
	s.publish(filterOf(t, 1000, 1))
	f := s.follower(s.dir)
	mustPoll(t, f)
	link := filepath.Join(t.TempDir(), "link.bloom")
	must(t, os.Symlink(f.file, link))
	other := newFollower(t, s.dir, link, WithKeys(s.keys[0].Public()))
	if e, ok := mustPoll(t, other).is(Unchanged); !ok {
		t.Error(e)
	}
	old := s.publish(filterOf(t, 1000, 2)) // an older release with other content
	old.Number, old.Previous = 1, nil
	s.write(old)
	pollFails(t, other, ErrOlder)
	if names := around(t, other); len(names) != 1 {
		t.Errorf("beside the link: %q", names)
	}
}
