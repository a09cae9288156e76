package buckets

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"sync/atomic"

	"github.com/bloomery/bloomery/distribute"
	"github.com/bloomery/bloomery/shard"
	"golang.org/x/sync/errgroup"
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
	return s.each(ctx, progress, func(ctx context.Context, r remote, count func(io.Reader) io.Reader) error {
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

// each calls f for all shards of the Set.
func (s *Set) each(
	parent context.Context, progress func(int64), f func(context.Context, remote, func(io.Reader) io.Reader) error,
) error {
	if s.cache.base.Err() != nil {
		return ErrClosed
	}
	g := s.now.Load()
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

// Download writes the set into a folder that bloomery.Open takes, compares all shards with the manifest, and writes the
// manifest last. Shards that are there are kept if they have the right contents, so Download can be repeated after an
// error. The folder must not have the manifest of another set. progress is that of Verify.
func (s *Set) Download(ctx context.Context, dir string, progress func(bytes int64)) error {
	to := distribute.Dir(dir)
	var manifest bytes.Buffer
	if _, err := s.now.Load().manifest.WriteTo(&manifest); err != nil {
		return err
	}
	switch r, err := to.Open(ctx, shard.ManifestName, 0, -1); {
	case err == nil:
		old, err := io.ReadAll(io.LimitReader(r, int64(manifest.Len())+1))
		if err = errors.Join(err, r.Close()); err != nil {
			return err
		}
		if !bytes.Equal(old, manifest.Bytes()) {
			return fmt.Errorf("%s has another set; name an empty folder", dir)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	err := s.each(ctx, progress, func(ctx context.Context, r remote, count func(io.Reader) io.Reader) error {
		e := r.entry()
		if in, err := to.Open(ctx, e.File, 0, -1); err == nil {
			sum := sha256.New()
			_, err := io.Copy(sum, in)
			if errors.Join(err, in.Close()) == nil && hashSum(sum.Sum(nil)) == e.SHA256 {
				return nil
			}
		}
		return to.Write(ctx, e.File, func(w io.Writer) error {
			return fetch(ctx, &s.counters, e.SHA256, r, func(in io.Reader) error {
				_, err := io.CopyN(w, count(in), int64(e.Bytes))
				return err
			})
		})
	})
	if err != nil {
		return err
	}
	return to.Write(ctx, shard.ManifestName, func(w io.Writer) error { _, err := w.Write(manifest.Bytes()); return err })
}
