package publish

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/except"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/shardset"
	"github.com/bloomery/bloomery/internal/untrusted"
	"github.com/bloomery/bloomery/shard"
)

// content is new content: a filter file, an exact set, or the manifest of a sharded set whose shards are objects.
type content struct {
	record         // The record has no name, number and times.
	file    []byte // the file or the manifest
	trimmed uint64 // total bytes of the trimmed form; 0 if there is none, or if this is it
	due     string // why an exact set should be built anew, or empty
}

// mayPublish returns an error if a file or folder cannot be opened, or if its header does not belong to a filter, an
// exact set or a sharded set of a known family. loadContent checks the rest.
func mayPublish(path string) error {
	f, st, err := untrusted.OpenAny(path, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if dir, ok := shardset.Dir(path); ok {
		m, _, err := shardset.ReadManifest(dir)
		if err == nil {
			_, err = families.ByName(m.Spec.Family())
		}
		return err
	}

	file := func() io.Reader { return io.NewSectionReader(f, 0, st.Size()) }
	if container.HasExactMagic(file()) {
		return nil
	}
	if _, _, err := container.ReadPlaces(file(), container.Options{Check: accept}); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// accept returns an error unless a header belongs to a filter of a family.
func accept(f *container.File, words []uint64) error {
	return families.Accept(f.Family, f.Spec, f.Hash, words, 1<<62)
}

// loadContent reads a filter file, an exact set or a sharded set once, checks it completely, and stores the objects. It
// needs no secret for a keyed hash.
func loadContent(ctx context.Context, path string, s *objects, o Options) (*content, error) {
	if dir, ok := shardset.Dir(path); ok {
		return loadSet(ctx, dir, s, o)
	}

	b, err := untrusted.ReadFile(ctx, path, untrusted.Limit{MaxBytes: maxNumber, Head: 8, Check: checkMagic})
	if err != nil {
		return nil, err
	}

	c, err := contentOf(b, o.Trim)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}

	c.Total = uint64(len(c.file))
	stored, err := s.storeObject(ctx, c.file)
	c.SHA256, c.Bytes = stored.SHA256, stored.Bytes
	return c, err
}

// checkMagic returns an error unless a file that begins with head is a filter file or an exact set.
func checkMagic(head []byte) error {
	if container.HasMagic(bytes.NewReader(head)) || container.HasExactMagic(bytes.NewReader(head)) {
		return nil
	}
	return container.OtherKind(head)
}

// contentOf returns the content of a filter file or an exact set.
func contentOf(b []byte, trim bool) (*content, error) {
	if !container.HasExactMagic(bytes.NewReader(b)) {
		one, err := decodeFilter(b, trim)
		if err != nil {
			return nil, err
		}
		r := Release{Kind: File, Spec: one.file.Spec.String(), Keys: one.info.Keys, FPRPlanned: one.file.FPRPlanned,
			FPRPosterior: one.info.FPRPosterior}
		return &content{record: record{Release: r}, file: one.bytes, trimmed: one.trimmed}, nil
	}

	i, err := inspect(b)
	if err == nil && trim {
		err = fmt.Errorf("an exact set has no trimmed form: %w", filter.ErrUnsupported)
	}
	if err != nil {
		return nil, err
	}

	spec := fmt.Sprintf("exact(universe=%d,partitions=%d,updates=%d)", i.Universe, i.Partitions, i.Updates)
	r := Release{Kind: Exact, Spec: spec, Keys: i.Members}
	return &content{record: record{Release: r, Universe: i.Universe}, file: b, due: i.BuildDue}, nil
}

// decoded is a filter file that was read and checked.
type decoded struct {
	bytes   []byte // bytes of the file, or of its trimmed form
	file    *container.File
	info    filter.Info
	trimmed uint64 // length of the trimmed form; 0 if there is none, or if this is it
}

// decodeFilter checks header, checksums and content of a filter file, and returns it, in the trimmed form if trim is
// true.
func decodeFilter(b []byte, trim bool) (decoded, error) {
	f, _, err := container.FromBytes(b, container.Options{Check: accept})
	if err != nil {
		return decoded{}, err
	}

	one, err := families.Decode(f.Encoded)
	whole := one
	if err == nil {
		whole, err = except.Wrap(one, f.Exceptions)
	}
	if err != nil {
		return decoded{}, container.Broken(f.SpecAt(), err.Error(), filter.ErrCorrupt)
	}

	d := decoded{bytes: b, file: f, info: whole.Info()}
	// Keys with equal hashes are false positives in every family, so no rate is below LowestRate.
	d.info.FPRPosterior = shardset.Rate(max(d.info.FPRPosterior, family.LowestRate(f.Hash, d.info.Keys)))
	t, ok := one.(family.Trimmer)
	if ok {
		err = t.Trimmable()
	} else {
		err = families.Lacks(f.Spec, family.CanTrim)
	}

	switch {
	case err != nil && trim:
		return decoded{}, err
	case err != nil:
		return d, nil
	}

	small := *f
	small.Encoded = t.Trimmed().(family.Encoder).Encode()
	if !trim {
		if n, err := container.Len(&small); err == nil && n < uint64(len(b)) {
			d.trimmed = n
		}
		return d, nil
	}

	var out bytes.Buffer
	if err := container.Write(&out, &small); err != nil {
		return decoded{}, err
	}
	d.bytes, d.file = out.Bytes(), &small
	return d, nil
}

// loadSet is load for a sharded set. If another process replaces the set meanwhile, it starts again.
func loadSet(ctx context.Context, dir string, s *objects, o Options) (c *content, err error) {
	err = shardset.Open(dir, func(m *shard.Manifest, _ fs.FileInfo) error {
		c, err = loadShards(ctx, dir, m, s, o)
		return err
	})
	return c, err
}

// loadShards loads the shards of a manifest. It holds one shard in memory at a time.
func loadShards(ctx context.Context, dir string, old *shard.Manifest, s *objects, o Options) (*content, error) {
	// Trimming changes hashes and names below, and the manifest belongs to the caller.
	m := shardset.Clone(old)
	c := &content{record: record{Release: Release{Kind: Set, Spec: m.Spec.String(), Keys: m.Keys(),
		FPRPlanned: m.FPRPlanned}}}
	var saved uint64 // bytes that the trimmed form would save
	for i := range m.Shards {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		e := &m.Shards[i]
		path := filepath.Join(dir, e.File)
		b, err := untrusted.ReadFile(ctx, path, untrusted.Limit{MaxBytes: e.Bytes})
		// ErrChanged makes shardset.Open read the manifest again: another process may have replaced the set meanwhile.
		if errors.Is(err, filter.ErrTooLarge) || err == nil && objectOf(*e).matches(b) != nil {
			err = shard.ErrChanged
		}
		if err != nil {
			return nil, &shard.Error{File: path, Err: err}
		}
		one, err := decodeFilter(b, o.Trim)
		if err == nil {
			err = shardset.CheckHeader(m, i, one.file)
		}
		if err != nil {
			return nil, &shard.Error{File: path, Err: err}
		}
		if one.trimmed > 0 {
			saved += e.Bytes - one.trimmed
		}
		stored, err := s.storeObject(ctx, one.bytes)
		if err != nil {
			return nil, err
		}
		e.SHA256, e.Bytes = stored.SHA256, stored.Bytes
		// A name that contains the hash never means two contents, so a follower can keep old shards beside new ones.
		e.File = shardset.HashName(i, len(m.Shards), e.SHA256)
	}

	var out bytes.Buffer
	if _, err := m.WriteTo(&out); err != nil {
		return nil, err
	}

	_, c.FPRPosterior = m.FPR()
	c.FPRPosterior = shardset.Rate(c.FPRPosterior)
	c.file, c.Total = out.Bytes(), m.Bytes()+uint64(out.Len())
	if saved > 0 {
		c.trimmed = c.Total - saved
	}

	stored, err := s.storeObject(ctx, c.file)
	c.SHA256, c.Bytes = stored.SHA256, stored.Bytes
	return c, err
}
