package bloomery

import (
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/engine/one"
	"github.com/bloomery/bloomery/internal/engine/shards"
)

// MergeFiles returns a Set of the keys in all files, which must have the same Spec and hash function, including seed or
// secret. Peak memory: the filter + 8 MiB, however many files there are. Errors are those of Open and Merge, and name
// the files. If two paths name one file, also by a link, the error wraps filter.ErrConfig: its keys would count twice.
//
// Folders of sharded sets must have the same plan id. Their Set is computed shard by shard, and again by Save if it is
// larger than 1 GiB, so that one shard is in memory at a time. Close it when done.
func MergeFiles(paths []string, o ...Option) (*Set, error) {
	if err := distinctFiles(paths); err != nil {
		return nil, err
	}
	return combineFiles(paths, filter.CanMerge, o)
}

// distinctFiles returns an error if two paths name one file. Open reports files that are missing.
func distinctFiles(paths []string) error {
	files := make([]fs.FileInfo, len(paths))
	for i, path := range paths {
		if dir, ok := ShardedDir(path); ok {
			path = dir
		}
		st, err := os.Stat(path)
		if err != nil {
			continue
		}
		for j, other := range files[:i] {
			if other != nil && os.SameFile(st, other) {
				return fmt.Errorf("%s and %s are one file; name it once: %w", paths[j], path, filter.ErrConfig)
			}
		}
		files[i] = st
	}
	return nil
}

// IntersectFiles returns a Set that contains at least the keys that are in each of the files; see Set.Intersect. Memory
// and errors are those of MergeFiles.
func IntersectFiles(paths []string, o ...Option) (*Set, error) {
	return combineFiles(paths, filter.CanIntersect, o)
}

// combineFiles reads the first file into memory and combines it with each of the others, which are mapped. They are
// opened first, because that reads them: the pages are released again before the first file takes its memory.
func combineFiles(paths []string, how filter.Ability, all []Option) (*Set, error) {
	o := optionsOf(0, all)
	if len(paths) == 0 {
		return nil, fmt.Errorf("no files: %w", filter.ErrConfig)
	}
	if slices.ContainsFunc(paths, func(path string) bool { _, ok := ShardedDir(path); return ok }) {
		return made(shards.Join(paths, how, func(path string) (engine.Engine, error) {
			s, err := openFile(path, o)
			if err != nil {
				return nil, err
			}
			return s.engine, nil
		}))
	}
	others := make([]*one.Set, 0, len(paths))
	defer func() {
		for _, s := range others {
			_ = s.Close()
		}
	}()
	for _, path := range paths[1:] {
		other, err := one.Open(path, o.Options)
		if err != nil {
			return nil, err
		}
		others = append(others, other)
		other.Release()
	}
	o.InMemory = true
	set, err := one.Open(paths[0], o.Options)
	if err != nil {
		return nil, err
	}
	for i, other := range others {
		err := set.Combine(other, how)
		if err == nil {
			err = other.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("%s and %s: %w", paths[0], paths[i+1], err)
		}
	}
	return setOf(set), nil
}
