package buckets

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/shard"
)

// fetcher is a shard in the bucket.
type fetcher interface {
	// openShard reads the shard from its first byte.
	openShard(ctx context.Context) (io.ReadCloser, error)
	// options returns the options for reading the shard.
	options() []bloomery.Option
	// checkSet returns an error if a Set does not belong to this shard.
	checkSet(*bloomery.Set) error
}

// memory keeps shards in memory.
type memory struct{ stats *counters }

func (m memory) loadShard(ctx context.Context, key hashSum, bytes int64, f fetcher) (*bloomery.Set, error) {
	if bytes > math.MaxInt {
		return nil, fmt.Errorf("%d bytes: %w", bytes, filter.ErrTooLarge)
	}

	b := make([]byte, bytes) // the cache has reserved this size, and the object has it
	err := fetchShard(ctx, m.stats, key, f, func(r io.Reader) error {
		_, err := io.ReadFull(r, b)
		return err
	})
	if err != nil {
		return nil, err
	}

	set, err := bloomery.FromBytes(b, f.options()...)
	if err == nil {
		err = f.checkSet(set)
	}
	if err != nil {
		return nil, asUnusable(err)
	}
	return set, nil
}

// unusable is the error of a shard that has the SHA-256 in the manifest but is not a filter of the set.
type unusable struct{ error }

func (e *unusable) Unwrap() error { return e.error }

// asUnusable returns err as an unusable error, unless it is an error of the operating system, such as too many open
// files, which may be transient.
func asUnusable(err error) error {
	var number syscall.Errno
	var path *fs.PathError
	if errors.As(err, &number) || errors.As(err, &path) {
		return err
	}
	return &unusable{err}
}

// mismatch is the error of a shard whose bytes have the wrong SHA-256. It wraps shard.ErrChanged.
type mismatch struct{ got, want hashSum }

func (e *mismatch) Error() string {
	return fmt.Sprintf("SHA-256 %x..., want %x...: %v; write the set again", e.got[:4], e.want[:4], shard.ErrChanged)
}

func (e *mismatch) Unwrap() error { return shard.ErrChanged }

func (memory) dropShard(hashSum) error { return nil }
func (memory) close() error            { return nil }

// fetchShard calls read with the bytes of a shard and compares them with the key. read must read all bytes that it
// expects.
func fetchShard(ctx context.Context, stats *counters, key hashSum, f fetcher, read func(io.Reader) error) error {
	in, err := f.openShard(ctx)
	if err != nil {
		return err
	}

	stats.fetches.Add(1)
	sum := sha256.New()
	err = read(io.TeeReader(&counted{in, stats}, sum))
	err = errors.Join(err, in.Close())
	switch {
	case errors.Is(err, io.EOF): // fewer bytes than the listing has promised
		return fmt.Errorf("%w: %w", shard.ErrChanged, io.ErrUnexpectedEOF)
	case err != nil:
		return err
	}
	if got := hashSum(sum.Sum(nil)); got != key {
		return &mismatch{got, key}
	}
	return nil
}

// counted counts the bytes of a Reader.
type counted struct {
	io.Reader
	stats *counters
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.stats.bytes.Add(int64(n))
	return n, err
}

// cacheFolder keeps shards in files named by their SHA-256.
type cacheFolder struct {
	dir    string
	files  Store        // files of the same folder
	unlock func() error // unlocks the folder, which an open Set locks
	stats  *counters
}

// The name of a file is its key and cacheSuffix. During the fetch the name begins with a dot and ends with temporary
// and digits.
const (
	cacheSuffix = ".bloom"
	temporary   = ".tmp-"
)

// openCacheFolder locks a folder for one Set.
func openCacheFolder(dir string, stats *counters) (*cacheFolder, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}

	files := Folder(dir)
	unlock, ok, err := lockWithin(context.Background(), files.(locker), time.Nanosecond)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, fmt.Errorf("cache folder %s is in use by another open set; give each set a folder of its own", dir)
	}
	return &cacheFolder{dir, files, unlock, stats}, nil
}

func (d *cacheFolder) pathOf(key hashSum) string {
	return filepath.Join(d.dir, hex.EncodeToString(key[:])+cacheSuffix)
}

// adoptFiles adds the files of an earlier Set to the cache, the most recently fetched files first. It removes files
// that are incomplete, do not belong to a shard in sizes, or do not fit. It leaves files with other names alone.
func (d *cacheFolder) adoptFiles(c *cache, sizes map[hashSum]int64) error {
	all, err := os.ReadDir(d.dir)
	if err != nil {
		return err
	}

	type kept struct {
		key  hashSum
		info os.FileInfo
	}

	var files []kept
	for _, e := range all {
		name, unfinished := e.Name(), false
		if rest, ok := strings.CutPrefix(name, "."); ok {
			name, _, unfinished = strings.Cut(rest, temporary)
		}
		key, ok := keyInName(name)
		if !ok || !e.Type().IsRegular() {
			continue
		}

		info, err := e.Info()
		if size, wanted := sizes[key]; err == nil && !unfinished && wanted && info.Size() == size {
			files = append(files, kept{key, info})
		} else if err := os.Remove(filepath.Join(d.dir, e.Name())); err != nil {
			return err
		}
	}

	slices.SortFunc(files, func(a, b kept) int { return b.info.ModTime().Compare(a.info.ModTime()) })
	for _, f := range files {
		if !c.adoptShard(f.key, f.info.Size()) {
			if err := d.dropShard(f.key); err != nil {
				return err
			}
		}
	}
	return nil
}

// keyInName returns the key in the name of a file.
func keyInName(name string) (key hashSum, ok bool) {
	digits, ok := strings.CutSuffix(name, cacheSuffix)
	if !ok || len(digits) != 2*len(key) || strings.ToLower(digits) != digits {
		return key, false
	}
	_, err := hex.Decode(key[:], []byte(digits))
	return key, err == nil
}

// loadShard opens the file of a shard. If it is missing or damaged, load fetches it.
func (d *cacheFolder) loadShard(ctx context.Context, key hashSum, bytes int64, f fetcher) (*bloomery.Set, error) {
	path := d.pathOf(key)
	if hashOfFile(ctx, d.files, filepath.Base(path)) != key {
		if err := d.fetchFile(ctx, key, bytes, f); err != nil {
			return nil, errors.Join(err, d.dropShard(key))
		}
	}

	set, err := bloomery.Open(ctx, path, f.options()...)
	if err == nil {
		if err = f.checkSet(set); err != nil {
			_ = set.Close()
		}
	}
	if err != nil {
		return nil, errors.Join(asUnusable(err), d.dropShard(key))
	}
	return set, nil
}

// fetchFile writes the file of a shard by rename. It does not sync the file, because loadShard compares the file with
// its key before each use.
func (d *cacheFolder) fetchFile(ctx context.Context, key hashSum, bytes int64, f fetcher) error {
	path := d.pathOf(key)
	tmp, err := os.CreateTemp(d.dir, "."+filepath.Base(path)+temporary+"*")
	if err != nil {
		return err
	}

	err = fetchShard(ctx, d.stats, key, f, func(r io.Reader) error {
		_, err := io.CopyN(tmp, r, bytes)
		return err
	})
	err = errors.Join(err, tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(tmp.Name()))
	}
	return err
}

// hashOfFile returns the SHA-256 of a file in a folder, or zero if it cannot be read.
func hashOfFile(ctx context.Context, dir Store, name string) (sum hashSum) {
	f, err := dir.Open(ctx, name, 0, -1)
	if err != nil {
		return sum
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return sum
	}
	return hashSum(h.Sum(nil))
}

func (d *cacheFolder) dropShard(key hashSum) error {
	err := os.Remove(d.pathOf(key))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

func (d *cacheFolder) close() error { return d.unlock() }
