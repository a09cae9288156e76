package delta

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/inset"
	"github.com/bloomery/bloomery/internal/untrusted"
	"github.com/bloomery/bloomery/shard"
)

// DiffFiles returns a delta that turns old into new: two filter files, two exact sets, or the folders of two sharded
// sets. A file may be a pipe of at most DefaultMaxBytes. DiffFiles reads the rest of a file only if it begins like a
// filter file. Peak memory: as for Diff, for a sharded set with two shards at a time, and the delta. Errors are those
// of Diff, DiffSet and the file system, and wrap shard.ErrManifest or fs.ErrNotExist for a folder without a set.
func DiffFiles(ctx context.Context, old, new string) ([]byte, error) {
	from, sharded := inset.Dir(old)
	to, ok := inset.Dir(new)
	switch {
	case sharded != ok:
		return nil, fmt.Errorf("%s and %s: a delta is for two files or two folders", old, new)
	case sharded:
		a, err := folderSet(ctx, from)
		if err != nil {
			return nil, err
		}
		b, err := folderSet(ctx, to)
		if err != nil {
			return nil, err
		}
		return DiffSet(ctx, a, b)
	}
	a, err := readVersion(ctx, old)
	if err != nil {
		return nil, fmt.Errorf("old file: %w", err)
	}
	b, err := readVersion(ctx, new)
	if err != nil {
		return nil, fmt.Errorf("new file: %w", err)
	}
	return Diff(ctx, a, b)
}

// PatchFile applies a delta to old, a filter file or the folder of a sharded set, and writes the result to out, all or
// nothing. out may be old. For a sharded set it is a folder that is new, empty or has a set; PatchFile locks it, writes
// the shards that out does not have, then replaces the manifest, then removes the shards that it does not name. It does
// not overwrite a shard of the set in out: if that has one of the new names with other content, the error says so and
// nothing is replaced.
//
// Peak memory: as for Patch, for a sharded set with one shard at a time. Errors are those of Patch, PatchSet and the
// file system, and wrap bloomery.ErrLocked if another process holds the lock of the folder.
func PatchFile(ctx context.Context, old string, d []byte, out string, o Options) error {
	if dir, ok := inset.Dir(old); ok {
		return patchFolder(ctx, dir, d, out, o)
	}
	if err := inset.Check(out); err != nil {
		return err
	}
	b, err := readVersion(ctx, old)
	if err != nil {
		return err
	}
	b, err = Patch(ctx, b, d, o)
	if err != nil {
		return fmt.Errorf("%s: %w", old, err)
	}
	return container.WriteAtomic(ctx, out, func(w io.Writer) error { _, err := w.Write(b); return err })
}

// folderSet returns the sharded set in a folder.
func folderSet(ctx context.Context, dir string) (s Set, err error) {
	m, st, err := inset.Manifest(dir)
	if err != nil {
		return s, err
	}
	s.Shard = func(i int) ([]byte, error) { return readShard(ctx, dir, m.Shards[i]) }
	s.Manifest, err = untrusted.ReadFile(ctx, filepath.Join(dir, shard.ManifestName),
		untrusted.Limit{MaxBytes: uint64(st.Size())})
	return s, err
}

// readShard returns the file of a shard, which is at most as long as the manifest says.
func readShard(ctx context.Context, dir string, e shard.Entry) ([]byte, error) {
	return untrusted.ReadFile(ctx, filepath.Join(dir, e.File), untrusted.Limit{MaxBytes: e.Bytes})
}

// readVersion returns the content of a filter file or an exact set. It may be a pipe of at most DefaultMaxBytes.
func readVersion(ctx context.Context, path string) ([]byte, error) {
	const head = 8 // the longest magic
	limit := untrusted.Limit{MaxBytes: math.MaxInt64, Streams: true, Head: head, Check: func(b []byte) error {
		if container.HasMagic(bytes.NewReader(b)) || bytes.HasPrefix(b, []byte(container.ExactMagic)) || len(b) < head {
			return nil // if it is cut, Diff and Patch say where
		}
		return container.Broken(0, "magic", filter.ErrMagic)
	}}
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() {
		limit.MaxBytes = DefaultMaxBytes
	}
	return untrusted.ReadFile(ctx, path, limit)
}

// patchFolder is PatchFile for a sharded set.
func patchFolder(ctx context.Context, dir string, d []byte, out string, o Options) (err error) {
	to, err := inset.Replace(out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	from, err := folderSet(ctx, dir)
	if err != nil {
		return err
	}
	made := map[string]bool{}
	put := func(name string, b []byte) error {
		made[name] = true
		err := to.PutBytes(ctx, name, b)
		if errors.Is(err, shard.ErrManifest) {
			err = fmt.Errorf("%w; name another folder", err)
		}
		return err
	}
	text, err := PatchSet(ctx, from, d, o, put)
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	m, err := shard.ReadManifest(bytes.NewReader(text))
	if err != nil {
		return err
	}
	same := inset.Same(dir, out)
	for _, e := range m.Shards { // those that both versions have
		if same || made[e.File] {
			continue
		}
		b, err := readShard(ctx, dir, e)
		if err == nil {
			err = put(e.File, b)
		}
		if err != nil {
			return err
		}
	}
	return to.Commit(ctx, m, text, nil)
}
