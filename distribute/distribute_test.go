package distribute_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/distribute"
	"github.com/bloomery/bloomery/internal/settest"
	"github.com/bloomery/bloomery/internal/steps"
)

// copying is a Store without Lock and Rename.
type copying struct{ distribute.Store }

// conditional is a Store with WriteIf.
type conditional struct {
	distribute.Store
	created map[string]bool
}

func (c conditional) WriteIf(ctx context.Context, name, version string, write func(io.Writer) error) error {
	o, err := c.Stat(ctx, name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if o.Version != version {
		return fmt.Errorf("%s: %w", name, fs.ErrExist)
	}
	c.created[name] = true
	return c.Write(ctx, name, write)
}

// TestSteps builds a set in steps in Stores with different abilities, and reads the plan again before each step. It
// checks that the output contains exactly the files that bloomery.Build writes.
func TestSteps(t *testing.T) {
	keys := ""
	for _, name := range []string{"a.txt", "b.txt"} {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		keys += string(b)
	}
	c := bloomery.Config{Spec: "fuse(width=8)", Sharding: bloomery.Sharding{Shards: 4}, Hashing: bloomery.Hashing{Seed: 5}}
	whole := filepath.Join(t.TempDir(), "whole")
	m, err := settest.BuildShards(t.Context(), slices.Values(strings.Fields(keys)), whole, c)
	if err != nil {
		t.Fatal(err)
	}
	want := contents(t, whole)
	for name, wrap := range map[string]func(distribute.Store) distribute.Store{
		"folder":  func(s distribute.Store) distribute.Store { return s },
		"copying": func(s distribute.Store) distribute.Store { return copying{s} },
		"conditional": func(s distribute.Store) distribute.Store {
			return conditional{copying{s}, map[string]bool{}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "set")
			out := wrap(distribute.Dir(dir))
			p, err := distribute.NewPlan(t.Context(), in, []string{"*.txt"}, distribute.Config{Build: c, RangeBytes: 100})
			if err == nil {
				err = p.Save(t.Context(), out)
			}
			if err != nil || p.Ranges < 4 || p.Shards != 4 {
				t.Fatalf("%+v, %v", p, err)
			}
			again := func() *distribute.Plan {
				read, err := distribute.ReadPlan(t.Context(), out, "")
				if err != nil || read.ID != p.ID || read.Ranges != p.Ranges || read.Shards != p.Shards {
					t.Fatalf("%+v read as %+v, %v", p, read, err)
				}
				return read
			}
			keys := uint64(0)
			for i := range p.Ranges {
				n, err := again().Range(t.Context(), in, out, i, distribute.Options{})
				if keys += n; err != nil {
					t.Fatal(err)
				}
			}
			if n, err := again().Gather(t.Context(), out, distribute.Options{}); n != m.Keys() || n != keys || err != nil {
				t.Errorf("%d keys in ranges, %d in all, %v", keys, n, err)
			}
			progress := 0.0
			for s := range p.Shards {
				o := distribute.Options{Progress: func(done float64) { progress = done }}
				if e, err := again().Build(t.Context(), out, s, o); err != nil || e.Keys != m.Shards[s].Keys || progress != 1 {
					t.Fatalf("shard %d: %+v, %v, progress %v", s, e, err, progress)
				}
			}
			got, err := again().Finish(t.Context(), out, distribute.Options{})
			if err != nil || !slices.Equal(got.Shards, m.Shards) {
				t.Errorf("%+v, %v", got, err)
			}
			if got := contents(t, dir); !maps.Equal(got, want) {
				t.Errorf("files %q, want %q", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
			}
			if c, ok := out.(conditional); ok && len(c.created) != 5 {
				t.Errorf("created by WriteIf: %v", c.created)
			}
			for _, id := range []string{"", p.ID} {
				if _, err := distribute.ReadPlan(t.Context(), out, id); !errors.Is(err, distribute.ErrNoPlan) {
					t.Errorf("plan %q of a finished set: %v", id, err)
				}
			}
		})
	}
}

// TestInput checks that an input needs only Open, Stat and List, and that Dir("") contains all files of this machine.
func TestInput(t *testing.T) {
	path, err := filepath.Abs(filepath.Join("testdata", "a.txt"))
	if err != nil {
		t.Fatal(err)
	}
	c := distribute.Config{Build: bloomery.Config{Spec: "blocked(fpr=0.01)", Sharding: bloomery.Sharding{Shards: 2}}}
	p, err := distribute.NewPlan(t.Context(), distribute.Dir(""), []string{filepath.ToSlash(path)}, c)
	if err != nil || p.Ranges != 1 {
		t.Fatalf("%+v, %v", p, err)
	}
	n, err := p.Range(t.Context(), distribute.Dir(""), distribute.Dir(t.TempDir()), 0, distribute.Options{})
	if n != 40 || err != nil {
		t.Errorf("%d keys, %v", n, err)
	}
	if _, err := distribute.NewPlan(t.Context(), in, []string{"d*"}, c); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// contents returns the files below a folder.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(name)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestObject checks that a Store implements the Store of internal/steps.
func TestObject(t *testing.T) {
	if reflect.TypeFor[distribute.Object]() != reflect.TypeFor[steps.Object]() {
		t.Error("Object is another type than in the steps")
	}
}
