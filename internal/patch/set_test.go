package patch_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/patch"
	"github.com/bloomery/bloomery/internal/shardset"
	"github.com/bloomery/bloomery/shard"
)

// folder is a sharded set in memory.
type folder struct {
	manifest shard.Manifest
	text     []byte
	files    map[string][]byte
}

// set returns the folder as a Version.
func (f *folder) set() patch.Version {
	return patch.Version{File: f.text, Shard: func(i int) ([]byte, error) {
		b, ok := f.files[f.manifest.Shards[i].File]
		if !ok {
			return nil, errors.New("no such file")
		}
		return b, nil
	}}
}

// bytes returns the size of the manifest and all shards.
func (f *folder) bytes() int {
	n := len(f.text)
	for _, b := range f.files {
		n += len(b)
	}
	return n
}

// newFolder makes a set of these files. If before is not nil, the names of files that are not in before contain hashes.
func newFolder(t testing.TB, spec string, files [][]byte, before *folder) *folder {
	t.Helper()
	s, err := filter.ParseSpec(spec)
	must(t, err)
	f := &folder{files: map[string][]byte{}}
	f.manifest = shard.Manifest{Spec: s, Hash: filter.XXH3, Seed: 7, FPRPlanned: 0.01}
	var old *shard.Manifest
	if before != nil {
		old = &before.manifest
	}
	for i, b := range files {
		m, err := container.ParseImage(b)
		must(t, err)
		sum := sha256.Sum256(b)
		e := shard.Entry{
			File: shardset.NewName(old, i, len(files), sum), Keys: m.Keys, Bytes: uint64(len(b)), SHA256: sum,
			FPRPrior:     shardset.Rate(0.01 - 1e-5*float64(m.Keys%7)),
			FPRPosterior: shardset.Rate(0.00999 + 1e-5*float64(m.Keys%11)),
		}
		f.manifest.Shards = append(f.manifest.Shards, e)
		f.files[e.File] = b
	}
	var text bytes.Buffer
	if _, err := f.manifest.WriteTo(&text); err != nil {
		t.Fatal(err)
	}
	f.text = text.Bytes()
	return f
}

// checkSets makes a delta of two sets and applies it. It returns the delta.
func checkSets(t testing.TB, old, new *folder) []byte {
	t.Helper()
	d, err := patch.Diff(context.Background(), old.set(), new.set())
	must(t, err)
	got := maps.Clone(old.files)
	ctx := context.Background()
	manifest, err := patch.Patch(ctx, old.set(), d, 0, func(name string, b []byte) error {
		got[name] = b
		return nil
	})
	if err != nil || !bytes.Equal(manifest, new.text) {
		t.Fatalf("delta of %d bytes: manifest of %d bytes, %v", len(d), len(manifest), err)
	}
	for name, b := range new.files {
		if !bytes.Equal(got[name], b) {
			t.Fatalf("shard %s differs", name)
		}
	}
	if i, err := patch.Read(d); err != nil || i.Method != patch.Shards || i.Base != patch.BaseOf(old.text) {
		t.Fatalf("%+v, %v", i, err)
	}
	return d
}

// setFiles returns shards with change[i] keys replaced in shard i.
func setFiles(t testing.TB, spec string, change ...int) (files [][]byte) {
	for i, n := range change {
		files = append(files, build(t, spec, 7, hashes(7, 10000*i+n, 10000*i+n+2000)))
	}
	return files
}

var setSpecs = []string{"standard(k=7,m=20000)", "rankindexed(capacity=2100,fpr=0.01)"}

// TestSets checks deltas between sets of which some shards differ.
func TestSets(t *testing.T) {
	for _, spec := range setSpecs {
		base := newFolder(t, spec, setFiles(t, spec, 0, 0, 0, 0), nil)
		for _, c := range []struct {
			change      []int
			least, most int
		}{
			{[]int{0, 0, 0, 0}, 25, 27},
			{[]int{0, 0, 3, 0}, 35, 110},
			{[]int{4, 4, 4, 4}, 80, 400},
			{[]int{0, 0, 2000, 0}, 2000, 3000},
			{[]int{0, 0, 0}, 600, 9000},          // a different number of shards changes all names
			{[]int{0, 0, 0, 0, 1}, 600, 2e3 * 7}, // and one more
		} {
			d := checkSets(t, base, newFolder(t, spec, setFiles(t, spec, c.change...), base))
			if len(d) < c.least || len(d) > c.most {
				t.Errorf("%s %v: %d bytes", spec, c.change, len(d))
			}
		}
		plain := newFolder(t, spec, setFiles(t, spec, 0, 3, 0, 0), nil)
		t.Log(spec, len(checkSets(t, base, plain)))
		named := newFolder(t, spec, setFiles(t, spec, 0, 0, 0, 0), nil)
		named.manifest.Shards[1].File = shardset.Name(1, 4, "abc")
		named.files[named.manifest.Shards[1].File] = named.files[shardset.Name(1, 4, "")]
		var text bytes.Buffer
		if _, err := named.manifest.WriteTo(&text); err != nil {
			t.Fatal(err)
		}
		named.text = text.Bytes()
		t.Log(spec, len(checkSets(t, base, named)))
	}
}

// TestSetErrors calls Patch with another set, with a damaged shard, and with a limit.
func TestSetErrors(t *testing.T) {
	const spec = "standard(k=7,m=20000)"
	ctx := context.Background()
	base := newFolder(t, spec, setFiles(t, spec, 0, 0), nil)
	next := newFolder(t, spec, setFiles(t, spec, 5, 0), base)
	d := checkSets(t, base, next)
	nothing := func(string, []byte) error { return nil }
	if _, err := patch.Patch(ctx, next.set(), d, 0, nothing); !errors.Is(err, patch.ErrBase) {
		t.Errorf("another set: %v", err)
	}
	_, err := patch.Patch(ctx, base.set(), d, 2000, nothing)
	if !errors.Is(err, filter.ErrTooLarge) {
		t.Errorf("limit: %v", err)
	}
	one := build(t, spec, 7, hashes(7, 0, 2000))
	if _, err := patch.Patch(ctx, file(one), d, 0, nil); !errors.Is(err, patch.ErrBase) {
		t.Errorf("a file: %v", err)
	}
	whole := checkPair(t, one, build(t, spec, 7, hashes(7, 5, 2005)))
	if _, err := patch.Patch(ctx, base.set(), whole, 0, nothing); !errors.Is(err, patch.ErrBase) {
		t.Errorf("the delta of a file: %v", err)
	}
	full := fmt.Errorf("full")
	_, err = patch.Patch(ctx, base.set(), d, 0, func(string, []byte) error { return full })
	if err != full {
		t.Errorf("write: %v", err)
	}
	name := base.manifest.Shards[0].File
	base.files[name] = bytes.Clone(base.files[name])
	base.files[name][1000] ^= 1
	var e *shard.Error
	_, err = patch.Patch(ctx, base.set(), d, 0, nothing)
	if !errors.Is(err, shard.ErrChanged) || !errors.As(err, &e) || e.File != name {
		t.Errorf("a damaged shard: %v", err)
	}
}
