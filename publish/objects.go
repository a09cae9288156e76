package publish

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/untrusted"
	"github.com/bloomery/bloomery/shard"
)

// ObjectsName is the name of the folder with the objects, in the folder of a publisher.
const ObjectsName = "objects"

// objects is the folder of objects.
type objects struct {
	dir     string
	root    *os.Root // dir, between hold and release, else nil
	written []object // the objects that storeObject created, in order, without objects that existed before
}

// openRoot keeps the folder open: later removals act on this folder, even if somebody replaces it by another folder or
// a link.
func (s *objects) openRoot() (err error) {
	if s.root, err = os.OpenRoot(s.dir); err == nil {
		err = s.checkHeld()
	}
	return err
}

// checkHeld returns an error if the open folder has been replaced.
func (s *objects) checkHeld() error {
	held, err := s.root.Stat(".")
	if err != nil {
		return err
	}
	now, err := os.Lstat(s.dir)
	if err == nil && !os.SameFile(held, now) {
		err = fmt.Errorf("%s: %w: somebody has replaced the folder meanwhile", s.dir, untrusted.ErrNotRegular)
	}
	return err
}

// release ends hold.
func (s *objects) release() {
	if s.root != nil {
		_ = s.root.Close()
		s.root = nil
	}
}

func (s *objects) pathOf(h shard.Sum) string { return filepath.Join(s.dir, h.String()) }

// storeObject stores an object, unless it exists already. It replaces a file of the same name with other content.
func (s *objects) storeObject(ctx context.Context, content []byte) (object, error) {
	o := object{sha256.Sum256(content), uint64(len(content))}
	if err := s.checkHeld(); err != nil {
		return o, err
	}

	st, err := os.Lstat(s.pathOf(o.SHA256))
	if err == nil && st.Mode().IsRegular() && s.hasIntact(ctx, o) { // others could change the target of a link later
		return o, nil
	}

	isNew := errors.Is(err, fs.ErrNotExist)
	err = replace(container.Batch(container.NoLinks(ctx)), s.pathOf(o.SHA256), content)
	if err == nil && isNew {
		s.written = append(s.written, o)
	}
	return o, err
}

// hasIntact reports whether an object exists with the right content. It does not read the object into memory, because a
// set may have many large shards.
func (s *objects) hasIntact(ctx context.Context, o object) bool {
	f, _, err := untrusted.Open(s.pathOf(o.SHA256))
	if err != nil {
		return false
	}
	defer f.Close()
	return o.copyChecked(ctx, io.Discard, f) == nil
}

// read returns the content of an object. The error wraps ErrObject if the object is missing, is not a regular file, or
// has other content, and filter.ErrTooLarge if it has more than most bytes.
func (s *objects) read(ctx context.Context, o object, most uint64) ([]byte, error) {
	if o.Bytes > most {
		return nil, fmt.Errorf("object %s: %d bytes: %w", o.SHA256, o.Bytes, filter.ErrTooLarge)
	}

	b, err := untrusted.ReadFile(ctx, s.pathOf(o.SHA256), untrusted.Limit{MaxBytes: o.Bytes})
	switch {
	case err == nil:
		if err = o.matches(b); err != nil {
			err = fmt.Errorf("%s: %w", s.pathOf(o.SHA256), err)
		}
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, untrusted.ErrNotRegular):
		err = fmt.Errorf("%w: %w", ErrObject, err)
	case errors.Is(err, filter.ErrTooLarge): // longer than the object
		// %v hides ErrTooLarge: the object is damaged, and no limit of the caller was exceeded.
		err = fmt.Errorf("%w: %v", ErrObject, err)
	}
	return b, err
}

// deltaFrom returns the delta from an older filter to c.
func (s *objects) deltaFrom(ctx context.Context, old object, c *content) ([]byte, error) {
	most := 4*c.Total + 1<<26 // bytes; a delta from a larger filter would not be smaller than c
	was, err := s.read(ctx, old, most)
	if err != nil {
		return nil, err
	}
	return kinds[c.Kind].diffContents(ctx, was, c.file, s.reader(ctx, most))
}

// reader returns a function that reads objects of at most most bytes.
func (s *objects) reader(ctx context.Context, most uint64) reader {
	return func(p part) ([]byte, error) { return s.read(ctx, p.object, most) }
}

// hasAny reports whether there is an object.
func (s *objects) hasAny() (bool, error) {
	all, err := os.ReadDir(s.dir)
	return slices.ContainsFunc(all, func(e fs.DirEntry) bool { return isHash(e.Name()) }), err
}

// namedBy returns the objects that a release and its history name, with the shards of their manifests. If a manifest
// cannot be read, the shards in use are unknown: named returns the error, and no object may be removed.
func (s *objects) namedBy(ctx context.Context, r *record, h history) (map[shard.Sum]bool, error) {
	names := map[shard.Sum]bool{}
	add := func(o *object) {
		if o != nil {
			names[o.SHA256] = true
		}
	}

	add(r.History)
	if r.Previous != nil {
		add(r.Previous.Delta)
	}

	k := kinds[r.Kind]
	for _, step := range append(history{r.asStep()}, h...) {
		add(&step.object)
		add(step.Delta)
		if !k.folder {
			continue
		}
		b, err := s.read(ctx, step.object, maxNumber)
		if err != nil {
			return nil, err
		}
		parts, err := k.partsOf(b)
		if err != nil {
			return nil, err
		}
		for _, p := range parts {
			add(&p.object)
		}
	}
	return names, nil
}

// removeWritten removes the new files of storeObject after an error, which frees their space on a full disk.
func (s *objects) removeWritten() {
	for _, o := range s.written {
		// An error is being returned already, and the next release removes what stays here.
		_ = s.root.Remove(o.SHA256.String())
	}
	s.written = nil
}

// removeUnnamed removes the objects that are not in keep, and returns their number and size. Other files stay.
func (s *objects) removeUnnamed(keep map[shard.Sum]bool) (removed int, size uint64, err error) {
	all, err := fs.ReadDir(s.root.FS(), ".")
	for _, e := range all {
		var h shard.Sum
		// A file with another name is not an object, and the user may need it.
		if h.UnmarshalText([]byte(e.Name())) != nil || keep[h] || e.IsDir() {
			continue
		}
		if st, e := e.Info(); e == nil {
			size += uint64(st.Size())
		}
		if e := s.root.Remove(e.Name()); e != nil {
			err = errors.Join(err, e)
			continue
		}
		removed++
	}
	return removed, size, err
}

func isHash(name string) bool { return new(shard.Sum).UnmarshalText([]byte(name)) == nil }
