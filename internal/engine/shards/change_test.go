package shards_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/engine/shards"
	"github.com/bloomery/bloomery/internal/settest"
	"github.com/bloomery/bloomery/internal/shardset"
	"github.com/bloomery/bloomery/shard"
)

// sharded writes and opens a sharded set.
func sharded(tb testing.TB, spec string, shards int, keys []string) (dir string, m *shard.Manifest) {
	tb.Helper()
	dir = tb.TempDir()
	return dir, writeShards(tb, dir, bloomery.Config{Spec: spec, Hashing: bloomery.Hashing{Seed: 7}}, shards, keys)
}

// holds opens a set and checks that it contains the keys.
func holds(tb testing.TB, dir string, keys []string) *bloomery.Set {
	tb.Helper()
	set, err := bloomery.Open(tb.Context(), dir)
	check(tb, err)
	tb.Cleanup(func() { _ = set.Close() })
	got := make([]bool, len(keys))
	bloomery.Keyed[string](set).ContainsMany(got, keys)
	for i, ok := range got {
		if !ok {
			tb.Fatalf("%s is missing", keys[i])
		}
	}
	check(tb, set.Check(tb.Context(), nil))
	return set
}

func lockDir(tb testing.TB, dir string) *bloomery.Locked {
	tb.Helper()
	l, err := bloomery.Lock(tb.Context(), dir)
	check(tb, err)
	tb.Cleanup(func() { _ = l.Close() })
	return l
}

// TestShardedAdd adds keys in several ways, with much and with little memory. The shards must equal the shards of a
// build of all keys, and shards without new keys must keep their files.
func TestShardedAdd(t *testing.T) {
	const spec = "standard(bytes=2048)"
	old, more := settest.Names("old", 2000), settest.Names("more", 5)
	_, want := sharded(t, spec, 20, append(slices.Clone(old), more...))
	for name, add := range map[string]func(l *bloomery.Locked) error{
		"Add": func(l *bloomery.Locked) error {
			for _, k := range more {
				if err := l.AddString(k); err != nil {
					return err
				}
			}
			return nil
		},
		"AddMany": func(l *bloomery.Locked) error { return bloomery.Keyed[[]byte](l.Set).AddMany(settest.AsKeys(more)) },
		"Addition": func(l *bloomery.Locked) error {
			a, err := l.Addition(bloomery.JobConfig{})
			if err != nil {
				return err
			}
			defer a.Close()
			return errors.Join(a.AddMany(settest.AsKeys(more)), a.Commit(t.Context()))
		},
	} {
		for _, memory := range []int64{1 << 30, 1} {
			t.Run(name, func(t *testing.T) {
				defer setLockedMemory(setLockedMemory(memory))
				dir, before := sharded(t, spec, 20, old)
				l := lockDir(t, dir)
				check(t, add(l))
				if l.Len() != uint64(len(old)+len(more)) {
					t.Errorf("%d keys", l.Len())
				}
				if pending := len(settest.Entries(t, dir)) - 21; (pending > 0) != (memory == 1) {
					t.Errorf("%d files before Replace", pending)
				}
				check(t, l.Commit(t.Context()))
				set := holds(t, dir, append(slices.Clone(old), more...))
				kept := 0
				for i, e := range set.Manifest().Shards {
					if e.SHA256 != want.Shards[i].SHA256 || e.Keys != want.Shards[i].Keys {
						t.Errorf("shard %d is not what a build makes", i)
					}
					if e.File == before.Shards[i].File {
						kept++
					}
				}
				if kept < 15 || kept == 20 {
					t.Errorf("%d of 20 shards kept their files", kept)
				}
				if left := settest.Entries(t, dir); len(left) != 21 {
					t.Errorf("left: %q", left)
				}
			})
		}
	}
}

// TestShardedAbandoned closes a Locked without Replace, and leaves files like a killed writer. Only the old set may
// remain.
func TestShardedAbandoned(t *testing.T) {
	defer setLockedMemory(setLockedMemory(1))
	old := settest.Names("old", 1000)
	dir, m := sharded(t, "standard(bytes=2048)", 8, old)
	l := lockDir(t, dir)
	if err := errors.Join(bloomery.Keyed[[]byte](l.Set).AddMany(settest.AsKeys(settest.Names("more", 100))),
		l.Close()); err != nil {
		t.Fatal(err)
	}
	if left := settest.Entries(t, dir); len(left) != 9 {
		t.Errorf("left: %q", left)
	}
	for _, name := range []string{
		shardset.Name(1, 8, "0123456789ab"), "." + shardset.Name(2, 8, "aa") + ".tmp-0123456789abcdef",
		"notes.txt", shardset.Name(1, 9, "aa"),
	} {
		check(t, os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o666))
	}
	_ = lockDir(t, dir).Close()
	if left := settest.Entries(t, dir); hasLocks && len(left) != 11 { // files of other programs remain
		t.Errorf("left: %q", left)
	}
	if now := holds(t, dir, old).Manifest(); !slices.Equal(now.Shards, m.Shards) {
		t.Error("the set has changed")
	}
}

// TestShardedOpenDuringChange checks that a reader that has not loaded its shards when the set is replaced still reads
// the shards of the old set.
func TestShardedOpenDuringChange(t *testing.T) {
	old := settest.Names("old", 1000)
	dir, _ := sharded(t, "standard(bytes=2048)", 4, old)
	reader, err := bloomery.Open(t.Context(), dir)
	check(t, err)
	defer reader.Close()
	live, err := bloomery.OpenLive(t.Context(), dir, bloomery.WithInterval(time.Hour))
	check(t, err)
	defer live.Close()
	l := lockDir(t, dir)
	more := settest.Names("more", 100)
	check(t, errors.Join(bloomery.Keyed[[]byte](l.Set).AddMany(settest.AsKeys(more)), l.Commit(t.Context())))
	for _, k := range old {
		if ok, err := reader.ContainsContext(t.Context(), []byte(k)); !ok || err != nil {
			t.Fatalf("%s: %v, %v", k, ok, err)
		}
	}
	if reader.Len() != 1000 {
		t.Errorf("the reader has %d keys", reader.Len())
	}
	if err := live.Reload(t.Context()); err != nil || live.Swaps() != 1 || settest.InfoOf(live).Keys != 1100 {
		t.Errorf("live: %v, %d swaps, %d keys", err, live.Swaps(), settest.InfoOf(live).Keys)
	}
	for _, k := range append(old, more...) {
		if !live.ContainsString(k) {
			t.Fatalf("live: %s is missing", k)
		}
	}
}

// TestShardedRemove removes keys, with the guard against strangers.
func TestShardedRemove(t *testing.T) {
	for _, memory := range []int64{1 << 30, 1} {
		defer setLockedMemory(setLockedMemory(memory))
		keys := settest.Names("key", 2000)
		dir, _ := sharded(t, "rankindexed(capacity=600,fpr=0.001)", 5, keys)
		l := lockDir(t, dir)
		if _, err := settest.RemoveMany(l.Set, settest.AsKeys(settest.Names("stranger", 2000))); !errors.Is(err,
			filter.ErrStrangers) {
			t.Fatalf("strangers: %v", err)
		}
		if l.Len() != 2000 {
			t.Fatalf("%d keys after a refused removal", l.Len())
		}
		r, err := settest.RemoveMany(l.Set, settest.AsKeys(append(slices.Clone(keys[:500]), "unknown-1", keys[0])))
		if err != nil || r.Removed != 500 || r.NotFound != 2 {
			t.Fatalf("%+v, %v", r, err)
		}
		if err := bloomery.Keyed[string](l.Set).Remove("no such key"); !errors.Is(err, filter.ErrNotFound) {
			t.Errorf("Remove: %v", err)
		}
		check(t, l.Commit(t.Context()))
		set := holds(t, dir, keys[500:])
		found := 0
		for _, k := range keys[:500] {
			if set.ContainsString(k) {
				found++
			}
		}
		if found > 10 || set.Len() != 1500 {
			t.Errorf("%d removed keys are found, %d left", found, set.Len())
		}
		_ = l.Close()
	}
}

// TestShardedPut sets values.
func TestShardedPut(t *testing.T) {
	keys := settest.Names("key", 1000)
	dir, _ := sharded(t, "rankindexed(capacity=500,fpr=0.0001,value_bits=8)", 4, keys)
	l := lockDir(t, dir)
	if bits, err := l.ValueBits(); bits != 8 || err != nil {
		t.Fatalf("%d bits, %v", bits, err)
	}
	for i, k := range keys {
		check(t, l.Put([]byte(k), uint64(i%256)))
	}
	err := errors.Join(l.AddValue([]byte("new"), 77), l.Upsert([]byte("newer"), 78), l.Upsert([]byte("newer"), 79))
	check(t, err)
	if err := l.Put([]byte("absent"), 1); !errors.Is(err, filter.ErrNotFound) {
		t.Errorf("Put: %v", err)
	}
	if present, err := l.TestAndAdd([]byte("newest")); present || err != nil {
		t.Errorf("TestAndAdd: %v, %v", present, err)
	}
	check(t, l.Commit(t.Context()))
	set := holds(t, dir, keys)
	wrong := 0
	for i, k := range append(slices.Clone(keys), "new", "newer") {
		want := uint64(i % 256)
		if i >= len(keys) {
			want = []uint64{77, 79}[i-len(keys)]
		}
		if v, ok, err := set.Get([]byte(k)); !ok || err != nil {
			t.Fatalf("%s: %v, %v", k, ok, err)
		} else if v != want {
			wrong++
		}
	}
	if wrong > 5 || set.Len() != 1003 {
		t.Errorf("%d values are wrong, %d keys", wrong, set.Len())
	}
}

// TestShardedFull adds more keys than fit, and checks that the error names the shard and the folder is unchanged.
func TestShardedFull(t *testing.T) {
	keys := settest.Names("key", 100)
	dir, m := sharded(t, "rankindexed(capacity=40,fpr=0.01)", 4, keys)
	l := lockDir(t, dir)
	a, err := l.Addition(bloomery.JobConfig{})
	check(t, err)
	defer a.Close()
	err = errors.Join(a.AddMany(settest.AsKeys(settest.Names("more", 2000))), a.Commit(t.Context()))
	var s *shard.Error
	if !errors.As(err, &s) || !errors.Is(err, filter.ErrFull) {
		t.Fatalf("%v", err)
	}
	_ = l.Close()
	if now := holds(t, dir, keys).Manifest(); !slices.Equal(now.Shards, m.Shards) {
		t.Error("the set has changed")
	}
}

// TestShardedCombine merges and intersects sharded sets in memory and as folders.
func TestShardedCombine(t *testing.T) {
	t.Run("in memory", testShardedCombine)
	t.Run("computed again", func(t *testing.T) {
		defer setDerivedMemory(setDerivedMemory(1))
		testShardedCombine(t)
	})
}

func testShardedCombine(t *testing.T) {
	for _, spec := range []string{"standard(capacity=1000,fpr=0.01)", "blocked(capacity=1200000,fpr=0.01)"} {
		a, b := settest.Names("a", 1000), settest.Names("b", 1000)
		both := append(slices.Clone(a[:500]), b...)
		dirA, _ := sharded(t, spec, 4, a)
		dirB, _ := sharded(t, spec, 4, both)
		_, union := sharded(t, spec, 4, append(slices.Clone(a), both...))
		merged, err := bloomery.MergeFiles(t.Context(), []string{dirA, dirB})
		check(t, err)
		defer merged.Close()
		out := filepath.Join(t.TempDir(), "union")
		check(t, merged.Save(t.Context(), out))
		set := holds(t, out, append(slices.Clone(a), both...))
		inMemory, err := bloomery.Open(t.Context(), dirA)
		check(t, err)
		defer inMemory.Close()
		check(t, inMemory.Merge(set))
		check(t, set.Merge(set))
		again := filepath.Join(t.TempDir(), "again")
		check(t, inMemory.Save(t.Context(), again))
		one := holds(t, out, nil).Manifest()
		for i, e := range one.Shards {
			file, want := settest.ReadAll(t, filepath.Join(out, e.File)), union.Shards[i]
			if sha256.Sum256(file) != e.SHA256 || e.SHA256 != want.SHA256 || e.FPRPosterior != want.FPRPosterior {
				t.Errorf("shard %d: %+v, want %+v", i, e, want)
			}
		}
		x, err := bloomery.IntersectFiles(t.Context(), []string{dirA, dirB})
		check(t, err)
		defer x.Close()
		for _, k := range a[:500] {
			if !x.ContainsString(k) {
				t.Fatalf("%s is missing in the intersection", k)
			}
		}
		found := 0
		for _, k := range append(slices.Clone(a[500:]), b...) {
			if x.ContainsString(k) {
				found++
			}
		}
		if found > 500 {
			t.Errorf("%d keys of one set only are in the intersection", found)
		}
		o, err := holds(t, dirA, nil).EstimateOverlap(holds(t, dirB, nil))
		if err != nil || o.Union.Low > 2000 || o.Union.High < 2000 || o.Intersection.Low > 500 || o.Intersection.High < 500 {
			t.Errorf("overlap %+v, %v", o, err)
		}
	}
}

// TestShardedMismatch combines sets that cannot be combined.
func TestShardedMismatch(t *testing.T) {
	dir, _ := sharded(t, "standard(bytes=4096)", 4, settest.Names("a", 100))
	more, _ := sharded(t, "standard(bytes=4096)", 5, settest.Names("a", 100))
	size, _ := sharded(t, "standard(bytes=2048)", 4, settest.Names("a", 100))
	seed := t.TempDir()
	writeShards(t, seed, bloomery.Config{Spec: "standard(bytes=4096)", Hashing: bloomery.Hashing{Seed: 8}}, 4,
		settest.Names("a", 100))
	one, err := bloomery.New(bloomery.Config{Spec: "standard(bytes=4096)", Hashing: bloomery.Hashing{Seed: 7}})
	check(t, err)
	file := settest.Save(t, one)
	for _, other := range []string{more, size, seed, file} {
		for _, paths := range [][]string{{dir, other}, {other, dir}} {
			_, err := bloomery.MergeFiles(t.Context(), paths)
			if !errors.Is(err, filter.ErrMismatch) || !strings.Contains(err.Error(), paths[1]) {
				t.Errorf("%s: %v", other, err)
			}
		}
	}
	twice := []string{dir, filepath.Join(dir, shard.ManifestName)}
	if _, err := bloomery.MergeFiles(t.Context(), twice); !errors.Is(err, filter.ErrConfig) {
		t.Errorf("the same folder: %v", err)
	}
	// The spec is the same, but the geometry of the last shard follows from other keys. The set must be unchanged.
	fpr, _ := sharded(t, "standard(fpr=0.01)", 4, settest.Names("a", 1000))
	mixed, m := sharded(t, "standard(fpr=0.01)", 4, settest.Names("a", 1000))
	larger, with := sharded(t, "standard(fpr=0.01)", 4, settest.Names("b", 9000))
	m.Shards[3] = with.Shards[3]
	data := settest.ReadAll(t, filepath.Join(larger, with.Shards[3].File))
	check(t, os.WriteFile(filepath.Join(mixed, m.Shards[3].File), data, 0o666))
	writeManifest(t, mixed, m)
	set := holds(t, fpr, settest.Names("a", 1000))
	if err := set.Merge(holds(t, mixed, nil)); !errors.Is(err, filter.ErrMismatch) || set.Len() != 1000 {
		t.Errorf("geometry: %v, %d keys", err, set.Len())
	}
}

// TestShardedSave saves sharded sets to folders, and to paths that cannot be folders.
func TestShardedSave(t *testing.T) {
	keys := settest.Names("key", 1000)
	dir, m := sharded(t, "blocked(fpr=0.01)", 4, keys)
	set := holds(t, dir, keys)
	tmp := t.TempDir()
	file := filepath.Join(tmp, "file")
	check(t, os.WriteFile(file, []byte("text"), 0o666))
	for _, path := range []string{file, filepath.Join(tmp, "x.bloom")} {
		if err := set.Save(t.Context(), path); err == nil || !strings.Contains(err.Error(), "folder") {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := set.MarshalBinary(); !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "Save") {
		t.Errorf("MarshalBinary: %v", err)
	}
	if _, err := set.WriteTo(new(bytes.Buffer)); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("WriteTo: %v", err)
	}
	copied := filepath.Join(tmp, "copy")
	for range 2 { // the second one replaces a set
		check(t, set.Save(t.Context(), copied))
		for _, name := range settest.Entries(t, dir) {
			if !bytes.Equal(settest.ReadAll(t, filepath.Join(dir, name)), settest.ReadAll(t, filepath.Join(copied, name))) {
				t.Errorf("%s differs", name)
			}
		}
	}
	if !set.Equal(holds(t, copied, keys)) {
		t.Error("the copy differs")
	}
	// A changed set is saved to the same folder. Shards that differ must get new names, even if the old shards are
	// open.
	c, err := set.Clone()
	check(t, err)
	check(t, c.AddString("new"))
	if c.Equal(set) || set.Len() != 1000 || c.Len() != 1001 {
		t.Error("the clone is equal, or the set has changed")
	}
	for _, to := range []string{copied, dir} {
		check(t, c.Save(t.Context(), to))
		now := holds(t, to, append(keys, "new")).Manifest()
		changed := 0
		for i, e := range now.Shards {
			if e.File != m.Shards[i].File {
				changed++
			}
		}
		if left := settest.Entries(t, to); changed != 1 || len(left) != 5 {
			t.Errorf("%d shards have new names: %q", changed, left)
		}
	}
}

// TestShardedTrim writes the trimmed form and the full form again.
func TestShardedTrim(t *testing.T) {
	keys := settest.Names("key", 1000)
	dir, m := sharded(t, "rankindexed(capacity=5000,fpr=0.01)", 3, keys)
	l := lockDir(t, dir)
	small, err := l.Trimmed()
	check(t, err)
	check(t, settest.CommitWith(t.Context(), l, small))
	if l.FileInfo().Bytes >= m.Bytes()/2 {
		t.Errorf("%d bytes, full %d", l.FileInfo().Bytes, m.Bytes())
	}
	_ = l.Close()
	set := holds(t, dir, keys)
	if !set.FileInfo().Trimmed || set.FileInfo().Bytes >= m.Bytes()/2 {
		t.Errorf("%+v", set.FileInfo())
	}
	full, err := set.Full()
	check(t, err)
	out := filepath.Join(t.TempDir(), "full")
	check(t, full.Save(t.Context(), out))
	if back := holds(t, out, keys).Manifest(); !slices.Equal(back.Shards, m.Shards) {
		t.Error("the full form differs from the first one")
	}
	trimmed := set.FileInfo().Bytes
	if _, err := bloomery.Open(t.Context(), dir, bloomery.WithMaxBytes(trimmed+100)); !errors.Is(err, filter.ErrTooLarge) {
		t.Errorf("a limit below the size in memory: %v", err)
	}
}

// TestShardedOptimize continues a search in each shard.
func TestShardedOptimize(t *testing.T) {
	keys := settest.Names("key", 3000)
	dir, m := sharded(t, "partitioned(bits_per_key=8,effort=fast,later=200)", 3, keys)
	l := lockDir(t, dir)
	check(t, bloomery.Keyed[[]byte](l.Set).AddMany(settest.AsKeys(settest.Names("late", 100))))
	all := append(keys, settest.Names("late", 100)...)
	b, err := l.Optimizer(bloomery.JobConfig{Effort: filter.Effort{Level: "fast"}})
	check(t, err)
	defer b.Close()
	check(t, b.AddMany(settest.AsKeys(all)))
	better, err := b.Commit(t.Context())
	check(t, err)
	check(t, settest.CommitWith(t.Context(), l, better))
	set := holds(t, dir, all)
	_, was := m.FPR()
	if info := set.Info(); info.Keys != 3100 || info.FPRPosterior > 1.5*was {
		t.Errorf("%+v, before %v", info, was)
	}
	other := holds(t, dir, all)
	if o, err := settest.Optimize(t.Context(), other, slices.Values(settest.AsKeys(keys))); err != nil || o.Len() != 3000 {
		t.Errorf("Optimize: %v, %v", err, o)
	}
	standard, _ := sharded(t, "standard(fpr=0.01)", 2, keys)
	_, err = holds(t, standard, nil).Optimizer(bloomery.JobConfig{})
	if !errors.Is(err, filter.ErrUnsupported) {
		t.Errorf("standard: %v", err)
	}
}

// TestShardedConcurrentWriters changes a Set with WithConcurrent from many goroutines.
func TestShardedConcurrentWriters(t *testing.T) {
	keys := settest.Names("key", 1000)
	dir, _ := sharded(t, "standard(bytes=4096)", 4, keys)
	set, err := bloomery.Open(t.Context(), dir, bloomery.WithConcurrent())
	check(t, err)
	defer set.Close()
	done := make(chan error)
	for g := range 4 {
		go func() {
			done <- bloomery.Keyed[[]byte](set).AddMany(settest.AsKeys(settest.Names(strings.Repeat("x", g+1), 500)))
		}()
	}
	for range 4 {
		check(t, <-done)
	}
	snapshot, err := set.Clone()
	if err != nil || snapshot.Len() != 3000 || set.Len() != 3000 {
		t.Fatalf("%v, %d keys", err, set.Len())
	}
	check(t, set.Save(t.Context(), dir))
	holds(t, dir, append(keys, settest.Names("xxx", 500)...))
	static, _ := sharded(t, "fuse(width=8)", 2, keys)
	if _, err := bloomery.Open(t.Context(), static, bloomery.WithConcurrent()); !errors.Is(err, filter.ErrUnsupported) {
		t.Errorf("fuse: %v", err)
	}
}

// steps is a context that ends at the n-th call of Err.
type steps struct {
	context.Context
	left *atomic.Int64
}

func (s steps) Err() error {
	if s.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// TestShardedFailingSteps makes each step of Replace fail in turn, and checks that the old set remains complete and
// that no other file remains.
func TestShardedFailingSteps(t *testing.T) {
	old, more := settest.Names("old", 500), settest.Names("more", 50)
	dir, m := sharded(t, "standard(bytes=2048)", 4, old)
	before := settest.Entries(t, dir)
	for n := 0; ; n++ {
		l := lockDir(t, dir)
		check(t, bloomery.Keyed[[]byte](l.Set).AddMany(settest.AsKeys(more)))
		var left atomic.Int64
		left.Store(int64(n))
		err := l.Commit(steps{t.Context(), &left})
		if err == nil {
			if n < 10 {
				t.Errorf("only %d steps", n)
			}
			holds(t, dir, append(old, more...))
			_ = l.Close()
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		_ = l.Close()
		now := holds(t, dir, old).Manifest()
		if !slices.Equal(now.Shards, m.Shards) || !slices.Equal(settest.Entries(t, dir), before) {
			t.Fatalf("step %d left another set: %q", n, settest.Entries(t, dir))
		}
	}
	// A manifest that another process replaced.
	l := lockDir(t, dir)
	check(t, l.AddString("x"))
	writeManifest(t, dir, l.Manifest())
	if err := l.Commit(t.Context()); !errors.Is(err, filter.ErrChanged) {
		t.Errorf("a manifest that changed: %v", err)
	}
}

// TestShardedRetry opens a set while its manifest names a missing shard, and checks that this is an error unless the
// manifest changes.
func TestShardedRetry(t *testing.T) {
	keys := settest.Names("key", 100)
	dir, m := sharded(t, "standard(bytes=2048)", 4, keys)
	file := filepath.Join(dir, m.Shards[1].File)
	data := settest.ReadAll(t, file)
	check(t, os.Remove(file))
	if _, err := bloomery.Open(t.Context(), dir); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	check(t, os.WriteFile(file, data, 0o666))
	stop := make(chan struct{})
	writer := make(chan error, 1)
	go func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				writer <- nil
				return
			default:
			}
			l, err := bloomery.Lock(t.Context(), dir)
			if err == nil {
				err = errors.Join(bloomery.Keyed[string](l.Set).AddMany(settest.Names(string(rune('a'+i%26)), 4)),
					l.Commit(t.Context()), l.Close())
			}
			if err != nil {
				writer <- err
				return
			}
		}
	}()
	for range 100 {
		set, err := bloomery.Open(t.Context(), dir)
		check(t, err)
		for _, k := range keys {
			if ok, err := set.ContainsContext(t.Context(), []byte(k)); !ok || err != nil {
				t.Fatalf("%s: %v, %v", k, ok, err)
			}
		}
		_ = set.Close()
	}
	close(stop)
	check(t, <-writer)
}

// setDerivedMemory sets the size up to which a derived sharded Set stays in memory and returns the old one.
func setDerivedMemory(n uint64) (old uint64) {
	old, shards.DerivedMemory = shards.DerivedMemory, n
	return old
}

// setLockedMemory sets the memory limit of a Locked sharded Set and returns the old one.
func setLockedMemory(n int64) (old int64) {
	old, shards.LockedMemory = shards.LockedMemory, n
	return old
}

// check ends the test if err is not nil.
func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
