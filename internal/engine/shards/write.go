package shards

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/engine/one"
	"github.com/bloomery/bloomery/internal/shardset"
	"github.com/bloomery/bloomery/shard"
)

// encoded is the content of a shard's file. It always writes the same bytes, even while other goroutines write to the
// Set.
type encoded struct {
	set  *one.Set
	file *container.File
}

func (e encoded) WriteTo(w io.Writer) (int64, error) {
	counted := &container.Counter{To: w}
	err := e.set.Guarded(func() error { return container.Write(counted, e.file) })
	return counted.N, err
}

// putShard writes shard i of n to a folder and returns its entry and the number of bits in its sections.
func putShard(ctx context.Context, to *shardset.Folder, i, n int, s *one.Set) (e shard.Entry, bits uint64, err error) {
	f, err := s.Encode()
	if err != nil {
		return e, 0, err
	}
	for _, words := range f.Sections {
		bits += 64 * uint64(len(words))
	}
	e, err = to.Put(ctx, i, n, s.Info(), encoded{s, f})
	return e, bits, err
}

// Replace replaces the set in the folder by the set by, which is t itself or another Set with the same number of
// shards.
func (t *Set) Replace(ctx context.Context, path string, was fs.FileInfo, by engine.Engine) error {
	next, err := sharded(by)
	switch {
	case err != nil || len(t.parts) != len(next.parts):
		return fmt.Errorf("%s: the number of shards differs: %w", path, filter.ErrMismatch)
	case t.derive != nil || !shardset.SameFile(path, t.dir):
		return fmt.Errorf("%s is not the folder of the Set: %w; use Save", path, filter.ErrConfig)
	}
	return t.replace(ctx, next, was)
}

// replace is Replace. If the manifest is not was, the error wraps filter.ErrChanged and nothing is replaced.
func (t *Set) replace(ctx context.Context, s *Set, was fs.FileInfo) (err error) {
	to := t.folder
	if to == nil { // not the Set of a Locked
		to, err = shardset.LockFolder(ctx, t.dir, shardset.Locking{Change: true, Wait: shardset.ShortWait})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, to.Close()) }()
		if err := to.Read(); err != nil {
			return err
		}
	}

	inFolder := s.inFolder(to)
	if s == t { // Commit fails if the folder has another set by now
		inFolder = func(i int) bool { return !t.parts[i].changed.Load() }
	}

	next, bits, err := s.writeShards(ctx, to, inFolder)
	if err != nil {
		return err
	}
	// Until here only new names were written: a reader, or a crash, still finds the old set complete.
	if err := to.Commit(ctx, next, nil, was); err != nil {
		return err
	}

	for i := range t.parts { // with another set, the shards in memory differ from the files
		if s != t || t.parts[i].changed.Load() {
			t.written(i, next.Shards[i], bits[i])
		}
	}
	t.manifest, t.base = next, shardset.Clone(next)
	if runtime.GOOS == "windows" {
		to.Sweep() // Commit could not remove the files that t still had open
	}
	return nil
}

// written drops a shard from memory after its file was written as the entry says.
func (t *Set) written(i int, e shard.Entry, bits uint64) {
	t.dropShard(i)
	p := &t.parts[i]
	p.release()
	t.manifest.Shards[i] = e
	p.changed.Store(false)
	if bits > 0 {
		p.bits = bits
	}
}

// writers is the number of goroutines that write shards. Each may hold a whole shard in memory.
const writers = 2

// inFolder returns a function that reports whether a folder has the present content of a shard.
func (t *Set) inFolder(to *shardset.Folder) func(i int) bool {
	old := to.Manifest()
	own := t.derive == nil && shardset.SameFile(to.Path("."), t.dir) && old != nil && len(old.Shards) == len(t.parts)
	return func(i int) bool { return own && old.Shards[i] == t.manifest.Shards[i] && !t.parts[i].changed.Load() }
}

// writeShards writes the shards that are not in a folder. It returns the new manifest, which it does not write, and for
// each shard that it has written the number of bits in its sections.
func (t *Set) writeShards(
	ctx context.Context, to *shardset.Folder, inFolder func(i int) bool,
) (next *shard.Manifest, bits []uint64, err error) {
	next, bits = shardset.Clone(t.manifest), make([]uint64, len(t.parts))
	next.FPRPlanned = t.planned
	return next, bits, t.parallel(context.Background(), writers, func(i int) error {
		if inFolder(i) {
			return nil
		}
		return t.visitOne(i, func(s *one.Set) (err error) {
			mine, e := t.manifest.Shards[i], &next.Shards[i]
			if *e, bits[i], err = putShard(ctx, to, i, len(t.parts), s); err != nil {
				return t.Fail(i, err)
			}
			if e.SHA256 == mine.SHA256 { // keep the rates of the build: this machine may round differently
				e.FPRPrior, e.FPRPosterior = mine.FPRPrior, mine.FPRPosterior
			}
			return nil
		})
	})
}

// Save creates the folder, or replaces the set in it. It locks the folder, unless the Set belongs to a Locked, which
// already locks it.
func (t *Set) Save(ctx context.Context, dir string) (err error) {
	const advice = "a sharded Set is a folder; name a new one, or the folder of a sharded set to replace"
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

	to := t.folder
	if to == nil || !shardset.SameFile(dir, t.dir) {
		if to, err = shardset.LockFolder(ctx, dir, shardset.Locking{Wait: shardset.ShortWait}); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, to.Close()) }()
	}
	if err := to.Read(); err != nil {
		return err
	}

	next, _, err := t.writeShards(ctx, to, t.inFolder(to))
	if err != nil {
		return err
	}
	if err := to.Commit(ctx, next, nil, nil); err != nil {
		return err
	}
	if t.derive != nil { // a derived Set had no files until now
		t.manifest = next
	}
	return nil
}
