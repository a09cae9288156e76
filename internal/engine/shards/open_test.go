package shards_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/settest"
	"github.com/bloomery/bloomery/shard"
)

// TestSharded queries sharded sets of several families. Single queries and batches must find every member, and the
// rates and sizes must match the shards.
func TestSharded(t *testing.T) {
	for _, c := range []struct {
		spec         string
		shards, keys int
	}{
		{"standard(fpr=0.01)", 1, 100},
		{"standard(fpr=0.01)", 16, 20000},
		{"blocked(bytes=2097152)", 4, 20000}, // mapped shards
		{"fuse(width=8)", 100, 50000},
		{"rankindexed(fpr=0.01)", 7, 5000},
		{"guava(fpr=0.01)", 3, 3000},
		{"blocked(fpr=0.01,layout=split)", 50, 60}, // some shards are empty
	} {
		t.Run(fmt.Sprintf("%s/%d", c.spec, c.shards), func(t *testing.T) {
			dir := t.TempDir()
			keys := settest.Names("member", c.keys)
			m := writeShards(t, dir, bloomery.Config{Spec: c.spec, Hashing: bloomery.Hashing{Seed: seedOf(c.spec)}}, c.shards,
				keys)
			set, err := bloomery.Open(t.Context(), dir)
			check(t, err)
			defer set.Close()
			absent := settest.Names("absent", c.keys)
			all := append(absent, keys...)
			got := make([]bool, len(all))
			bloomery.Keyed[string](set).ContainsMany(got, all)
			hits := 0
			for i, k := range all {
				if one := set.ContainsString(k); one != got[i] {
					t.Fatalf("%s: %v alone, %v in a batch", k, one, got[i])
				}
				if i >= len(absent) && !got[i] {
					t.Fatalf("%s is missing", k)
				}
				if i < len(absent) && got[i] {
					hits++
				}
			}
			check(t, set.Err())
			check(t, set.Check(t.Context(), nil))
			info := set.Info()
			prior, posterior := m.FPR()
			if info.Keys != uint64(c.keys) || set.Len() != uint64(c.keys) || info.FPRPrior != prior ||
				info.FPRPosterior != posterior || info.Bits == 0 || info.Spec != m.Spec {
				t.Errorf("%+v", info)
			}
			s := set.FileInfo()
			if s.Bytes != m.Bytes() || s.Version == 0 || s.Trimmed {
				t.Errorf("%+v", s)
			}
			if rate := settest.RateOf(uint64(hits), uint64(len(absent))); !rate.Holds(posterior * 1.02) {
				t.Errorf("rate %+v, want %v", rate, posterior)
			}
			e, err := set.EstimateInterval()
			if err != nil || e.Low > float64(c.keys)*1.01 || e.High < float64(c.keys)*0.99 {
				t.Errorf("estimate %+v of %d keys: %v", e, c.keys, err)
			}
		})
	}
}

// seedOf returns a seed for families that support one.
func seedOf(spec string) uint64 {
	if strings.HasPrefix(spec, "guava") {
		return 0
	}
	return 7
}

// TestShardedValues counts keys and reads values across shards.
func TestShardedValues(t *testing.T) {
	keys := append(settest.Names("a", 3000), settest.Names("a", 1000)...)
	dir := t.TempDir()
	writeShards(t, dir, bloomery.Config{Spec: "rankindexed(counting=1,fpr=0.0001)"}, 8, keys)
	set, err := bloomery.Open(t.Context(), filepath.Join(dir, shard.ManifestName))
	check(t, err)
	defer set.Close()
	for i := range 3000 {
		want := uint64(1)
		if i < 1000 {
			want = 2
		}
		if n, _, err := set.Count([]byte(keys[i])); n < want || err != nil {
			t.Fatalf("%s: count %d, %v", keys[i], n, err)
		}
	}
	if _, _, err := set.Get([]byte("x")); !errors.Is(err, filter.ErrUnsupported) {
		t.Errorf("Get: %v", err)
	}
	if _, err := set.ValueBits(); !errors.Is(err, filter.ErrUnsupported) {
		t.Errorf("ValueBits: %v", err)
	}
}

// TestShardedConcurrent loads shards from many goroutines at once. Run it with -race.
func TestShardedConcurrent(t *testing.T) {
	keys := settest.Names("member", 20000)
	dir := t.TempDir()
	writeShards(t, dir, bloomery.Config{Spec: "blocked(fpr=0.01)"}, 64, keys)
	set, err := bloomery.Open(t.Context(), dir)
	check(t, err)
	defer set.Close()
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			got := make([]bool, 1000)
			for i := range 20 {
				part := keys[(g*2500+i*1000)%19000:][:1000]
				bloomery.Keyed[string](set).ContainsMany(got, part)
				for j, ok := range got {
					if !ok || !set.ContainsString(part[j]) {
						t.Errorf("%s is missing", part[j])
						return
					}
				}
				if g == 0 {
					_ = set.Info()
					_ = set.Check(t.Context(), nil)
				}
			}
		})
	}
	wg.Wait()
	if err := set.Err(); err != nil {
		t.Error(err)
	}
}

// TestShardedSecret checks that a sharded set with a secret can be opened only with this secret.
func TestShardedSecret(t *testing.T) {
	secret := filter.NewSecret()
	dir := t.TempDir()
	writeShards(t, dir, bloomery.Config{Spec: "blocked(fpr=0.01)", Hashing: bloomery.Hashing{Secret: secret}}, 4,
		settest.Names("member",
			1000))
	if _, err := bloomery.Open(t.Context(), dir); !errors.Is(err, filter.ErrNoSecret) {
		t.Errorf("without a secret: %v", err)
	}
	other := bloomery.WithSecret(filter.NewSecret())
	if _, err := bloomery.Open(t.Context(), dir, other); !errors.Is(err, filter.ErrSecret) {
		t.Errorf("with another: %v", err)
	}
	set, err := bloomery.Open(t.Context(), dir, bloomery.WithSecret(secret))
	check(t, err)
	defer set.Close()
	if !set.ContainsString("member-1") || strings.Contains(fmt.Sprintf("%+v %#v", set, set), fmt.Sprint(secret[:4])) {
		t.Errorf("%v", set)
	}
}

// damage is a way to damage the folder of a set, with the errors that Open or queries may return.
type damage struct {
	name string
	do   func(t *testing.T, dir string, m *shard.Manifest) error
	want []error
	open bool // Open returns the error
}

var damages = []damage{
	{"missing", func(_ *testing.T, dir string, m *shard.Manifest) error {
		return os.Remove(filepath.Join(dir, m.Shards[2].File))
	}, []error{fs.ErrNotExist}, true},
	{"truncated", func(_ *testing.T, dir string, m *shard.Manifest) error {
		return os.Truncate(filepath.Join(dir, m.Shards[2].File), int64(m.Shards[2].Bytes-64))
	}, []error{shard.ErrChanged}, true},
	{"empty", func(_ *testing.T, dir string, m *shard.Manifest) error {
		return os.Truncate(filepath.Join(dir, m.Shards[2].File), 0)
	}, []error{shard.ErrChanged}, true},
	{"longer", func(t *testing.T, dir string, m *shard.Manifest) error {
		path := filepath.Join(dir, m.Shards[2].File)
		return os.WriteFile(path, append(settest.ReadAll(t, path), 0), 0o666)
	}, []error{shard.ErrChanged}, true},
	{"header", func(t *testing.T, dir string, m *shard.Manifest) error {
		return flip(t, filepath.Join(dir, m.Shards[2].File), 33)
	}, []error{filter.ErrChecksum}, true},
	{"content", func(t *testing.T, dir string, m *shard.Manifest) error {
		return flip(t, filepath.Join(dir, m.Shards[2].File), int(m.Shards[2].Bytes)-100)
	}, []error{filter.ErrChecksum}, false},
	{"swapped", func(_ *testing.T, dir string, m *shard.Manifest) error {
		a, b, c := filepath.Join(dir, m.Shards[2].File), filepath.Join(dir, m.Shards[3].File), filepath.Join(dir, "x")
		return errors.Join(os.Rename(a, c), os.Rename(b, a), os.Rename(c, b))
	}, []error{shard.ErrChanged, shard.ErrForeign}, false},
	{"another seed", func(t *testing.T, dir string, m *shard.Manifest) error {
		other := t.TempDir()
		c := bloomery.Config{Spec: m.Spec.String(), Hashing: bloomery.Hashing{Seed: m.Seed + 1}}
		writeShards(t, other, c, len(m.Shards), settest.Names("member", 4000))
		return os.WriteFile(filepath.Join(dir, m.Shards[2].File), settest.ReadAll(t, filepath.Join(other,
			m.Shards[2].File)), 0o666)
	}, []error{shard.ErrForeign, shard.ErrChanged}, true},
	{"other keys", func(t *testing.T, dir string, m *shard.Manifest) error {
		c := bloomery.Config{Spec: m.Spec.String(), Hashing: bloomery.Hashing{Seed: m.Seed}}
		set, err := bloomery.Build(t.Context(), slices.Values(settest.Names("other", int(m.Shards[2].Keys))), c)
		if err != nil {
			return err
		}
		return intoSet(t, set, filepath.Join(dir, m.Shards[2].File))
	}, []error{shard.ErrChanged}, false},
	{"another family", func(t *testing.T, dir string, m *shard.Manifest) error {
		set, err := bloomery.New(bloomery.Config{Spec: "standard(bytes=4096)", Hashing: bloomery.Hashing{Seed: m.Seed}})
		if err != nil {
			return err
		}
		return intoSet(t, set, filepath.Join(dir, m.Shards[2].File))
	}, []error{shard.ErrForeign, shard.ErrChanged}, true},
	{"a folder", func(_ *testing.T, dir string, m *shard.Manifest) error {
		path := filepath.Join(dir, m.Shards[2].File)
		return errors.Join(os.Remove(path), os.Mkdir(path, 0o777))
	}, nil, true},
	{"no filter", func(_ *testing.T, dir string, m *shard.Manifest) error {
		return os.WriteFile(filepath.Join(dir, m.Shards[2].File), make([]byte, m.Shards[2].Bytes), 0o666)
	}, []error{filter.ErrMagic}, true},
}

func flip(tb testing.TB, path string, at int) error {
	b := settest.ReadAll(tb, path)
	b[at] ^= 1
	return os.WriteFile(path, b, 0o666)
}

// TestShardedDamage damages one shard in every way. The error of Open or of the first use must name the shard, and no
// key may become absent.
func TestShardedDamage(t *testing.T) {
	keys := settest.Names("member", 4000)
	for _, d := range damages {
		t.Run(d.name, func(t *testing.T) {
			dir := t.TempDir()
			m := writeShards(t, dir, bloomery.Config{Spec: "blocked(bytes=4096)"}, 5, keys)
			check(t, d.do(t, dir, m))
			expect := func(err error) {
				t.Helper()
				var s *shard.Error
				if !errors.As(err, &s) || !strings.Contains(s.File, "-of-00005") || !strings.HasPrefix(s.File, dir) {
					t.Fatalf("the error does not name the shard: %v", err)
				}
				for _, want := range d.want {
					if errors.Is(err, want) {
						return
					}
				}
				if d.want != nil {
					t.Errorf("error %v, want one of %v", err, d.want)
				}
			}
			set, err := bloomery.Open(t.Context(), dir)
			if err != nil {
				expect(err)
				return
			}
			defer set.Close()
			if d.open {
				t.Fatal("Open found nothing")
			}
			got := make([]bool, len(keys))
			for range 2 {
				bloomery.Keyed[string](set).ContainsMany(got, keys)
				for i, k := range keys {
					if !got[i] || !set.ContainsString(k) {
						t.Fatalf("%s is absent", k)
					}
				}
				expect(set.Err())
			}
			failed := 0
			for _, k := range keys {
				if ok, err := set.ContainsContext(t.Context(), []byte(k)); err != nil {
					failed++
					expect(err)
				} else if !ok {
					t.Fatalf("%s is absent", k)
				}
			}
			if want := int(m.Shards[2].Keys); failed < want || failed > want+int(m.Shards[3].Keys) {
				t.Errorf("%d keys with an error, want about %d", failed, want)
			}
			again, err := bloomery.Open(t.Context(), dir)
			check(t, err)
			defer again.Close()
			expect(again.Check(t.Context(), nil))
		})
	}
}

// TestShardedFolders opens folders that are not sets.
func TestShardedFolders(t *testing.T) {
	empty := t.TempDir()
	_, err := bloomery.Open(t.Context(), empty)
	if !errors.Is(err, filter.ErrNoManifest) || !strings.Contains(err.Error(), "build --shards") {
		t.Errorf("empty: %v", err)
	}
	unfinished := t.TempDir()
	m := writeShards(t, unfinished, bloomery.Config{Spec: "blocked(fpr=0.01)"}, 3, settest.Names("a", 100))
	check(t, os.Remove(filepath.Join(unfinished, shard.ManifestName)))
	_, err = bloomery.Open(t.Context(), unfinished)
	if !errors.Is(err, filter.ErrNoManifest) || !strings.Contains(err.Error(), "un it again") {
		t.Errorf("unfinished: %v", err)
	}
	only := t.TempDir()
	writeManifest(t, only, m)
	var s *shard.Error
	_, err = bloomery.Open(t.Context(), only)
	if !errors.As(err, &s) || !errors.Is(err, fs.ErrNotExist) || errors.Is(err, filter.ErrNoManifest) {
		t.Errorf("manifest only: %v", err)
	}
	raw := t.TempDir()
	m.Spec, m.Hash = family.NewSpec("bitsandblooms"), filter.Murmur3Twice
	writeManifest(t, raw, m)
	_, err = bloomery.Open(t.Context(), raw)
	if !errors.Is(err, shard.ErrManifest) || !strings.Contains(err.Error(), "raw keys") {
		t.Errorf("raw keys: %v", err)
	}
	broken := t.TempDir()
	check(t, os.WriteFile(filepath.Join(broken, shard.ManifestName), []byte("{"), 0o666))
	_, err = bloomery.Open(t.Context(), broken)
	if !errors.Is(err, shard.ErrManifest) || !strings.Contains(err.Error(), broken) {
		t.Errorf("broken: %v", err)
	}
}

// TestShardedMaxBytes limits the sum of all shards, and the sum of trimmed shards in memory.
func TestShardedMaxBytes(t *testing.T) {
	dir := t.TempDir()
	m := writeShards(t, dir, bloomery.Config{Spec: "blocked(bytes=4096)"}, 5, settest.Names("a", 100))
	if _, err := bloomery.Open(t.Context(), dir, bloomery.WithMaxBytes(m.Bytes()-1)); !errors.Is(err, filter.ErrTooLarge) {
		t.Errorf("one byte less: %v", err)
	}
	set, err := bloomery.Open(t.Context(), dir, bloomery.WithMaxBytes(m.Bytes()))
	check(t, err)
	defer set.Close()
	if err := set.Check(t.Context(), nil); err != nil {
		t.Error(err)
	}
}

// hasLocks reports whether this system locks files and folders.
const hasLocks = runtime.GOOS != "windows" && runtime.GOOS != "js" && runtime.GOOS != "wasip1"

// TestShardedInPlace overwrites and truncates shards of an open set, before and after their first use. No key may
// become absent, and the error must name the shard.
func TestShardedInPlace(t *testing.T) {
	keys := settest.Names("member", 4000)
	for _, spec := range []string{"blocked(bytes=4096)", "blocked(bytes=2097152)"} { // read, and mapped
		for _, used := range []bool{false, true} {
			for name, change := range map[string]func(path string, data []byte) error{
				"overwritten": func(path string, data []byte) error { return os.WriteFile(path, make([]byte, len(data)), 0o666) },
				"truncated":   func(path string, data []byte) error { return os.Truncate(path, int64(len(data)/2)) },
				"emptied":     func(path string, _ []byte) error { return os.Truncate(path, 0) },
			} {
				dir := t.TempDir()
				m := writeShards(t, dir, bloomery.Config{Spec: spec}, 4, keys)
				set, err := bloomery.Open(t.Context(), dir)
				check(t, err)
				got := make([]bool, len(keys))
				if used {
					bloomery.Keyed[string](set).ContainsMany(got, keys)
				}
				path := filepath.Join(dir, m.Shards[1].File)
				check(t, change(path, settest.ReadAll(t, path)))
				inMemory := used && !container.CanMap(m.Shards[1].Bytes)
				bloomery.Keyed[string](set).ContainsMany(got, keys)
				for i, k := range keys {
					// A mapped file that was overwritten in place contains other bits. Err reports this.
					if (!got[i] || !set.ContainsString(k)) && !(name == "overwritten" && used) {
						t.Fatalf("%s, %s, used %v: %s is absent", spec, name, used, k)
					}
				}
				err = set.Err()
				var s *shard.Error
				if inMemory != (err == nil) || err != nil && (!errors.As(err, &s) || s.File != path) {
					t.Errorf("%s, %s, used %v: %v", spec, name, used, err)
				}
				_ = set.Close()
			}
		}
	}
}

// TestShardedLive follows a set whose manifest is replaced by valid and by damaged ones.
func TestShardedLive(t *testing.T) {
	dir := t.TempDir()
	m := writeShards(t, dir, bloomery.Config{Spec: "blocked(bytes=4096)"}, 4, settest.Names("a", 100))
	live, err := bloomery.OpenLive(t.Context(), filepath.Join(dir, shard.ManifestName), bloomery.WithInterval(time.Hour))
	check(t, err)
	defer live.Close()
	m.Shards[0].SHA256[0]++
	m.Shards[0].Keys++
	writeManifest(t, dir, m)
	var s *shard.Error
	if err := live.Reload(t.Context()); !errors.As(err, &s) || !errors.Is(live.Err(), shard.ErrForeign) {
		t.Errorf("%v", err)
	}
	if !live.ContainsString("a-1") {
		t.Error("the old set is gone")
	}
	if runtime.GOOS == "windows" { // which cannot replace files that the Live has open: their shards are loaded first
		for _, k := range settest.Names("a", 100) {
			live.ContainsString(k)
		}
	}
	writeShards(t, dir, bloomery.Config{Spec: "blocked(bytes=4096)"}, 4, settest.Names("b", 100))
	if err := live.Reload(t.Context()); err != nil || live.Err() != nil || !live.ContainsString("b-1") {
		t.Errorf("%v, %v", err, live.Err())
	}
}
