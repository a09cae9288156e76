package shardset

import (
	"fmt"
	"io/fs"
	"os"

	"github.com/bloomery/bloomery/filter"
)

// Distinct returns an error wrapping filter.ErrConfig if two paths name one file. It ignores files that are missing.
func Distinct(paths []string) error {
	files := make([]fs.FileInfo, len(paths))
	for i, path := range paths {
		if dir, ok := Dir(path); ok {
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
