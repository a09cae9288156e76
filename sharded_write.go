package bloomery

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/bloomery/bloomery/container"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/shard"
)

// encoded is a Set as its file: it writes the same bytes again and again, also while others write to the Set.
type encoded struct {
	set *Set
	*container.File
}

func (e encoded) WriteTo(w io.Writer) (int64, error) {
	c := counter{w: w}
	err := e.set.Guarded(func() error { return container.Write(&c, e.File) })
	return c.n, err
}

// put writes a shard to a folder and returns its entry and the number of bits in its sections.
func put(ctx context.Context, to *shard.Folder, i, shards int, set *Set) (e shard.Entry, bits uint64, err error) {
	f, err := set.encode()
	if err != nil {
		return e, 0, err
	}
	for _, words := range f.Sections {
		bits += 64 * uint64(len(words))
	}
	e, err = to.Put(ctx, i, shards, set.Info(), encoded{set, f})
	return e, bits, err
}

// replace replaces the set in the folder by s, which is the set of t or another one of as many shards. If the manifest
// is not was, the error wraps container.ErrChanged and nothing is replaced.
func (t *shards) replace(ctx context.Context, s *Set, was fs.FileInfo) (err error) {
	to := t.folder
	if to == nil { // not that of a Locked
		to, err = shard.LockFolder(ctx, t.dir, shard.Locking{Change: true, Wait: shard.ShortWait})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, to.Close()) }()
		if err := to.Read(); err != nil {
			return err
		}
	}
	var next *shard.Manifest
	bits := make([]uint64, len(t.parts))
	if s.shards == t {
		next = t.manifest.Clone()
		err = t.parallel(writers, func(i int) (err error) {
			if !t.parts[i].changed.Load() {
				return nil
			}
			next.Shards[i], bits[i], err = put(ctx, to, i, len(t.parts), t.sets[i].Load())
			if err != nil {
				err = t.fail(i, err)
			}
			return err
		})
	} else {
		next, err = s.shards.writeAll(ctx, to)
	}
	if err != nil {
		return err
	}
	next.FPRChosen = s.chosen
	if err := to.Commit(ctx, next, nil, was); err != nil {
		return err
	}
	for i := range t.parts { // of another set, what is in memory is not what the files have
		if s.shards != t || t.parts[i].changed.Load() {
			t.written(i, next.Shards[i], bits[i])
		}
	}
	t.manifest, t.base = next, next.Clone()
	return nil
}

// written takes a shard out of memory. Its file is the one of an entry now.
func (t *shards) written(i int, e shard.Entry, bits uint64) {
	t.drop(i)
	p := &t.parts[i]
	p.release()
	t.manifest.Shards[i] = e
	p.changed.Store(false)
	if bits > 0 {
		p.bits = bits
	}
}

// writers is the number of goroutines that write shards.
const writers = 2

// writeAll writes all shards to a folder and returns the new manifest, which it does not write.
func (t *shards) writeAll(ctx context.Context, to *shard.Folder) (next *shard.Manifest, err error) {
	old := to.Manifest()
	own := t.derive == nil && sameFile(to.Path("."), t.dir) && old != nil && len(old.Shards) == len(t.parts)
	next = t.manifest.Clone()
	err = t.parallel(writers, func(i int) error {
		mine := t.manifest.Shards[i]
		if own && old.Shards[i] == mine && !t.parts[i].changed.Load() {
			return nil
		}
		return t.visitOne(i, func(_ int, one *Set) error {
			e, _, err := put(ctx, to, i, len(t.parts), one)
			if err != nil {
				return t.fail(i, err)
			}
			if e.SHA256 == mine.SHA256 { // the rates of the build, even if this machine rounds differently
				e.FPRPrior, e.FPRPosterior = mine.FPRPrior, mine.FPRPosterior
			}
			next.Shards[i] = e
			return nil
		})
	})
	return next, err
}

// sameFile reports whether two paths name one file or folder.
func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	two, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(one, two)
}

// saveShards is Save for a sharded Set: it creates the folder, or replaces the set in it. It locks the folder, unless
// the Set is that of a Locked and has the lock.
func (s *Set) saveShards(ctx context.Context, dir string) (err error) {
	const advice = "a sharded Set is a folder; name a new one, or that of a sharded set to replace"
	st, err := os.Stat(dir)
	switch {
	case err == nil && !st.IsDir():
		return fmt.Errorf("%s is a file, and %s", dir, advice)
	case errors.Is(err, fs.ErrNotExist) && filepath.Ext(dir) == ".bloom":
		return fmt.Errorf("%s is the name of a file, and %s", dir, advice)
	case errors.Is(err, fs.ErrNotExist):
		if err := os.Mkdir(dir, 0o777); err != nil {
			return err
		}
		defer func() { _ = os.Remove(dir) }() // fails unless it is empty
	case err != nil:
		return err
	}
	to := s.shards.folder
	if to == nil || !sameFile(dir, s.shards.dir) {
		if to, err = shard.LockFolder(ctx, dir, shard.Locking{Wait: shard.ShortWait}); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, to.Close()) }()
	}
	if err := to.Read(); err != nil {
		return err
	}
	next, err := s.shards.writeAll(ctx, to)
	if err != nil {
		return err
	}
	next.FPRChosen = s.chosen
	if err := to.Commit(ctx, next, nil, nil); err != nil {
		return err
	}
	if s.shards.derive != nil { // it had none
		s.shards.manifest = next
	}
	return nil
}

// errSharded is the error of operations on one file.
var errSharded = fmt.Errorf(
	"a sharded Set is a folder of files, not a stream of bytes: %w; take Save, or WriteTo of each Shard",
	filter.ErrUnsupported)
