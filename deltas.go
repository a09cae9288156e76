package bloomery

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/bloomery/bloomery/container"
	"github.com/bloomery/bloomery/delta"
	"github.com/bloomery/bloomery/internal/inset"
	"github.com/bloomery/bloomery/shard"
)

// DiffFiles returns a delta that turns old into new, two filter files or the folders of two sharded sets. Peak memory:
// that of delta.Diff, for a sharded set with two shards at a time, and the delta. Errors are those of delta.Diff,
// delta.DiffSet and the file system.
func DiffFiles(ctx context.Context, old, new string) ([]byte, error) {
	from, sharded := ShardedDir(old)
	to, ok := ShardedDir(new)
	switch {
	case sharded != ok:
		return nil, fmt.Errorf("%s and %s: a delta is for two files or two folders", old, new)
	case sharded:
		a, err := folderSet(from)
		if err != nil {
			return nil, err
		}
		b, err := folderSet(to)
		if err != nil {
			return nil, err
		}
		return delta.DiffSet(ctx, a, b)
	}
	a, err := os.ReadFile(old)
	if err != nil {
		return nil, err
	}
	b, err := os.ReadFile(new)
	if err != nil {
		return nil, err
	}
	return delta.Diff(ctx, a, b)
}

// PatchFile applies a delta to old, a filter file or the folder of a sharded set, and writes the result to out, all or
// nothing. out may be old. For a sharded set it is a folder that is new, empty or has a set; PatchFile locks it, writes
// the shards that out does not have, then replaces the manifest, then removes the shards that it does not name. It does
// not overwrite a shard of the set in out: if that has one of the new names with other content, the error says so and
// nothing is replaced.
//
// Peak memory: that of delta.Patch, for a sharded set with one shard at a time. Errors are those of delta.Patch,
// delta.PatchSet and the file system, and wrap ErrLocked if another process holds the lock of the folder.
func PatchFile(ctx context.Context, old string, d []byte, out string, o delta.Options) error {
	if dir, ok := ShardedDir(old); ok {
		return patchFolder(ctx, dir, d, out, o)
	}
	if err := inset.Check(out); err != nil {
		return err
	}
	b, err := os.ReadFile(old)
	if err != nil {
		return err
	}
	b, err = delta.Patch(ctx, b, d, o)
	if err != nil {
		return fmt.Errorf("%s: %w", old, err)
	}
	return container.WriteAtomic(ctx, out, writerOf(b))
}

func writerOf(b []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	}
}

// folderSet returns the sharded set in a folder for package delta.
func folderSet(dir string) (s delta.Set, err error) {
	m, _, err := readManifest(dir)
	if err != nil {
		return s, err
	}
	s.Shard = func(i int) ([]byte, error) { return os.ReadFile(filepath.Join(dir, m.Shards[i].File)) }
	s.Manifest, err = os.ReadFile(filepath.Join(dir, shard.ManifestName))
	return s, err
}

// patchFolder is PatchFile for a sharded set.
func patchFolder(ctx context.Context, dir string, d []byte, out string, o delta.Options) (err error) {
	to, err := openFolder(out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.close()) }()
	from, err := folderSet(dir)
	if err != nil {
		return err
	}
	made := map[string]bool{}
	text, err := delta.PatchSet(ctx, from, d, o, func(name string, b []byte) error {
		made[name] = true
		return to.put(ctx, name, b)
	})
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	m, err := shard.ReadManifest(bytes.NewReader(text))
	if err != nil {
		return err
	}
	if !sameFile(dir, out) {
		if err := to.fill(ctx, dir, m, made); err != nil {
			return err
		}
	}
	return to.commitText(ctx, m, text)
}

// put writes the content of a shard, unless the folder has that file.
func (f *shardFolder) put(ctx context.Context, name string, b []byte) error {
	if f.named(name) {
		if was, err := os.ReadFile(f.path(name)); err == nil && bytes.Equal(was, b) {
			return nil
		}
		return fmt.Errorf("%s: the set in this folder has a shard of that name and other content; name another folder",
			f.path(name))
	}
	f.written = append(f.written, name)
	return container.WriteAtomic(container.Batch(ctx), f.path(name), writerOf(b))
}

// named reports whether the manifest in the folder names a file.
func (f *shardFolder) named(name string) bool {
	if f.old == nil {
		return false
	}
	for _, e := range f.old.Shards {
		if e.File == name {
			return true
		}
	}
	return false
}

// fill copies the shards of m from another folder, except those that were made.
func (f *shardFolder) fill(ctx context.Context, dir string, m *shard.Manifest, made map[string]bool) error {
	for _, e := range m.Shards {
		if made[e.File] {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, e.File))
		if err != nil {
			return err
		}
		if err := f.put(ctx, e.File, b); err != nil {
			return err
		}
	}
	return nil
}
