package publish

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/bloomery/bloomery/delta"
	"github.com/bloomery/bloomery/exact"
	"github.com/bloomery/bloomery/shard"
)

// Checked is the result of Check.
type Checked struct {
	Release *Release
	Signers []string // ids of the keys that claim to have signed; Verify checks them
	History History
	Objects int    // objects that are named and right
	Bytes   uint64 // their size
	Deltas  int    // deltas that give the current filter
}

// Check checks the folder of a publisher as a reader would: release.json, all objects that it and its history name,
// with their hashes, the filter, and that each delta gives the current filter. It collects all errors; they wrap
// ErrRelease, ErrVersion, ErrObject, or those of bloomery.Open and delta.Patch. pinned keys, if any, must have signed
// the release: see Verify. progress, if not nil, is called after each older release.
func Check(ctx context.Context, dir string, pinned []PublicKey, progress func(done, all int)) (Checked, error) {
	raw, err := readRelease(ctx, filepath.Join(dir, ReleaseName))
	if err != nil {
		return Checked{}, err
	}
	var c checker
	c.objects.dir, c.seen = filepath.Join(dir, ObjectsName), map[Hash]bool{}
	if c.report.Release, err = ParseRelease(raw); err != nil {
		return Checked{}, fmt.Errorf("%s: %w", filepath.Join(dir, ReleaseName), err)
	}
	if c.report.Signers, err = Signers(raw); err != nil {
		return Checked{}, err
	}
	if len(pinned) > 0 {
		if _, err := Verify(raw, pinned...); err != nil {
			return Checked{}, err
		}
	}
	err = c.check(ctx, progress)
	return c.report, err
}

// checker is a call of Check.
type checker struct {
	objects
	seen   map[Hash]bool
	report Checked
	errs   []error
}

// see returns the content of an object that is right. It counts each object once.
func (c *checker) see(ctx context.Context, what string, o Object) []byte {
	b, err := c.read(ctx, o, maxNumber)
	if err != nil {
		c.errs = append(c.errs, fmt.Errorf("%s: %w", what, err))
		return nil
	}
	if !c.seen[o.SHA256] {
		c.seen[o.SHA256] = true
		c.report.Objects++
		c.report.Bytes += o.Bytes
	}
	return b
}

// content returns the file of a release, and for a set its manifest, if it and all shards are right.
func (c *checker) content(ctx context.Context, what string, o Object) ([]byte, *shard.Manifest) {
	b := c.see(ctx, what, o)
	if b == nil || c.report.Release.Kind != Set {
		return b, nil
	}
	m, err := shard.ReadManifest(bytes.NewReader(b))
	if err != nil {
		c.errs = append(c.errs, fmt.Errorf("%s: %w", what, err))
		return nil, nil
	}
	for _, e := range m.Shards {
		if c.see(ctx, what+": "+e.File, Object{e.SHA256, e.Bytes}) == nil {
			return nil, nil
		}
	}
	return b, m
}

func (c *checker) check(ctx context.Context, progress func(done, all int)) error {
	r := c.report.Release
	file, m := c.content(ctx, "the filter", r.Object)
	if file != nil {
		if err := c.decode(ctx, file, m); err != nil {
			c.errs = append(c.errs, err)
		}
	}
	h, err := c.history(ctx, r)
	if err != nil {
		c.errs = append(c.errs, fmt.Errorf("the history: %w", err))
	} else if r.History != nil {
		c.see(ctx, "the history", *r.History)
	}
	c.report.History = h
	for i, step := range h {
		if err := ctx.Err(); err != nil {
			return err
		}
		c.step(ctx, step, m)
		if progress != nil {
			progress(i+1, len(h))
		}
	}
	if p := r.Previous; p != nil && p.Delta != nil && !c.seen[p.Delta.SHA256] {
		c.errs = append(c.errs, fmt.Errorf("%w: release.json and its history name other deltas", ErrRelease))
	}
	return errors.Join(c.errs...)
}

// decode checks the current filter.
func (c *checker) decode(ctx context.Context, file []byte, m *shard.Manifest) error {
	if c.report.Release.Kind == Exact {
		_, err := exact.Inspect(file)
		return err
	}
	if m == nil {
		_, err := decode(file, false)
		return err
	}
	for _, e := range m.Shards {
		b, err := c.read(ctx, Object{e.SHA256, e.Bytes}, maxNumber)
		if err == nil {
			_, err = decode(b, false)
		}
		if err != nil {
			return &shard.Error{File: e.File, Err: err}
		}
	}
	return nil
}

// step checks an older release, and that its delta gives the current one.
func (c *checker) step(ctx context.Context, step Step, current *shard.Manifest) {
	what := fmt.Sprintf("release %d", step.Number)
	old, m := c.content(ctx, what, Object{step.SHA256, step.Bytes})
	if step.Delta == nil {
		return
	}
	d := c.see(ctx, what+": its delta", *step.Delta)
	r := c.report.Release
	if old == nil || d == nil || r.Kind == Set && current == nil {
		return
	}
	var got []byte
	var err error
	if limit := (delta.Options{MaxBytes: 1 << 62}); m == nil { // the sizes of the files limit it
		got, err = delta.Patch(ctx, old, d, limit)
	} else {
		sums := map[string]Hash{}
		for _, e := range current.Shards {
			sums[e.File] = e.SHA256
		}
		got, err = delta.PatchSet(ctx, c.set(ctx, old, m, maxNumber), d, limit, func(name string, content []byte) error {
			if sums[name] != sha256.Sum256(content) {
				return fmt.Errorf("%w: shard %s", ErrObject, name)
			}
			return nil
		})
	}
	if err == nil && Hash(sha256.Sum256(got)) != r.SHA256 {
		err = fmt.Errorf("%w: it gives another filter", ErrObject)
	}
	if err != nil {
		c.errs = append(c.errs, fmt.Errorf("%s: its delta: %w", what, err))
		return
	}
	c.report.Deltas++
}
