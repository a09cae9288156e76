package steps

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/shardset"
	"github.com/bloomery/bloomery/internal/untrusted"
	"github.com/bloomery/bloomery/shard"
)

// Dir returns the Store of a folder and the folders in it. It is a Renamer and a Locker, with the same lock as
// bloomery.Lock and bloomery.Builder. The folder may be on a network file system whose renames are atomic. Write
// creates it if it does not exist. Names that filepath.Localize refuses are errors, so no name leads out of the folder.
// Symbolic links in the folder are followed.
func Dir(path string) Store { return dir{path} }

// Files returns the Source of the files of this machine. Names are paths, relative to the current folder or absolute.
func Files() Source { return dir{""} }

// dir is a folder, or with an empty root all files.
type dir struct{ root string }

func (d dir) pathOf(op, name string) (string, error) {
	if d.root == "" {
		return filepath.FromSlash(name), nil
	}
	local, err := filepath.Localize(name)
	if err != nil || name == "." {
		return "", &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	return filepath.Join(d.root, local), nil
}

func (d dir) Open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	path, err := d.pathOf("open", name)
	if err != nil {
		return nil, err
	}

	f, _, err := untrusted.Open(path)
	if err != nil {
		return nil, err
	}
	if length < 0 {
		length = math.MaxInt64 - offset
	}
	return readCloser{untrusted.Reader(ctx, io.NewSectionReader(f, offset, length)), f}, nil
}

func (d dir) Stat(_ context.Context, name string) (Object, error) {
	path, err := d.pathOf("stat", name)
	if err != nil {
		return Object{}, err
	}

	st, err := os.Stat(path)
	switch {
	case err != nil && runtime.GOOS == "windows" && strings.ContainsAny(name, "*?"):
		return Object{}, &fs.PathError{Op: "stat", Path: path, Err: fs.ErrNotExist} // Windows: an invalid name
	case err != nil:
		return Object{}, err
	case !st.Mode().IsRegular():
		return Object{}, fmt.Errorf("%s is not a regular file", path)
	}
	return object(name, st), nil
}

// object describes a file. Its version is the time of modification.
func object(name string, st fs.FileInfo) Object {
	return Object{Name: name, Size: st.Size(), Version: fmt.Sprintf("%x", st.ModTime().UnixNano())}
}

// List skips files whose names begin with a dot, such as the temporary files of Write. It follows links to files. A
// link to a folder, or a device, is an error: its keys would be missing.
func (d dir) List(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		below, _ := path.Split(prefix) // the folder of all names with that prefix
		top := filepath.Join(d.root, filepath.FromSlash(below))
		stop := errors.New("stop")
		err := filepath.WalkDir(filepath.Clean(top), func(at string, e fs.DirEntry, err error) error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil || e.IsDir() {
				return err
			}
			name := at
			if d.root != "" {
				if name, err = filepath.Rel(d.root, at); err != nil {
					return err
				}
			}
			name = filepath.ToSlash(name)
			if !strings.HasPrefix(name, prefix) || strings.HasPrefix(e.Name(), ".") {
				return nil
			}
			st, err := os.Stat(at)
			switch {
			case errors.Is(err, fs.ErrNotExist) && e.Type().IsRegular():
				return nil // removed meanwhile
			case err == nil && !st.Mode().IsRegular():
				return fmt.Errorf("%s is not a regular file; name the files or folders that it stands for", at)
			case err == nil && !yield(object(name, st), nil):
				return stop
			}
			return err
		})
		if err != nil && err != stop {
			yield(Object{}, err)
		}
	}
}

// Glob returns the names of files that match a pattern of path.Match. It does not walk folders that cannot match. As in
// a shell, names that begin with a dot match only patterns that begin with a dot.
func (d dir) Glob(pattern string) (names []string, err error) {
	var all []string
	if d.root == "" {
		all, err = filepath.Glob(filepath.FromSlash(pattern))
	} else {
		all, err = fs.Glob(os.DirFS(d.root), pattern)
	}

	hidden := strings.HasPrefix(path.Base(pattern), ".")
	for _, name := range all {
		if !hidden && strings.HasPrefix(filepath.Base(name), ".") {
			continue
		}
		if st, err := os.Stat(filepath.Join(d.root, name)); err != nil || !st.IsDir() { // Stat of the caller has the error
			names = append(names, filepath.ToSlash(name))
		}
	}
	return names, err
}

func (d dir) Write(ctx context.Context, name string, write func(io.Writer) error) error {
	path, err := d.pathOf("write", name)
	if err != nil {
		return err
	}

	// A new shard must not have wider permissions than its set.
	ctx = container.Like(ctx, filepath.Join(d.root, shard.ManifestName))
	err = container.WriteAtomic(ctx, path, write)
	if errors.Is(err, fs.ErrNotExist) { // its folder
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		err = container.WriteAtomic(ctx, path, write)
	}
	return err
}

// Rename syncs the folders of the new names.
func (d dir) Rename(ctx context.Context, from, to []string) error {
	folders := map[string]bool{}
	for i := range from {
		a, err := d.pathOf("rename", from[i])
		b, err2 := d.pathOf("rename", to[i])
		if err := errors.Join(err, err2, context.Cause(ctx)); err != nil {
			return err
		}
		if err := container.Rename(a, b); err != nil {
			return err
		}
		folders[filepath.Dir(b)] = true
	}

	for f := range folders {
		container.SyncFolder(f)
	}
	return nil
}

// Lock creates the folder if it does not exist. Unlocking removes the temporary files that killed writers have left,
// and the folder if Lock has created it and it is still empty.
func (d dir) Lock(ctx context.Context) (unlock func() error, err error) {
	f, err := shardset.LockFolder(ctx, d.root, shardset.Locking{})
	if err != nil {
		return nil, err
	}
	return func() error {
		d.clean()
		return f.Close()
	}, nil
}

// clean removes the temporary files of killed writers, and each work folder that is empty afterwards.
func (d dir) clean() {
	container.RemoveAbandoned(d.root, shardset.OfSet)
	all, _ := os.ReadDir(d.root)
	for _, e := range all {
		if _, _, work := shardset.CutWork(e.Name()); work && e.IsDir() {
			container.RemoveAbandoned(filepath.Join(d.root, e.Name()), nil)
			_ = os.Remove(filepath.Join(d.root, e.Name())) // fails unless it is empty
		}
	}
}

// Remove also removes folders that become empty.
func (d dir) Remove(_ context.Context, name string) error {
	path, err := d.pathOf("remove", name)
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}

	for up := filepath.Dir(name); up != "."; up = filepath.Dir(up) {
		if os.Remove(filepath.Join(d.root, filepath.FromSlash(up))) != nil {
			break
		}
	}
	return nil
}
