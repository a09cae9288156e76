package window_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/settest"
	"github.com/bloomery/bloomery/shard"
)

// refusedByName fails the test unless err names package window as the package that opens such files.
func refusedByName(t *testing.T, how string, err error) {
	t.Helper()
	if !errors.Is(err, container.ErrWindow) || !errors.Is(err, filter.ErrMagic) ||
		!strings.Contains(err.Error(), "open it with package window") {
		t.Errorf("%s: %v, want that package window opens it", how, err)
	}
}

// TestWindowFiles passes files of package window to every function that opens a filter. All must refuse them with an
// error that names the package, and change nothing.
func TestWindowFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"few", "keyed", "new"} {
		b, err := os.ReadFile(filepath.Join("testdata", name+".window"))
		settest.Check(t, err)
		path := filepath.Join(dir, name)
		settest.Check(t, errors.Join(os.WriteFile(path, b, 0o600), os.WriteFile(path+"2", b, 0o600)))
		secret := bloomery.WithSecret(&filter.Secret{1, 2, 3})
		_, err = bloomery.Open(t.Context(), path, secret)
		refusedByName(t, "Open", err)
		_, err = bloomery.Open(t.Context(), path, bloomery.InMemory())
		refusedByName(t, "Open in memory", err)
		_, err = bloomery.Open(t.Context(), path, bloomery.WithConcurrent())
		refusedByName(t, "Open for concurrent use", err)
		_, err = bloomery.Read(bytes.NewReader(b))
		refusedByName(t, "Read", err)
		_, err = bloomery.FromBytes(b)
		refusedByName(t, "FromBytes", err)
		refusedByName(t, "UnmarshalBinary", new(bloomery.Set).UnmarshalBinary(b))
		_, err = bloomery.OpenLive(t.Context(), path)
		refusedByName(t, "OpenLive", err)
		_, err = bloomery.Lock(t.Context(), path)
		refusedByName(t, "Lock", err)
		_, err = bloomery.MergeFiles(t.Context(), []string{path, path + "2"})
		refusedByName(t, "MergeFiles", err)
		_, err = bloomery.IntersectFiles(t.Context(), []string{path, path + "2"})
		refusedByName(t, "IntersectFiles", err)
		if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, b) {
			t.Errorf("%s has changed: %v", name, err)
		}
	}
}

// TestWindowShards checks that a set is refused if its manifest names window as the family, or if one of its shards,
// with the right size and checksum in the manifest, is a file of package window.
func TestWindowShards(t *testing.T) {
	file := settest.ReadAll(t, filepath.Join("testdata", "few.window"))
	for _, spec := range []string{"window(keys=12,ttl=7000000000)", ""} {
		dir := t.TempDir()
		path := filepath.Join(dir, shard.ManifestName)
		m, err := settest.BuildShards(t.Context(), slices.Values(settest.Names("member", 20)), dir,
			bloomery.Config{Spec: "standard(bytes=160)", Sharding: bloomery.Sharding{Shards: 2}})
		settest.Check(t, err)
		if spec != "" {
			m.Spec, err = filter.ParseSpec(spec)
		} else {
			e := &m.Shards[0]
			e.Keys, e.Bytes, e.SHA256 = 5, uint64(len(file)), sha256.Sum256(file)
			err = os.WriteFile(filepath.Join(dir, e.File), file, 0o600)
		}
		var text bytes.Buffer
		if err == nil {
			_, err = m.WriteTo(&text)
		}
		if err == nil {
			err = os.WriteFile(path, text.Bytes(), 0o600)
		}
		settest.Check(t, err)
		set, err := bloomery.Open(t.Context(), dir)
		if err == nil {
			err = errors.Join(set.Check(t.Context(), nil), set.Close())
		}
		if want := map[bool]error{true: container.ErrWindow, false: filter.ErrFamily}[spec == ""]; !errors.Is(err, want) {
			t.Errorf("a set of %s: %v", m.Spec, err)
		}
	}
}
