package steps_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/steps"
	"github.com/bloomery/bloomery/shard"
)

// write writes a file and returns its path.
func write(t *testing.T, path, text string) string {
	t.Helper()
	check(t, os.MkdirAll(filepath.Dir(path), 0o777))
	check(t, os.WriteFile(path, []byte(text), 0o666))
	return path
}

func gzipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, text)
	_ = w.Close()
	return b.String()
}

// lines returns n keys, and a text with these keys as lines.
func lines(what string, n int) (keys []string, text string) {
	var b strings.Builder
	for i := range n {
		keys = append(keys, fmt.Sprintf("%s-%d", what, i*i%7919*i))
		b.WriteString(keys[i] + "\n")
	}
	return keys, b.String()
}

// input is a folder of objects with keys: plain text, gzip, and small ones.
func input(t *testing.T) (in steps.Store, keys []string) {
	dir := t.TempDir()
	for i, n := range []int{9000, 4000, 3, 0, 5} {
		k, text := lines(fmt.Sprint("key", i), n)
		if i == 1 {
			text = gzipped(text)
		}
		write(t, filepath.Join(dir, fmt.Sprintf("part-%d.txt", i)), text)
		keys = append(keys, k...)
	}
	return steps.Dir(dir), keys
}

// all runs all steps.
func all(
	ctx context.Context, p *steps.Plan, in steps.Source, out steps.Store, o steps.Options,
) (*shard.Manifest, error) {
	if err := p.Save(ctx, out); err != nil {
		return nil, err
	}
	for i := range p.Ranges {
		if _, err := p.Range(ctx, in, out, i, o); err != nil {
			return nil, err
		}
	}
	if _, err := p.Gather(ctx, out, nil, o); err != nil {
		return nil, err
	}
	for s := range p.Shards {
		if _, err := p.Build(ctx, out, s, o); err != nil {
			return nil, err
		}
	}
	return p.Finish(ctx, out, o)
}

// folder returns the files of a folder by name.
func folder(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(name)] = string(b)
		return err
	})
	check(t, err)
	return files
}

// TestFamilies builds sets of every family in steps. Each shard must equal the result of Build for its keys.
func TestFamilies(t *testing.T) {
	in, keys := input(t)
	const shards = 5
	for _, f := range families.All() {
		if f.Can.Has(family.CanRawKeys) {
			continue
		}
		c := steps.Config{Build: bloomery.Config{Spec: f.Name, Sharding: bloomery.Sharding{Shards: shards}},
			RangeBytes: 20_000}
		if !f.Foreign() {
			c.Build.Hashing.Seed = 7
		}
		p, err := steps.NewPlan(t.Context(), in, []string{"part-*"}, c)
		check(t, err)
		if len(p.Ranges) < 5 {
			t.Fatalf("%d ranges", len(p.Ranges))
		}
		dir := t.TempDir()
		m, err := all(t.Context(), p, in, steps.Dir(dir), steps.Options{})
		if err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		files := folder(t, dir)
		if len(files) != shards+1 {
			t.Errorf("%s: %d files are left", f.Name, len(files))
		}
		h, err := f.Hasher(p.Spec, families.Hashing{Seed: c.Build.Hashing.Seed})
		check(t, err)
		for s, e := range m.Shards {
			own := slices.DeleteFunc(slices.Clone(keys), func(k string) bool { return shard.Route(h.SumString(k), shards) != s })
			one := bloomery.Config{Spec: f.Name, Hashing: bloomery.Hashing{Seed: c.Build.Hashing.Seed}, Keys: uint64(len(own))}
			set, err := bloomery.Build(t.Context(), slices.Values(own), one)
			check(t, err)
			want, err := set.MarshalBinary()
			check(t, err)
			if files[e.File] != string(want) {
				t.Errorf("%s: shard %d differs from the filter of its keys", f.Name, s)
			}
		}
	}
}

// TestRefused checks that sets that a distributed build does not support are refused.
func TestRefused(t *testing.T) {
	in, _ := input(t)
	for _, c := range []bloomery.Config{
		{Spec: "bitsandblooms", Sharding: bloomery.Sharding{Shards: 2}}, {Spec: "partitioned(budget=1s)",
			Sharding: bloomery.Sharding{Shards: 2}}, {Spec: "standard"},
		{Spec: "standard(m=1000,k=3)", Sharding: bloomery.Sharding{Shards: 2}}, {Spec: "standard",
			Sharding: bloomery.Sharding{Shards: shard.Max + 1}}, {Capacity: 10, Sharding: bloomery.Sharding{Shards: 2}},
		{Spec: "standard", Sharding: bloomery.Sharding{Shards: 2}, Allow: func(func([]byte) bool) {}},
	} {
		_, err := steps.NewPlan(t.Context(), in, []string{"part-*"}, steps.Config{Build: c})
		if !errors.Is(err, filter.ErrConfig) && !errors.Is(err, filter.ErrUnsupported) {
			t.Errorf("%s, %d shards: error %v", c.Spec, c.Sharding.Shards, err)
		}
	}
}
