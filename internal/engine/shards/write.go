package shards

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

	"github.com/bloomery/bloomery/container"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/engine/one"
	"github.com/bloomery/bloomery/internal/flock"
	"github.com/bloomery/bloomery/shard"
)

// A change of a sharded set keeps this order, so that a crash at any moment leaves the old set or the new one:
//
//  1. changed shards are written to files of new names, complete and synced
//  2. the manifest is replaced by rename
//  3. files that only the old manifest named are removed; readers that hold them open keep them
//
// A process that is killed before 2 leaves files that no manifest names. The next Lock removes them.

// target is a folder that shards are written to.
type target struct {
	dir    string
	old    *shard.Manifest // in the folder, with as many shards, or nil
	shards int
	keep   bool // files that old names and that have the same content are not written again
}

// write writes a shard and returns its entry and the number of bits in its sections.
func (w target) write(ctx context.Context, i int, set *one.Set) (e shard.Entry, bits uint64, err error) {
	f, err := set.Encode()
	if err != nil {
		return e, 0, err
	}
	for _, words := range f.Sections {
		bits += 64 * uint64(len(words))
	}
	sum := sha256.New()
	var bytes counter
	if err := set.Guarded(func() error { return container.Write(io.MultiWriter(sum, &bytes), f) }); err != nil {
		return e, 0, err
	}
	sum.Sum(e.SHA256[:0])
	if w.keep && w.old != nil && w.old.Shards[i].SHA256 == e.SHA256 {
		return w.old.Shards[i], bits, nil
	}
	info := set.Info()
	e.File, e.Keys, e.Bytes = shard.NewName(w.old, i, w.shards, e.SHA256), info.Keys, uint64(bytes)
	e.FPRPrior, e.FPRPosterior = shard.Rate(info.FPRPrior), shard.Rate(info.FPRPosterior)
	err = set.Guarded(func() error {
		return container.WriteFile(container.Batch(ctx), filepath.Join(w.dir, e.File), f)
	})
	return e, bits, err
}

// Replace replaces the set in the folder by the one of by, which is t itself or another Set of as many shards.
func (t *Set) Replace(ctx context.Context, path string, was fs.FileInfo, by engine.Engine) error {
	next, ok := by.(*Set)
	switch {
	case !ok || len(t.parts) != len(next.parts):
		return engine.NumberDiffers(path)
	case t.derive != nil || !SameFile(path, t.dir):
		return fmt.Errorf("%s is not the folder of the Set: %w; use Save", path, filter.ErrConfig)
	}
	return t.replace(ctx, next, was)
}

// counter counts the bytes written.
type counter uint64

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

// replace is Replace. If the manifest is not was, the error wraps container.ErrChanged and nothing is replaced.
func (t *Set) replace(ctx context.Context, s *Set, was fs.FileInfo) (err error) {
	next := t.manifest
	if s == t {
		err = t.parallel(writers, func(i int) error {
			if !t.parts[i].changed.Load() {
				return nil
			}
			return t.flush(ctx, i)
		})
	} else {
		next, err = s.writeAll(ctx, target{t.dir, t.base, len(t.parts), true})
	}
	if err != nil {
		return err
	}
	next.FPRChosen = s.chosen
	path := filepath.Join(t.dir, shard.ManifestName)
	container.SyncFolder(t.dir)
	if err := container.ReplaceAtomic(ctx, path, was, manifestWriter(next)); err != nil {
		if s != t {
			removeUnnamed(t.dir, next, t.base)
		}
		return err
	}
	t.abandon(next)
	removeUnnamed(t.dir, t.base, next)
	if s != t { // what is in memory is not what the files have
		for i := range t.parts {
			t.parts[i].changed.Store(false)
			t.drop(i)
			t.parts[i].release()
		}
	}
	t.manifest, t.base = next, clone(next)
	return nil
}

// writers is the number of goroutines that write shards.
const writers = 2

func manifestWriter(m *shard.Manifest) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := m.WriteTo(w)
		return err
	}
}

func clone(m *shard.Manifest) *shard.Manifest {
	c := *m
	c.Shards = slices.Clone(m.Shards)
	return &c
}

// writeAll writes all shards and returns the new manifest, which it does not write. On error it removes what it has
// written.
func (t *Set) writeAll(ctx context.Context, w target) (next *shard.Manifest, err error) {
	own := t.derive == nil && SameFile(w.dir, t.dir)
	next = clone(t.manifest)
	for i := range next.Shards {
		next.Shards[i].File = ""
	}
	err = t.parallel(writers, func(i int) error {
		mine := t.manifest.Shards[i]
		if own && w.old != nil && w.old.Shards[i] == mine && !t.parts[i].changed.Load() {
			next.Shards[i] = mine
			return nil
		}
		return t.visitOne(i, func(s *one.Set) error {
			e, _, err := w.write(ctx, i, s)
			if err != nil {
				return t.Fail(i, err)
			}
			if e.SHA256 == mine.SHA256 { // the rates of the build, even if this machine rounds differently
				e.FPRPrior, e.FPRPosterior = mine.FPRPrior, mine.FPRPosterior
			}
			next.Shards[i] = e
			return nil
		})
	})
	if err != nil {
		removeUnnamed(w.dir, next, w.old)
		return nil, err
	}
	return next, nil
}

// abandon removes the files of shards that were written and are neither in the manifest of the folder nor in next.
func (t *Set) abandon(next *shard.Manifest) {
	for i, e := range t.manifest.Shards {
		if e.File != t.base.Shards[i].File && (next == nil || e.File != next.Shards[i].File) {
			removeShard(t.dir, e.File)
		}
	}
}

// removeUnnamed removes the files that one manifest names and the other, which may be nil, does not. A file that cannot
// be removed, because another process has it open, is left to the next Lock.
func removeUnnamed(dir string, named, other *shard.Manifest) {
	keep := map[string]bool{}
	if other != nil {
		for _, e := range other.Shards {
			keep[e.File] = true
		}
	}
	for _, e := range named.Shards {
		if e.File != "" && !keep[e.File] {
			removeShard(dir, e.File)
		}
	}
}

func removeShard(dir, name string) { _ = os.Remove(filepath.Join(dir, name)) }

// Save creates the folder, or replaces the set in it. It locks the folder, unless
// the Set is that of a Locked and has the lock.
func (t *Set) Save(ctx context.Context, dir string) error {
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
	if !(t.locked && SameFile(dir, t.dir)) {
		lock, err := LockFolder(ctx, dir, false)
		if err != nil {
			return err
		}
		defer flock.Unlock(lock)
	}
	old, _, err := ReadManifest(dir)
	if err != nil && !errors.Is(err, ErrNoManifest) {
		return err
	}
	stranger, err := Foreign(dir)
	if err != nil {
		return err
	}
	n := len(t.parts)
	same := old
	if old != nil && len(old.Shards) != n {
		same = nil
	}
	next, err := t.writeAll(ctx, target{dir, same, n, false})
	if err != nil {
		return err
	}
	next.FPRChosen = t.chosen
	container.SyncFolder(dir)
	if err := container.WriteAtomic(ctx, filepath.Join(dir, shard.ManifestName), manifestWriter(next)); err != nil {
		removeUnnamed(dir, next, old)
		return err
	}
	container.RemoveAbandoned(dir, shard.IsName)
	if old != nil {
		removeUnnamed(dir, old, next)
	} else if stranger == "" { // what is there was left by a writer that was killed
		_ = RemoveOthers(dir, next)
	}
	if t.derive != nil { // it had none
		t.manifest = next
	}
	return nil
}
