package settest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/settest"
)

// TestMergeFiles merges and intersects mapped files of all families that support this, and compares the results with
// Sets in memory.
func TestMergeFiles(t *testing.T) {
	for _, spec := range []string{
		"standard(m=20000003,k=3)", "blocked(bytes=2500000)", "counting(bytes=2500000)", "guava(bytes=2500000)",
		"bitsandblooms(bytes=2500000)",
	} {
		dir := t.TempDir()
		var paths []string
		var all, both *bloomery.Set
		for i := range 3 {
			s := settest.Must(bloomery.New(bloomery.Config{Spec: spec}))
			for key := range 2000 {
				settest.Check(t, s.AddString(fmt.Sprint(key+1000*i)))
			}
			paths = append(paths, filepath.Join(dir, fmt.Sprint(i)))
			settest.Check(t, s.Save(t.Context(), paths[i]))
			if i == 0 {
				all = s
				both = settest.Must(s.Clone())
				continue
			}
			settest.Check(t, all.Merge(s))
			if err := both.Intersect(s); err != nil && !errors.Is(err, errors.ErrUnsupported) {
				t.Fatal(err)
			}
		}
		if got, err := bloomery.MergeFiles(t.Context(), paths); err != nil || !got.Equal(all) {
			t.Errorf("%s: another merged set, %v", spec, err)
		}
		got, err := bloomery.IntersectFiles(t.Context(), paths)
		switch {
		case strings.HasPrefix(spec, "counting"):
			if !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("%s: %v", spec, err)
			}
		case err != nil || !got.Equal(both):
			t.Errorf("%s: another intersection, %v", spec, err)
		}
	}
}

// TestMergeFilesErrors checks that errors name the files.
func TestMergeFilesErrors(t *testing.T) {
	if _, err := bloomery.MergeFiles(t.Context(), nil); !errors.Is(err, filter.ErrConfig) {
		t.Errorf("no files: %v", err)
	}
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	for path, spec := range map[string]string{a: "standard(bytes=100)", b: "standard(bytes=200)"} {
		s, err := bloomery.New(bloomery.Config{Spec: spec})
		if err == nil {
			err = s.Save(t.Context(), path)
		}
		settest.Check(t, err)
	}
	_, err := bloomery.MergeFiles(t.Context(), []string{a, b})
	if !errors.Is(err, filter.ErrMismatch) || !strings.HasPrefix(err.Error(), a+" and "+b) {
		t.Errorf("%v", err)
	}
	link := filepath.Join(dir, "link")
	settest.Check(t, os.Link(a, link))
	for _, paths := range [][]string{{a, a}, {a, b, link}} {
		_, err := bloomery.MergeFiles(t.Context(), paths)
		if !errors.Is(err, filter.ErrConfig) || !strings.Contains(err.Error(), "one file") {
			t.Errorf("%v: %v", paths, err)
		}
	}
	none := filepath.Join(dir, "none")
	for _, paths := range [][]string{{a, none}, {none, a}} {
		if _, err := bloomery.MergeFiles(t.Context(), paths); err == nil || !strings.Contains(err.Error(), none) {
			t.Errorf("%v", err)
		}
	}
}

// TestChangeOfMapped changes a mapped filter of several MiB. The change copies the filter part by part.
func TestChangeOfMapped(t *testing.T) {
	s := settest.Must(bloomery.New(bloomery.Config{Spec: "standard(bytes=3000001)"}))
	for key := range uint64(1000) {
		settest.Check(t, bloomery.Keyed[uint64](s).Add(key))
	}
	path := filepath.Join(t.TempDir(), "f")
	settest.Check(t, s.Save(t.Context(), path))
	mapped := settest.Must(bloomery.Open(t.Context(), path))
	defer mapped.Close()
	if err := errors.Join(bloomery.Keyed[uint64](mapped).Add(1000), bloomery.Keyed[uint64](s).Add(1000)); err != nil ||
		!mapped.Equal(s) {
		t.Errorf("the copy is another set: %v", err)
	}
}

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

// TestMergeFilesEnds checks that MergeFiles returns when its context ends, even after it has opened the files.
func TestMergeFilesEnds(t *testing.T) {
	dir := t.TempDir()
	var files, folders []string
	for i := range 3 {
		name := filepath.Join(dir, fmt.Sprint(i))
		s := settest.Build(t, settest.Words(1000), bloomery.Config{Spec: "standard(m=20000,k=5)"})
		settest.Check(t, s.Save(t.Context(), name))
		c := bloomery.Config{Spec: "standard(bytes=20000)", Sharding: bloomery.Sharding{Dir: name + "s", Shards: 4}}
		settest.Check(t, settest.Build(t, settest.Words(1000), c).Close())
		files, folders = append(files, name), append(folders, name+"s")
	}
	for _, paths := range [][]string{files, folders} {
		ctx := limited{context.Background(), new(atomic.Int64)}
		const many = 1 << 40
		ctx.left.Store(many)
		for _, path := range paths {
			s := settest.Must(bloomery.Open(ctx, path))
			_ = s.Close()
		}
		ctx.left.Store(many - ctx.left.Load()) // the calls of Open
		if s, err := bloomery.MergeFiles(ctx, paths); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, %v", paths[0], s, err)
		}
	}
}
