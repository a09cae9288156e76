package buckets

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/bloomery/bloomery/internal/shardset"
	"github.com/bloomery/bloomery/shard"
)

// Verify reads all shards from the bucket and compares them with the SHA-256 in the manifest, up to Options.Fetches at
// a time. It neither uses nor fills the cache. progress, if not nil, is called from several goroutines with the number
// of bytes read so far. The error is the *shard.Error of a shard that is damaged or cannot be read, or the cause of
// ctx.
//
// With Options.Blocks, Verify keeps a checksum of each 4 KiB, in memory of 0.2% of the set. From then on, until a
// Refresh that changes the set, queries read 4 KiB instead of a block and compare them, and a difference is an error
// wrapping shard.ErrChanged.
func (s *Set) Verify(ctx context.Context, progress func(bytes int64)) error {
	return s.each(ctx, s.now.Load(), progress, func(ctx context.Context, r remote, count counter) error {
		to, keep := io.Discard, func() {}
		if s.blocks != nil {
			sums := &chunks{seed: maphash.MakeSeed()}
			to, keep = sums, func() {
				sums.end()
				r.g.sums[r.shard].Store(sums)
				s.blocks.forget(r.g, r.shard) // they were not compared
			}
		}
		err := fetch(ctx, &s.counters, r.entry().SHA256, r, func(in io.Reader) error {
			_, err := io.CopyN(to, count(in), int64(r.entry().Bytes))
			return err
		})
		if err == nil {
			keep()
		}
		return err
	})
}

// counter returns a Reader whose bytes are counted as progress.
type counter func(io.Reader) io.Reader

// each calls f for all shards of a generation.
func (s *Set) each(
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

// Download makes the set the one in a folder, which bloomery.Open takes, in one transaction: it compares all shards
// with the manifest, and writes the manifest last. Shards that are there are kept if they have the right contents, and
// shards that were written stay after an error, so Download can be repeated. The folder must not have the manifest of
// another set. If another process builds or changes a set there and does not end soon, the error wraps
// filter.ErrLocked. progress is that of Verify.
func (s *Set) Download(ctx context.Context, dir string, progress func(bytes int64)) (err error) {
	to, err := shardset.LockFolder(ctx, dir, shardset.Locking{Wait: shardset.ShortWait})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Unlock()) }()
	if err := to.Read(); err != nil {
		return err
	}
	g := s.now.Load()
	m := g.manifest
	if there := to.Manifest(); there != nil {
		if same, err := sameText(there, m); err != nil || !same {
			return errors.Join(err, fmt.Errorf("%s has another set; name an empty folder", dir))
		}
	}
	to.Sweep(m)
	err = s.each(ctx, g, progress, func(ctx context.Context, r remote, count counter) error {
		e := r.entry()
		if sumOf(to.Path(e.File)) == e.SHA256 {
			return nil
		}
		return to.PutFile(ctx, e.File, e.SHA256, func(w io.Writer) error {
			return fetch(ctx, &s.counters, e.SHA256, r, func(in io.Reader) error {
				_, err := io.CopyN(w, count(in), int64(e.Bytes))
				return err
			})
		})
	})
	if err != nil {
		return err
	}
	return to.Commit(ctx, m, nil, nil)
}

// sameText reports whether two manifests are written as the same bytes.
func sameText(a, b *shard.Manifest) (bool, error) {
	var one, two bytes.Buffer
	_, err := a.WriteTo(&one)
	_, err2 := b.WriteTo(&two)
	return bytes.Equal(one.Bytes(), two.Bytes()), errors.Join(err, err2)
}
