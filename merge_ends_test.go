package bloomery_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/bloomery/bloomery"
)

// limited is a context that ends after a number of calls of Err.
type limited struct {
	context.Context
	left *atomic.Int64
}

func (c limited) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// TestMergeFilesEnds: MergeFiles ends with its context, also after the files were opened.
func TestMergeFilesEnds(t *testing.T) {
	dir := t.TempDir()
	var files, folders []string
	for i := range 3 {
		name := filepath.Join(dir, fmt.Sprint(i))
		s := build(t, words(1000), bloomery.Config{Spec: "standard(m=20000,k=5)"})
		if err := s.Save(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		c := bloomery.Config{Spec: "standard(bytes=20000)", Dir: name + "s", Shards: 4}
		if err := build(t, words(1000), c).Close(); err != nil {
			t.Fatal(err)
		}
		files, folders = append(files, name), append(folders, name+"s")
	}
	for _, paths := range [][]string{files, folders} {
		ctx := limited{context.Background(), new(atomic.Int64)}
		const many = 1 << 40
		ctx.left.Store(many)
		for _, path := range paths {
			s, err := bloomery.Open(ctx, path)
			if err != nil {
				t.Fatal(err)
			}
			_ = s.Close()
		}
		ctx.left.Store(many - ctx.left.Load()) // what Open takes
		if s, err := bloomery.MergeFiles(ctx, paths); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, %v", paths[0], s, err)
		}
	}
}
