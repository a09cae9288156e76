package bloomery

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
	"strings"

	"github.com/bloomery/bloomery/container"
	"github.com/bloomery/bloomery/filter"
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
func (w target) write(ctx context.Context, i int, set *Set) (e shard.Entry, bits uint64, err error) {
	f, err := set.encode()
	if err != nil {
		return e, 0, err
	}
	for _, words := range f.Sections {
		bits += 64 * uint64(len(words))
	}
	sum := sha256.New()
	bytes := counter{w: sum}
	if err := set.Guarded(func() error { return container.Write(&bytes, f) }); err != nil {
		return e, 0, err
	}
	sum.Sum(e.SHA256[:0])
	if w.keep && w.old != nil && w.old.Shards[i].SHA256 == e.SHA256 {
		return w.old.Shards[i], bits, nil
	}
	info := set.Info()
	e.File, e.Keys, e.Bytes = shard.NewName(w.old, i, w.shards, e.SHA256), info.Keys, uint64(bytes.n)
	e.FPRPrior, e.FPRPosterior = shard.Rate(info.FPRPrior), shard.Rate(info.FPRPosterior)
	err = set.Guarded(func() error {
		return container.WriteFile(container.Batch(ctx), filepath.Join(w.dir, e.File), f)
	})
	return e, bits, err
}

// replace replaces the set in the folder by s, which is the set of t or another one of as many shards. If the manifest
// is not was, the error wraps container.ErrChanged and nothing is replaced.
func (t *shards) replace(ctx context.Context, s *Set, was fs.FileInfo) (err error) {
	next := t.manifest
	if s.shards == t {
		err = t.parallel(writers, func(i int) error {
			if !t.parts[i].changed.Load() {
				return nil
			}
			return t.flush(ctx, i)
		})
	} else {
		next, err = s.shards.writeAll(ctx, target{t.dir, t.base, len(t.parts), true})
	}
	if err != nil {
		return err
	}
	next.FPRChosen = s.chosen
	path := filepath.Join(t.dir, shard.ManifestName)
	container.SyncFolder(t.dir)
	if err := container.ReplaceAtomic(ctx, path, was, manifestWriter(next)); err != nil {
		if s.shards != t {
			removeUnnamed(t.dir, next, t.base)
		}
		return err
	}
	t.abandon(next)
	removeUnnamed(t.dir, t.base, next)
	if s.shards != t { // what is in memory is not what the files have
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
func (t *shards) writeAll(ctx context.Context, w target) (next *shard.Manifest, err error) {
	own := t.derive == nil && sameFile(w.dir, t.dir)
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
		return t.visitOne(i, func(_ int, one *Set) error {
			e, _, err := w.write(ctx, i, one)
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
	if err != nil {
		removeUnnamed(w.dir, next, w.old)
		return nil, err
	}
	return next, nil
}

// sameFile reports whether two paths name one file or folder.
func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	two, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(one, two)
}

// abandon removes the files of shards that were written and are neither in the manifest of the folder nor in next.
func (t *shards) abandon(next *shard.Manifest) {
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

// sweep removes what a writer left behind that was killed: temporary files, and shards with a suffix that the manifest
// does not name. The workers of a distributed build write to a folder of their own, which sweep leaves alone. The caller
// has the lock.
func sweep(dir string, m *shard.Manifest) {
	all, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	named := map[string]bool{}
	for _, e := range m.Shards {
		named[e.File] = true
	}
	count := fmt.Sprintf("-of-%05d.", len(m.Shards))
	for _, e := range all {
		name := e.Name()
		_, suffix, ok := strings.Cut(name, count)
		if ok && suffix != "bloom" && shard.IsName(name) && !named[name] {
			removeShard(dir, name)
		}
	}
	container.RemoveAbandoned(dir, nil)
}

// saveShards is Save for a sharded Set: it creates the folder, or replaces the set in it. It locks the folder, unless
// the Set is that of a Locked and has the lock.
func (s *Set) saveShards(ctx context.Context, dir string) error {
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
	if !(s.shards.locked && sameFile(dir, s.shards.dir)) {
		lock, err := lockFolder(ctx, dir, false)
		if err != nil {
			return err
		}
		defer flock.Unlock(lock)
	}
	old, _, err := readManifest(dir)
	if err != nil && !errors.Is(err, ErrNoManifest) {
		return err
	}
	stranger, err := foreign(dir)
	if err != nil {
		return err
	}
	n := len(s.shards.parts)
	same := old
	if old != nil && len(old.Shards) != n {
		same = nil
	}
	next, err := s.shards.writeAll(ctx, target{dir, same, n, false})
	if err != nil {
		return err
	}
	next.FPRChosen = s.chosen
	container.SyncFolder(dir)
	if err := container.WriteAtomic(ctx, filepath.Join(dir, shard.ManifestName), manifestWriter(next)); err != nil {
		removeUnnamed(dir, next, old)
		return err
	}
	container.RemoveAbandoned(dir, shard.IsName)
	if old != nil {
		removeUnnamed(dir, old, next)
	} else if stranger == "" { // what is there was left by a writer that was killed
		_ = removeOthers(dir, next)
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
