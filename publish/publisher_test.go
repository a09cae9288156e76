package publish

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/settest"
	"github.com/bloomery/bloomery/internal/shardset"
	"github.com/bloomery/bloomery/shard"
)

const day = 24 * time.Hour

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// keys yields n keys, of which each version replaces 5 by new ones.
func keys(n, v int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range n {
			if !yield(fmt.Sprint("key ", i+5*v)) {
				return
			}
		}
	}
}

const frozen = "standard(k=7,m=20000)"

// build writes version v of a filter, or of a sharded set if shards is not 0, and returns its path.
func build(t *testing.T, dir string, v, shards int, c bloomery.Config) string {
	t.Helper()
	if c.Spec == "" {
		c.Spec = frozen
	}
	if shards > 0 && c.Spec == frozen {
		c.Spec = "standard(bytes=3000)"
	}
	return save(t, filepath.Join(dir, fmt.Sprint("v", v)), keys(2000, v), shards, c)
}

// save writes a filter of the keys, or a sharded set if shards is not 0, and returns its path.
func save(t *testing.T, path string, keys iter.Seq[string], shards int, c bloomery.Config) string {
	t.Helper()
	if c.Sharding.Shards = shards; shards > 0 {
		_, err := settest.BuildShards(t.Context(), keys, path, c)
		must(t, err)
		return path
	}
	set, err := bloomery.Build(t.Context(), keys, c)
	must(t, err)
	must(t, set.Save(t.Context(), path))
	return path
}

// mustPublish publishes, checks the folder, and returns the report.
func mustPublish(t *testing.T, dir, file string, o Options) Report {
	t.Helper()
	r, err := Publish(t.Context(), dir, file, o)
	must(t, err)
	if c, err := Check(t.Context(), dir, nil, nil); err != nil || !reflect.DeepEqual(c.Release, r.Release) {
		t.Fatalf("%v, %+v, %+v", err, c.Release, r.Release)
	}
	return r
}

// names returns the names in a folder.
func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range list {
		all = append(all, e.Name())
	}
	return all
}

// TestPublish checks a folder over several releases with new, unchanged and old content, with another name, and after a
// renewal.
func TestPublish(t *testing.T) {
	for what, shards := range map[string]int{File: 0, Set: 3} {
		t.Run(what, func(t *testing.T) {
			src, dir := t.TempDir(), filepath.Join(t.TempDir(), "blocklist")
			var files []string
			for v := range 3 {
				files = append(files, build(t, src, v, shards, bloomery.Config{FPR: 0.01}))
			}
			one := mustPublish(t, dir, files[0], Options{Now: start})
			if r := one.record; r.Number != 1 || r.Name != "blocklist" || r.Kind != what || r.Previous != nil ||
				r.History != nil || r.Keys != 2000 || r.FPRPlanned != 0.01 || r.FPRPosterior < 0.001 {
				t.Errorf("%+v", r)
			}
			two := mustPublish(t, dir, files[1], Options{Now: start.Add(day)})
			if p := two.record.Previous; two.Release.Number != 2 || p.Number != 1 || p.SHA256 != one.Release.SHA256 ||
				p.Delta == nil || p.Delta.Bytes > two.Release.Total/2 || two.Daily > p.Delta.Bytes+2000 {
				t.Errorf("%+v", two)
			}
			three := mustPublish(t, dir, files[2], Options{Now: start.Add(2 * day)})
			if h := three.kept; len(h) != 2 || h[0].Number != 2 || h[1].Delta.Bytes <= h[0].Delta.Bytes {
				t.Errorf("%+v", h)
			}

			before, all := released(t, dir), names(t, filepath.Join(dir, ObjectsName))
			same := mustPublish(t, dir, files[2], Options{Now: start.Add(3 * day)})
			if !same.Same || same.Renewed || !bytes.Equal(before, released(t, dir)) ||
				!slices.Equal(all, names(t, filepath.Join(dir, ObjectsName))) {
				t.Errorf("the same content changes the folder: %+v", same)
			}
			later := start.Add(2*day + DefaultLifetime/2 + time.Second)
			renewed := mustPublish(t, dir, files[2], Options{Now: later})
			if r := renewed.Release; !renewed.Renewed || r.Number != 3 || r.Published != three.Release.Published ||
				r.Expires != later.Add(DefaultLifetime) || r.SHA256 != three.Release.SHA256 {
				t.Errorf("%+v", renewed)
			}
			again := mustPublish(t, dir, files[2], Options{Now: later, Renew: true, Lifetime: day})
			if !again.Renewed || again.Release.Expires != later.Add(day) {
				t.Errorf("%+v", again)
			}

			back := mustPublish(t, dir, files[0], Options{Now: later})
			if r := back.record; r.Number != 4 || r.SHA256 != one.Release.SHA256 || r.Previous.Number != 3 {
				t.Errorf("old content: %+v", r)
			}
			if h := back.kept; len(h) != 3 || h[2].Number != 1 || h[2].Delta != nil || h[0].Delta == nil {
				t.Errorf("%+v", h)
			}
			if _, err := Publish(t.Context(), dir, files[1], Options{Name: "other"}); !errors.Is(err, ErrName) {
				t.Errorf("another name: %v", err)
			}
		})
	}
}

func released(t *testing.T, dir string) []byte {
	t.Helper()
	b := read(t, filepath.Join(dir, ReleaseName))
	return b
}

// TestRetention publishes daily. The newest releases must remain in the history, and later also one that is at least 7
// days old and one that is at least 30 days old. Objects must remain if the current or the previous release names them.
func TestRetention(t *testing.T) {
	src, dir := t.TempDir(), t.TempDir()
	o := Options{Keep: 3, Name: "x", Now: start}
	before := map[shard.Sum]bool{}
	for v := range 70 {
		file := build(t, src, v, 0, bloomery.Config{Spec: "standard(k=2,m=4096)"})
		r, err := Publish(t.Context(), dir, file, o)
		must(t, err)
		for i, age := range []int{1, 2, 3} {
			if v >= age && r.kept[i].Number != r.Release.Number-uint64(age) {
				t.Fatalf("release %d: %+v", v+1, r.kept)
			}
		}
		for _, jump := range []int{7, 30} {
			found := slices.ContainsFunc(r.kept, func(s step) bool {
				age := o.Now.Sub(s.Published)
				return age >= time.Duration(jump)*day && age < time.Duration(2*jump)*day
			})
			if v >= jump && !found {
				t.Errorf("release %d: none from %d days ago: %v", v+1, jump, r.kept)
			}
		}
		if len(r.kept) > 3+2*len(horizons) {
			t.Errorf("release %d: %d older ones", v+1, len(r.kept))
		}
		s := objects{dir: filepath.Join(dir, ObjectsName)}
		named, err := s.namedBy(t.Context(), r.record, r.kept)
		must(t, err)
		for h := range before {
			if _, err := os.Stat(s.pathOf(h)); err != nil {
				t.Fatalf("release %d: an object of the one before is gone: %v", v+1, err)
			}
		}
		for _, name := range names(t, s.dir) {
			var h shard.Sum
			if err := h.UnmarshalText([]byte(name)); err != nil || !named[h] && !before[h] {
				t.Fatalf("release %d: %s is still there", v+1, name)
			}
		}
		before, o.Now = named, o.Now.Add(day)
	}
	o.Keep = -1
	r := mustPublish(t, dir, build(t, src, 99, 0, bloomery.Config{}), o)
	if r.kept != nil || r.record.History != nil || r.record.Previous.Delta != nil {
		t.Errorf("keep none: %+v", r)
	}
}

// TestPublishRefuses checks that nothing changes if the file is damaged, is not a filter, or cannot be published in
// this folder.
func TestPublishRefuses(t *testing.T) {
	src, dir := t.TempDir(), filepath.Join(t.TempDir(), "x")
	good := build(t, src, 1, 0, bloomery.Config{})
	key := testKey(t, "A")
	mustPublish(t, dir, good, Options{Sign: []PrivateKey{key}})
	before, all := released(t, dir), names(t, filepath.Join(dir, ObjectsName))
	content := read(t, good)
	bad := bytes.Clone(content)
	bad[len(bad)-1] ^= 1
	set := build(t, src, 2, 2, bloomery.Config{})
	lacking := build(t, src, 3, 2, bloomery.Config{})
	must(t, os.Remove(filepath.Join(lacking, shardset.Name(1, 2, ""))))
	next := build(t, src, 4, 0, bloomery.Config{})
	signed := Options{Sign: []PrivateKey{key}}
	for _, c := range []struct {
		what, file string
		o          Options
		want       error
	}{
		{"missing", filepath.Join(src, "none"), signed, os.ErrNotExist},
		{"a list", write(t, src+"/list", []byte("a\nb\n"), 0o600), signed, filter.ErrMagic},
		{"damaged", write(t, src+"/bad", bad, 0o600), signed, filter.ErrChecksum},
		{"cut", write(t, src+"/cut", content[:len(content)-8], 0o600), signed, io.ErrUnexpectedEOF},
		{"longer", write(t, src+"/longer", append(bytes.Clone(content), 0), 0o600), signed, filter.ErrCorrupt},
		{"no set", src, signed, filter.ErrNoManifest},
		{"a shard is missing", lacking, signed, os.ErrNotExist},
		{"another kind", set, signed, ErrName},
		{"unsigned after signed", next, Options{}, ErrUnsigned},
		{"no trimmed form", next, Options{Sign: signed.Sign, Trim: true}, filter.ErrUnsupported},
		{"lifetime", next, Options{Sign: signed.Sign, Lifetime: 1}, ErrOptions},
		{"keep", next, Options{Sign: signed.Sign, Keep: MaxKeep + 1}, ErrOptions},
		{"number", next, Options{Sign: signed.Sign, Number: 1}, ErrOptions},
		{"keys", next, Options{Sign: []PrivateKey{key, key}}, ErrOptions},
	} {
		if _, err := Publish(t.Context(), dir, c.file, c.o); !errors.Is(err, c.want) {
			t.Errorf("%s: %v; want %v", c.what, err, c.want)
		}
		if !bytes.Equal(before, released(t, dir)) || !slices.Equal(all, names(t, filepath.Join(dir, ObjectsName))) {
			t.Errorf("%s: the folder has changed", c.what)
		}
	}
	write(t, filepath.Join(dir, ReleaseName), []byte("{}"), 0o600)
	if _, err := Publish(t.Context(), dir, next, signed); !errors.Is(err, ErrRelease) {
		t.Error(err)
	}
}

// TestPublishKeys checks that a filter with a keyed hash can be published without its secret, that signatures are
// renewed when the keys change, and that an unsigned release can follow a signed one on request.
func TestPublishKeys(t *testing.T) {
	src, dir := t.TempDir(), t.TempDir()
	one, two := testKey(t, "A"), testKey(t, "E")
	file := build(t, src, 1, 0, bloomery.Config{Hashing: bloomery.Hashing{Secret: filter.NewSecret()}})
	mustPublish(t, dir, file, Options{Name: "x", Sign: []PrivateKey{one}})
	mustPublish(t, dir, build(t, src, 2, 0, bloomery.Config{Hashing: bloomery.Hashing{Secret: filter.NewSecret()}}),
		Options{Sign: []PrivateKey{one}})
	if r := mustPublish(t, dir, filepath.Join(src, "v2"), Options{Sign: []PrivateKey{one, two}}); !r.Renewed {
		t.Error("another key signs, and the release stays")
	}
	for _, k := range []PrivateKey{one, two} {
		if _, err := Check(t.Context(), dir, []PublicKey{k.Public()}, nil); err != nil {
			t.Error(err)
		}
	}
	if _, err := Check(t.Context(), dir, []PublicKey{testKey(t, "I").Public()}, nil); !errors.Is(err, ErrOtherKey) {
		t.Error(err)
	}
	if r := mustPublish(t, dir, file, Options{Unsigned: true}); r.Release.Number != 3 {
		t.Errorf("%+v", r.Release)
	}
	if _, err := Verify(released(t, dir), one.Public()); !errors.Is(err, ErrUnsigned) {
		t.Error(err)
	}
}

// TestNumber checks that a lost folder continues with a higher number, even with the same filter.
func TestNumber(t *testing.T) {
	src, dir := t.TempDir(), t.TempDir()
	file := build(t, src, 1, 0, bloomery.Config{})
	for _, number := range []uint64{1000, 1003} {
		if r := mustPublish(t, dir, file, Options{Name: "x", Number: number}); r.Release.Number != number || r.Same {
			t.Errorf("%+v", r)
		}
	}
	next := build(t, src, 2, 0, bloomery.Config{})
	if r := mustPublish(t, dir, next, Options{}); r.Release.Number != 1004 || r.record.Previous.Number != 1003 {
		t.Errorf("%+v", r.Release)
	}
}

// TestTrim checks that the trimmed form is published on request, and that its size is reported otherwise.
func TestTrim(t *testing.T) {
	for what, shards := range map[string]int{File: 0, Set: 2} {
		src, dir := t.TempDir(), t.TempDir()
		file := build(t, src, 1, shards, bloomery.Config{Spec: "rankindexed(capacity=2500)"})
		full := mustPublish(t, dir, file, Options{Name: "x"})
		small := mustPublish(t, dir, file, Options{Trim: true})
		if full.Trimmed != small.Release.Total || small.Trimmed != 0 || full.Trimmed >= full.Release.Total ||
			small.Release.Number != 2 || small.Release.Keys != full.Release.Keys {
			t.Errorf("%s: %d of %d bytes: %+v", what, full.Trimmed, full.Release.Total, small.Release)
		}
	}
}

// TestExceptions checks that a filter with exceptions is published unchanged or trimmed, and that damaged exceptions
// are refused.
func TestExceptions(t *testing.T) {
	src, dir := t.TempDir(), t.TempDir()
	allowed := func(yield func([]byte) bool) {
		for i := range 3000 {
			if !yield(fmt.Append(nil, "allowed ", i)) {
				return
			}
		}
	}
	path := build(t, src, 1, 0, bloomery.Config{Spec: "rankindexed(bits_per_key=8)", Allow: allowed})
	full := mustPublish(t, dir, path, Options{Name: "x"})
	small := mustPublish(t, dir, path, Options{Trim: true})
	if full.Trimmed != small.Release.Total || small.Release.Keys != 2000 {
		t.Errorf("%d bytes, %+v", full.Trimmed, small.Release)
	}
	f, err := container.ReadFile(path, container.Options{})
	if err != nil || f.Exceptions == nil {
		t.Fatal(err)
	}
	f.Exceptions = []uint64{1, 2, 3}
	must(t, container.WriteFile(t.Context(), path, f))
	if _, err := Publish(t.Context(), dir, path, Options{}); !errors.Is(err, filter.ErrCorrupt) {
		t.Errorf("damaged exceptions: %v", err)
	}
}

// TestRepair checks that a damaged object is written again, that a lost one causes a missing delta and a warning, and
// that Check finds both.
func TestRepair(t *testing.T) {
	src, dir := t.TempDir(), t.TempDir()
	o := Options{Name: "x", Now: start}
	file := build(t, src, 1, 0, bloomery.Config{})
	r := mustPublish(t, dir, file, o).Release
	path := filepath.Join(dir, ObjectsName, r.SHA256.String())
	write(t, path, make([]byte, r.Bytes), 0o600)
	if _, err := Check(t.Context(), dir, nil, nil); !errors.Is(err, ErrObject) {
		t.Errorf("a damaged object: %v", err)
	}
	mustPublish(t, dir, file, o)
	must(t, os.Remove(path))
	if _, err := Check(t.Context(), dir, nil, nil); !errors.Is(err, ErrObject) {
		t.Errorf("a missing object: %v", err)
	}
	next, err := Publish(t.Context(), dir, build(t, src, 2, 0, bloomery.Config{}), o)
	if err != nil || len(next.Warnings) != 1 || next.record.Previous.Delta != nil {
		t.Errorf("%v, %+v", err, next)
	}
	must(t, os.Remove(filepath.Join(dir, ObjectsName, next.record.History.SHA256.String())))
	if _, err := Check(t.Context(), dir, nil, nil); !errors.Is(err, ErrObject) {
		t.Errorf("no history: %v", err)
	}
	last := mustPublish(t, dir, build(t, src, 3, 0, bloomery.Config{}), o)
	if len(last.Warnings) != 1 || len(last.kept) != 1 {
		t.Errorf("%+v", last)
	}
}
