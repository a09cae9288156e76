package shards_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/settest"
	"github.com/bloomery/bloomery/shard"
)

// TestAllowShards builds sharded sets with exceptions for a list, with the hashes in memory and in temporary files, and
// compares each shard with the single filter of its keys. It queries all members and the whole list.
func TestAllowShards(t *testing.T) {
	ctx := context.Background()
	const shards = 4
	for _, spec := range []string{"blocked(fpr=0.05)", "rankindexed(fpr=0.03)"} {
		for _, tt := range []struct {
			name       string
			n, allowed int
			c          bloomery.Config
		}{
			{"memory", 10_000, 50_000, bloomery.Config{}}, {"counted", 5000, 20_000,
				bloomery.Config{Keys: 5000, Hashing: bloomery.Hashing{Seed: 5}}},
			{"files", 70_000, 140_000, bloomery.Config{Building: bloomery.Building{Memory: 4000,
				TempDir: t.TempDir()}}}, // each Spill keeps 65,536 hashes in memory
			{"one list is empty", 3000, 0, bloomery.Config{}}, {"no members", 0, 100, bloomery.Config{}},
		} {
			c, n, allowed := tt.c, tt.n, tt.allowed
			c.Spec, c.Allow, c.Sharding.Shards = spec, settest.Numbered("allowed", allowed), shards
			what := spec + ", " + tt.name
			dir := t.TempDir()
			m, err := settest.BuildShards(ctx, settest.Numbered("member", n), dir, c)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			s, err := bloomery.Open(ctx, dir)
			check(t, err)
			defer s.Close()
			info := s.Info() // of shards that are not loaded
			settest.Exact(t, what, s, n, allowed)
			settest.Exact(t, what+", loaded", s, n, allowed)
			if loaded := s.Info(); fmt.Sprint(loaded) != fmt.Sprint(info) {
				t.Errorf("%s: Info %+v, and %+v of loaded shards", what, info, loaded)
			}
			var sum filter.Info
			for i := range shards {
				one := settest.Shard(t, dir, s, i)
				sum.Allowed += one.Info().Allowed
				sum.Exceptions += one.Info().Exceptions
				sum.ExceptionBits += one.Info().ExceptionBits
				sum.Bits += one.Info().Bits
				alone := shardAlone(t, c, i, n, allowed)
				if !one.Equal(alone) || m.Shards[i].Keys != alone.Len() {
					t.Errorf("%s: shard %d differs from the filter of its keys", what, i)
				}
			}
			none := info.Exceptions == 0 && allowed > 100
			if info.Allowed != uint64(allowed) || none || sizesOf(info) != sizesOf(sum) {
				t.Errorf("%s: Info %+v, sums %+v", what, info, sum)
			}
		}
	}
}

// shardAlone builds a shard from its keys and its part of the list.
func shardAlone(t *testing.T, c bloomery.Config, i, n, allowed int) *bloomery.Set {
	t.Helper()
	shards := c.Sharding.Shards
	c, err := c.ForShard(context.Background())
	check(t, err)
	b, err := bloomery.NewBuilder(t.Context(), c)
	check(t, err)
	h := b.Hasher()
	check(t, b.Close())
	c.Allow = routedTo(settest.Numbered("allowed", allowed), h, i, shards)
	s, err := bloomery.Build(context.Background(), routedTo(settest.Numbered("member", n), h, i, shards), c)
	check(t, err)
	return s
}

// routedTo yields the keys of shard i.
func routedTo(keys iter.Seq[[]byte], h filter.Hasher, i, shards int) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for key := range keys {
			if shard.Route(h.Sum(key), shards) == i && !yield(key) {
				return
			}
		}
	}
}

// TestAllowShardsReadOnly checks that a sharded set with exceptions can be trimmed, cloned and saved, but not changed.
func TestAllowShardsReadOnly(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	const n, allowed = 10_000, 30_000
	c := bloomery.Config{Spec: "rankindexed(fpr=0.05)", Sharding: bloomery.Sharding{Shards: 3},
		Allow: settest.Numbered("allowed", allowed)}
	if _, err := settest.BuildShards(ctx, settest.Numbered("member", n), dir, c); err != nil {
		t.Fatal(err)
	}
	s, err := bloomery.Open(ctx, dir)
	check(t, err)
	defer s.Close()
	key := []byte("new")
	for name, err := range map[string]error{
		"Add": s.Add(key), "AddMany": bloomery.Keyed[[]byte](s).AddMany([][]byte{key, []byte("more")}), "Merge": s.Merge(s),
		"Intersect": s.Intersect(s), "Remove": s.Remove([]byte("member-1.example")),
		"TestAndAdd": func() error { _, err := s.TestAndAdd(key); return err }(),
		"RemoveMany": func() error { _, err := settest.RemoveMany(s, [][]byte{key}); return err }(),
		"writers":    func() error { _, err := bloomery.Open(ctx, dir, bloomery.WithConcurrent()); return err }(),
	} {
		if !errors.Is(err, filter.ErrExceptions) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.Allower(bloomery.JobConfig{}); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Allower: %v", err)
	}
	small, err := s.Trimmed()
	check(t, err)
	next := t.TempDir()
	check(t, small.Save(ctx, next))
	o, err := bloomery.Open(ctx, next)
	check(t, err)
	defer o.Close()
	settest.Exact(t, "trimmed", o, n, allowed)
	is, was := o.Info(), s.Info()
	if is.Bits = was.Bits; !o.FileInfo().Trimmed || sizesOf(is) != sizesOf(was) {
		t.Errorf("trimmed: Info %+v, was %+v", is, was)
	}
}

// TestAllowShardsConflict checks that the error names the keys of all shards, and that the folder is unchanged.
func TestAllowShardsConflict(t *testing.T) {
	ctx, parent := context.Background(), t.TempDir()
	const n = 20_000
	both := []string{"member-11.example", "member-3.example", "member-5.example", "member-7.example"}
	passes := 0
	c := bloomery.Config{Spec: "blocked(fpr=0.01)", Sharding: bloomery.Sharding{Shards: 4},
		Allow: func(yield func([]byte) bool) {
			passes++
			for _, key := range append([]string{"free", both[3]}, both...) {
				if !yield([]byte(key)) {
					return
				}
			}
		}}
	old := filepath.Join(parent, "old")
	if _, err := settest.BuildShards(ctx, settest.Numbered("member", 100), old, bloomery.Config{Spec: "blocked",
		Sharding: bloomery.Sharding{Shards: 4}}); err != nil {
		t.Fatal(err)
	}
	was := filesIn(t, old)
	for _, dir := range []string{old, filepath.Join(parent, "new")} {
		passes = 0
		_, err := settest.BuildShards(ctx, settest.Numbered("member", n), dir, c)
		var e *filter.AllowedError
		if !errors.As(err, &e) || fmt.Sprint(e.Keys) != fmt.Sprint(both) || passes != 2 {
			t.Errorf("%v after %d passes", err, passes)
		}
	}
	if is := filesIn(t, old); is != was {
		t.Errorf("files %s, were %s", is, was)
	}
	if left, err := os.ReadDir(parent); err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
	passes = 0
	c.Allow = func(yield func([]byte) bool) { // a list that cannot be read again
		if passes++; passes == 1 {
			yield([]byte(both[1]))
		}
	}
	_, err := settest.BuildShards(ctx, settest.Numbered("member", n), old, c)
	var e *filter.AllowedError
	h := filter.NewHasher(0).Sum([]byte(both[1]))
	want := fmt.Sprintf("[with hash %016x%016x]", h.Hi, h.Lo)
	if !errors.As(err, &e) || fmt.Sprint(e.Keys) != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// filesIn returns names and contents of the files in a folder.
func filesIn(t *testing.T, dir string) (all string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	check(t, err)
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(dir, f.Name()))
		check(t, err)
		all += fmt.Sprintf("%s %x\n", f.Name(), filter.NewHasher(0).Sum(b).Lo)
	}
	return all
}

// TestAllowShardsLike checks that a set like another one has the same geometry of the exceptions of each shard, and
// that it needs a list.
func TestAllowShardsLike(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	const n, allowed = 20_000, 100_000
	c := bloomery.Config{Spec: "standard(fpr=0.03)", Sharding: bloomery.Sharding{Shards: 4},
		Allow: settest.Numbered("allowed", allowed)}
	if _, err := settest.BuildShards(ctx, settest.Numbered("member", n), dir, c); err != nil {
		t.Fatal(err)
	}
	old, err := bloomery.Open(ctx, dir)
	check(t, err)
	defer old.Close()
	if _, err := bloomery.NewBuilder(t.Context(), bloomery.Config{Sharding: bloomery.Sharding{Dir: t.TempDir()},
		Like: bloomery.Like{Set: old}}); !errors.Is(err,
		filter.ErrConfig) {
		t.Errorf("no list: %v", err)
	}
	for _, more := range []int{0, 4000} {
		next := t.TempDir()
		like := bloomery.Config{Like: bloomery.Like{Set: old}, Allow: settest.Numbered("allowed", allowed+more)}
		if _, err := settest.BuildShards(ctx, settest.Numbered("member", n), next, like); err != nil {
			t.Fatal(err)
		}
		s, err := bloomery.Open(ctx, next)
		check(t, err)
		defer s.Close()
		settest.Exact(t, "like", s, n, allowed+more)
		if more == 0 && !s.Equal(old) {
			t.Error("the same keys give another set")
		}
		for i := range 4 {
			a, b := settest.Shard(t, dir, old, i), settest.Shard(t, next, s, i)
			x, y := fmt.Sprint(settest.SizesOfExceptions(t, a)), fmt.Sprint(settest.SizesOfExceptions(t, b))
			if x != y {
				t.Errorf("shard %d: levels %s, then %s", i, x, y)
			}
		}
	}
}

// TestAllowShardsShort checks that a section of exceptions without its first words is an error that names the shard.
func TestAllowShardsShort(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	c := bloomery.Config{Spec: "standard", Sharding: bloomery.Sharding{Shards: 2}, Allow: settest.Numbered("allowed", 10)}
	m, err := settest.BuildShards(ctx, settest.Numbered("member", 100), dir, c)
	check(t, err)
	for words := range 3 {
		e := &m.Shards[1]
		path := filepath.Join(dir, e.File)
		f, err := container.ReadFile(path, container.Options{})
		check(t, err)
		f.Exceptions = make([]uint64, words)
		check(t, container.WriteFile(ctx, path, f))
		file, err := os.ReadFile(path)
		check(t, err)
		e.Bytes, e.SHA256 = uint64(len(file)), sha256.Sum256(file)
		err = container.WriteAtomic(ctx, filepath.Join(dir, shard.ManifestName), func(w io.Writer) error {
			_, err := m.WriteTo(w)
			return err
		})
		check(t, err)
		_, err = bloomery.Open(ctx, dir)
		var bad *shard.Error
		if !errors.As(err, &bad) || bad.File != path {
			t.Errorf("%d words: %v", words, err)
		}
	}
}

// sizesOf returns the numbers of an Info that a manifest does not contain.
func sizesOf(i filter.Info) [4]uint64 {
	return [4]uint64{i.Bits, i.Allowed, i.Exceptions, i.ExceptionBits}
}
