package publish

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/internal/patch"
	"github.com/bloomery/bloomery/shard"
)

// version is the content of one version of a filter file or of a sharded set, as a publisher keeps it.
type version struct {
	file   []byte   // or the manifest
	shards [][]byte // nil for a file
}

// fileOf returns the version of a set of one filter.
func fileOf(s *bloomery.Set) (version, error) {
	var b bytes.Buffer
	_, err := s.WriteTo(&b)
	return version{file: b.Bytes()}, err
}

// folderOf returns the version of a sharded set.
func folderOf(dir string, m *shard.Manifest) (v version, err error) {
	if v.file, err = os.ReadFile(filepath.Join(dir, shard.ManifestName)); err != nil {
		return v, err
	}
	for _, e := range m.Shards {
		b, err := os.ReadFile(filepath.Join(dir, e.File))
		if err != nil {
			return v, err
		}
		v.shards = append(v.shards, b)
	}
	return v, nil
}

// bytes returns the size of all files.
func (v version) bytes() (n int) {
	for _, s := range v.shards {
		n += len(s)
	}
	return n + len(v.file)
}

// forPatch returns the version for package patch.
func (v version) forPatch() patch.Version {
	if v.shards == nil {
		return patch.Version{File: v.file}
	}
	return patch.Version{File: v.file, Shard: func(i int) ([]byte, error) { return v.shards[i], nil }}
}

// since returns the number of bytes of the delta from an older version. It checks that the delta turns the older
// version into v.
func (v version) since(ctx context.Context, old version) (int, error) {
	d, err := patch.Diff(ctx, old.forPatch(), v.forPatch())
	if err != nil {
		return 0, err
	}
	written := 0
	got, err := patch.Patch(ctx, old.forPatch(), d, 0, func(_ string, b []byte) error {
		if !slices.ContainsFunc(v.shards, func(s []byte) bool { return bytes.Equal(s, b) }) {
			return errPatch
		}
		written++
		return nil
	})
	if err == nil && (!bytes.Equal(got, v.file) || written > len(v.shards)) {
		err = errPatch
	}
	return len(d), err
}

var errPatch = errors.New("a delta gives another file: this is a bug of package patch")

// packed returns the size of a file compressed with zstd for a reader that has an older version.
func packed(file, old []byte) (int, error) {
	w, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(8<<20),
		zstd.WithEncoderDictRaw(1, old), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return 0, err
	}
	return len(w.EncodeAll(file, nil)), w.Close()
}
