// Package delta makes small files that turn one version of a filter file, exact set or sharded set into the next one.
// The result is byte-identical to the version that the delta was made for, and is compared with its SHA-256.
//
//	d, err := delta.DiffFiles(ctx, "monday.bloom", "tuesday.bloom")
//	err = delta.PatchFile(ctx, "list.bloom", d, "list.bloom", delta.Options{}) // a copy of monday.bloom elsewhere
//
// Deltas are small if both versions have the same geometry: build the next version with bloomery.Config.Like. Package
// publish makes, signs and follows deltas between releases, and most programs need only that.
//
// A delta leaves out data that its reader can compute, such as checksums, lengths and positions. [DiffFiles] tries all
// methods that fit and takes the smallest:
//
//	0 whole    the new file as it is: other family, geometry, seed or hash, or when nothing is smaller
//	1 bits     the gaps between changed bits, by section or by changed blocks
//	2 cells    counters that rise or fall by one, or have another value
//	3 replay   rankindexed: the cells to remove and to add
//	4 set      a sharded set: one of the above for each shard that changed
//	5 append   an exact set: the updates that were appended, and the new trailer
//
// The [format] specifies the bytes.
//
// [format]: https://github.com/bloomery/bloomery/blob/main/docs/format/delta.md
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

	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/patch"
	"github.com/bloomery/bloomery/internal/shardset"
	"github.com/bloomery/bloomery/internal/untrusted"
	"github.com/bloomery/bloomery/shard"
)

// Errors of PatchFile and Read; DiffFiles returns none of them.
var (
	// ErrBase means that the delta was made for another base: use the version that it was made from, or load the whole
	// new file.
	ErrBase = patch.ErrBase
	// ErrCorrupt means that the delta, or the base after its header, is damaged: copy it again.
	ErrCorrupt = patch.ErrCorrupt
	// ErrVersion means that a newer version of Bloomery wrote the delta.
	ErrVersion = patch.ErrVersion
)

// Options are the options of PatchFile.
type Options struct {
	// MaxBytes is the largest length in bytes of the new file; of a set, of its manifest and shards
	// together. A trimmed rankindexed filter must also fit in memory with that limit, where it is larger
	// than its file. 0: 1 GiB.
	MaxBytes uint64
}

// Method is the way in which a delta describes the new file.
type Method uint8

// The methods, as stored.
const (
	Whole  = Method(patch.Whole)
	Bits   = Method(patch.Bits)
	Cells  = Method(patch.Cells)
	Replay = Method(patch.Replay)
	Shards = Method(patch.Shards)
	Append = Method(patch.Append)
)

// String returns the name: whole, bits, cells, replay, set or append.
func (m Method) String() string { return patch.Method(m).String() }

// Info describes a delta.
type Info struct {
	Method Method
	// Base identifies the old version: the CRC in the header of a filter file, the CRC-32C of a manifest, or the first
	// four bytes of the SHA-256 of an exact set.
	Base uint32
	// Target is the start of the SHA-256 of the new file, or of the new manifest.
	Target [16]byte
}

// Read returns the Info of a delta. It checks only the first 24 bytes. The error wraps ErrCorrupt or ErrVersion.
func Read(d []byte) (Info, error) {
	i, err := patch.Read(d)
	return Info{Method(i.Method), i.Base, i.Target}, err
}

// DiffFiles returns a delta that turns old into new: two filter files, two exact sets, or the folders of two sharded
// sets. A file may be a pipe of at most 1 GiB. DiffFiles reads the rest of a file only if it begins like a filter file.
// Peak memory: 3x both files + 1 MiB, for a sharded set 3x two shards at a time, and the delta. The error wraps
// filter.ErrMagic, filter.ErrCorrupt or another error of a file if one of them is damaged, filter.ErrFamily if one is
// of package window, io.ErrUnexpectedEOF if an exact set was truncated, shard.ErrManifest or fs.ErrNotExist for a
// folder without a set, shard.ErrChanged if a shard is not the one in its manifest, or is an error of the file system
// or the cause of ctx.
func DiffFiles(ctx context.Context, old, new string) ([]byte, error) {
	from, err := readVersion(ctx, old)
	if err != nil {
		return nil, fmt.Errorf("old version: %w", err)
	}
	to, err := readVersion(ctx, new)
	if err != nil {
		return nil, fmt.Errorf("new version: %w", err)
	}
	return patch.Diff(ctx, from, to)
}

// PatchFile applies a delta to old, a filter file or the folder of a sharded set, and writes the result to out, all or
// nothing. out may be old. For a sharded set it is a folder that is new, empty or has a set; PatchFile locks it, writes
// the shards that out does not have, then replaces the manifest, then removes the shards that it does not name. It does
// not overwrite a shard of the set in out: if a new shard has the name of an existing shard with other content, it
// returns an error and replaces nothing.
//
// The new file is byte-identical to the file that DiffFiles was given: PatchFile compares its SHA-256 with the delta.
// Peak memory: both files, and for method Replay 3x both; for a sharded set with one shard at a time. PatchFile
// allocates nothing whose size the old file and Options.MaxBytes do not bound. The error wraps ErrBase if the delta is
// for another file, ErrCorrupt, ErrVersion, filter.ErrTooLarge, an error of the file such as filter.ErrMagic or, if it
// is of package window, filter.ErrFamily, shard.ErrChanged, filter.ErrLocked if another process holds the lock of the
// folder, or is one of the file system or the cause of ctx.
func PatchFile(ctx context.Context, old string, d []byte, out string, o Options) error {
	if dir, ok := shardset.Dir(old); ok {
		return patchFolder(ctx, dir, d, out, o)
	}
	if err := shardset.CheckFile(out); err != nil {
		return err
	}

	from, err := readVersion(ctx, old)
	if err != nil {
		return err
	}

	b, err := patch.Patch(ctx, from, d, o.MaxBytes, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", old, err)
	}
	return container.WriteAtomic(ctx, out, func(w io.Writer) error { _, err := w.Write(b); return err })
}

// readVersion returns the content of a filter file or an exact set, which may be a pipe of at most 1 GiB, or the
// sharded set in a folder.
func readVersion(ctx context.Context, path string) (v patch.Version, err error) {
	const head = 8 // the longest magic
	limit := untrusted.Limit{MaxBytes: math.MaxInt64, Streams: true, Head: head, Check: func(b []byte) error {
		if container.HasMagic(bytes.NewReader(b)) || bytes.HasPrefix(b, []byte(container.ExactMagic)) || len(b) < head {
			return nil // if it is truncated, Diff and Patch return the offset
		}
		return container.Broken(0, "magic", container.OtherKind(b))
	}}
	if dir, ok := shardset.Dir(path); ok {
		m, st, err := shardset.ReadManifest(dir)
		if err != nil {
			return v, err
		}
		path, limit = filepath.Join(dir, shard.ManifestName), untrusted.Limit{MaxBytes: uint64(st.Size())}
		v.Shard = func(i int) ([]byte, error) { return readShard(ctx, dir, m.Shards[i]) }
	} else if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() {
		limit.MaxBytes = patch.DefaultMaxBytes
	}
	v.File, err = untrusted.ReadFile(ctx, path, limit)
	return v, err
}

// readShard returns the file of a shard. It reads at most the length in the manifest.
func readShard(ctx context.Context, dir string, e shard.Entry) ([]byte, error) {
	return untrusted.ReadFile(ctx, filepath.Join(dir, e.File), untrusted.Limit{MaxBytes: e.Bytes})
}

// patchFolder is PatchFile for a sharded set.
func patchFolder(ctx context.Context, dir string, d []byte, out string, o Options) (err error) {
	to, err := shardset.Replace(out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	from, err := readVersion(ctx, dir)
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

	text, err := patch.Patch(ctx, from, d, o.MaxBytes, put)
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}

	m, err := shard.ReadManifest(bytes.NewReader(text))
	if err != nil {
		return err
	}

	same := shardset.SameFile(dir, out)
	for _, e := range m.Shards { // both versions have them
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
