package hashes

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/bloomery/bloomery/filter"
)

// fullFile is a file on a nearly full disk, a file that cannot be read, or a file that cannot be removed before it is
// closed.
type fullFile struct {
	file
	room    int64
	readErr error
	locked  bool
}

func (f *fullFile) Name() string {
	if f.locked {
		return f.file.Name() + " is locked"
	}
	return f.file.Name()
}

func (f *fullFile) Close() error {
	f.locked = false
	return f.file.Close()
}

func (f *fullFile) WriteAt(b []byte, off int64) (int, error) {
	if over := off + int64(len(b)) - f.room; over > 0 {
		n, err := f.file.WriteAt(b[:max(0, int64(len(b))-over)], off)
		return n, errors.Join(err, syscall.ENOSPC)
	}
	return f.file.WriteAt(b, off)
}

func (f *fullFile) ReadAt(b []byte, off int64) (int, error) {
	if f.readErr != nil {
		return 0, f.readErr
	}
	return f.file.ReadAt(b, off)
}

// spilling returns a Sorted with room for a thousand hashes, whose file is f.
func spilling(dir string, f *fullFile) *Sorted {
	k := NewSorted(Config{Memory: 1000 * hashSize, Dir: dir})
	k.runs.create = func(dir string) (file, error) {
		var err error
		f.file, err = createTemp(dir)
		return f, err
	}
	return k
}

func TestDiskFull(t *testing.T) {
	hs := input(10, inputs[0].make, 10_000)
	for _, room := range []int64{0, 1, 15_999, 16_000, 100_000, 159_999} {
		dir := t.TempDir()
		k := spilling(dir, &fullFile{room: room})
		add := k.AddMany(hs)
		_, err := k.Finish(t.Context())
		if room >= 9000*hashSize { // the last run is written by Finish
			if add != nil {
				t.Errorf("room for %d bytes: AddMany: %v", room, add)
			}
		} else if add != err {
			t.Errorf("room for %d bytes: AddMany: %v, then Finish: %v", room, add, err)
		}
		wantError(t, err, "writing keys to "+dir+"; is the disk full?")
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("room for %d bytes: %v does not wrap ENOSPC", room, err)
		}
		for range 2 {
			if again := k.AddMany(hs[:1]); again != err {
				t.Errorf("AddMany: %v", again)
			}
			if each := k.Each(t.Context(), parts["one"], nil); each != err {
				t.Errorf("Each: %v", each)
			}
			if err := k.Close(); err != nil {
				t.Error(err)
			}
			wantFiles(t, dir, 0)
		}
	}
}

func TestNoDir(t *testing.T) {
	k := NewSorted(Config{Memory: 1, Dir: filepath.Join(t.TempDir(), "missing")})
	err := k.AddMany(input(11, inputs[0].make, minRun+1))
	wantError(t, err, "choose another directory")
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v does not wrap ErrNotExist", err)
	}
	wantSpilled(t, k, false)
	if err := k.Close(); err != nil {
		t.Error(err)
	}
}

// TestReadBack makes reads fail in Finish and in Each, at the first and at later reads.
func TestReadBack(t *testing.T) {
	hs := input(12, inputs[0].make, 10_000)
	f := &fullFile{room: 1 << 30}
	k := spilling(t.TempDir(), f)
	check(t, k.AddMany(hs))
	if _, err := k.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	bad := errors.New("bad sector")
	f.readErr = bad
	err := k.Each(t.Context(), parts["one"], nil)
	wantError(t, err, "reading keys back")
	f.readErr = nil
	err = k.Each(t.Context(), parts["many"], func(uint64, []filter.Hash) error {
		f.readErr = bad
		return nil
	})
	if !errors.Is(err, bad) {
		t.Errorf("Each: %v", err)
	}
	f.readErr = nil
	wantPieces(t, pieces(t, k, parts["many"]), ordered(hs), parts["many"]) // the Sorted is still usable
	if err := k.Close(); err != nil {
		t.Error(err)
	}

	k = spilling(t.TempDir(), f)
	defer k.Close()
	check(t, k.AddMany(hs))
	f.readErr = bad
	if _, err := k.Finish(t.Context()); !errors.Is(err, bad) {
		t.Errorf("Finish: %v", err)
	}
}

// TestLocked checks that Close removes the file if the system refuses to remove open files, as Windows does.
func TestLocked(t *testing.T) {
	dir := t.TempDir()
	k := spilling(dir, &fullFile{locked: true, room: 1 << 30})
	check(t, k.AddMany(input(13, inputs[0].make, 2000)))
	if names, err := os.ReadDir(dir); err != nil || len(names) != 1 {
		t.Errorf("%d files: %v", len(names), err)
	}
	if err := k.Close(); err != nil {
		t.Error(err)
	}
	wantFiles(t, dir, 0)
}

// TestSortedFile checks that the file is in the chosen folder, and that no other user can read it.
func TestSortedFile(t *testing.T) {
	dir := t.TempDir()
	f, err := createTemp(dir)
	check(t, err)
	defer f.Close()
	info, err := os.Stat(f.Name())
	check(t, err)
	readable := runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 // Windows knows no such permissions
	dirOf, name := filepath.Split(f.Name())
	if filepath.Clean(dirOf) != dir || !strings.HasPrefix(name, "bloomery-keys-") || readable {
		t.Errorf("%s, %v", f.Name(), info.Mode())
	}
}
