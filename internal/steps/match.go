package steps

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Match returns the objects of the patterns, sorted by name and each once. A pattern is
//
//   - the name of an object, also one with characters of patterns,
//   - a pattern of path.Match, in which * does not match a slash,
//   - a prefix that ends in a slash, for all objects below it.
//
// A pattern without an object is an error wrapping fs.ErrNotExist.
func Match(ctx context.Context, in Source, patterns []string) ([]Object, error) {
	var all []Object
	for _, p := range patterns {
		found, err := matchOne(ctx, in, p)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, &fs.PathError{Op: "match", Path: p, Err: fs.ErrNotExist}
		}
		all = append(all, found...)
	}
	slices.SortFunc(all, func(a, b Object) int { return cmp.Compare(a.Name, b.Name) })
	return slices.CompactFunc(all, func(a, b Object) bool { return a.Name == b.Name }), nil
}

func matchOne(ctx context.Context, in Source, pattern string) (found []Object, err error) {
	meta := strings.IndexAny(pattern, `*?[\`)
	if pattern == "" {
		return nil, &fs.PathError{Op: "match", Path: pattern, Err: fs.ErrInvalid}
	}
	if !strings.HasSuffix(pattern, "/") {
		o, err := in.Stat(ctx, pattern)
		if err == nil || meta < 0 || !missing(err) {
			return []Object{o}, err
		}
	}
	if _, err := path.Match(pattern, ""); err != nil {
		return nil, fmt.Errorf("%q: %w", pattern, err)
	}
	if g, ok := in.(interface {
		Glob(string) ([]string, error)
	}); ok && meta >= 0 {
		names, err := g.Glob(pattern)
		for _, name := range names {
			o, err := in.Stat(ctx, name)
			if err != nil {
				return nil, err
			}
			found = append(found, o)
		}
		return found, err
	}
	prefix := pattern
	if meta >= 0 {
		prefix = pattern[:meta]
	}
	for o, err := range in.List(ctx, prefix) {
		if err != nil {
			return nil, err
		}
		if ok, _ := path.Match(pattern, o.Name); (ok || meta < 0) && !strings.HasSuffix(o.Name, "/") {
			found = append(found, o)
		}
	}
	return found, nil
}
