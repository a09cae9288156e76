package bloomery

import (
	"context"
	"fmt"
	"slices"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/engine/one"
	"github.com/bloomery/bloomery/internal/engine/shards"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/shardset"
)

// Merge adds the keys of o to s. If their Specs or hash functions, including seed or secret, differ, or o is nil, the
// error wraps filter.ErrMismatch and s is unchanged. If the family does not merge, it wraps errors.ErrUnsupported. If
// their planned rates differ, s gets the higher one. Merge needs exclusive use of both sets, also of sets for many
// writers. If o is mapped, about 1 MiB of it is in memory at a time; if the file of o was changed in place, the error
// wraps filter.ErrFile, and s may have changed. Two sharded sets are merged shard by shard if their manifests have the
// same plan id; all shards of s are in memory then.
func (s *Set) Merge(o *Set) error { return s.combine(o, family.CanMerge) }

// Intersect reduces s to a set that contains at least the keys in both. Its false-positive rate is at most the rate of
// either set, but above the rate of a filter built from the common keys. Errors and memory: see Merge.
func (s *Set) Intersect(o *Set) error { return s.combine(o, family.CanIntersect) }

func (s *Set) combine(o *Set, how family.Ability) error {
	s.begin()
	defer s.end()
	return s.inner().Combine(o.other(), how)
}

// Clone returns a copy that shares nothing with s, in the same form. A copy of a mapped Set is in memory; a copy of a
// sharded Set opens the files of unchanged shards by name again. A Set for many writers may change meanwhile: the copy
// has all changes that returned before Clone began, and each concurrent change completely or not at all. If the filter
// is growing, Clone waits until it has grown. Save and WriteTo need no Clone.
func (s *Set) Clone() (*Set, error) { return made(s.inner().Copy()) }

// Reset removes all keys and keeps the geometry. The error wraps errors.ErrUnsupported if the family cannot start
// empty. Reset needs exclusive use, also of a Set for many writers.
func (s *Set) Reset() error {
	s.begin()
	defer s.end()
	return s.inner().Reset()
}

// Equal reports whether two sets have the same Spec, hash function, planned rate, number of keys and bits, so that Save
// would write the same file.
func (s *Set) Equal(o *Set) bool { return s.inner().Equal(o.other()) }

// Trimmed returns the set in its form for transfer: Save and WriteTo omit data that Open and Read recompute. It shares
// all memory with s. The error wraps errors.ErrUnsupported if the family has no such form, and filter.ErrTooLarge if
// the file could not be read back: in memory it would be larger than 64x its file + 1 MiB.
func (s *Set) Trimmed() (*Set, error) { return made(s.inner().Form(true)) }

// Full is the counterpart of Trimmed for a Set that was read from a trimmed file: Save and WriteTo of the result write
// the full form. For a Set of one filter, which has all data in memory, the result is s itself. For a sharded Set, Save
// and Commit of the result write every shard again. The error wraps errors.ErrUnsupported if the family has no trimmed
// form. It does not undo Trimmed: to write both forms, keep the untrimmed Set.
func (s *Set) Full() (*Set, error) {
	e := s.inner()
	full, err := e.Form(false)
	if err != nil || full == e {
		return s, err
	}
	return setOf(full), nil
}

// MergeFiles returns a Set of the keys in all files, which must have the same Spec and hash function, including seed or
// secret. Peak memory: the filter + 8 MiB, however many files there are. Errors come from [Open] and [Set.Merge], and
// name the files. If two paths name the same file, even through a link, the error wraps filter.ErrConfig: its keys
// would count twice.
//
// Folders of sharded sets must have the same plan id. The Set is computed shard by shard, so that one shard is in
// memory at a time. If it is larger than 1 GiB, Save computes it again. Close it when done.
func MergeFiles(ctx context.Context, paths []string, o ...Option) (*Set, error) {
	if err := shardset.Distinct(paths); err != nil {
		return nil, err
	}
	return combineFiles(ctx, paths, family.CanMerge, o)
}

// IntersectFiles returns a Set that contains at least the keys that are in all of the files; see [Set.Intersect].
// Memory and errors: see MergeFiles.
func IntersectFiles(ctx context.Context, paths []string, o ...Option) (*Set, error) {
	return combineFiles(ctx, paths, family.CanIntersect, o)
}

func combineFiles(ctx context.Context, paths []string, how family.Ability, all []Option) (*Set, error) {
	o := optionsOf(0, all)
	if len(paths) == 0 {
		return nil, fmt.Errorf("no files: %w", filter.ErrConfig)
	}
	if slices.ContainsFunc(paths, func(path string) bool { _, ok := shardset.Dir(path); return ok }) {
		return made(shards.Join(ctx, paths, how, func(path string) (engine.Engine, error) {
			return openEngine(ctx, path, o)
		}))
	}
	return made(one.Join(ctx, paths, how, o.Options))
}
