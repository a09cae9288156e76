package shards

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"runtime"
	"sync/atomic"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/except"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/shardset"
	"github.com/bloomery/bloomery/shard"
)

// openers is the number of goroutines that open shards. On a network file system, each spends most of its time waiting.
const openers = 8

// Open opens the sharded set in a folder. If another process replaces the set meanwhile, it starts again.
func Open(ctx context.Context, dir string, o engine.Options) (set *Set, err error) {
	err = shardset.Open(dir, func(m *shard.Manifest, st fs.FileInfo) error {
		set, err = openManifest(ctx, dir, m, o)
		if err == nil {
			set.was, set.base = st, shardset.Clone(m)
		}
		return err
	})
	return set, err
}

// Lock locks the folder of a sharded set, until Close, opens the set for a change, and removes the files of a killed
// writer. It also returns the FileInfo of the manifest.
func Lock(ctx context.Context, dir string, waiting func(), o engine.Options) (*Set, fs.FileInfo, error) {
	if _, _, err := shardset.ReadManifest(dir); err != nil { // without a set, there is nothing to wait for
		return nil, nil, err
	}

	to, err := shardset.LockFolder(ctx, dir, shardset.Locking{Change: true, Waiting: waiting})
	if err != nil {
		return nil, nil, err
	}

	o.InMemory, o.Lazy = false, true
	t, err := Open(ctx, dir, o)
	if err == nil {
		err = to.Use(t.base)
	}
	if err != nil {
		return nil, nil, errors.Join(err, to.Close())
	}

	to.Sweep()
	t.folder = to
	return t, t.was, nil
}

// openManifest opens the shards of a manifest.
func openManifest(ctx context.Context, dir string, m *shard.Manifest, o engine.Options) (*Set, error) {
	kind, err := families.FormatOf(m.Spec.Family())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	if kind.Can.Has(family.CanRawKeys) {
		return nil, fmt.Errorf("%s: %w: family %s takes raw keys and cannot be sharded", dir, shard.ErrManifest, kind.Name)
	}
	if n := m.Bytes(); n > o.Limit() {
		return nil, fmt.Errorf("%s: %d bytes are over the limit of %d: %w", dir, n, o.Limit(), filter.ErrTooLarge)
	}

	hasher, err := o.Hasher(&container.File{Hash: m.Hash, Seed: m.Seed, KeyCheck: m.KeyCheck, Form: m.Form})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}

	o.Keyed = hasher
	t := &Set{dir: dir, manifest: m, hasher: hasher, planned: m.FPRPlanned, options: o, locked: o.Lazy}
	t.allocSlots()
	err = t.checkFiles(ctx, kind)
	if err == nil && (o.Concurrent || o.InMemory && !o.Lazy) {
		err = t.parallel(ctx, runtime.GOMAXPROCS(0), func(i int) error {
			_, err := t.shardAt(i)
			return err
		})
	}
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// checkFiles opens all files and checks their sizes and headers.
func (t *Set) checkFiles(ctx context.Context, kind families.Format) error {
	var full atomic.Bool
	var inflated atomic.Uint64 // bytes that trimmed filters take in addition to their files
	err := t.parallel(ctx, openers, func(i int) error {
		f, err := t.header(i)
		if err != nil {
			return t.Fail(i, err)
		}
		more := uint64(0)
		if kind.Inflated != nil {
			if more, err = kind.Inflated(f.Spec); err != nil {
				return t.Fail(i, err)
			}
		}
		if more == 0 {
			full.Store(true)
			// The sizes come from files: the min keeps a few of them from overflowing the sum.
		} else if inflated.Add(min(more, math.MaxInt64/2)) > t.options.Limit()-t.manifest.Bytes() {
			return t.Fail(i, fmt.Errorf("the trimmed filters take more than the limit of %d bytes when they are read: %w",
				t.options.Limit(), filter.ErrTooLarge))
		}
		return nil
	})
	t.trimmed = !full.Load()
	return err
}

// header opens the file of a shard and checks its size and header. It keeps up to heldFiles files open.
func (t *Set) header(i int) (*container.File, error) {
	in, err := t.openShard(i)
	if err != nil {
		return nil, err
	}

	p := &t.parts[i]
	f, places, err := container.ReadPlaces(io.NewSectionReader(in, 0, math.MaxInt64), t.reading(i))
	if err == nil {
		p.sizes, err = sizesIn(in, f, places)
	}
	if err != nil || i >= heldFiles || t.crowd.full.Load() {
		return f, errors.Join(err, in.Close())
	}

	p.holdFile(in)
	if t.crowd.full.Load() { // closeHeld, which does not wait for p.mu, may have skipped this part
		p.holdFile(nil)
	}
	return f, nil
}

// sizesIn returns the sizes of the sections of a file. It reads the first words of the exceptions, which are checked
// when the shard is loaded.
func sizesIn(in io.ReaderAt, f *container.File, places []container.Place) (s sizes, err error) {
	for _, p := range places {
		s.bits += 8 * p.Bytes
	}
	if last := places[len(places)-1]; f.HasExceptions() {
		s.exceptionBits = 8 * last.Bytes
		s.allowed, s.exceptions, err = except.ReadCounts(io.NewSectionReader(in, int64(last.Offset), int64(last.Bytes)))
	}
	return s, err
}
