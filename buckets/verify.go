package buckets

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"regexp"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/shard"
)

// Verify reads all shards from the bucket and compares them with the SHA-256 in the manifest, up to Options.Fetches at
// a time. It neither uses nor fills the cache. progress, if not nil, is called from several goroutines with the number
// of bytes read so far. The error is the *shard.Error of a shard that is damaged or cannot be read, or the cause of
// ctx.
//
// With Options.Blocks, Verify stores a checksum of each 4 KiB, which needs 0.2% of the size of the set in memory. From
// then on, until a Refresh changes the set, queries read 4 KiB instead of a block and compare them. A difference is an
// error wrapping shard.ErrChanged.
func (s *Set) Verify(ctx context.Context, progress func(bytes int64)) error {
	return s.eachShard(ctx, s.now.Load(), progress, func(ctx context.Context, r remote, count counter) error {
		to, keep := io.Discard, func() {}
		if s.blocks != nil {
			sums := &chunks{seed: maphash.MakeSeed()}
			to, keep = sums, func() {
				sums.endChunk()
				r.g.sums[r.shard].Store(sums)
				s.blocks.forgetShard(r.g, r.shard) // cached blocks were not compared
			}
		}
		err := fetchShard(ctx, &s.counters, r.manifestEntry().SHA256, r, func(in io.Reader) error {
			_, err := io.CopyN(to, count(in), int64(r.manifestEntry().Bytes))
			return err
		})
		if err == nil {
			keep()
		}
		return err
	})
}

// counter returns a Reader that counts the bytes read from another Reader as progress.
type counter func(io.Reader) io.Reader

// eachShard calls f for all shards of a generation.
func (s *Set) eachShard(
	parent context.Context, g *generation, progress func(int64), f func(context.Context, remote, counter) error,
) error {
	if s.cache.base.Err() != nil {
		return ErrClosed
	}

	var done atomic.Int64
	count := func(r io.Reader) io.Reader {
		if progress == nil {
			return r
		}
		return readerFunc(func(p []byte) (int, error) {
			n, err := r.Read(p)
			progress(done.Add(int64(n)))
			return n, err
		})
	}

	all, ctx := errgroup.WithContext(parent)
	all.SetLimit(s.options.Fetches)
	for i := range g.manifest.Shards {
		if ctx.Err() != nil {
			break
		}
		all.Go(func() error {
			if err := f(ctx, remote{s, g, i}, count); err != nil {
				return &shard.Error{File: g.manifest.Shards[i].File, Err: err}
			}
			return nil
		})
	}

	err := all.Wait()
	if parent.Err() != nil {
		return context.Cause(parent)
	}
	return err
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// Download copies the set to a folder for bloomery.Open. It compares all shards with the manifest, and writes the
// manifest last. It keeps existing shards with the right contents, and after an error the written shards stay, so
// Download can be repeated. The folder must not contain the manifest of another set. If another process builds or
// changes a set there and does not end soon, the error wraps filter.ErrLocked. progress is called as in Verify.
func (s *Set) Download(ctx context.Context, dir string, progress func(bytes int64)) (err error) {
	to := Folder(dir)
	unlock, ok, err := lockWithin(ctx, to.(locker), lockWait)
	switch {
	case err != nil:
		return err
	case !ok:
		return fmt.Errorf("%s: %w; wait for it, or name another folder", dir, filter.ErrLocked)
	}
	defer func() { err = errors.Join(err, unlock()) }()

	g := s.now.Load()
	m := g.manifest
	there, err := manifestIn(ctx, to)
	if err != nil {
		return fmt.Errorf("%s: %w; if the set is of no use, remove the folder", dir, err)
	}
	if there != nil {
		if same, err := sameText(there, m); err != nil || !same {
			return errors.Join(err, fmt.Errorf("%s has another set; name an empty folder", dir))
		}
	}

	removeLeftovers(ctx, to, m, there != nil)

	err = s.eachShard(ctx, g, progress, func(ctx context.Context, r remote, count counter) error {
		e := r.manifestEntry()
		if hashOfFile(ctx, to, e.File) == e.SHA256 {
			return nil
		}
		return to.Write(ctx, e.File, func(w io.Writer) error {
			return fetchShard(ctx, &s.counters, e.SHA256, r, func(in io.Reader) error {
				_, err := io.CopyN(w, count(in), int64(e.Bytes))
				return err
			})
		})
	})
	if err != nil {
		return err
	}
	return to.Write(ctx, shard.ManifestName, func(w io.Writer) error { _, err := m.WriteTo(w); return err })
}

// lockWait is the time that Download waits for another process that changes the folder.
const lockWait = 2 * time.Second

// manifestIn returns the manifest in a folder, or nil if the folder has none.
func manifestIn(ctx context.Context, dir Store) (*shard.Manifest, error) {
	in, err := dir.Open(ctx, shard.ManifestName, 0, -1)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	m, err := shard.ReadManifest(in)
	return m, errors.Join(err, in.Close())
}

// shardNames matches the file names of shards.
var shardNames = regexp.MustCompile(`^[0-9]+-of-[0-9]+(\.[0-9a-z]+)?\.bloom$`)

// removeLeftovers removes shards that an interrupted Download of another version of the set has left. A folder that
// contains other files and no manifest is not the folder of a set: there it removes nothing. It ignores errors, because
// leftover files do no harm.
func removeLeftovers(ctx context.Context, dir Store, m *shard.Manifest, isSet bool) {
	named := map[string]bool{shard.ManifestName: true}
	for _, e := range m.Shards {
		named[e.File] = true
	}

	var leftovers []string
	for o, err := range dir.List(ctx, "") {
		switch {
		case err != nil:
			return
		case named[o.Name]:
		case shardNames.MatchString(o.Name):
			leftovers = append(leftovers, o.Name)
		case !isSet:
			return
		}
	}

	for _, name := range leftovers {
		_ = dir.Remove(ctx, name)
	}
}

// sameText reports whether two manifests have the same bytes.
func sameText(a, b *shard.Manifest) (bool, error) {
	var one, two bytes.Buffer
	_, err := a.WriteTo(&one)
	_, err2 := b.WriteTo(&two)
	return bytes.Equal(one.Bytes(), two.Bytes()), errors.Join(err, err2)
}
