package buckets_test

import (
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/buckets"
	"github.com/bloomery/bloomery/buckets/internal/storetest"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/shard"
)

// TestRestart reopens a cache folder. Only files that were damaged in the meantime may be fetched. Stale cache files
// must be removed, other files must remain.
func TestRestart(t *testing.T) {
	dir, local := storetest.Build(t, keys, bloomery.Config{Spec: "blocked(fpr=0.01)",
		Sharding: bloomery.Sharding{Shards: 16}})
	o := buckets.Options{CacheDir: t.TempDir()}
	s := openSet(t, buckets.Folder(dir), o)
	storetest.Compare(t, s, local, 0, 2000, 1)
	_, err := buckets.OpenSet(t.Context(), buckets.Folder(dir), o)
	if err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("a second Set with the folder: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(o.CacheDir, "*.bloom"))
	if err != nil || len(files) != 16 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	damage(t, files[3], func(b []byte) []byte { b[len(b)-1] ^= 1; return b })
	damage(t, files[4], func(b []byte) []byte { return b[:len(b)-1] })
	stray := filepath.Join(o.CacheDir, strings.Repeat("0", 64)+".bloom")
	temporary := filepath.Join(o.CacheDir, "."+filepath.Base(files[5])+".tmp-0123456789abcdef")
	other := filepath.Join(o.CacheDir, "notes.txt")
	for _, path := range []string{stray, temporary, other} {
		if err := os.WriteFile(path, []byte("x"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	s = openSet(t, buckets.Folder(dir), o)
	storetest.Compare(t, s, local, keys-1000, 2000, 4)
	if st := s.Stats(); st.Fetches != 2 || s.Err() != nil {
		t.Errorf("%+v, %v", st, s.Err())
	}
	for path, stays := range map[string]bool{stray: false, temporary: false, other: true} {
		if _, err := os.Stat(path); (err == nil) != stays {
			t.Errorf("%s: %v", path, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	o.CacheBytes = int64(local.Manifest().Bytes() / 4)
	s = openSet(t, buckets.Folder(dir), o)
	if files, _ := filepath.Glob(filepath.Join(o.CacheDir, "*.bloom")); len(files) < 3 || len(files) > 4 {
		t.Errorf("%d files remain in a smaller cache", len(files))
	}
	storetest.Compare(t, s, local, keys-1000, 2000, 4)
}

func damage(t *testing.T, path string, change func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, change(b), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestDamagedSet damages the set in the bucket in every way. Open or the first use must return an error that names the
// file.
func TestDamagedSet(t *testing.T) {
	good, local := storetest.Build(t, keys, bloomery.Config{Spec: "blocked(fpr=0.01)",
		Sharding: bloomery.Sharding{Shards: 4}})
	other, _ := storetest.Build(t, keys, bloomery.Config{Spec: "blocked(fpr=0.01)",
		Sharding: bloomery.Sharding{Shards: 4}, Hashing: bloomery.Hashing{Seed: 5}})
	name := local.Manifest().Shards[2].File
	for what, c := range map[string]struct {
		change func(dir string)
		open   bool // Open returns the error
		want   error
	}{
		"no manifest": {
			func(d string) { _ = os.Remove(filepath.Join(d, "manifest.json")) }, true, filter.ErrNoManifest,
		},
		"missing": {func(d string) { _ = os.Remove(filepath.Join(d, name)) }, true, fs.ErrNotExist},
		"short": {func(d string) {
			damage(t, filepath.Join(d, name), func(b []byte) []byte { return b[:len(b)-64] })
		}, true, shard.ErrChanged},
		"bit": {func(d string) {
			damage(t, filepath.Join(d, name), func(b []byte) []byte { b[len(b)/2] ^= 4; return b })
		}, false, shard.ErrChanged},
		"other manifest": {func(d string) {
			b, _ := os.ReadFile(filepath.Join(other, "manifest.json"))
			damage(t, filepath.Join(d, "manifest.json"), func([]byte) []byte { return b })
		}, true, shard.ErrChanged},
		"no text": {func(d string) {
			damage(t, filepath.Join(d, "manifest.json"), func([]byte) []byte { return []byte("{}") })
		}, true, shard.ErrManifest},
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			storetest.Copy(t, buckets.Folder(good), buckets.Folder(dir))
			c.change(dir)
			s, err := buckets.Open(t.Context(), dir, buckets.Options{})
			if (err != nil) != c.open {
				t.Fatalf("Open: %v", err)
			}
			if err == nil {
				defer s.Close()
				for i := range uint64(200) {
					if !s.Contains(storetest.Key(i)) {
						t.Fatalf("key %d is not there", i)
					}
				}
				err = s.Err()
			}
			var named *shard.Error
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), dir) && !errors.As(err, &named) {
				t.Errorf("%v", err)
			}
		})
	}
	_, err := buckets.Open(t.Context(), good, buckets.Options{CacheBytes: 100})
	if !errors.Is(err, filter.ErrTooLarge) {
		t.Errorf("a cache that no shard fits in: %v", err)
	}
}

// TestForeign checks that a manifest with the size and SHA-256 of a shard of another seed is refused.
func TestForeign(t *testing.T) {
	dir, local := storetest.Build(t, keys, bloomery.Config{Spec: "standard(bits_per_key=10)",
		Sharding: bloomery.Sharding{Shards: 1}})
	other, foreign := storetest.Build(t, keys, bloomery.Config{Spec: "standard(bits_per_key=10)",
		Sharding: bloomery.Sharding{Shards: 1}, Hashing: bloomery.Hashing{Seed: 5}})
	m := local.Manifest()
	m.Shards[0].SHA256 = foreign.Manifest().Shards[0].SHA256
	b, err := os.ReadFile(filepath.Join(other, m.Shards[0].File))
	if err != nil {
		t.Fatal(err)
	}
	damage(t, filepath.Join(dir, m.Shards[0].File), func([]byte) []byte { return b })
	err = buckets.Folder(dir).Write(t.Context(), shard.ManifestName, func(w io.Writer) error {
		_, err := m.WriteTo(w)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, o := range caches(t, 1<<20) {
		s := openSet(t, buckets.Folder(dir), o)
		if yes, err := s.ContainsContext(t.Context(), storetest.Key(5)); !yes || !errors.Is(err, shard.ErrForeign) {
			t.Errorf("%s: %v, %v", name, yes, err)
		}
	}
}

// TestReplacedShard replaces a shard after Open by one with the same size, and checks that the new shard is never read.
func TestReplacedShard(t *testing.T) {
	dir, local := storetest.Build(t, keys, bloomery.Config{Spec: "blocked(fpr=0.01)",
		Sharding: bloomery.Sharding{Shards: 4}})
	s := openSet(t, buckets.Folder(dir), buckets.Options{})
	for _, e := range local.Manifest().Shards {
		path := filepath.Join(dir, e.File)
		b, err := os.ReadFile(path)
		if err == nil {
			err = errors.Join(os.Remove(path), os.WriteFile(path, b, 0o666))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	yes, err := s.ContainsContext(t.Context(), storetest.Key(keys+5))
	if !yes || !errors.Is(err, buckets.ErrReplaced) || !strings.Contains(err.Error(), "Refresh") {
		t.Errorf("%v, %v", yes, err)
	}
}

// TestDamageIsFinal checks that a shard is not fetched again for every query if two fetches return the same wrong
// bytes, or if it is not a filter of the set. A failed read is tried again.
func TestDamageIsFinal(t *testing.T) {
	dir, local := storetest.Build(t, keys, bloomery.Config{Spec: "standard(bits_per_key=10)",
		Sharding: bloomery.Sharding{Shards: 1}})
	name := local.Manifest().Shards[0].File
	good, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	strange, foreign := storetest.Build(t, keys, bloomery.Config{Spec: "standard(bits_per_key=10)",
		Sharding: bloomery.Sharding{Shards: 1}, Hashing: bloomery.Hashing{Seed: 5}})
	other, err := os.ReadFile(filepath.Join(strange, foreign.Manifest().Shards[0].File))
	if err != nil {
		t.Fatal(err)
	}
	manifest := local.Manifest()
	flipped := slices.Clone(good)
	flipped[len(flipped)-1] ^= 1
	for what, c := range map[string]struct {
		file []byte
		sum  [sha256.Size]byte
		want error
		most int64
	}{
		"damage":  {flipped, manifest.Shards[0].SHA256, shard.ErrChanged, 2},
		"foreign": {other, sha256.Sum256(other), shard.ErrForeign, 1},
	} {
		m := *manifest
		m.Shards = slices.Clone(manifest.Shards)
		m.Shards[0].SHA256, m.Shards[0].Bytes = c.sum, uint64(len(c.file))
		to := t.TempDir()
		storetest.Put(t, buckets.Folder(to), name, string(c.file))
		err := buckets.Folder(to).Write(t.Context(), shard.ManifestName, func(w io.Writer) error {
			_, err := m.WriteTo(w)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for kind, o := range caches(t, 1<<22) {
			f := &storetest.Faulty{Store: buckets.Folder(to), Refuse: 1}
			f.Off.Store(true)
			s := openSet(t, f, o)
			f.Off.Store(false)
			for range 5 { // the reads succeed
				if yes, err := s.ContainsContext(t.Context(), storetest.Key(5)); !yes || !errors.Is(err, storetest.ErrInjected) {
					t.Fatalf("%s: %v, %v", kind, yes, err)
				}
			}
			f.Off.Store(true)
			before := f.Opens.Load()
			for range 20 {
				if yes, err := s.ContainsContext(t.Context(), storetest.Key(5)); !yes || !errors.Is(err, c.want) {
					t.Fatalf("%s, %s: %v, %v", what, kind, yes, err)
				}
			}
			if n := f.Opens.Load() - before; n > c.most {
				t.Errorf("%s, %s: fetched %d times", what, kind, n)
			}
		}
	}
}
